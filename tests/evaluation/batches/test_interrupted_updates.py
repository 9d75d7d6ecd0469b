"""An update that breaks off anywhere leaves the state as it was: an error is raised at each line.

At those of the room that updates evaluators, and of what it calls in its own package: whatever is
raised deeper comes out there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import irbatch
import irbatch.evaluation
import irbatch.evaluation.batches
from irbatch import BatchEvaluator

Change = Callable[[BatchEvaluator], object]
Place = tuple[str, int]

RANDOM = np.random.default_rng(3)
SCORES = np.round(RANDOM.standard_normal((9, 12)), 1).astype(np.float32)
LABELS = np.where(RANDOM.random(SCORES.shape) < 0.2, RANDOM.integers(1, 3, SCORES.shape), 0)
MEASURES = "RR GMAP"
ROOM = str(Path(irbatch.evaluation.__file__).parent)


class Interruption(BaseException):
    """As of Ctrl-C, or of memory that there is not."""


def scores(rows: slice, ids: list[str] | None, **options: Any) -> Change:
    return lambda each: each.update(SCORES[rows], LABELS[rows], query_ids=ids, **options)


def pairs(rows: slice, ids: list[str] | None = None) -> Change:
    size = rows.stop - rows.start
    return lambda each: each.update(SCORES[rows], positives=[0] * size, query_ids=ids)


def columns(queries: list[str], documents: list[str], grade: int = 1) -> Change:
    numbers = [float(len(each)) for each in documents]
    return lambda each: each.update_columns(queries, documents, numbers, [grade] * len(queries))


def later(each: BatchEvaluator) -> None:
    pairs(slice(6, 9), ["x", "y", "z"])(each)


A, B = slice(0, 3), slice(3, 6)
QUERIES: dict[str, tuple[dict[str, Any], list[Change], Change]] = {
    "the first": ({}, [], scores(A, ["a", "b", "c"])),
    "without ids": ({}, [pairs(A)], pairs(B)),
    "new queries": ({}, [pairs(A, ["a", "b", "c"])], pairs(B, ["d", "e", "f"])),
    "labels": ({}, [scores(A, ["a", "b", "c"])], scores(B, ["d", "e", "f"])),
    "the same again": ({}, [pairs(A, ["a", "b", "c"])], pairs(A, ["a", "b", "c"])),
    "some again": (
        {"repeated": "last"},
        [scores(A, ["a", "b", "c"]), pairs(B, ["d", "e", "f"])],
        scores(B, ["c", "d", "g"]),
    ),
    "twice in a batch": (
        {"repeated": "first"},
        [scores(A, ["a", "b", "c"])],
        scores(B, ["d", "d", "a"]),
    ),
    "with columns": (
        {},
        [pairs(A, ["a", "b", "c"]), columns(["d"], ["m"])],
        pairs(B, ["e", "f", "g"]),
    ),
    "columns": (
        {},
        [pairs(A, ["a", "b", "c"]), columns(["d", "e"], ["m", "n"])],
        columns(["d", "d", "f", "e"], ["m", "oo", "m", "ppp"]),
    ),
    "lists": (
        {},
        [pairs(A, ["a", "b", "c"])],
        lambda each: each.update_ids({"d": ["m", "n"]}, {"d": ["n"]}),
    ),
    "results": (
        {},
        [pairs(A, ["a", "b", "c"])],
        lambda each: each.add(irbatch.evaluate({"d": {"m": 1}}, {"d": {"m": 1.0}}, MEASURES)),
    ),
    "merging": (
        {},
        [pairs(A, ["a", "b", "c"])],
        lambda each: each.merge(prepared({}, [pairs(B, ["d", "e", "f"])])),
    ),
    "computing": ({}, [pairs(A, ["a", "b", "c"])], BatchEvaluator.compute),
    "sums": ({"keep": "sums"}, [scores(A, None)], scores(B, None)),
    "sums of pairs": ({"keep": "sums"}, [pairs(A)], pairs(B)),
}


def prepared(options: dict[str, Any], changes: list[Change]) -> BatchEvaluator:
    evaluator = BatchEvaluator(MEASURES, **options)
    for change in changes:
        change(evaluator)
    return evaluator


def interrupted(work: Callable[[], object], place: Place | None) -> set[Place]:
    """Run, and raise where a place is reached first; return the places that were reached."""
    reached: set[Place] = set()

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if not frame.f_code.co_filename.startswith(ROOM):
            return None
        if event == "line" and (here := (frame.f_code.co_filename, frame.f_lineno)) not in reached:
            reached.add(here)
            if here == place:
                sys.settrace(None)
                raise Interruption
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    except Interruption:
        pass
    finally:
        sys.settrace(before)
    return reached


def seen(evaluator: BatchEvaluator) -> tuple[Any, ...]:
    return repr(evaluator.state_dict()), len(evaluator), evaluator.repeats


@pytest.mark.parametrize("waiting", [0, 8192])
@pytest.mark.parametrize("name", QUERIES)
def test_an_interruption_changes_nothing(
    name: str, waiting: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(irbatch.evaluation.batches, "MOST_WAITING", waiting)
    monkeypatch.setenv("IRBATCH_JIT", "0")  # so that the same lines are reached each time
    options, changes, change = QUERIES[name]
    after = later if options.get("keep") != "sums" and name != "without ids" else pairs(A)
    before = seen(prepared(options, changes))
    wanted = seen(prepared(options, [*changes, change, after]))
    first, second = prepared(options, changes), prepared(options, changes)
    interrupted(lambda: change(first), None)  # some lines are reached once in a process
    places = sorted(interrupted(lambda: change(second), None))
    assert len(places) > 15
    for i, place in enumerate(places):
        evaluator = prepared(options, changes)
        interrupted(lambda evaluator=evaluator: change(evaluator), place)
        if i % 3:  # else what waits is not evaluated in between
            assert seen(evaluator) == before, place
        change(evaluator)
        after(evaluator)
        assert seen(evaluator) == wanted, place
