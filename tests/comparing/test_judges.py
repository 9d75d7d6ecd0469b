"""Judges side by side, and people's judgments of some queries with a model's of all."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

import irbatch
from irbatch.comparing.judges import Judges, combine, compare_judges
from irbatch.statistics.agreement import combine_means

Grades = dict[str, dict[str, int]]
RUNS = {
    name: {f"q{i}": {f"d{k}": float((k * step + i) % 11) for k in range(10)} for i in range(60)}
    for name, step in (("a", 3), ("b", 7), ("c", 10))
}


def judged(queries: int, seed: int, errors: float = 0.0) -> Grades:
    """Grades 0 to 2 of 8 documents a query; of the errors others."""
    truth, draw = random.Random("truth"), random.Random(seed)
    every = {f"q{i}": {f"d{k}": truth.choice((0, 0, 1, 2)) for k in range(8)} for i in range(60)}
    return {
        query: {
            document: draw.choice((0, 1, 2)) if draw.random() < errors else grade
            for document, grade in grades.items()
        }
        for query, grades in list(every.items())[:queries]
    }


PEOPLE, MODEL = judged(25, 0), judged(60, 1, errors=0.2)


@pytest.fixture(scope="module")
def study() -> Judges:
    return compare_judges({"people": PEOPLE, "model": MODEL}, RUNS, "nDCG@5 P@3")


def test_agreement_is_of_what_both_judged(study: Judges) -> None:
    (found,) = study.tables["agreement"]
    pairs = [(PEOPLE[q][d], MODEL[q][d]) for q in PEOPLE for d in PEOPLE[q]]
    assert found["both_judged"] == len(pairs) == 200
    assert found["same_grade"] == sum(one == two for one, two in pairs) / 200
    assert study.tables["grades of model"][0][2] == sum(pair == (0, 2) for pair in pairs)
    metrics = pytest.importorskip("sklearn.metrics")
    kappa = metrics.cohen_kappa_score(*zip(*pairs, strict=True))
    assert found["kappa"] == pytest.approx(kappa)


def test_combined_means_are_those_of_the_values(study: Judges) -> None:
    rows = study.tables["means"]
    assert {(row["queries"], row["others"]) for row in rows} == {(25, 35)}
    for name, run in RUNS.items():
        people, model = (irbatch.evaluate(each, run, "nDCG@5 P@3") for each in (PEOPLE, MODEL))
        values = people.values, model.values[:25], model.values[25:]
        expected = combine_means(*(np.ascontiguousarray(each) for each in values))
        for k, measure in enumerate(people.measures):
            row = next(r for r in rows if (r["system"], r["measure"]) == (name, measure))
            assert row["combined"] == expected.combined[k]
            assert row["combined_low"] == expected.combined_low[k]
            assert row["people"] == pytest.approx(people[measure])
            assert row["model"] == pytest.approx(model[measure])


def test_kindness_sums_to_nothing_and_finds_a_friend() -> None:
    kinder = {
        query: {d: 2 if RUNS["a"][query][d] > 6 else grade for d, grade in grades.items()}
        for query, grades in MODEL.items()
    }
    study = compare_judges({"people": PEOPLE, "model": kinder}, RUNS, "P@3")
    rows = {row["system"]: row for row in study.tables["kindness"]}
    assert sum(row["kinder"] for row in rows.values()) == pytest.approx(0)
    assert rows["a"]["kinder_low"] > 0


def test_systems_that_change_sides() -> None:
    favoured = {
        name: {q: {d: int(run[q][d] > 6) for d in MODEL[q]} for q in MODEL}
        for name, run in RUNS.items()
    }
    study = compare_judges({"people": favoured["a"], "model": favoured["b"]}, RUNS, "P@3")
    (order,) = study.tables["orders"]
    assert ["b", "a"] in order["reversed"]
    assert order["tau"] < 0
    assert "means" not in study.tables


def test_one_alpha_of_several_judges() -> None:
    judges = {name: judged(25, seed, 0.3) for seed, name in enumerate(("x", "y", "z"))}
    study = compare_judges(judges)
    assert [each["judge"] for each in study.tables["agreement"]] == ["y", "z"]
    (alphas,) = study.tables["agreement of all"]
    assert alphas == pytest.approx({"alpha": 0.52951483, "ordinal_alpha": 0.52206788})


def results(qrels: Grades, measures: str = "P@3") -> Any:
    return {"a": irbatch.evaluate(qrels, RUNS["a"], measures)}


@pytest.mark.parametrize(
    ("call", "named"),
    [
        pytest.param(lambda: compare_judges({"people": PEOPLE}), "two or more", id="one judge"),
        pytest.param(lambda: compare_judges([PEOPLE, MODEL]), "by name", id="a list"),  # type: ignore[arg-type]
        pytest.param(
            lambda: compare_judges({"people": PEOPLE, "b": {"x": {"d": 1}}}), "b", id="apart"
        ),
        pytest.param(lambda: combine(results(PEOPLE), results(PEOPLE)), "0 others", id="no others"),
        pytest.param(lambda: combine(results(judged(2, 0)), results(MODEL)), "2 queries", id="two"),
        pytest.param(lambda: combine(results(PEOPLE), results(MODEL, "AP")), "AP", id="measures"),
        pytest.param(lambda: combine(results(PEOPLE, "GMAP"), results(MODEL, "GMAP")), "GMAP",
                     id="a geometric mean"),
        pytest.param(lambda: combine(results(PEOPLE), {"b": results(MODEL)["a"]}), "a",
                     id="systems"),
        pytest.param(lambda: combine(5, results(MODEL)), "int", id="no results"),  # type: ignore[arg-type]
        pytest.param(lambda: combine(results(PEOPLE), results(MODEL), level=2), "level", id=">1"),
    ],
)  # fmt: skip
def test_what_cannot_be_combined(call: Any, named: str) -> None:
    input_error(call, named)


def test_few_queries_are_told() -> None:
    with pytest.warns(irbatch.InputWarning, match="10 queries"):
        found = combine(results(judged(10, 0)), results(MODEL))
    assert isinstance(found, Judges)
