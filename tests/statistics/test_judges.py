"""Means of few judgments of people and many of a model, kappa and alpha: twins and other tools."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracle import judges as twin

from irbatch.array_types import Floats
from irbatch.statistics.agreement import (
    CombinedMeans,
    cohen_kappa,
    combine_means,
    krippendorff_alpha,
)
from irbatch.statistics.intervals import student_quantile

KINDS = ("noise", "better", "opposite", "constant", "random")


def drawn(kind: str, n: int = 9, others: int = 30) -> tuple[Floats, Floats, Floats]:
    """Values like P@5 of people and of a model, one column."""
    draw = np.random.default_rng(KINDS.index(kind))
    truth = draw.integers(0, 6, n + others) / 5
    noise = draw.normal(0, 0.2, truth.size)
    model = {
        "noise": truth + noise, "better": truth + noise / 9, "opposite": 1 - truth,
        "constant": np.full(truth.size, 0.5), "random": noise,
    }[kind]  # fmt: skip
    return truth[:n, None], model[:n, None], model[n:, None]


def of_lists(*values: Floats) -> list[list[float]]:
    return [each[:, 0].tolist() for each in values]


@pytest.mark.parametrize("kind", KINDS)
def test_combined_means_are_the_twin_s(kind: str) -> None:
    values = drawn(kind)
    found = combine_means(*values, level=0.1)
    estimate, error, freedom = twin.combined_mean(*of_lists(*values))
    assert found.weight[0] == pytest.approx(twin.weight(*of_lists(*values)), abs=1e-14)
    assert found.combined[0] == pytest.approx(estimate, rel=1e-12)
    assert found.error[0] == pytest.approx(error, rel=1e-12)
    assert found.freedom[0] == pytest.approx(freedom, rel=1e-10)
    reach = student_quantile(0.05, found.freedom[0]) * error
    ends = found.combined_low[0], found.combined_high[0]
    assert ends == pytest.approx((estimate - reach, estimate + reach))
    people = values[0][:, 0]
    assert found.worth[0] == pytest.approx(people.var(ddof=1) / error**2 if error else 9, rel=1e-12)
    assert found.bias[0] == pytest.approx(float((values[1] - values[0]).mean()), abs=1e-15)


def test_columns_do_not_depend_on_each_other() -> None:
    values = [drawn(kind) for kind in KINDS]
    together = combine_means(*(np.concatenate(each, axis=1) for each in zip(*values, strict=True)))
    for k, each in enumerate(values):
        for name, column in combine_means(*each)._asdict().items():
            assert getattr(together, name)[k] == pytest.approx(column[0], rel=1e-9), name


def test_a_model_that_knows_nothing_leaves_people_s_mean() -> None:
    for kind in "constant", "opposite":
        found = combine_means(*drawn(kind))
        assert found.weight[0] == 0
        assert found.combined == pytest.approx(found.people)
        assert found.combined_low == pytest.approx(found.people_low)
        assert found.combined_high == pytest.approx(found.people_high)


@pytest.mark.parametrize("kind", KINDS)
def test_ppi_python_has_the_same_means_and_parts_of_the_variance(kind: str) -> None:
    ppi_py = pytest.importorskip("ppi_py")
    people, model, others = drawn(kind)
    found = combine_means(people, model, others)
    if kind != "constant":  # whose weight ppi-python divides by zero for
        theirs = ppi_py.ppi_mean_pointestimate(people, model, others)
        assert np.ravel(theirs) == pytest.approx(found.combined, abs=1e-9)
    weight = float(found.weight[0])
    kept = {"alpha": 2 * (1 - 0.8413447460685429), "lam": weight}  # one standard error

    def error(*values: Floats) -> float:
        low, high = (float(np.ravel(each)[0]) for each in ppi_py.ppi_mean_ci(*values, **kept))
        return (high - low) / 2

    n, count = len(people), len(others)
    left = error(people, model, np.zeros_like(others)) ** 2 * n
    imputed = error(np.zeros_like(people), np.zeros_like(model), others) ** 2 * count
    estimated = 0 < weight < 1
    squares = float(((model - model.mean()) ** 2).sum())
    far = float(model.mean() - others.mean()) ** 2 / squares if estimated else 0.0
    freedom = n - 2 if estimated else n - 1
    variance = left * n / freedom * (1 / n + far) + imputed / (count - 1)
    assert found.error[0] ** 2 == pytest.approx(variance, abs=1e-9)


def some_grades(seed: int) -> list[list[float]]:
    """Grades of 40 documents by three judges, the third one of some alone (NaN)."""
    draw = np.random.default_rng(seed)
    first = draw.integers(0, 4, 40).astype(float)
    second = np.where(draw.random(40) < 0.5, first, draw.integers(0, 4, 40))
    third = np.where(draw.random(40) < 0.4, math.nan, draw.integers(0, 4, 40))
    return [each.tolist() for each in (first, second, third)]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weighted", [False, True])
def test_kappa(seed: int, weighted: bool) -> None:
    first, second, _ = some_grades(seed)
    counts = np.zeros((4, 4))
    np.add.at(counts, (np.array(first, int), np.array(second, int)), 1)
    found = cohen_kappa(counts, weighted=weighted)
    assert found == pytest.approx(twin.kappa(first, second, weighted), abs=1e-12)
    metrics = pytest.importorskip("sklearn.metrics")
    weights = "quadratic" if weighted else None
    assert found == pytest.approx(metrics.cohen_kappa_score(first, second, weights=weights))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("ordinal", [False, True])
def test_alpha(seed: int, ordinal: bool) -> None:
    grades = some_grades(seed)
    judged = [[each for each in row if each == each] for row in zip(*grades, strict=True)]
    counts = np.array([[row.count(grade) for grade in range(4)] for row in judged], np.float64)
    found = krippendorff_alpha(counts, ordinal=ordinal)
    assert found == pytest.approx(twin.alpha(judged, ordinal), abs=1e-12)
    krippendorff = pytest.importorskip("krippendorff")
    level = "ordinal" if ordinal else "nominal"
    theirs = krippendorff.alpha(reliability_data=grades, level_of_measurement=level)
    assert found == pytest.approx(theirs, abs=1e-12)


def test_judges_who_say_one_grade_have_no_agreement_beyond_chance() -> None:
    assert math.isnan(cohen_kappa(np.array([[5.0, 0.0], [0.0, 0.0]])))
    assert math.isnan(krippendorff_alpha(np.array([[2.0, 0.0], [3.0, 0.0]])))


@pytest.mark.parametrize("kind", ["noise", "random", "opposite"])
def test_intervals_hold_the_mean_of_all(kind: str) -> None:
    """In 300 samples of 25 queries: 95 % and what chance leaves."""
    population = drawn(kind, 400, 0)
    draw = np.random.default_rng(1)

    def sample() -> CombinedMeans:
        few, many = draw.integers(0, 400, 25), draw.integers(0, 400, 300)
        return combine_means(population[0][few], population[1][few], population[1][many])

    mean = float(population[0].mean())
    samples = [sample() for _ in range(300)]
    held = sum(each.combined_low[0] <= mean <= each.combined_high[0] for each in samples)
    assert held >= 273  # less than one in a thousand of 95 %
    widths = [
        (each.combined_high - each.combined_low) / (each.people_high - each.people_low)
        for each in samples
    ]
    assert np.mean(widths) < 1.05
