"""How values must answer to changes of the input, over the whole catalogue.

No expected values stand here: each test changes a problem in a way whose effect on every measure
is known, and compares the two evaluations; bit for bit unless the relation itself is about more
or less. Thread counts, blocks, and compiled against plain kernels are in test_jit.py.
"""

from __future__ import annotations

import copy
import functools
import gzip
import itertools
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from problems import Qrels, Run, nasty_problems
from reference import order

import irbatch
from irbatch.measures import CATALOGUE, Measure, measure

# What is true of each measure, at every cutoff unless said otherwise:
#   binary   sees only whether documents are relevant, i.e. grade >= rel
#   graded   sees gains
#   unit     lies between 0 and 1
#   earned   is 0 when no relevant document was retrieved
#   climbs   doesn't fall when a document of higher gain moves up, or an unjudged one disappears
#   strict   rises then in the first case; of those that don't climb, at full depth
#   grows    doesn't fall from one cutoff to a larger one
#   settles  is the same at all cutoffs past both the ranking and the judged documents
#   endless  at full depth, doesn't change with documents of gain 0 at the end of the ranking
#   topped   is exactly 1 for an ideal ranking that reaches all relevant documents
#   capped   is exactly 1 for an ideal ranking, however short
#   scales   is multiplied by what all grades are multiplied by
# and, when one more document turns out relevant that was not retrieved, each is one of:
#   blind (unchanged), shared (multiplied by R / (R + 1)), sinks, swells, moves (either way)
TRAITS: dict[str, str] = {
    "P": "binary unit earned climbs blind",
    "R": "binary unit earned climbs grows settles endless topped shared",
    "Rcap": "binary unit earned climbs topped capped sinks",
    "F": "binary unit earned climbs sinks",
    "F(beta=2)": "binary unit earned climbs sinks",
    "Success": "binary unit earned climbs grows settles endless topped capped blind",
    "RR": "binary unit earned climbs grows settles endless topped capped blind",
    "AP": "binary unit earned climbs strict grows settles endless topped shared",
    "AP(norm=min)": "binary unit earned climbs strict topped capped sinks",
    "AP(norm=found)": "binary unit earned strict settles endless topped capped blind",
    "Rprec": "binary unit earned climbs grows settles endless topped moves",
    "CG": "graded earned climbs grows settles endless scales blind",
    "DCG": "graded earned climbs strict grows settles endless scales blind",
    "IDCG": "graded climbs grows settles endless scales swells",
    "nDCG": "graded unit earned climbs strict settles endless topped capped sinks",
    "nDCG(gain=exp)": "graded unit earned climbs strict settles endless topped capped sinks",
    "Judged": "unit climbs settles blind",
    "NumQ": "unit climbs endless blind",
    "NumRet": "grows settles blind",
    "NumRel": "binary climbs endless swells",
    "NumRelRet": "binary earned climbs grows settles endless blind",
}
CUTOFFS = (1, 2, 3, 5, 10, 30)
EXPONENTIAL = "nDCG(gain=exp)"
LARGEST_EXPONENT = 1023

Key = tuple[str, int | None]
Values = dict[Key, dict[Any, float]]
Rankings = dict[str, list[str]]  # query to documents, best first
seeds = pytest.mark.parametrize("seed", [1, 2, 3])


@functools.cache
def keys(trait: str = "", at: tuple[int | None, ...] = (*CUTOFFS, None)) -> tuple[Key, ...]:
    """Name the measures that have a trait, with each cutoff they take; None is full depth."""
    names = [name for name, traits in TRAITS.items() if not trait or trait in traits.split()]
    cut = {name for name in names if measure(name).declaration.takes_cutoff}
    return tuple((name, k) for name in names for k in at if k is None or name in cut)


MEASURES: dict[Key, Measure] = {
    (name, k): measure(name) if k is None else measure(name) @ k for name, k in keys()
}


def fitting(qrels: Qrels) -> dict[Key, Measure]:
    """Return the measures whose gains don't overflow."""
    huge = any(grade > LARGEST_EXPONENT for each in qrels.values() for grade in each.values())
    return {key: each for key, each in MEASURES.items() if not (huge and key[0] == EXPONENTIAL)}


def evaluate(qrels: Qrels, run: Run) -> irbatch.Results:
    return irbatch.evaluate(qrels, run, list(fitting(qrels).values()))


