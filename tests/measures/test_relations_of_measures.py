"""How measures answer to cutoffs, to one another and to ideal rankings; their table is whole."""

from __future__ import annotations

import itertools
import math

import pytest
from oracle.measures import order
from support.measure_variants import builtin_names
from support.relations import (
    CUTOFFS,
    TRAITS,
    assert_at_least,
    having,
    keys,
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
pytestmark = pytest.mark.filterwarnings("ignore:run has empty rankings alone")


def test_no_measure_is_forgotten() -> None:
    assert {name.partition("(")[0] for name in TRAITS} == builtin_names()
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
