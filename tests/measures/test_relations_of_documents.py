"""Documents that are moved, added, deleted, judged, or given another grade or gain."""

from __future__ import annotations

import copy
import itertools
import math

import pytest
from support.random_problems import nasty_problems
from support.relations import (
    CUTOFFS,
    PROBLEMS,
    TRAITS,
    assert_at_least,
    assert_same,
    cells,
    fitting,
    gain,
    having,
    keys,
    mapped,
    nasty,
    plain,
    scored,
    seeds,
    values,
)

import irbatch

# Rankings of a random problem may all be empty.


@seeds
def test_05_adjacent_swap(seed: int) -> None:
    """Moving a document up past one of lower gain lowers no measure and raises some."""
    for rng, qrels, rankings in plain(seed):
        swapped, at = copy.deepcopy(rankings), {}
        for query, ranking in swapped.items():
            gains = [gain(qrels, query, document) for document in ranking]
            rising = [i for i in range(1, len(gains)) if gains[i - 1] < gains[i]]
            if rising:
                i = at[query] = rng.choice(rising)
                ranking[i - 1 : i + 1] = ranking[i], ranking[i - 1]
        before, after = values(qrels, scored(rankings)), values(qrels, scored(swapped))
        for key in keys("climbs"):
            assert_at_least(before[key], after[key], key)
        for (name, k), (query, i) in itertools.product(keys("strict"), at.items()):
            ranking, traits = swapped[query], TRAITS[name]
            seen = k is None or (k >= i and "climbs" in traits)
            became_relevant = gain(qrels, query, ranking[i]) == 0  # every gain here is relevant
            if seen and ("graded" in traits or became_relevant):
                assert before[name, k][query] < after[name, k][query], (name, k, query)


@seeds
def test_06_equal_gains(seed: int) -> None:
    """Documents of equal gain may change places, where unjudged ones are like those of gain 0."""
    for rng, qrels, rankings in plain(seed):
        moved = {}
        for query, ranking in rankings.items():
            by_gain: dict[float, list[str]] = {}
            for document in rng.sample(ranking, len(ranking)):
                by_gain.setdefault(gain(qrels, query, document), []).append(document)
            moved[query] = [by_gain[gain(qrels, query, document)].pop() for document in ranking]
        before, after = values(qrels, scored(rankings)), values(qrels, scored(moved))
        assert_same(before, after, besides=having("pooled"))


@seeds
def test_07_useless_documents_at_the_end(seed: int) -> None:
    """Documents of gain 0 at the end change no value at a cutoff, nor most at full depth."""
    for rng, qrels, rankings in plain(seed):
        longer = {}
        for query, ranking in rankings.items():
            judged = [d for d, grade in qrels[query].items() if grade <= 0 and d not in ranking]
            ends = [*judged, *(f"new{i}" for i in range(rng.randint(1, 9)))]
            longer[query] = ranking + rng.sample(ends, len(ends))
        before, after = values(qrels, scored(rankings)), values(qrels, scored(longer))
        for key in keys(at=CUTOFFS):
            if key[0] not in having("sized"):
                assert after[key] == before[key], key
        for key in keys("endless", at=(None,)):
            assert after[key] == before[key], key
        for key in keys("binary", at=(None,)):
            if key[0] not in (*having("pooled"), *having("longer")):
                assert_at_least(after[key], before[key], key)
        for query, precision in after["P", None].items():
            assert precision < before["P", None][query] or precision == 0


@seeds
def test_08_deleted_unjudged_document(seed: int) -> None:
    """Deleting an unjudged document lowers no measure."""
    for rng, qrels, rankings in plain(seed):
        shorter = copy.deepcopy(rankings)
        for query, ranking in shorter.items():
            unjudged = [document for document in ranking if document not in qrels[query]]
            if unjudged:
                ranking.remove(rng.choice(unjudged))
        before, after = values(qrels, scored(rankings)), values(qrels, scored(shorter))
        for key in (*keys("climbs"), ("AP(norm=found)", None)):
            assert_at_least(before[key], after[key], key)


COUNTING_NONRELEVANT = ("Bpref", "GMBpref", "Bpref(norm=N)", "Rpref(norm=N)")


@seeds
def test_09_unretrieved_not_relevant(seed: int) -> None:
    """Judging more documents not relevant, none of them retrieved, changes nothing."""
    for rng, qrels, run in nasty(seed):
        more = {
            query: {
                **each,
                **{f"new{i}": rng.choice((0, -1, -3)) for i in range(rng.randint(1, 4))},
            }
            for query, each in qrels.items()
        }
        assert_same(values(qrels, run), values(more, run), besides=COUNTING_NONRELEVANT)


@seeds
def test_10_unretrieved_relevant(seed: int) -> None:
    """One more relevant document that was not retrieved: recall and AP become R / (R + 1) of it."""
    for rng, qrels, rankings in plain(seed):
        more = {query: {**each, "new": rng.randint(1, 3)} for query, each in qrels.items()}
        before, after = values(qrels, scored(rankings)), values(more, scored(rankings))
        for key in keys("blind"):
            assert after[key] == before[key], key
        for key in keys("sinks"):
            assert_at_least(after[key], before[key], key)
        for key in keys("swells"):
            assert_at_least(before[key], after[key], key)
        for query, relevant in before["NumRel", None].items():
            assert after["NumRel", None][query] == relevant + 1
            for key in keys("shared"):
                expected = before[key][query] * relevant / (relevant + 1)
                assert math.isclose(after[key][query], expected, rel_tol=1e-15), key


@seeds
@pytest.mark.parametrize("factor", [2, 64, 3])
def test_16_scaled_gains(seed: int, factor: int) -> None:
    """Multiplied grades multiply gains and leave all else; powers of two to the last bit."""
    for _, qrels, rankings in plain(seed):
        run = scored(rankings)
        before, after = values(qrels, run), values(mapped(qrels, lambda g: g * factor), run)
        for key, found in before.items():
            if key[0] not in having("bends"):
                by = factor if key in keys("scales") else 1
                expected = {query: value * by for query, value in found.items()}
                exact = factor != 3 or key not in keys("graded")
                assert after[key] == (expected if exact else pytest.approx(expected, rel=1e-14))


@seeds
def test_17_negative_grades(seed: int) -> None:
    """A negative grade is as good as 0."""
    for _, qrels, run in nasty(seed):
        after = values(mapped(qrels, lambda g: max(g, 0)), run)
        assert_same(values(qrels, run), after, besides=having("signed"))


@seeds
@pytest.mark.parametrize("rel", [0, 1, 2, 3, 0.5])
def test_18_threshold(seed: int, rel: float) -> None:
    """rel=l amounts to grades 0 and 1 for a binary measure, and to no gain below l for others."""
    for qrels, run in nasty_problems(seed, PROBLEMS[seed], float_grades=True):
        wanted = fitting(qrels)
        for trait in ("binary", "graded"):
            chosen = [
                each
                for key, each in wanted.items()
                if key in keys(trait) and key[0] not in having("signed")
            ]
            limited = mapped(
                qrels,
                (lambda g: int(g >= rel)) if trait == "binary" else lambda g: g if g >= rel else 0,
            )
            before = irbatch.evaluate(qrels, run, [each(rel=rel) for each in chosen])
            after = irbatch.evaluate(limited, run, chosen)
            assert cells(after) == cells(before)
