"""States of something else, and damaged ones: rejected, and nothing has changed."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error, refusal
from support.replacing import GARBAGE, Path, places, replaced, without

from irbatch import BatchEvaluator

MEASURES = "RR GMAP NumRel Bpref"
State = dict[str, Any]


def evaluator(keep: str = "queries", **options: Any) -> BatchEvaluator:
    return BatchEvaluator(MEASURES, keep=keep, **options)


def filled(keep: str = "queries", **options: Any) -> BatchEvaluator:
    """One that has seen two queries, one without relevant documents, and documents in columns."""
    made = evaluator(keep, **options)
    scores, labels = [[3, 2, 1], [1, 2, 3]], [[0, 1, 0], [0, 0, 0]]
    made.update(scores, labels, query_ids=["a", "b"] if keep == "queries" else None)
    made.update_columns(["c", "d"], ["x", "y"], [1.0, 2.0], [1, 0])
    return made


@pytest.mark.parametrize("keep", ["queries", "sums"])
def test_garbage_is_rejected_or_another_state(keep: str) -> None:
    good = filled(keep).state_dict()
    kept = filled(keep)
    for path in places(good):
        for value in GARBAGE:
            bad = replaced(good, path, value)
            if refusal(lambda kept=kept, bad=bad: kept.load_state_dict(bad)):
                assert kept.state_dict() == good, (path, value)
            else:
                kept.state_dict()
                kept = filled(keep)


OTHER_STATES: list[tuple[str, Path, Any, tuple[str, ...]]] = [
    ("queries", ("measures",), ["RR", "GMAP", "NumRel", "AP"], ("measures", "AP")),
    ("queries", ("measures",), ["RR@1", "GMAP", "NumRel", "Bpref"], ("measures", "RR@1")),
    ("queries", ("format",), 1, ("format", "1")),
    ("queries", ("keep",), "sums", ("keep", "sums")),
    ("queries", ("vaules",), 1, ("'vaules'",)),
    ("queries", ("query_ids",), ["a", "a"], ("query_ids",)),
    ("queries", ("query_ids",), ["a", "b", "c"], ("query_ids",)),
    ("queries", ("values",), [[0.5, 0.5, 1.0, 1.0]], ("(2,4)",)),
    ("queries", ("marks", 0), 16, ("marks",)),
    ("queries", ("extra",), -1, ("extra",)),
    ("sums", ("counts", 0), -1, ("counts",)),
    ("sums", ("zeros",), [0] * 3, ("shape",)),
]


@pytest.mark.parametrize(("keep", "path", "value", "facts"), OTHER_STATES, ids=str)
def test_states_of_something_else(
    keep: str, path: Path, value: Any, facts: tuple[str, ...]
) -> None:
    bad = replaced(filled(keep).state_dict(), path, value)
    for change in (evaluator(keep).load_state_dict, evaluator(keep).merge):
        input_error(lambda change=change: change(bad), "state", *facts)


@pytest.mark.parametrize("keep", ["queries", "sums"])
def test_keys_that_are_missing(keep: str) -> None:
    good = filled(keep).state_dict()
    for key in good:
        bad = without(good, (key,))
        input_error(lambda bad=bad: evaluator(keep).load_state_dict(bad), f"{key!r} is missing")


def test_sums_that_no_memory_holds_are_refused() -> None:
    state = evaluator("sums").state_dict()
    many = 2**62 - 1
    state |= {"counts": [many, many, many, 0, 0, 0, 0, 0], "counted": [many] * 4}
    evaluator("sums").load_state_dict(state)
    input_error(lambda: evaluator("sums").merge(state, state), "counts", "64 bits")


def test_values_that_are_not_averaged_may_be_kept() -> None:
    for options in ({"no_relevant": "skip"}, {}):
        made = evaluator(**options)
        made.update([[1, 2], [1, 2]], [[1, 0], [0, 0]])
        again = evaluator(**options)
        again.load_state_dict(json.loads(json.dumps(made.state_dict())))
        assert repr(again.state_dict()) == repr(made.state_dict())


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
