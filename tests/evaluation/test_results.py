"""What results offer, and that writing them is all or nothing."""

from __future__ import annotations

import csv
import io
import json
import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import irbatch
from irbatch import InputError, Results
from irbatch.evaluation.queries import QueryMark

QRELS = {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}, "q3": {"d": 0}, "q4": {"e": 1}}
RUN = {"q1": {"b": 3.0, "a": 2.0, "x": 1.0}, "q2": {"x": 2.0, "c": 1.0}, "q3": {}, "q9": {"z": 1}}


@pytest.fixture
def results() -> Results:
    return irbatch.evaluate(QRELS, RUN, ["nDCG@10", "AP", "NumRelRet"])


def test_means_and_values(results: Results) -> None:
    assert results.measures == ["nDCG@10", "AP", "NumRelRet"]
    assert results.query_ids == ["q1", "q2", "q3", "q4"]
    assert results.values.shape == (4, 3)
    assert results.per_query("AP") == {"q1": 1.0, "q2": 0.5, "q3": 0.0, "q4": 0.0}
    assert results["AP"] == results.mean()["AP"] == 0.375
    assert results["map"] == results[irbatch.measure("AP")] == 0.375
    assert results["NumRelRet"] == 3.0, "counts are summed"
    assert results.to_dict()["q2"] == {"nDCG@10": 1 / math.log2(3), "AP": 0.5, "NumRelRet": 1.0}
    assert dict(results) == results.mean()
    assert list(results) == results.measures
    assert len(results) == 3
    assert "map" in results
    assert "P@5" not in results


def test_counts_say_what_became_of_the_queries(results: Results) -> None:
    counts = results.counts
    assert (counts.queries, counts.judged, counts.answered) == (4, 4, 3)
    assert (counts.missing, counts.extra, counts.no_relevant, counts.empty) == (1, 1, 1, 1)


def test_signature_names_every_setting(results: Results) -> None:
    for part in (irbatch.__version__, "score (float64) descending", "id descending", "score 0"):
        assert part in results.signature
    other = irbatch.evaluate(QRELS, RUN, "AP", score_dtype="float32", missing="skip",
                             no_relevant="skip", judged_only=True).signature  # fmt: skip
    for part in ("float32", "missing queries: skip", "documents: skip", "removed"):
        assert part in other


def test_missing_and_no_relevant_options() -> None:
    def mean(**settings: str) -> float:
        return irbatch.evaluate(QRELS, RUN, "AP", **settings)["AP"]

    assert mean() == 1.5 / 4
    assert mean(missing="skip") == 1.5 / 3
    assert mean(no_relevant="skip") == 1.5 / 3
    assert mean(missing="skip", no_relevant="skip") == 1.5 / 2
    with pytest.raises(irbatch.InputError, match=r"1 of 4 judged queries are missing.*'q4'"):
        mean(missing="error")


def test_skipping_is_up_to_what_each_measure_looks_for() -> None:
    skipped = irbatch.evaluate(
        QRELS, RUN, ["AP", "AP(rel=2)", "nDCG", "Judged@1", "NumRel"], no_relevant="skip"
    )
    assert np.isnan(skipped.values).tolist() == [
        [False, False, False, False, False],
        [False, True, False, False, False],
        [True, True, True, False, False],
        [False, True, False, False, False],
    ]
    assert skipped["AP(rel=2)"] == 0.5
    everywhere = irbatch.evaluate({"q": {"a": 0}}, {"q": {"a": 1.0}}, "AP", no_relevant="skip")
    assert math.isnan(everywhere["AP"])
    assert json.loads(everywhere.to_json())["mean"] == {"AP": None}


