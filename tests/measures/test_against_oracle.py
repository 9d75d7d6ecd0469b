"""Every measure, with every parameter, against the slow twin on problems made to be nasty."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
from oracle import measures as reference
from support.measure_variants import VARIANTS, builtin_names
from support.random_problems import Qrels, Run, nasty_problems

import irbatch
from irbatch.measures import CATALOGUE, Measure, measure

pytestmark = pytest.mark.portable

CUTOFFS = (1, 2, 3, 5, 10, 100, None)

LARGEST_EXPONENT = 1023


def test_twin_and_catalogue_hold_the_same_measures() -> None:
    assert builtin_names() == set(reference.MEASURES) == set(VARIANTS)


def variants(largest: float) -> Iterator[tuple[Measure, dict[str, Any]]]:
    """Every measure that takes grades up to the largest."""
    for name, settings in VARIANTS.items():
        for parameters in settings:
            plain = measure(name)(**parameters)
            if takes(plain, largest):
                for cutoff in CUTOFFS if CATALOGUE[name].takes_cutoff else (None,):
                    yield (plain if cutoff is None else plain @ cutoff), parameters


def takes(each: Measure, largest: float) -> bool:
    known = each.declaration.parameters
    if "gain" in known and each["gain"] == "exp" and largest > LARGEST_EXPONENT:
        return False
    return "max_grade" not in known or each["max_grade"] is None or largest <= each["max_grade"]


def compare(qrels: Qrels, run: Run, **settings: Any) -> None:
    wanted = list(variants(max(max(each.values(), default=0) for each in qrels.values())))
    found = irbatch.evaluate(qrels, run, [each for each, _ in wanted], **settings)
    for each, parameters in wanted:
        expected = reference.evaluate(qrels, run, each.name, each.cutoff, **parameters, **settings)
        values = found.per_query(each)
        assert list(values) == list(expected)
        for query, value in expected.items():
            assert close(values[query], value), (str(each), query)
        total = reference.aggregate(each.name, expected.values())
        if each.name in reference.WEIGHTS:
            weights = {"measures": reference.WEIGHTS, **parameters, **settings}
            weighing = reference.evaluate(qrels, run, each.name, each.cutoff, **weights)
            total = reference.weighted_mean(expected.values(), weighing.values())
        assert close(found[each], total)


def close(found: float, expected: reference.Value) -> bool:
    """Equal but for rounding; close to 0, a difference of two sums may be off by rounding of 1."""
    return (math.isnan(found) and math.isnan(expected)) or math.isclose(
        found, expected, rel_tol=1e-13, abs_tol=1e-15
    )


@pytest.mark.parametrize(
    "score_dtype", ["float64", pytest.param("float32", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("judged_only", [False, True])
def test_whole_catalogue(score_dtype: str, judged_only: bool) -> None:
    seed = 20 + judged_only + 10 * (score_dtype == "float32")
    for qrels, run in nasty_problems(seed, count=6):
        compare(qrels, run, score_dtype=score_dtype, judged_only=judged_only)


def test_fractional_grades() -> None:
    wanted = [
        *("P(rel=0.5)@3", "AP(rel=1)", "nDCG", "nDCG@3", "DCG(gain=exp)@5", "CG", "IDCG@2"),
        *("nDCG(gain=binary)@5", "nDCG(gain=binary,rel=0.5)", "G", "G@5", "nDCGrel", "RnDCG@10"),
        *("RBP", "RBP(p=0.5,rel=1)@5", "Bpref(rel=0.5)", "InfAP(rel=0.5)", "NumNonRelRet(rel=1.5)"),
        *("ERR(max_grade=1000000000000000,gain=linear)", "Qmeasure@5", "GAP", "GAP(rel=0.5)@10"),
        *("Pplus(gain=binary)", "NCUgu(stops=triangular)@3", "Rpref(norm=N)", "nCG(rel=0.5)@2"),
        "CG(gain=triangular)",
    ]
    for qrels, run in nasty_problems(seed=3, count=60, float_grades=True):
        found = irbatch.evaluate(qrels, run, [w for w in wanted if huge_is_fine(qrels, w)])
        for name in found.measures:
            each = measure(name)
            parameters = {key: each[key] for key, _ in each.parameters}
            expected = reference.evaluate(qrels, run, each.name, each.cutoff, **parameters)
            for query, value in found.per_query(name).items():
                assert math.isclose(value, expected[query], rel_tol=1e-13), (name, query)


def huge_is_fine(qrels: Qrels, name: str) -> bool:
    largest = max(grade for each in qrels.values() for grade in (*each.values(), 0))
    return "exp" not in name or largest <= LARGEST_EXPONENT


@pytest.mark.parametrize("levels", [130, 5_000])
def test_many_grade_levels(levels: int) -> None:
    """More grades than a byte can tell apart: wider codes, and levels of each block's own."""
    qrels = {f"q{i}": {f"d{j}": (i * 31 + j * 17) % levels for j in range(90)} for i in range(80)}
    run = {q: {f"d{j}": float((j * 37) % 101) for j in range(5, 95)} for q in qrels}
    found = irbatch.evaluate(qrels, run, "nDCG@10 DCG CG@50 AP(rel=60) NumRel(rel=60)")
    for name, k, parameters in [
        ("nDCG", 10, {}), ("DCG", None, {}), ("CG", 50, {}), ("AP", None, {"rel": 60}),
        ("NumRel", None, {"rel": 60}),
    ]:  # fmt: skip
        expected = reference.evaluate(qrels, run, name, k, **parameters)
        column = measure(name)(**parameters)
        values = found.per_query(column if k is None else column @ k)
        assert values == pytest.approx({q: float(v) for q, v in expected.items()}, rel=1e-13)
