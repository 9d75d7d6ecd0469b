"""States of evaluators that are none: refused by what is wrong with them, whatever it is."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error, refusal
from support.replacing import Path, places, replaced, without

import irbatch
from irbatch import BatchEvaluator

MEASURES = "RR GMAP NumRel Bpref"
State = dict[str, Any]

DEEP: list[Any] = []
for _ in range(3000):
    DEEP = [DEEP]

GARBAGE: list[Any] = [
    None, True, "x", b"x", "", float("nan"), float("inf"), -1, 2.5, 10**30, 2**63, -(2**70), 1j,
    [], [[]], [None], {}, {"x": 1}, {1, 2}, (), [1, "x"], [[1], [2, 3]], DEEP, object(), Ellipsis,
    np.zeros(0), np.zeros((3, 3, 3)), np.ones(1), np.array(5), np.array(["a"]),
    np.datetime64("now"), [True], [float("nan")], [-1], [2.5], [10**30],
]  # fmt: skip


def evaluator(keep: str = "queries", **options: Any) -> BatchEvaluator:
    return BatchEvaluator(MEASURES, keep=keep, **options)


def filled(keep: str = "queries", **options: Any) -> BatchEvaluator:
    """One that has seen two queries, one without relevant documents, and documents in columns."""
    made = evaluator(keep, **options)
    scores, labels = [[3, 2, 1], [1, 2, 3]], [[0, 1, 0], [0, 0, 0]]
    made.update(scores, labels, query_ids=["a", "b"] if keep == "queries" else None)
    made.update_columns(["c", "d"], ["x", "y"], [1.0, 2.0], [1, 0])
    return made


def is_allowed(path: Path, value: Any) -> bool:
    """Tell whether a value is one that may stand there, though it is another state then."""
    value = value.item() if isinstance(value, np.ndarray) and not value.ndim else value
    number = isinstance(value, int | float) and not isinstance(value, bool) and value == value
    match path:
        case ("columns", "query_ids" | "document_ids", _) | ("query_ids", _):
            return isinstance(value, int | str) and not isinstance(value, bool)
        case ("columns", "scores", _):
            return number or value is True
        case ("columns", "grades", _):
            return value is True or (number and abs(value) <= 2**53)
        case ("values", _, 2):  # counts of documents
            return number and 0 <= value < float("inf")
        case ("marks", _):
            return number and value in range(16)
        case ("repeats" | "extra",):
            return number and value == 5
        case ("query_ids",):
            return value is None or value == [1, "x"]
        case ("signature",):
            return value == {}
        case ("signature", _):
            return isinstance(value, str)
        case ("sums", _, 0):  # ever so little more or less
            return number and abs(value) < 10
    return False


@pytest.mark.parametrize("keep", ["queries", "sums"])
def test_garbage_is_refused_by_its_key_and_changes_nothing(keep: str) -> None:
    good = filled(keep).state_dict()
    kept = filled(keep)
    kept.update([[1, 2]], [[1, 0]], query_ids=["z"] if keep == "queries" else None)
    before = kept.state_dict()
    for path in places(good):
        for value in GARBAGE:
            bad = replaced(good, path, value)
            if problem := refusal(lambda kept=kept, bad=bad: kept.merge(bad)):
                assert (str(path[0]) if path else "state") in str(problem), (path, value)
                assert kept.state_dict() == before, (path, value)
                continue
            taken = evaluator(keep)
            taken.load_state_dict(bad)
            same = repr(taken.state_dict()) == repr(good)
            assert same or is_allowed(path, value), (path, value)
            kept = filled(keep)
            kept.load_state_dict(before)


@pytest.mark.parametrize("keep", ["queries", "sums"])
def test_keys_that_are_missing_or_too_many(keep: str) -> None:
    good = filled(keep).state_dict()
    for path in places(good):
        if path and path[0] != "signature":
            bad = without(good, path)
            input_error(lambda bad=bad: evaluator(keep).load_state_dict(bad), str(path[0]))
    for part in ((), ("columns",)):
        bad = replaced(good, (*part, "vaules"), 1)
        input_error(lambda bad=bad: evaluator(keep).load_state_dict(bad), "'vaules'")


OTHER_STATES: list[tuple[str, Path, Any, tuple[str, ...]]] = [
    ("queries", ("measures",), ["RR", "GMAP", "NumRel", "AP"], ("measures", "AP")),
    ("queries", ("measures",), ["RR@1", "GMAP", "NumRel", "Bpref"], ("measures", "RR@1")),
    ("queries", ("format",), 2, ("format", "2")),
    ("queries", ("keep",), "sums", ("keep", "sums")),
    ("queries", ("query_ids",), ["a", "a"], ("query_ids", "'a'")),
    ("queries", ("query_ids",), ["a", "b", "c"], ("query_ids", "3")),
    ("queries", ("values",), [[0.5, 0.5, 1.0, 1.0]], ("values", "(1, 4)", "(2, 4)")),
    ("queries", ("values", 0, 0), 1.25, ("values", "RR", "1.25", "'a'")),
    ("queries", ("values", 1, 3), -0.5, ("values", "Bpref", "-0.5", "'b'")),
    ("queries", ("values", 1, 1), float("nan"), ("values", "GMAP", "nan", "'b'")),
    ("queries", ("values", 0, 2), -1.0, ("values", "NumRel", "-1")),
    ("queries", ("marks", 0), 16, ("marks", "16")),
    ("queries", ("repeats",), -1, ("repeats", "-1")),
    ("sums", ("counts", 0), -1, ("counts", "-1")),
    ("sums", ("counts", 5), 3, ("counts", "no_relevant", "3")),
    ("sums", ("counts", 2), 1, ("counts", "answered", "judged")),
    ("sums", ("counted", 0), 3, ("counted", "RR", "3")),
    ("sums", ("counted", 0), 1, ("counted", "RR", "1")),
    ("sums", ("zeros", 0), 1, ("zeros", "RR", "1")),
    ("sums", ("zeros", 1), 3, ("zeros", "GMAP", "3")),
    ("sums", ("sums", 0), [1] * 67, ("sums", "RR")),
    ("sums", ("sums", 0, 66), -(2**61), ("sums", "RR")),
]  # fmt: skip


@pytest.mark.parametrize(("keep", "path", "value", "facts"), OTHER_STATES, ids=str)
def test_states_of_something_else(
    keep: str, path: Path, value: Any, facts: tuple[str, ...]
) -> None:
    bad = replaced(filled(keep).state_dict(), path, value)
    for change in (evaluator(keep).load_state_dict, evaluator(keep).merge):
        input_error(lambda change=change: change(bad), "state", *facts)


@pytest.mark.parametrize(
    ("keep", "path", "value", "facts"),
    [
        ("queries", ("values", 0, 1), -1.0, ("values", "weight of GAUC", "-1")),
        ("queries", ("values",), [[0.5]], ("values", "(1, 1)", "(1, 2)")),
        ("sums", ("sums", 0), [0] * 34 + [3] + [0] * 32, ("sums", "GAUC", "1 counted")),
        ("sums", ("counted", 1), 0, ("counted", "weight of GAUC", "0")),
    ],
)
def test_weights_that_there_cannot_be(
    keep: str, path: Path, value: Any, facts: tuple[str, ...]
) -> None:
    made = BatchEvaluator("GAUC", keep=keep)
    made.update([[3, 2, 1]], [[0, 1, 0]])
    bad = replaced(made.state_dict(), path, value)
    input_error(lambda: made.load_state_dict(bad), "state", *facts)
    assert made.compute()["GAUC"] == 0.5


def test_sums_that_no_memory_holds_are_refused() -> None:
    state = evaluator("sums").state_dict()
    many = 2**62 - 1
    state |= {"counts": [many, many, many, 0, 0, 0, 0, 0], "counted": [many] * 4}
    evaluator("sums").load_state_dict(state)
    input_error(lambda: evaluator("sums").merge(state, state), "counts", "64 bits")


def test_values_that_are_not_averaged_may_be_kept() -> None:
    for options in ({"no_relevant": "skip"}, {}):
        made = evaluator(**options)
        qrels, run = {"a": {"x": 1}, "b": {"x": 0}}, {"a": {"x": 1.0}, "b": {"x": 1.0}}
        made.add(irbatch.evaluate(qrels, run, MEASURES, no_relevant="skip"))
        again = evaluator(**options)
        again.load_state_dict(json.loads(json.dumps(made.state_dict())))
        assert repr(again.state_dict()) == repr(made.state_dict())


def test_results_that_no_evaluation_returns_are_not_added() -> None:
    results = irbatch.evaluate({"a": {"x": 1}}, {"a": {"x": 1.0}}, MEASURES)
    for value in (np.nan, 1.5, -1.0):
        wrong = irbatch.Results(
            np.full((1, 4), value), ["a"], results.columns, results.counts, results.settings
        )
        input_error(lambda wrong=wrong: evaluator().add(wrong), "results", "RR", query="a")


class Text(str):
    __slots__ = ()


def json_copy(state: State) -> Any:
    return json.loads(json.dumps(state))


def pickled_copy(state: State) -> Any:
    return pickle.loads(pickle.dumps(state))


def torch_copy(state: State) -> Any:
    torch = pytest.importorskip("torch")
    buffer = BytesIO()
    torch.save(state, buffer)
    buffer.seek(0)
    return torch.load(buffer, weights_only=True)


@pytest.mark.parametrize("copied", [json_copy, pickled_copy, torch_copy])
@pytest.mark.parametrize("options", [{}, {"keep": "sums"}, {"no_relevant": "skip"}], ids=str)
def test_states_are_plain_numbers_and_texts(
    copied: Callable[[State], Any], options: dict[str, Any]
) -> None:
    made = filled(**options)
    if made.state_dict()["keep"] == "queries":
        made.update([[1, 2]] * 2, positives=[0, 1], query_ids=[np.int64(3), np.int8(4)])
        made.update([[1, 2]] * 2, positives=[0, 1], query_ids=[Text("t"), np.str_("u")])
    made.update_columns(
        [Text("e"), np.str_("e")], [Text("x"), np.str_("y")],
        [np.float32(0.1), 2**60], [np.int8(1), np.float64(0)],
    )  # fmt: skip
    state = made.state_dict()
    again = made.__class__(MEASURES, **options)
    again.load_state_dict(copied(state))
    assert repr(again.state_dict()) == repr(state)
    assert repr(again.compute().mean()) == repr(made.compute().mean())


def test_documents_that_came_again_stay_counted() -> None:
    made = filled()
    made.update_columns(["c"], ["x"], [1.0], [1])
    made.update([[3, 2, 1]], [[0, 1, 0]], query_ids=["a"])
    assert made.repeats == pickle.loads(pickle.dumps(made)).repeats == 2
