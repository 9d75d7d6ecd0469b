"""What people run into: the wrong thing in the right place, and what they are told."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.file_readers import piped_input
from support.input_errors import input_error

import irbatch
from irbatch import InputWarning, Qrels, Run, evaluate
from irbatch.evaluation import evaluate_sequences, session_dcg
from irbatch.partial import evaluate_partition, merge_partials

QRELS = {f"q{i}": {"d1": 1, "d2": 0} for i in range(12)}
RUN = {f"q{i}": {"d1": 2.0, "d3": 1.0} for i in range(12)}
COLUMNS = {"query_id": ["q1", "q1"], "doc_id": ["d1", "d3"], "score": [2.0, 1.0]}


def test_parquet_through_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    content = io.BytesIO()
    pq.write_table(pa.table(COLUMNS), content)
    with piped_input(content.getvalue(), monkeypatch):
        assert irbatch.read_run("-").to_dict() == {"q1": {"d1": 2.0, "d3": 1.0}}


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "none" / "run.trec"
    with pytest.raises(FileNotFoundError) as caught:
        Run(RUN).to_trec(path)
    assert caught.value.filename == str(path)


def test_no_document_of_the_run_is_judged() -> None:
    other = {query: {"D1": 2.0} for query in RUN}
    for run in (other, Run(other).prepared(), pd.DataFrame(Run(other).to_pandas())):
        with pytest.warns(InputWarning, match="none of its documents is judged.*'d1'"):
            assert evaluate(QRELS, run, "AP")["AP"] == 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate(QRELS, {**other, "q1": {"d2": 1.0}}, "AP")  # judged, if not relevant
        evaluate({"q1": {"d1": 1}}, {"q1": {"D1": 2.0}}, "AP")  # one query may well have none


OF_GROUPS = irbatch.Items(
    groups=irbatch.Groups({"d1": "A", "d3": "B"}, target={"A": 0.5, "B": 0.5})
)


def in_columns() -> None:
    evaluator = irbatch.BatchEvaluator("RR")
    evaluator.update_columns(list(QRELS), ["d1"] * 12, [1.0] * 12, [0] * 12)
    evaluator.compute()


def test_labels_of_nothing_are_told_once() -> None:
    nothing, scores = [[0] * 3] * 12, [[3.0, 2.0, 1.0]] * 12
    none = {query: {"d1": 0} for query in QRELS}
    evaluators = [irbatch.BatchEvaluator("RR", keep=keep) for keep in ("queries", "sums")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for evaluator in evaluators:  # a batch may well have none
            evaluator.update(scores, nothing)
        irbatch.evaluate_scores(scores[:9], nothing[:9], "RR")
    for call in (
        lambda: irbatch.evaluate_scores(scores, nothing, "RR"),
        lambda: irbatch.evaluate_matrix(nothing, "RR"),
        lambda: irbatch.evaluate_ids([[1]] * 12, [[]] * 12, "RR"),
        lambda: irbatch.evaluate_embeddings(scores, scores[:3], nothing, "RR"),
        lambda: evaluate(none, RUN, "RR"),
        lambda: evaluate_partition(none, RUN, "RR").results(none),
        lambda: evaluate({query: {1: {"d1": 0}, 2: {"d2": 0}} for query in QRELS}, RUN, "xInfAP"),
        lambda: evaluate_sequences(none, [RUN, RUN], "EER@2", items=OF_GROUPS),
        in_columns,
        *(evaluator.compute for evaluator in evaluators),
    ):
        with pytest.warns(InputWarning, match="no query has a relevant document") as heard:
            call()
        assert len(heard) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for evaluator in evaluators:
            evaluator.reset()
            evaluator.update(scores, nothing)
            evaluator.compute()


def test_queries_without_relevant_documents_are_counted_at_the_level_asked_for() -> None:
    qrels = QRELS | {f"q{i}": {"d1": 5} for i in range(4)}
    results = evaluate(qrels, RUN, "HR@1", rel=5)
    assert results.notes() == ["8 queries without relevant documents at rel=5"]
    assert results["HR@1"] == 4 / 12
    assert evaluate(qrels, RUN, "HR@1").notes() == []
    assert evaluate({"q": {"d1": 0.5}}, {"q": {"d1": 1.0}}, "HR@1", rel=0.5).notes() == []
    for call in (
        lambda: evaluate(qrels, RUN, "HR@1", rel=6),
        lambda: irbatch.evaluate_runs(qrels, {"a": RUN}, "HR@1", rel=6),
        lambda: evaluate_partition(qrels, RUN, "HR@1", rel=6).results(qrels),
    ):
        with pytest.warns(
            InputWarning, match=r"of grade 6 or more\), .*check the labels and rel=6"
        ):
            call()


MISTAKES: list[Any] = [
    (lambda: irbatch.evaluate_scores(np.eye(2), "AP", np.eye(2)), "is not a measure or its name"),  # type: ignore[arg-type]
    (lambda: evaluate(QRELS, pd.DataFrame({"user": ["q1"], "item": ["d1"]}), "AP"), "'rank'"),
    (
        lambda: evaluate(QRELS, pd.DataFrame({"user": ["q1"], "item": ["d"], "rating": [1]}), "AP"),
        "ranks are enough, in a column 'rank'",
    ),
    (lambda: evaluate(Run(RUN), Qrels(QRELS), "AP"), "a Run is given where judgments belong"),
    (lambda: evaluate(Qrels(QRELS), Qrels(QRELS), "AP"), "Qrels are given where a run belongs"),
    (lambda: evaluate(np.eye(2), np.eye(2), "AP"), "is a ndarray, not a record"),
    (lambda: evaluate(QRELS, RUN, "AP", cutoffs="10"), "must be a whole number of at least 1"),
    (
        lambda: irbatch.evaluate_scores(np.eye(3), measures="RR", positives=[0, 1]),
        "not an array of shape (2,)",
    ),
    (lambda: evaluate(QRELS, COLUMNS, "AP"), "see Run.from_table"),
    (lambda: evaluate({"query_id": ["q1"]}, RUN, "AP"), "see Qrels.from_table"),
    (lambda: session_dcg(QRELS, RUN), "results are what irbatch.evaluate returns"),  # type: ignore[arg-type]
    (lambda: evaluate(QRELS, RUN, "AP RR").per_query(), "say of which: AP, RR"),
    (lambda: evaluate(QRELS, RUN, "AP;RR"), "unknown measure 'AP;RR'"),
    (lambda: Run.from_table({**COLUMNS, "score": ["a", "b"]}), "'a' is not a number"),
    (lambda: Run.from_table(pa.table({**COLUMNS, "score": ["a", "b"]})), "such as 'a', not num"),
    (lambda: irbatch.evaluate_runs(QRELS, ["a.run", "a.run"], "AP"), "are called 'a.run'"),
    *((lambda x=x: irbatch.evaluate_runs(QRELS, x, "P"), "runs") for x in (None, 5)),
    *((lambda x=x: irbatch.measure(x), str(x)) for x in (None, 5)),
    *((lambda x=x: evaluate(QRELS, RUN, "P", threads=x), "threads") for x in ("a", 2.5, 0)),
]


@pytest.mark.parametrize(("call", "fact"), MISTAKES)
def test_mistakes(call: Callable[[], object], fact: str) -> None:
    input_error(call, fact)


def test_results_are_looked_up() -> None:
    results = irbatch.evaluate_runs(QRELS, {"bm25": RUN, "dense": RUN}, "nDCG@10")
    assert results["bm25"].per_query() == results["bm25"].per_query("nDCG@10")
    for call, said in (
        (lambda: results["bm52"], "no system 'bm52'; did you mean bm25"),
        (lambda: results["nDCG@10"], "nDCG@10 is a measure: name a system first"),
        (lambda: results["bm25"]["NDGC@10"], "was not evaluated; there are: nDCG@10; did you mean"),
        (lambda: results["bm25"]["RR"], "was not evaluated; there are: nDCG@10"),
    ):
        with pytest.raises(KeyError, match=said):
            call()
    part = evaluate_partition(QRELS, RUN, "AP")
    assert merge_partials(part) is part
