"""Times and rates are compared between systems that were measured under the same conditions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import irbatch
from irbatch.efficiency import EfficiencyRecord, Hardware, Latency, Load, LoadAtRate
from irbatch.leaderboard import Leaderboard

CLOSED = Latency(mean=2, p95=3, calls=100, loop="closed")
OPEN = Latency(mean=40, p95=90, calls=100, loop="open", rate=50, arrivals="poisson", errors=0)
FASTER = Latency(mean=60, p95=95, calls=100, loop="open", rate=80)
UNSAID = Latency(mean=5, p95=9, calls=100)


def made(*fields: dict[str, Any]) -> Leaderboard:
    """Put s0, s1, … on a leaderboard, each more accurate than the last."""
    records = [EfficiencyRecord(system=f"s{i}", **each) for i, each in enumerate(fields)]
    accuracy = {each.system: {"RR": 0.5 + i / 10} for i, each in enumerate(records)}
    return Leaderboard(accuracy, records)


def of_latency(ms: float, **more: Any) -> dict[str, Any]:
    return {"latency": Latency(mean=ms), "price_per_hour": 1, **more}


@pytest.mark.parametrize(
    ("latencies", "said"),
    [
        ([OPEN, None], "Measured on a machine unsaid, an open loop at 50 queries/s."),
        ([UNSAID, CLOSED], ""),
        ([CLOSED, OPEN], "unsaid: s0; a machine unsaid, an open loop at 50 que"),
        ([OPEN, FASTER], "an open loop at 80 queries/s: s1)"),
    ],
)
def test_loops_are_told(latencies: list[Latency | None], said: str) -> None:
    board = made(*({"latency": each} for each in latencies))
    text = " ".join(board.to_text().split())
    assert "mean latency (ms)" in text
    assert said in text
    assert ("compared only within" in text) == ("unsaid: s0;" in said or "80" in said)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"hardware": "small"}, {"hardware": "large"}),
        ({"hardware": "small"}, {}),
        ({}, {"batch_size": 8}),
        ({"latency": CLOSED}, {"latency": OPEN}),
        ({"latency": OPEN}, {"latency": FASTER}),
    ],
)
def test_under_other_conditions_none_is_better(one: dict[str, Any], other: dict[str, Any]) -> None:
    board = made({**of_latency(9), **one}, {**of_latency(5), **other}, {**of_latency(4), **other})
    found = board.pareto(["RR", "latency"])
    assert (found.frontier, found.dominated_by) == (["s0", "s2"], {"s1": ["s2"]})
    assert found.conditions.keys() == {"s0", "s1", "s2"}
    latency, accuracy = (
        [board._document("text", columns=[axis]).parts[0].rows[i][1].stands_out  # type: ignore[union-attr]
         for i in range(3)] for axis in ("latency", "RR")
    )  # fmt: skip
    assert not any(latency)
    assert any(accuracy)
    assert "latency of its conditions" in board.to_text(frontier=["RR", "latency"], width=900)
    assert board.failures("dominated on RR, latency") == [
        "s1: dominated on RR and latency_mean by s2"
    ]
    assert board.pareto(["RR"]).conditions == {}, "it is no time"


def test_each_of_the_conditions_has_a_frontier_in_the_picture() -> None:
    pytest.importorskip("matplotlib")
    board = made(of_latency(9, hardware="small"), of_latency(5, hardware="large"),
                 of_latency(4, hardware="large"))  # fmt: skip
    ax = board.plot("latency")
    lines = [line for line in ax.lines if len(line.get_xdata()) > 1]
    assert len({line.get_color() for line in lines}) == len(lines) == 2
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["small", "large"]
    assert ax.get_title(loc="left") == "lines: a Pareto frontier each; grey: dominated"
    assert not board.plot("cost").get_legend()


def test_the_rate_of_queries_is_an_axis() -> None:
    same = made({"latency": OPEN}, {"latency": FASTER})
    assert same.sorted("latency_rate").systems == ["s1", "s0"], "more is better"
    assert same.pareto(["latency_rate"]).frontier == ["s1"]
    assert "rate (queries/s)" in same.to_text()


def test_a_load_stands_on_a_leaderboard() -> None:
    latency = Latency(p99=30, loop="open", rate=50)
    rates = [LoadAtRate(rate=50, achieved=50, latency=latency)]
    load = Load(about=EfficiencyRecord(system="a"), rates=rates, within=40)
    for given in (load, [load]):
        board = Leaderboard({"a": {"RR": 0.5}}, given)
        assert board.values("latency_p99").tolist() == [30]
        assert board.values("latency_rate").tolist() == [50]


# What systems ran on


def record(instance: str | None, mean: float, system: str = "dense") -> EfficiencyRecord:
    hardware = Hardware(instance=instance)
    return EfficiencyRecord(system=system, hardware=hardware, latency=Latency(mean=mean))


def on_machines() -> Leaderboard:
    """A system on two machines, and another on one of them."""
    runs = {"dense": {"q1": {"d": 1.0}, "q2": {"d": 1.0}}, "bm25": {"q1": {"d": 1.0}}}
    results = irbatch.evaluate_runs({f"q{i}": {"d": 1} for i in (1, 2, 3)}, runs, "RR")
    records = [record("small", 40), record("large", 10), record("small", 20, "bm25")]
    return Leaderboard(results, records).priced({"small": 0.1, "large": 0.5})


def test_rows_of_a_system_are_told_apart_and_share_accuracy() -> None:
    board = on_machines()
    assert board.systems == ["dense on small", "dense on large", "bm25"]
    assert board.values("RR").tolist() == pytest.approx([2 / 3, 2 / 3, 1 / 3])
    np.testing.assert_array_equal(board.bounds("RR")[0], board.bounds("RR")[1])
    assert [each.system for each in board.records] == ["dense", "dense", "bm25"]
    costs = [price * ms / 3600 / 1000 * 1e6 for price, ms in ((0.1, 40), (0.5, 10), (0.1, 20))]
    assert board.values("cost").tolist() == pytest.approx(costs)
    assert board.to_text().startswith("2 systems on 3 machines, 3 queries.")
    assert board.pareto(["RR", "latency"]).dominated_by == {}
    assert board.pareto(["RR", "cost"]).dominated_by == {"dense on large": ["dense on small"]}


def test_results_may_be_of_rows() -> None:
    records = [record("small", 40), record("large", 10)]
    board = Leaderboard({"dense on small": {"RR": 0.5}, "dense": {"RR": 0.25}}, records)
    assert board.values("RR").tolist() == [0.5, 0.25]


def test_rows_are_written_and_read_back() -> None:
    board = on_machines()
    again = Leaderboard.from_json(board.to_json())
    assert (again.systems, again.records) == (board.systems, board.records)
    np.testing.assert_array_equal(again.values("RR"), board.values("RR"))
    assert [row.queries for row in again.rows] == [3, 3, 3]
