"""Measures weighted by propensities: against their twins, and pyxclib's own outputs."""

from __future__ import annotations

import gzip
import math
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from oracle import propensities as twin
from oracle.base import is_relevant, order
from support.input_errors import input_error
from support.paths import REFERENCE_DATA

import irbatch
from irbatch.measures import Measure, measure

CUTOFFS = (1, 3, 20, None)
NORMS: list[dict[str, Any]] = [
    {},
    {"norm": "none"},
    {"rel": 2},
    {"rel": 2, "norm": "none"},
    {"rel": 0},
]
DISCOUNTS: list[dict[str, Any]] = [{}, {"discount": "none", "rel": 2}, {"discount": "rank"}]
VARIANTS: dict[str, list[dict[str, Any]]] = {
    **dict.fromkeys(("PSP", "PSnDCG", "PSR"), NORMS),
    "IPS": DISCOUNTS,
    "SNIPS": [*DISCOUNTS, *({**each, "over": "all"} for each in DISCOUNTS)],
}
WANTED = [
    (measure(name)(**each) if k is None else measure(name)(**each) @ k)
    for name, settings in VARIANTS.items()
    for each in settings
    for k in CUTOFFS
    if k is not None or name != "PSP"
]
# The worked example: grades of 5 documents, d2 not judged, d6 not retrieved.
QRELS = {"q": {"d1": 1, "d3": 3, "d4": 0, "d5": 2, "d6": 2}}
RUN = {"q": {f"d{i}": 6.0 - i for i in range(1, 6)}}
PROPENSITIES = {"d1": 0.5, "d2": 0.1, "d3": 0.25, "d4": 1.0, "d5": 0.125, "d6": 0.2}


def known(given: Any) -> irbatch.Items:
    return irbatch.Items(propensities=given)


def test_worked_example() -> None:
    """Weights: d1 2, d3 4, d5 8, d6 5."""
    expected = {
        "PSP@1": 2 / 8, "PSP@3": 6 / 17, "PSP(norm=none)@3": 2, "PSR@5": 14 / 19,
        "PSR(norm=none)@5": 14 / 4, "IPS(discount=none)@3": 6, "IPS(discount=rank)@3": 2 + 4 / 3,
        "SNIPS(discount=none)@3": 6 / 19, "PSnDCG@1": 2 / 8, "PSnDCG(norm=none)@1": 2,
    }  # fmt: skip
    found = irbatch.evaluate(QRELS, RUN, [*expected], items=known(PROPENSITIES)).mean()
    assert found == pytest.approx(expected, rel=1e-14)


def test_a_ratio_of_means_is_no_mean_of_ratios() -> None:
    qrels, run = {"a": {"d1": 1}, "b": {"d4": 1, "d5": 1}}, {"a": {"d1": 1.0}, "b": {"d4": 1.0}}
    results = irbatch.evaluate(qrels, run, "PSP@1 SNIPS@1", items=known(PROPENSITIES))
    assert results.per_query("PSP@1") == {"a": 1, "b": 1 / 8}
    assert results["PSP@1"] == (2 + 1) / (2 + 8)
    assert results["SNIPS@1"] == (1 + 1 / 9) / 2
    everything = "SNIPS(over=all)@1"
    together = irbatch.evaluate(qrels, run, everything, items=known(PROPENSITIES))
    assert together[everything] == (2 + 1) / (2 + 9)


def twin_values(
    each: Measure, rankings: list[list[str]], weights: list[dict[str, float]]
) -> tuple[list[float], float]:
    """The values of queries, and of all of them."""
    k = each.cutoff
    if each.name in ("IPS", "SNIPS"):
        formula = twin.weighted if each.name == "IPS" else twin.self_normalised
        pairs = list(zip(rankings, weights, strict=True))
        values = [formula(*pair, k, each["discount"]) for pair in pairs]
        if each.name == "SNIPS" and each["over"] == "all":
            gained = math.fsum(twin.weighted(*pair, k, each["discount"]) for pair in pairs)
            everything = math.fsum(math.fsum(some.values()) for some in weights)
            return values, gained / everything if everything else math.nan
        return values, math.fsum(values) / len(values)
    found = [
        twin.found_and_best(each.name, ranking, some, k)
        for ranking, some in zip(rankings, weights, strict=True)
    ]
    if each["norm"] == "none":
        values = [value for value, _ in found]
        return values, math.fsum(values) / len(values)
    return [a / b if b else 0.0 for a, b in found], twin.ratio_of_means(found)


