"""Queries without a value of a measure for some system are left out of that measure alone."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

import irbatch
from irbatch import compare
from irbatch.comparing.reproducibility import reproducibility

MEASURES = ("nDCG@5", "FirstRank", "AP")


def results(name: int, measures: Any = MEASURES, queries: int = 40) -> irbatch.Results:
    """Rankings of all queries but some."""
    random = np.random.default_rng(name)
    qrels = {f"q{i}": {"r1": 1, "r2": 2} for i in range(queries)}
    run = {
        query: {document: float(random.random()) for document in ("n1", "n2", "r1", "r2")}
        for i, query in enumerate(qrels)
        if i % 7 != name
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", irbatch.InputWarning)
        return irbatch.evaluate(qrels, run, list(measures))


SYSTEMS = {"old": results(1), "new": results(2)}
FIRST_RANKS = np.stack([own.values[:, 1] for own in SYSTEMS.values()])
BOTH = ~np.isnan(FIRST_RANKS).any(axis=0)


@pytest.mark.parametrize("options", [
    {}, {"test": "t", "interval": "bca", "draws": 500}, {"test": "tukey", "draws": 500},
    {"test": "wilcoxon", "family": "all", "margin": 0.1, "alternative": "greater"},
    {"test": "bootstrap", "correction": "bh", "margin": "5%", "margin_test": "t"},
], ids=str)  # fmt: skip
def test_other_measures_are_compared_on_all_queries(options: dict[str, Any]) -> None:
    found = compare(SYSTEMS, baseline="old", **options)
    assert 30 > BOTH.sum() > 20
    assert found.counts.tolist() == [40, BOTH.sum(), 40]
    assert found.means[0].tolist()[::2] == [SYSTEMS["old"]["nDCG@5"], SYSTEMS["old"]["AP"]]
    assert found.means[:, 1] == pytest.approx(FIRST_RANKS[:, BOTH].mean(axis=1), rel=1e-12)
    whole = compare({name: results(i, ["nDCG@5", "AP"]) for name, i in (("old", 1), ("new", 2))},
                    baseline="old", **options)  # fmt: skip
    queries = [query for query, row in SYSTEMS["old"].rows.items() if BOTH[row]]
    alone = compare(
        {
            name: {query: {"FirstRank": own.values[own.rows[query], 1]} for query in queries}
            for name, own in SYSTEMS.items()
        },
        baseline="old",
        **options,
    )
    own = ["means", "differences", "intervals", "p_values", "wins", "ties", "losses", "effects"]
    own += ["detectable", "queries_needed"] if "family" not in options else []
    own += ["difference_intervals"] if "family" not in options else []
    own += (
        ["not_worse_p", "equivalence_p"] if "margin" in options and "family" not in options else []
    )
    for name in own:
        numbers = getattr(found, name)
        assert np.array_equal(numbers[:, ::2], getattr(whole, name), equal_nan=True), name
        assert np.allclose(numbers[:, [1]], getattr(alone, name), rtol=1e-12, equal_nan=True), name
    assert found.sure_intervals(1) == pytest.approx(alone.sure_intervals(0), rel=1e-12)


def test_how_many_are_left_out_is_said() -> None:
    found = compare(SYSTEMS, baseline="old")
    number = 40 - BOTH.sum()
    said = f"Left out of FirstRank, of which a system has no value: {number} queries."
    for text in (found.caption(), found.to_text(), found.to_html(plots=False)):
        assert said in text
    records = found.to_dict()["pairs"]
    assert [row["queries"] for row in records] == [40, BOTH.sum(), 40]
    values = found.to_dict()["per_query"]["old"]["FirstRank"]
    assert np.isnan(values).tolist() == (~BOTH).tolist()


def test_groups_and_what_too_few_have() -> None:
    groups = {query: "abc"[row % 3] for query, row in SYSTEMS["old"].rows.items()}
    found = compare(SYSTEMS, baseline="old", groups=groups, interval="percentile", draws=300)
    assert [sum(own.counts[1] for own in found.groups.values())] == [BOTH.sum()]
    never = {"old": results(1), "new": results(8, queries=1)}
    input_error(lambda: compare(never), "fewer than two queries")
    lone = dict.fromkeys(SYSTEMS["old"].rows, "all") | {"q0": "a", "q1": "a"}
    with pytest.warns(irbatch.InputWarning, match="'a' has one query"):
        assert list(compare(SYSTEMS, groups=lone).groups) == ["all"]


def test_reproductions_are_of_queries_with_all_values() -> None:
    qrels = {f"q{i}": {"d": 1} for i in range(5)}
    runs = [{q: {"d": 1.0} for q in qrels if q != lacking} for lacking in ("q0", "q1")]
    with pytest.warns(irbatch.InputWarning, match="FirstRank"):
        found = reproducibility(qrels, (runs[0], runs[1]), measures="RR FirstRank")
    assert found.n_queries == [3]
    assert found.means.tolist() == [[[1, 1], [1, 1]]]