def values(qrels: Qrels, run: Run) -> Values:
    results, wanted = evaluate(qrels, run), fitting(qrels)
    return {key: results.per_query(each) for key, each in wanted.items()}


def assert_same(before: Values, after: Values, besides: tuple[str, ...] = ()) -> None:
    for key in before:
        if key[0] not in besides:
            assert after[key] == before[key], key


def assert_at_least(lower: dict[Any, float], upper: dict[Any, float], key: Key) -> None:
    for query in lower:
        assert lower[query] <= upper[query], (key, query)


def nasty(seed: int) -> Iterator[tuple[Random, Qrels, Run]]:
    """Problems with ties, odd ids, empty rankings and queries on one side only."""
    for number, problem in enumerate(nasty_problems(seed, 25)):
        yield Random(1000 * seed + number), *problem


def plain(seed: int) -> Iterator[tuple[Random, Qrels, Rankings]]:
    """Problems of small grades whose rankings are lists: what each rank holds is under control."""
    rng = Random(seed)
    for _ in range(25):
        qrels: Qrels = {}
        rankings: Rankings = {}
        for query in range(rng.randint(1, 6)):
            pool = [f"d{i}" for i in rng.sample(range(60), 50)]
            grades = rng.choice([(0, 1), (0, 0, 0, 1, 2, 3), (-2, 0, 1, 2, 4), (0, -2), (3,)])
            rankings[f"q{query}"] = pool[: rng.choice([0, 1, 2, 5, 20, 35])]
            judged = rng.sample(pool, rng.randint(1, 30))
            qrels[f"q{query}"] = {document: rng.choice(grades) for document in judged}
        yield rng, qrels, rankings


def scored(rankings: Rankings) -> Run:
    """Give the documents scores that fall from rank to rank; the entries stand in order of id."""
    return {
        query: dict(sorted((document, -float(rank)) for rank, document in enumerate(ranking)))
        for query, ranking in rankings.items()
    }


def gain(qrels: Qrels, query: str, document: str) -> float:
    return max(qrels[query].get(document, 0), 0)


def mapped(problem: dict[str, dict[str, Any]], change: Callable[[Any], Any]) -> Any:
    """Change every grade or score."""
    return {q: {d: change(x) for d, x in each.items()} for q, each in problem.items()}


def shuffled(rng: Random, entries: dict[str, Any]) -> dict[str, Any]:
    return dict(rng.sample(list(entries.items()), len(entries)))


def test_no_measure_is_forgotten() -> None:
    builtin = {name for name, each in CATALOGUE.items() if each.builtin}
    assert {name.partition("(")[0] for name in TRAITS} == builtin
    for name, traits in TRAITS.items():
        declaration = measure(name).declaration
        assert ("graded" in traits.split()) == declaration.graded
        assert ("binary" in traits.split()) == (
            "rel" in declaration.parameters and not declaration.graded
        )
        assert ("unit" in traits.split()) == (declaration.range[1] == 1.0)
        effects = {"blind", "shared", "sinks", "swells", "moves"}
        assert len(effects & set(traits.split())) == 1


@seeds
def test_01_order_of_queries(seed: int) -> None:
    """The order of queries, on either side, changes neither values nor means."""
    for rng, qrels, run in nasty(seed):
        before, after = evaluate(qrels, run), evaluate(shuffled(rng, qrels), shuffled(rng, run))
        assert after.to_dict() == before.to_dict()
        assert after.mean() == before.mean()


@seeds
def test_02_order_of_documents(seed: int) -> None:
    """The order in which documents were entered changes nothing, among ties either."""
    for rng, qrels, run in nasty(seed):
        moved = [{q: shuffled(rng, each) for q, each in side.items()} for side in (qrels, run)]
        assert_same(values(qrels, run), values(*moved))


@seeds
def test_03_monotone_scores(seed: int) -> None:
    """An increasing map of the scores changes nothing, nor do ranks in place of scores."""
    for _, qrels, run in nasty(seed):
        before = values(qrels, run)
        assert_same(before, values(qrels, mapped(run, lambda score: score / 8)))
        numbers = mapped(run, float)
        places = {q: sorted(set(each.values())) for q, each in numbers.items()}
        dense = {q: {d: places[q].index(s) for d, s in numbers[q].items()} for q in numbers}
        assert_same(before, values(qrels, dense))
        assert_same(before, values(qrels, scored({q: order(each) for q, each in run.items()})))


