"""Measuring a search: what the warm-up asks, and signs that it is not apart from what is timed."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from support.clocks import Clock

from irbatch import InputError, InputWarning
from irbatch.efficiency import EfficiencyRecord, Hardware, measure_search

quick = partial(measure_search, hardware=Hardware(), draws=0, progress=False, system="s")
TEN = range(10)


def taking(clock: Clock, milliseconds: Callable[[int, Any], float]) -> Callable[[Any], list[str]]:
    """Return a search that takes what is said of the number of the call and its query."""
    made = iter(range(10**6))

    def search(query: Any) -> list[str]:
        clock.now += round(milliseconds(next(made), query) * 1e6)
        return ["d"]

    return search


def keeping(clock: Clock, first: float = 5.0, again: float = 0.0002) -> Callable[[Any], list[str]]:
    """Return a search that keeps its answers."""
    known: set[Any] = set()

    def milliseconds(call: int, query: Any) -> float:
        took = again if query in known else first
        known.add(query)
        return took

    return taking(clock, milliseconds)


# Queries of the warm-up


@pytest.mark.parametrize("others", [["a", "b"], {"w1": "a", "w2": "b"}, iter(["a", "b"])])
def test_a_warm_up_of_other_queries(others: Any) -> None:
    asked: list[str] = []
    record = quick(
        lambda query: asked.append(query) or ["d"], ["x", "y"], warmup=3, warmup_queries=others
    ).record
    assert asked == ["a", "b", "a", "x", "y"]
    assert (record.warmup, record.n_queries, record.warmed_queries) == (3, 2, 0)


def test_a_warm_up_of_other_queries_in_batches() -> None:
    asked: list[list[int]] = []

    def several(queries: list[int]) -> list[list[str]]:
        asked.append(queries)
        return [["d"]] * len(queries)

    quick(several, [1, 2, 3], batch_size=2, warmup=2, warmup_queries=[7, 8, 9],
          throughput_batch_size=4)  # fmt: skip
    assert asked == [[7, 8], [9], [1, 2], [3], [7, 8, 9], [1, 2, 3]]


@pytest.mark.parametrize(
    ("options", "warmed"),
    [
        ({"warmup": 0}, 0),
        ({"warmup": 2}, 2),
        ({"warmup": 9}, 4),
        ({"warmup": 1, "batch_size": 3}, 3),
        ({"warmup": 5, "warmup_queries": ["e", "f", "b", "a"]}, 2),
        ({"warmup": 2, "warmup_queries": ["e", "f", "b", "a"]}, 0),
        ({"warmup": 5, "warmup_queries": np.eye(3)}, 0),
    ],
)
def test_the_record_says_how_many_queries_were_asked_before(
    options: dict[str, Any], warmed: int
) -> None:
    def search(given: Any) -> list[Any]:
        return [["d"]] * len(given) if "batch_size" in options else ["d"]

    record = quick(search, ["a", "b", "c", "d"], **options).record
    assert record.warmed_queries == warmed
    assert EfficiencyRecord.from_json(record.to_json()).warmed_queries == warmed


@pytest.mark.parametrize(
    ("wrong", "message"), [([], "there are no queries"), ("cat", "put it in a list")]
)
def test_what_is_no_queries_is_refused(wrong: Any, message: str) -> None:
    asked: list[str] = []
    with pytest.raises(InputError, match=rf"warm-up of record of 's': .*{message}"):
        quick(asked.append, ["a"], warmup_queries=wrong)
    assert asked == []


# Signs in the times


@pytest.mark.parametrize("queries", [10, 100])
def test_answers_that_are_kept_from_the_warm_up(clock: Clock, queries: int) -> None:
    others = "" if queries == 10 else "; the other calls took 5 ms"
    told = f"times of 's' are of two kinds: 10 calls of the warm-up took 5 ms first, and 0.0002 ms when they were timed{others} (medians); it keeps answers"  # noqa: E501
    with pytest.warns(InputWarning, match=re.escape(told)) as caught:
        quick(keeping(clock), range(queries), repeat=2)
    assert len(caught) == 1
    quick(keeping(clock), range(queries), warmup_queries=range(1000, 1010))


def test_answers_that_are_kept_from_the_first_pass(clock: Clock) -> None:
    told = "calls took 5 ms in the first pass, and 0.0002 ms in later ones (medians); it keeps"
    with pytest.warns(InputWarning, match=re.escape(told)):
        quick(keeping(clock), TEN, repeat=3, warmup_queries=range(1000, 1010))
    with pytest.warns(InputWarning, match=re.escape(told)):
        quick(keeping(clock), TEN, repeat=2, warmup=0)


def test_a_warm_up_that_was_not_over(clock: Clock) -> None:
    with pytest.warns(InputWarning, match=r"5 ms in the first pass, and 2 ms .* was not over"):
        quick(taking(clock, lambda call, query: 5.0 if call < 30 else 2.0), TEN, repeat=3,
              warmup=20)  # fmt: skip


def test_later_passes_that_are_slower(clock: Clock) -> None:
    with pytest.warns(InputWarning, match="2 ms in the first pass, and 5 ms .* slows down"):
        quick(taking(clock, lambda call, query: 5.0 if call >= 20 else 2.0), TEN, repeat=4)


@pytest.mark.parametrize(
    "milliseconds",
    [
        lambda call, query: 5.0,
        lambda call, query: 5.0 + query,
        lambda call, query: 0.1 if call < 20 else 0.001,
        lambda call, query: 5.0 if call < 20 else 2.6,
        lambda call, query: 900.0 if call < 6 else 5.0,
        lambda call, query: 900.0 if call in (12, 40) else 5.0,
        lambda call, query: 2.5 if query < 10 else 10.0,
    ],
    ids=["even", "by query", "below a tenth of a ms", "less than half", "a slow start",
         "outliers", "short queries first"],
)  # fmt: skip
def test_other_times_are_no_sign(clock: Clock, milliseconds: Callable[[int, Any], float]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for repeat in (1, 3):
            quick(taking(clock, milliseconds), range(40), repeat=repeat)


@pytest.mark.parametrize("queries", [1, 4])
def test_few_calls_are_no_sign(clock: Clock, queries: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick(keeping(clock), range(queries), repeat=3)
