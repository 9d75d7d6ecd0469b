"""How measures answer to cutoffs, to one another, to ideal rankings, threads and precision."""

from __future__ import annotations

import itertools
import math
from random import Random

import numpy as np
import pytest
from oracle.measures import order
from support.measure_variants import builtin_names
from support.relations import (
    CUTOFFS,
    TRAITS,
    assert_at_least,
    evaluate,
    fitting,
    having,
    keys,
    mapped,
    nasty,
    of_queries,
    plain,
    scored,
    seeds,
    values,
)

import irbatch
from irbatch.measures import measure

# Rankings of a random problem may all be empty.


def test_no_measure_is_forgotten() -> None:
    assert {name.partition("(")[0] for name in TRAITS} == builtin_names()
    for traits in TRAITS.values():
        effects = {"blind", "shared", "sinks", "swells", "moves"}
        assert len(effects & traits) == 1


@seeds
def test_11_truncation(seed: int) -> None:
    """A measure at k sees the first k documents only, and at full depth whatever there is."""
    for _, qrels, run in nasty(seed):
        before = values(qrels, run)
        for k in CUTOFFS:
            cut = {q: {d: each[d] for d in order(each)[:k]} for q, each in run.items()}
            after = values(qrels, cut)
            for name, _ in keys(at=(k,)):
                if (name, k) in before and name not in having("whole"):
                    assert after[name, k] == before[name, k]
                    if name not in having("apart"):  # their ideal goes on
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
        beyond = {name: of_queries(results, each) for name, each in wanted.items()}
        for name in settled:
            assert beyond[name] == full[name, None], name
        assert beyond["Rcap"] == beyond["R"]
        assert beyond["AP(norm=min)"] == beyond["AP"]
        for query, hits in beyond["NumRelRet"].items():
            assert beyond["P"][query] == hits / k


@seeds
def test_13_monotone_in_the_cutoff(seed: int) -> None:
    """What is gained at a cutoff is kept at every larger one; hits are whole and <= min(k, R)."""
    for _, qrels, run in nasty(seed):
        found = values(qrels, run)
        for name, _ in (key for key in keys("grows", at=(None,)) if key in found):
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
                assert v["GMAP", k] == max(v["AP", k], 1e-5)
                assert v["GMBpref", k] == max(v["Bpref", k], 1e-5)
                assert v["SetAP", k] == pytest.approx(p * r, rel=1e-15)
                assert v["RprecMult", k] == v["Rprec", k]
                assert v["IPrec", k] >= v["IPrec(recall=0.5)", k]
                assert v["Utility", k] == 2 * hits - v["NumRet", k]
                found_sum = v["AP", k] * relevant
                odds = (1 + found_sum) / (1 + relevant - found_sum)
                assert v["YAAP", k] == pytest.approx(math.log(odds), rel=1e-13, abs=1e-14)
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
            low = -math.inf if key in keys("minus") else 0.0
            high = 1.0 if key in keys("unit") else math.inf
            assert all(low <= value <= high for value in found.values()), key
        ideal = {q: sorted(each, key=each.__getitem__, reverse=True) for q, each in qrels.items()}
        found = values(qrels, scored(ideal))
        for query, relevant in found["NumRel", None].items():
            for name, k in (*keys("topped"), *keys("capped")):
                reached = k is None or k >= relevant or "capped" in TRAITS[name]
                if relevant and reached and (name, k) in found:
                    assert found[name, k][query] == 1.0, (name, k)
        useless = {
            query: {d: score for d, score in each.items() if qrels.get(query, {}).get(d, 0) <= 0}
            for query, each in run.items()
        }
        found = values(qrels, useless)
        for key in (key for key in keys("earned") if key in found):
            assert set(found[key].values()) == {0.0}, key


# Judgments, threads and precision


@seeds
def test_19_unjudged_documents_turn_out_relevant(seed: int) -> None:
    """Precision, success and reciprocal rank don't fall; what is divided by all relevant may."""
    for _, qrels, rankings in plain(seed):
        more = {
            q: {**each, **{d: 1 for d in rankings[q] if each.get(d, -1) < 0}}
            for q, each in qrels.items()
        }
        before, after = values(qrels, scored(rankings)), values(more, scored(rankings))
        for key in keys():
            if key[0] in ("P", "Success", "RR", "NumRelRet", "Judged"):
                assert_at_least(before[key], after[key], key)


@seeds
def test_25_threads(seed: int) -> None:
    """That compiling and the size of blocks don't show is in runtime/test_compiled_and_plain.py."""
    for _, qrels, run in itertools.islice(nasty(seed), 8):
        wanted = list(fitting(qrels).values())
        one, *others = (irbatch.evaluate(qrels, run, wanted, threads=n) for n in (1, 2, 5))
        for other in others:
            assert other.values.tobytes() == one.values.tobytes()
            assert other.mean() == one.mean()


@seeds
@pytest.mark.parametrize("p", [0.3, 0.5, 0.8])
def test_26_residual_of_rank_biased_precision(seed: int, p: float) -> None:
    """It is what the value would rise by if all that is not judged were relevant."""
    wishes = [f"RBP(p={p},gain=binary)", f"RBPresid(p={p},tail=always)"]
    for rng, qrels, rankings in plain(seed):
        run = scored(rankings)
        all_relevant = {
            q: {**each, **{d: 1 for d in rankings[q] if each.get(d, -1) < 0}}
            for q, each in qrels.items()
        }
        some = {
            q: {**each, **{d: rng.choice((0, 1)) for d in rankings[q][::2] if each.get(d, -1) < 0}}
            for q, each in qrels.items()
        }
        now, best, later = (irbatch.evaluate(q, run, wishes) for q in (qrels, all_relevant, some))
        for query, (base, residual) in zip(now.query_ids, now.values.tolist(), strict=True):
            assert base >= 0
            assert base + residual <= 1 + 1e-12
            tail = p ** len(rankings[query])
            assert best.per_query(wishes[0])[query] - base + tail == pytest.approx(residual)
            assert later.per_query(wishes[1])[query] <= residual + 1e-15


@seeds
def test_27_one_relevant_document_for_readers_who_stop(seed: int) -> None:
    """Of one relevant document ERR is the chance to stop there over its rank."""
    rng = Random(seed)
    for _ in range(25):
        rank, grade = rng.randint(1, 30), rng.randint(1, 4)
        run = scored({"q": [f"d{i}" for i in range(1, 31)]})
        wishes = ["ERR(max_grade=4)", *(f"ERR(max_grade=4)@{k}" for k in (1, 5, 10, 40))]
        found = irbatch.evaluate({"q": {f"d{rank}": grade}}, run, wishes).values[0].tolist()
        assert found[0] == pytest.approx((2**grade - 1) / 16 / rank, rel=1e-14)
        assert 0 <= found[1] <= found[2] <= found[3] <= found[4] == found[0] <= 1


@seeds
def test_29_precision_of_scores(seed: int) -> None:
    """Rounding scores to float32 is what score_dtype="float32" does."""
    for _, qrels, run in nasty(seed):
        with np.errstate(over="ignore"):
            rounded = mapped(run, lambda score: float(np.float32(score)))
        wanted = list(fitting(qrels).values())
        as_float32 = irbatch.evaluate(qrels, run, wanted, score_dtype="float32")
        assert as_float32.to_dict() == evaluate(qrels, rounded).to_dict()
        before, after = ({q: set(map(float, each.values())) for q, each in side.items()}
                         for side in (run, rounded))  # fmt: skip
        if all(len(before[q]) == len(after[q]) for q in run):
            assert as_float32.to_dict() == evaluate(qrels, run).to_dict()