@pytest.mark.parametrize("interval", ["t", "percentile", "bca", "bounded"])
def test_intervals_of_means(interval: str) -> None:
    labels = np.random.default_rng(1).integers(0, 2, (40, 8))
    results = irbatch.evaluate_matrix(labels, "AP P@5 GMAP NumRel")
    two = irbatch.compare(dict.fromkeys("ab", irbatch.evaluate_matrix(labels, "AP")))
    found = results.intervals(interval, 0.05, names="trec_eval")
    assert list(found) == list(results.mean("trec_eval"))
    for name in ("map", "P_5", "gm_map"):
        low, high = found[name]
        assert 0 <= low < results[name] < high <= 1
    assert np.isnan(found["num_rel"]).all(), "a sum has none"
    if interval == "t":
        assert found["map"] == pytest.approx(two.intervals[0, 0].tolist())
    wider, narrower = (
        results.intervals(interval, 0.01)["AP"],
        results.intervals(interval, 0.5)["AP"],
    )
    assert wider[0] < found["map"][0] < narrower[0]
    assert narrower[1] < found["map"][1] < wider[1]


def test_intervals_that_there_are_not() -> None:
    assert np.isnan(irbatch.evaluate_matrix([[1]], "AP").intervals()["AP"]).all(), "of one query"
    weighted = irbatch.evaluate_matrix([[1, 0], [0, 1]], "GAUC")
    assert np.isnan(weighted.intervals()["GAUC"]).all()
    for options in ({"interval": "se"}, {"level": 1.0}, {"level": 0}):
        with pytest.raises(InputError, match=next(iter(options))):
            weighted.intervals(**options)
    sums = irbatch.BatchEvaluator("RR", keep="sums")
    sums.update([[1, 2], [2, 1]], [[1, 0], [1, 0]])
    with pytest.raises(InputError, match="means alone"):
        sums.compute().intervals()


def test_frames(results: Results) -> None:
    pandas = results.to_pandas()
    assert pandas.index.tolist() == results.query_ids
    assert pandas["AP"].tolist() == [1.0, 0.5, 0.0, 0.0]
    polars = results.to_polars()
    assert polars.columns == ["query", *results.measures]
    assert polars["AP"].to_list() == [1.0, 0.5, 0.0, 0.0]


def test_json_and_csv_hold_every_digit(results: Results, tmp_path: Path) -> None:
    loaded = json.loads(results.to_json(tmp_path / "r.json"))
    assert loaded["mean"] == results.mean()
    assert loaded["per_query"] == results.to_dict()
    assert loaded["counts"]["missing"] == 1
    rows = list(csv.reader(io.StringIO(results.to_csv(tmp_path / "r.csv"))))
    assert rows[0] == ["query", *results.measures]
    assert [[float(cell) for cell in row[1:]] for row in rows[1:]] == results.values.tolist()
    assert (tmp_path / "r.csv").read_text() == results.to_csv()


@pytest.mark.parametrize("ids", [("q1", "q2", "q3"), (1, 2, 3), None])
@pytest.mark.parametrize("skips", ["zero", "skip"])
def test_json_comes_back_the_same(ids: tuple[Any, ...] | None, skips: str) -> None:
    measures = "AP RR P(rel=2)@5 GAUC NumRelRet GMAP"
    labels = [[1, 0, 2], [0, 0, 0], [0, 3, 1]]
    results = irbatch.evaluate_matrix(labels, measures, query_ids=ids, no_relevant=skips)
    again = irbatch.Results.from_json(results.to_json())
    assert (again.query_ids, again.has_ids) == (results.query_ids, results.has_ids)
    assert again.columns == results.columns
    assert (again.counts, again.settings) == (results.counts, results.settings)
    np.testing.assert_array_equal(again.of_queries.values, results.of_queries.values)
    assert (again.marks == results.marks).all()
    assert again.to_json() == results.to_json()


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state.pop("marks"),
        lambda state: state["marks"].append(0),
        lambda state: state.update(ids="names"),
        lambda state: state["per_query"].update(q2={"AP": 1.0}),
        lambda state: state["per_query"].update(q1={}),
        lambda state: state["mean"].update(nonsense=1.0),
        lambda state: state.update(counts={}),
        lambda state: state.update(mean=[]),
        lambda state: state.pop("relevant"),
        lambda state: state["relevant"].append(1),
        lambda state: state.update(judged=[10**12]),
    ],
)
def test_json_of_something_else_is_rejected(change: Callable[[Any], object]) -> None:
    state = json.loads(irbatch.evaluate({"q1": {"d": 1}}, {"q1": {"d": 1.0}}, "AP").to_json())
    change(state)
    with pytest.raises(InputError, match=r"^results: "):
        irbatch.Results.from_json(json.dumps(state))
    for text in ("[]", "{", "{}", '{"a": 1}', "no such file"):
        with pytest.raises(InputError):
            irbatch.Results.from_json(text)