@seeds
def test_04_relabelled_ids(seed: int) -> None:
    """New ids change nothing: documents' in the same order, queries' in any."""
    for rng, qrels, run in nasty(seed):
        documents = sorted({d for side in (qrels, run) for each in side.values() for d in each})
        renamed = {document: f"{i:04}" for i, document in enumerate(documents)}
        queries = list({**qrels, **run})
        other = dict(zip(queries, map(str, rng.sample(range(100), len(queries))), strict=True))
        moved = [
            {other[q]: {renamed[d]: x for d, x in each.items()} for q, each in side.items()}
            for side in (qrels, run)
        ]
        after = values(*moved)
        for key, before in values(qrels, run).items():
            assert after[key] == {other[query]: value for query, value in before.items()}, key


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
            ranking, traits = swapped[query], TRAITS[name].split()
            seen = k is None or (k >= i and "climbs" in traits)
            became_relevant = gain(qrels, query, ranking[i]) == 0  # every gain here is relevant
            if seen and ("graded" in traits or became_relevant):
                assert before[name, k][query] < after[name, k][query], (name, k, query)


@seeds
def test_06_equal_gains(seed: int) -> None:
    """Documents of equal gain may change places; only Judged tells unjudged ones from others."""
    for rng, qrels, rankings in plain(seed):
        moved = {}
        for query, ranking in rankings.items():
            by_gain: dict[float, list[str]] = {}
            for document in rng.sample(ranking, len(ranking)):
                by_gain.setdefault(gain(qrels, query, document), []).append(document)
            moved[query] = [by_gain[gain(qrels, query, document)].pop() for document in ranking]
        assert_same(values(qrels, scored(rankings)), values(qrels, scored(moved)), ("Judged",))


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
            if key[0] not in ("Judged", "NumRet"):
                assert after[key] == before[key], key
        for key in keys("endless", at=(None,)):
            assert after[key] == before[key], key
        for key in keys("binary", at=(None,)):
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
        assert_same(values(qrels, run), values(more, run))


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
def test_11_truncation(seed: int) -> None:
    """A measure at k sees the first k documents only, and at full depth whatever there is."""
    for _, qrels, run in nasty(seed):
        before = values(qrels, run)
        for k in CUTOFFS:
            cut = {q: {d: each[d] for d in order(each)[:k]} for q, each in run.items()}
            after = values(qrels, cut)
            for name, _ in keys(at=(k,)):
                if (name, k) in before:
                    assert after[name, k] == before[name, k]
                    if name not in ("IDCG", "nDCG", EXPONENTIAL):  # their ideal ranking goes on
                        for query in (q for q in after[name, k] if len(run.get(q, ())) >= k):
                            assert after[name, None][query] == before[name, k][query]


@seeds
@pytest.mark.parametrize("k", [100, 2**31, 2**53])
def test_12_cutoff_past_the_end(seed: int, k: int) -> None:
    """Past the ranking and the judged documents a cutoff changes nothing but P's divisor."""
    settled = [name for name, _ in keys("settles", at=(100,))]
    for _, qrels, rankings in plain(seed):
        full = values(qrels, scored(rankings))
        wanted = {name: measure(name) @ k for name in [*settled, "P", "Rcap", "AP(norm=min)"]}
        results = irbatch.evaluate(qrels, scored(rankings), list(wanted.values()))
        beyond = {name: results.per_query(each) for name, each in wanted.items()}
        for name in settled:
            assert beyond[name] == full[name, None], name
        assert beyond["Rcap"] == beyond["R"]
        assert beyond["AP(norm=min)"] == beyond["AP"]
        for query, hits in beyond["NumRelRet"].items():
            assert beyond["P"][query] == hits / k


def test_12_cutoff_past_all_rankings() -> None:
    """However large a cutoff is, P is divided by it, if it is accepted at all."""
    for k in (2**62 - 1, 2**62, 2**63, 10**30):
        try:
            results = irbatch.evaluate_matrix([[1, 0]], [measure("P") @ k])
        except irbatch.InputError:
            continue
        assert results.values.tolist() == [[1 / float(k)]]


