"""Conditions on leaderboards: when they hold, when they cannot, and what lacks a value."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.input_errors import ANYTHING, input_error

import irbatch
from irbatch.comparing.gate import check
from irbatch.efficiency import EfficiencyRecord, Latency
from irbatch.leaderboard import Leaderboard


def record(system: str, p95: float | None, **more: Any) -> EfficiencyRecord:
    latency = None if p95 is None else Latency(mean=p95 / 2, p95=p95, **more)
    return EfficiencyRecord(system=system, latency=latency)


RECORDS = [record("bm25", 12), record("dense", 45, intervals={"p95": (40, 52)}),
           record("slow", 140), record("old", None)]  # fmt: skip
ACCURACY = {
    "bm25": {"RR@10": 0.19, "FirstRank": 5.0},
    "dense": {"RR@10": {"mean": 0.33, "low": 0.31, "high": 0.35}, "FirstRank": 3.0},
    "slow": {"RR@10": 0.31, "FirstRank": 4.0},
    "old": {"RR@10": 0.18, "FirstRank": 9.0},
}
BOARD = Leaderboard(ACCURACY, RECORDS)


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("latency_p95 > 50", ["slow: latency_p95 is 140, > 50", "old: latency_p95 is missing"]),
        ("latency p95 > 139.99", ["slow: latency_p95 is 140, > 139.99",
                                  "old: latency_p95 is missing"]),
        ("latency_p95 >= 140", ["slow: latency_p95 is 140, >= 140", "old: latency_p95 is missing"]),
        ("of bm25: latency_p95 > 50", []),
        ("of slow: latency_p95 > 50", ["slow: latency_p95 is 140, > 50"]),
        ("of old: latency > 50", ["old: latency_mean is missing"]),
        ("MRR@10 < 0.3", ["bm25: RR@10 is 0.19, < 0.3", "old: RR@10 is 0.18, < 0.3"]),
        ("FirstRank > 4", ["bm25: FirstRank is 5, > 4", "old: FirstRank is 9, > 4"]),
        ("of dense: RR@10 lower bound < 0.32",
         ["dense: the lower bound of RR@10 is 0.31, < 0.32"]),
        ("of dense: latency_p95 upper bound > 50",
         ["dense: the upper bound of latency_p95 is 52, > 50"]),
        ("of dense: RR@10 upper bound < 0.32", []),
        ("of slow: RR@10 lower bound < 0.3", ["slow: RR@10 has no interval"]),
        ("dominated on RR@10, latency_p95",
         ["slow: dominated on RR@10 and latency_p95 by dense", "old: latency_p95 is missing"]),
        ("of dense: dominated on RR@10, latency_p95", []),
        ("dominated on FirstRank", ["bm25: dominated on FirstRank by dense and slow",
                                    "slow: dominated on FirstRank by dense",
                                    "old: dominated on FirstRank by bm25, dense and slow"]),
    ],
)  # fmt: skip
def test_failures(condition: str, said: list[str]) -> None:
    assert BOARD.failures(condition) == said


@pytest.mark.parametrize(
    ("requirement", "said"),
    [
        ("RR@10 >= 0.19", ["old: RR@10 is 0.18, not >= 0.19"]),
        ("latency_p95 <= 50", ["slow: latency_p95 is 140, not <= 50",
                               "old: latency_p95 is missing"]),
        ("of dense: latency_p95 upper bound <= 52", []),
        ("of dense: not dominated on RR@10, latency", []),
        ("of slow: not dominated on RR@10, latency",
         ["slow: dominated on RR@10 and latency_mean by dense"]),
    ],
)  # fmt: skip
def test_requirements(requirement: str, said: list[str]) -> None:
    assert BOARD.unmet(requirement) == said


@pytest.mark.parametrize(
    ("condition", "fact"),
    [
        ("latency_p95 < 50", "is a requirement: lower values of latency_p95 are better"),
        ("RR@10 >= 0.3", "is a requirement: higher values of RR@10 are better"),
        ("not dominated on RR@10", "is a requirement"),
        ("dominated", "is not of a form such as"),
        (None, "is not of a form such as"),
        ("size > 3", "there is no axis 'size'"),
        ("of web: RR@10 < 0.3", "'web' is not on the leaderboard"),
        ("RR@10 < 0.3 and latency_p95 > 4", "more than one condition"),
    ],
)
def test_what_is_refused(condition: Any, fact: str) -> None:
    error = input_error(lambda: BOARD.failures(condition), fact)
    assert "\n" not in str(error)


def test_requirements_that_are_conditions() -> None:
    input_error(lambda: BOARD.unmet("RR@10 < 0.3"), "is a condition to fail by", value=ANYTHING)
    input_error(lambda: BOARD.unmet("dominated on RR@10"), "is a condition", value=ANYTHING)


def test_of_no_system_nothing_is_told() -> None:
    board = BOARD.where("latency_p95 < 1")
    for text in ("RR@10 >= 0.99", "of dense: RR@10 >= 0.1", "not dominated on RR@10"):
        input_error(lambda text=text: board.unmet(text), "no system is left", value=text)  # type: ignore[misc]
    input_error(lambda: board.failures("RR@10 < 0.1"), "no system is left", value="RR@10 < 0.1")


def test_several_conditions() -> None:
    slow = ["slow: latency_p95 is 140, > 50", "old: latency_p95 is missing"]
    low = ["old: RR@10 is 0.18, < 0.19"]
    texts = ["latency_p95 > 50", "RR@10 < 0.19"]
    assert BOARD.failures(texts) == BOARD.failures(*texts) == slow + low
    assert BOARD.unmet(("RR@10 >= 0.1", "RR@10 >= 0.19")) == ["old: RR@10 is 0.18, not >= 0.19"]
    input_error(lambda: BOARD.unmet([]), "no condition")


def test_in_per_cent() -> None:
    board = Leaderboard({"a": {"RR@10": 33.0}, "b": {"RR@10": 20.0}},
                        [record("a", 1), record("b", 2)])  # fmt: skip
    assert board.failures("RR@10 < 30") == ["b: RR@10 is 20, < 30"]
    said = "RR@10 of 33 is not between 0 and 1: in per cent?"
    input_error(lambda: board.unmet("RR@10 >= 0.18"), said, value=33.0)
    input_error(lambda: board.failures("MRR@10 < 0.18"), said, value=33.0)


def test_bounds_hold_for_losses_that_were_not_seen() -> None:
    """Student's interval of ten equal values has no width: the next query may be a loss."""
    results = irbatch.evaluate_matrix([[1.0]] * 10, "P@1")
    results.name = "a"
    board = Leaderboard([results], record("a", 1))
    assert board.bounds("P@1").tolist() == [[1.0, 1.0]]
    assert board.unmet("P@1 lower bound >= 0.9") == [
        "a: the lower bound of P@1 is 0.6915, not >= 0.9"
    ]
    assert board.unmet("P@1 lower bound >= 0.6") == []
    assert board.where("P@1 lower bound >= 0.9").left_out == {"a": ["P@1 lower bound >= 0.9"]}


def test_gates_stand_in_json() -> None:
    outcomes = check(BOARD, ["latency_p95 > 50"], required=False)
    told = json.loads(BOARD.to_json(gates=outcomes))
    fields = ("system", "passed", "value", "limit")
    assert [tuple(gate[name] for name in fields) for gate in told["gates"]] == [
        ("bm25", True, 12, 50), ("dense", True, 45, 50), ("slow", False, 140, 50),
        ("old", False, None, 50),
    ]  # fmt: skip
    assert told["gates"][0]["told"] == "bm25: latency_p95 is 12, not > 50"
    dominated = check(BOARD, ["of slow: not dominated on RR@10"], required=True)
    assert [(gate.system, gate.passed) for gate in dominated] == [("slow", False)]
    again = Leaderboard.from_json(BOARD.to_json(gates=[*outcomes, *dominated]))
    assert again.to_json() == BOARD.to_json()
