"""Values of queries, saved or not, are compared only if they are of the same judgments."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import irbatch
from irbatch import InputError, Results
from irbatch.evaluation.rows import Rows
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
    ),
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


@pytest.mark.parametrize(
    ("change", "told"),
    [({"ties": "expected"}, "order"), ({"rel": 2}, "relevant"), ({"no_relevant": "skip"}, "quer")],
)
def test_other_settings_are_told(change: dict[str, Any], told: str) -> None:
    old = irbatch.evaluate(QRELS, BACK, "AP(rel=1)", **change)
    new = irbatch.evaluate(QRELS, RUN, "AP(rel=1)")
    with pytest.warns(irbatch.InputWarning, match=f"evaluated differently: {told}"):
        irbatch.compare({"old": old, "new": new})