@seeds
def test_13_monotone_in_the_cutoff(seed: int) -> None:
    """What is gained at a cutoff is kept at every larger one; hits are whole and <= min(k, R)."""
    for _, qrels, run in nasty(seed):
        found = values(qrels, run)
        for name, _ in keys("grows", at=(None,)):
            for lower, upper in itertools.pairwise((*CUTOFFS, None)):
                assert_at_least(found[name, lower], found[name, upper], (name, upper))
        for k, query in itertools.product(CUTOFFS, qrels):
            hits, precision = found["NumRelRet", k][query], found["P", k][query]
            assert hits.is_integer()
            assert hits <= min(k, found["NumRel", None][query])
            assert precision == hits / k


@seeds
def test_14_identities(seed: int) -> None:
    """Measures that are defined by one another agree."""
    for _, qrels, run in nasty(seed):
        found = values(qrels, run)
        assert found["P", 1] == found["Success", 1] == found["RR", 1]
        for query in qrels:
            v = {key: each[query] for key, each in found.items()}
            relevant = int(v["NumRel", None])
            for k in (*CUTOFFS, None):
                p, r, hits = v["P", k], v["R", k], v["NumRelRet", k]
                assert p * (k or v["NumRet", None]) == pytest.approx(r * relevant, rel=1e-15)
                assert r == (hits / relevant if relevant else 0)
                assert v["Rcap", k] == max(p, r)
                for name, beta in (("F", 1), ("F(beta=2)", 2)):
                    mean = (1 + beta**2) / (1 / p + beta**2 / r) if hits else 0
                    assert v[name, k] == pytest.approx(mean, rel=1e-15)
                assert v["Success", k] == (v["RR", k] > 0) == (hits > 0)
                assert v["AP(norm=found)", k] * hits == pytest.approx(v["AP", k] * relevant, 1e-15)
                assert v["nDCG", k] == (min(v["DCG", k] / v["IDCG", k], 1) if relevant else 0)
                assert (v["RR", k] / relevant if relevant else 0) <= v["AP", k] <= r
            if relevant:
                one = {query: qrels[query]}, {query: run.get(query, {})}
                at_r = irbatch.evaluate(*one, ["P", "R"], [relevant])
                assert at_r.values.tolist() == [[v["Rprec", None]] * 2]
            if relevant == 1:
                assert v["AP", None] == v["RR", None]
            if relevant == 1 and v["IDCG", None] == 1 and hits:
                assert v["nDCG", None] == 1 / math.log2(1 + round(1 / v["RR", None]))


@seeds
def test_15_bounds(seed: int) -> None:
    """Values keep to their range; an ideal ranking gets exactly 1, one without hits exactly 0."""
    for _, qrels, run in nasty(seed):
        for key, found in values(qrels, run).items():
            low, high = (0.0, 1.0) if key in keys("unit") else (0.0, math.inf)
            assert all(low <= value <= high for value in found.values()), key
        ideal = {q: sorted(each, key=each.__getitem__, reverse=True) for q, each in qrels.items()}
        found = values(qrels, scored(ideal))
        for query, relevant in found["NumRel", None].items():
            for name, k in (*keys("topped"), *keys("capped")):
                reached = k is None or k >= relevant or "capped" in TRAITS[name].split()
                if relevant and reached and (name, k) in found:
                    assert found[name, k][query] == 1.0, (name, k)
        useless = {
            query: {d: score for d, score in each.items() if qrels.get(query, {}).get(d, 0) <= 0}
            for query, each in run.items()
        }
        found = values(qrels, useless)
        for key in (key for key in keys("earned") if key in found):
            assert set(found[key].values()) == {0.0}, key


@seeds
@pytest.mark.parametrize("factor", [2, 64, 3])
def test_16_scaled_gains(seed: int, factor: int) -> None:
    """Multiplied grades multiply gains and leave all else; powers of two to the last bit."""
    for _, qrels, rankings in plain(seed):
        run = scored(rankings)
        before, after = values(qrels, run), values(mapped(qrels, lambda g: g * factor), run)
        for key, found in before.items():
            if key[0] != EXPONENTIAL:
                by = factor if key in keys("scales") else 1
                expected = {query: value * by for query, value in found.items()}
                exact = factor != 3 or key not in keys("graded")
                assert after[key] == (expected if exact else pytest.approx(expected, rel=1e-14))