@pytest.mark.parametrize("seed", range(3))
def test_twin(seed: int) -> None:
    rng = Random(seed)
    for _ in range(8):
        documents = [f"d{i}" for i in range(rng.choice((2, 8, 30)))]
        given = {each: rng.choice((0.01, 0.3, 0.5, 1.0, rng.random())) for each in documents}
        qrels = {
            f"q{i}": {each: rng.choice((-1, 0, 1, 2)) for each in documents if rng.random() < 0.4}
            for i in range(rng.randint(1, 5))
        }
        run = {
            query: {each: rng.choice((0.0, 1.0, rng.random()))
                    for each in rng.sample(documents, rng.randint(0, len(documents)))}
            for query in qrels if rng.random() < 0.9
        } | {"q0": {"d0": 1.0}}  # fmt: skip
        results = irbatch.evaluate(qrels, run, WANTED, items=known(given))
        rankings = [order(run.get(query, {})) for query in qrels]
        for each in WANTED:
            weights = [
                {
                    document: 1 / given[document]
                    for document, grade in some.items()
                    if is_relevant(grade, each["rel"])
                }
                for some in qrels.values()
            ]
            values, whole = twin_values(each, rankings, weights)
            assert [*results.per_query(each).values()] == pytest.approx(values, rel=1e-12), each
            if not math.isnan(results[each]):
                assert results[each] == pytest.approx(whole, rel=1e-12), each


def test_queries_without_relevant_documents() -> None:
    qrels = {"a": {"d1": 0}, **QRELS}
    run = {**RUN, "a": {"d1": 1.0}}
    wanted = [each for each in WANTED if each["rel"] != 0]
    both = irbatch.evaluate(qrels, run, wanted, items=known(PROPENSITIES))
    skipped = irbatch.evaluate(qrels, run, wanted, items=known(PROPENSITIES), no_relevant="skip")
    alone = irbatch.evaluate(QRELS, run, wanted, items=known(PROPENSITIES))
    assert skipped.mean() == alone.mean()
    for name in ("PSP@3", "PSnDCG@3", "PSR@3"):
        assert both[name] == alone[name], "they cancel"


def test_precision_needs_a_cutoff() -> None:
    items = known(PROPENSITIES)
    input_error(lambda: irbatch.evaluate(QRELS, RUN, "PSP", items=items), "cutoff", "PSP@5")


# ---------------------------------------------------------------- pyxclib's own outputs

XCLIB = REFERENCE_DATA.parent / "data_more" / "g_recsys"
OURS = {"precision": "P", "psprecision": "PSP", "psndcg": "PSnDCG", "psrecall": "PSR"}


@pytest.mark.parametrize(("level", "a", "b"), [(4, 0.55, 1.5), (1, 0.6, 2.6)])
def test_pyxclib(level: int, a: float, b: float) -> None:
    """Its nDCG is of float32; users without positives cancel in ratios of means."""
    if not XCLIB.exists():
        pytest.skip("no reference data: agreement with pyxclib is not tested")
    counts = Counter(line.split("\t")[1] for line in lines(XCLIB / "train.tsv.gz")[1:])
    data = REFERENCE_DATA / "movielens_a"
    qrels = irbatch.read_qrels(data / "qrels.random20.txt.gz")
    catalogue = sorted({*counts, *(each for some in qrels.documents for each in some)})
    frequencies = {each: counts.get(each, 0) for each in catalogue}
    items = known(irbatch.data.label_propensities(frequencies, len(qrels), a, b))
    name = f"ml.itemknn50.xclib.level{level}_A{a}_B{b}.15digits.tsv.gz"
    expected = [line.split("\t") for line in lines(XCLIB / "expected" / name)[1:]]
    wanted = {
        each: f"{OURS[stem]}(rel={level})@{k}"
        for each in dict.fromkeys(each for _, each, _ in expected)
        for stem, _, k in [each.partition("@")]
        if stem in OURS
    }
    run = data / "runs" / "itemknn50.run.gz"
    everybody = irbatch.evaluate(qrels, run, [*wanted.values()], items=items)
    compared = 0
    for who, each, value in expected:
        if each in wanted and (who == "pyxclib" or not each.startswith("precision")):
            tolerance = 1e-6 if "ndcg" in each else 1e-12
            assert everybody[wanted[each]] == pytest.approx(float(value), rel=tolerance), each
            compared += 1
        if who == "inv_propensity":
            number = int(each.removeprefix("frequency="))
            found = irbatch.data.label_propensities([number], len(qrels), a, b)[0]
            assert 1 / found == pytest.approx(float(value), rel=1e-13)
    assert compared > 100


def lines(path: Path) -> list[str]:
    with gzip.open(path, "rt") as file:
        return file.read().splitlines()