def test_notes_tell_which_measures_leave_queries_out() -> None:
    results = irbatch.evaluate_matrix([[0.5, 0], [0.5, 1]], "nDCG AP(rel=1)", no_relevant="skip")
    note = "1 query without relevant documents, left out of means that need one"
    assert results.notes() == [note]


def test_repr_is_readable(results: Results) -> None:
    assert repr(results).splitlines() == [
        "Results: 4 queries, 3 measures",
        "  nDCG@10    0.3727",
        "  AP         0.3750",
        "  NumRelRet  3",
        "  1 query missing from the run",
        "  1 query only in the run, ignored",
        "  1 query without relevant documents",
    ]


def test_values_are_read_only_and_results_picklable(results: Results) -> None:
    with pytest.raises(ValueError, match="read-only"):
        results.values[0, 0] = 1
    again = pickle.loads(pickle.dumps(results))
    assert again.mean() == results.mean()
    assert again.signature == results.signature


def test_runs_are_named_by_their_files(tmp_path: Path, digits: Path) -> None:
    paths = [digits / "pca10.run", digits / "pixels-cosine.run"]
    results = irbatch.evaluate_runs(digits / "qrels.txt", paths, "P@10")
    assert list(results) == ["pca10", "pixels-cosine"]
    with pytest.raises(irbatch.InputError, match="two runs are called"):
        irbatch.evaluate_runs(digits / "qrels.txt", [irbatch.Run(RUN, "x")] * 2, "RR")
    with pytest.raises(irbatch.InputError, match="a run has no name"):
        irbatch.evaluate_runs(QRELS, [RUN], "RR")


def test_marks_keep_their_numbers() -> None:
    """States of evaluators hold them."""
    numbers = {mark.name: mark.value for mark in QueryMark}
    assert numbers == {"NO_RELEVANT": 1, "EMPTY": 2, "TIED": 4, "MISSING": 8}
    run = {"q1": {"d1": 2.0, "d2": 2.0}, "q2": {}, "q9": {"d1": 1.0}}
    qrels = {"q1": {"d1": 1}, "q2": {"d1": 1}, "q3": {"d1": 0}}
    results = irbatch.evaluate(qrels, run, "RR", ties="expected")
    assert results.marks.tolist() == [4, 2, 1 + 8]
    assert results.counts == irbatch.evaluation.Counts(3, 3, 2, 1, 1, 1, 1, 1)


@pytest.mark.parametrize(
    "spelled",
    ["map@5-l2", "rbp.95", "hit_rate@5", "P.5", "P@{5}", "ndcg_cut.10", "nDCG(gains={1:1,2:3})@5",
     "iprec_at_recall..3", "NDCG@10", "recall_100"],
)  # fmt: skip
def test_a_measure_is_found_by_the_name_it_was_asked_by(spelled: str) -> None:
    results = irbatch.evaluate(
        {"q": {"a": 2, "b": 1}}, {"q": {"a": 1.0, "c": 0.5}}, [spelled, "AP"]
    )
    assert spelled in results
    assert results[spelled] == results[results.measures[0]]
    assert results.per_query(spelled) == {"q": results[spelled]}
    assert "P@{5,10}" not in results
    assert "nonsense" not in results