def test_16_exponential_gains_do_not_scale() -> None:
    """Multiplied grades do change nDCG when the gain is 2^grade - 1."""
    run = {"q": {"a": 3.0, "b": 2.0}}
    once, twice = ({"q": {"a": 1 * by, "b": 2 * by}} for by in (1, 2))
    assert values(once, run)["nDCG", None] == values(twice, run)["nDCG", None]
    assert values(once, run)[EXPONENTIAL, None] != values(twice, run)[EXPONENTIAL, None]


@seeds
def test_17_negative_grades(seed: int) -> None:
    """A negative grade is as good as 0."""
    for _, qrels, run in nasty(seed):
        assert_same(values(qrels, run), values(mapped(qrels, lambda g: max(g, 0)), run))


@seeds
@pytest.mark.parametrize("rel", [0, 1, 2, 3, 0.5])
def test_18_threshold(seed: int, rel: float) -> None:
    """rel=l amounts to grades 0 and 1 for a binary measure, and to no gain below l for others."""
    for qrels, run in nasty_problems(seed, 15, float_grades=True):
        wanted = fitting(qrels)
        for trait in ("binary", "graded"):
            chosen = [each for key, each in wanted.items() if key in keys(trait)]
            limited = mapped(
                qrels,
                (lambda g: int(g >= rel)) if trait == "binary" else lambda g: g if g >= rel else 0,
            )
            before = irbatch.evaluate(qrels, run, [each(rel=rel) for each in chosen])
            after = irbatch.evaluate(limited, run, chosen)
            assert after.values.tolist() == before.values.tolist()


@seeds
@pytest.mark.parametrize("times", [2, 4])
def test_20_repeated_queries(seed: int, times: int) -> None:
    """Repeating every query keeps every mean, and multiplies counts."""
    for _, qrels, run in nasty(seed):
        copies = [
            {f"{i} {query}": documents for i in range(times) for query, documents in side.items()}
            for side in (qrels, run)
        ]
        before, after = evaluate(qrels, run), evaluate(*copies)
        for (name, k), each in fitting(qrels).items():
            assert after[each] == before[each] * (times if name.startswith("Num") else 1), (name, k)


@seeds
def test_20_parts_and_whole(seed: int) -> None:
    """Evaluating the queries in parts gives the values of the whole, and its mean by weight."""
    for rng, qrels, run in nasty(seed):
        whole = evaluate(qrels, run)
        half = set(rng.sample(list(qrels), rng.randint(0, len(qrels))))
        parts: list[irbatch.Results] = []
        for inside in (True, False):
            part = {query: each for query, each in qrels.items() if (query in half) == inside}
            if part:
                answers = {query: run.get(query, {}) for query in part}
                parts.append(irbatch.evaluate(part, answers, list(fitting(qrels).values())))
        joined: dict[Any, Any] = {}
        for each in parts:
            joined |= each.to_dict()
        assert joined == whole.to_dict()
        for name, mean in whole.mean().items():
            weights = [1 if name.startswith("Num") else len(each) / len(whole) for each in parts]
            weighted = sum(each[name] * w for each, w in zip(parts, weights, strict=True))
            assert weighted == pytest.approx(mean, rel=1e-14)


@seeds
def test_21_no_memory(seed: int) -> None:
    """An evaluation leaves nothing behind: A, then B, then A again gives A's values."""
    problems = [(qrels, run) for _, qrels, run in nasty(seed)]
    for (qrels, run), other in itertools.pairwise(problems):
        prepared = irbatch.Qrels(qrels), irbatch.Run(run)
        before = evaluate(qrels, run)
        first = irbatch.evaluate(*prepared, list(fitting(qrels).values()))
        evaluate(*other)
        again = irbatch.evaluate(*prepared, list(fitting(qrels).values()))
        for after in (first, again, evaluate(qrels, run)):
            assert after.to_dict() == before.to_dict()
            assert after.mean() == before.mean()


