"""Of which queries values are compared: of the same judgments, and with a value for each system."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

import irbatch
from irbatch import InputError, Results, compare
from irbatch.comparing.reproducibility import reproducibility
from irbatch.evaluation.queries import Rows
from irbatch.partial import evaluate_partition, merge_partials

QRELS: dict[str, dict[str, int]] = {f"q{i}": {"a": 1, "b": 0} for i in range(6)}
MORE = {**QRELS, "q3": {"a": 1, "b": 0, "c": 2}}
JUDGED = {**QRELS, "q3": {"a": 1, "b": 0, "c": 0}}
RUN = {query: {"a": 2.0, "b": 1.0} for query in QRELS}
BACK = {query: {"a": 1.0, "b": 2.0} for query in QRELS}

FORMS: dict[str, Callable[[Any], Any]] = {
    "results": lambda qrels: irbatch.evaluate(qrels, BACK, "RR"),
    "from json": lambda qrels: Results.from_json(irbatch.evaluate(qrels, BACK, "RR").to_json()),
    "partial": lambda qrels: merge_partials(
        evaluate_partition({q: qrels[q]}, {q: BACK[q]}, "RR", apart=True) for q in qrels
    ).results(),
    "by batches": lambda qrels: irbatch.evaluate_ids(
        {query: [*BACK[query]][::-1] for query in qrels}, irbatch.Qrels(qrels), "RR"
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("qrels", "numbers"),
    [(MORE, ("1 relevant", "2 for 'old'")), (JUDGED, ("2 judged", "3 for 'old'"))],
)
def test_other_judgments_are_rejected(form: str, qrels: Any, numbers: tuple[str, str]) -> None:
    new = irbatch.evaluate(QRELS, RUN, "RR")
    with pytest.raises(InputError, match=numbers[1]) as caught:
        irbatch.compare({"old": FORMS[form](qrels), "new": new})
    assert (caught.value.query, caught.value.source) == ("q3", "results")
    assert f"{numbers[0]} documents for 'new'" in str(caught.value)
    assert irbatch.compare({"old": FORMS[form](QRELS), "new": new}).means.shape == (2, 1)


def test_saved_values_beside_a_run(tmp_path: Path) -> None:
    path = tmp_path / "nightly.json"
    irbatch.evaluate(MORE, BACK, "RR").to_json(path)
    systems = {"old": str(path), "new": RUN}
    with pytest.raises(InputError, match=r"query 'q3'.*other judgments"):
        irbatch.compare(QRELS, systems, "RR")
    assert irbatch.compare(MORE, systems, "RR").means.tolist() == [[0.5], [1.0]]


def test_measures_that_some_lack_are_left_out() -> None:
    old, new = irbatch.evaluate(QRELS, BACK, "RR P@1"), irbatch.evaluate(QRELS, RUN, "RR AP")
    with pytest.warns(irbatch.InputWarning) as warned:
        found = irbatch.compare({"old": old, "new": new})
    told = [str(warning.message) for warning in warned]
    assert (found.measures, len(told)) == (["RR"], 2)
    assert "P@1 is left out: there are no values of it for new" in told
    with pytest.warns(irbatch.InputWarning, match=r"AP is left out: .* for old"):
        assert irbatch.compare(QRELS, {"old": old, "new": RUN}, "AP RR").measures == ["RR"]
    with (
        pytest.warns(irbatch.InputWarning, match="AP is left out"),
        pytest.raises(InputError, match="no measure in common"),
    ):
        irbatch.compare(QRELS, {"old": old, "new": RUN}, "AP")


def test_results_that_tell_nothing_of_judgments_are_taken() -> None:
    new = irbatch.evaluate(QRELS, RUN, "RR")
    state = json.loads(irbatch.evaluate(MORE, BACK, "RR").to_json())
    del state["relevant"], state["judged"]
    made = Results(Rows(new.values.copy()), new.query_ids, new.columns, new.counts, new.settings)
    labels = irbatch.evaluate_matrix([[1]] * 6, "RR", query_ids=list(QRELS))
    for old in (Results.from_json(json.dumps(state)), made, labels):
        with_other = irbatch.compare({"old": old, "new": new})
        assert len(with_other.query_ids) == 6


def test_queries_without_ids_are_told_to_be_paired_by_place() -> None:
    for ids, told in ((None, True), (list(QRELS), False)):
        alike = irbatch.evaluate_matrix([[1, 0], [0, 1]] * 3, "RR", query_ids=ids)
        found = irbatch.compare({"old": alike, "new": alike})
        assert ("paired by their places" in found.to_text()) == told


@pytest.mark.parametrize(
    ("change", "told"),
    [({"ties": "expected"}, "order"), ({"rel": 2}, "relevant"), ({"no_relevant": "skip"}, "quer")],
)
def test_other_settings_are_told(change: dict[str, Any], told: str) -> None:
    old = irbatch.evaluate(QRELS, BACK, "AP(rel=1)", **change)
    new = irbatch.evaluate(QRELS, RUN, "AP(rel=1)")
    with pytest.warns(irbatch.InputWarning, match=f"evaluated differently: {told}"):
        irbatch.compare({"old": old, "new": new})


# ---------------------------------------------------------------- queries without a value


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