@seeds
def test_21_inputs_stay_as_they_are(seed: int) -> None:
    """No evaluation changes what it was given: entries, their order, or a single bit."""
    rng = np.random.default_rng(seed)
    for _, qrels, run in nasty(seed):
        before = repr((qrels, run))
        for settings in ({}, {"judged_only": True}, {"score_dtype": "float32"}):
            irbatch.evaluate(qrels, run, "AP P@5 nDCG@5", **settings)
        assert repr((qrels, run)) == before
    for dtype in (np.int8, np.int64, np.float64):
        labels = rng.choice([-2, 0, 1, 2], (20, 30)).astype(dtype)
        scores, lengths = rng.random((20, 30)), rng.integers(0, 31, 20)
        ids = [rng.permutation(50)[:9].tolist() for _ in range(20)]
        relevant: list[Any] = [{1, 2, 3}, [4, 5], {6: 2, 7: 0}] * 6 + [[1], {2}]
        given = (labels, scores, lengths, ids, relevant)
        kept = copy.deepcopy(given)
        irbatch.evaluate_matrix(labels, "AP nDCG@5", lengths=lengths, judged=labels)
        irbatch.evaluate_scores(scores, labels, "AP nDCG@5")
        irbatch.evaluate_ids(ids, relevant, "AP nDCG@5", judged_only=True)
        for each, copied in zip(given, kept, strict=True):
            assert repr(each) == repr(copied)
            assert np.array_equal(each, copied) if isinstance(each, np.ndarray) else each == copied


@seeds
def test_23_containers(seed: int, tmp_path: Path) -> None:
    """Dicts, TREC files, compressed files, lists of ids and labels give the same bits."""
    for rng, qrels, rankings in plain(seed):
        run = scored(rankings)
        judgments = [f"{q} 0 {d} {g}\n" for q, each in qrels.items() for d, g in each.items()]
        answers = [f"{q} Q0 {d} 7 {s!r} tag\n" for q, each in run.items() for d, s in each.items()]
        if not answers:
            continue
        paths = []
        for name, lines in (("qrels", judgments), ("run", answers)):
            text = "".join(rng.sample(lines, len(lines))).encode()
            (tmp_path / name).write_bytes(text)
            (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text))
            paths.append(tmp_path / name)
        wanted = list(MEASURES.values())
        before = evaluate(qrels, run).to_dict()
        assert irbatch.evaluate(*paths, wanted).to_dict() == before
        packed = [f"{path}.gz" for path in paths]
        assert irbatch.evaluate(*packed, wanted).to_dict() == before
        assert irbatch.evaluate_ids(rankings, qrels, wanted).to_dict() == before
        numpy_run = mapped(run, np.float32)
        assert irbatch.evaluate(mapped(qrels, np.int16), numpy_run, wanted).to_dict() == before
        labels = [[qrels[q].get(d, 0) for d in rankings[q]] for q in qrels]
        judged = [list(each.values()) for each in qrels.values()]
        seen = [each for key, each in MEASURES.items() if key[0] != "Judged"]  # all labels are
        with_labels = irbatch.evaluate_matrix(
            labels, seen, lengths=[len(row) for row in labels], judged=judged, query_ids=list(qrels)
        )
        assert with_labels.values.tolist() == irbatch.evaluate(qrels, run, seen).values.tolist()


@seeds
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float64])
def test_24_padding(seed: int, dtype: type[np.generic]) -> None:
    """Cells past a row's length change nothing, whatever they hold, nor do rows of length 0."""
    rng = np.random.default_rng(seed)
    wanted = list(MEASURES.values())
    for queries, depth in ((1, 1), (3, 8), (7, 20), (40, 33)):
        lengths = rng.integers(0, depth + 1, queries)
        labels = rng.choice([-2, 0, 1, 2, 4], (queries, depth)).astype(dtype)
        rows = [row[:length] for row, length in zip(labels, lengths, strict=True)]
        before = irbatch.evaluate_matrix(rows, wanted, lengths=lengths).values.tolist()
        past_end = np.arange(depth) >= lengths[:, None]
        masked = np.ma.masked_array(labels, past_end)
        assert irbatch.evaluate_matrix(masked, wanted).values.tolist() == before
        for columns in (0, 1, 7, 50):
            wider = np.hstack([labels, np.full((queries, columns), 99, dtype)])
            results = irbatch.evaluate_matrix(wider, wanted, lengths=lengths)
            assert results.values.tolist() == before
        taller = np.vstack([labels, np.full((5, depth), 99, dtype)])
        results = irbatch.evaluate_matrix(taller, wanted, lengths=[*lengths, 0, 0, 0, 0, 0])
        assert results.values[:queries].tolist() == before
