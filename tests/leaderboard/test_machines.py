"""What systems ran on: columns, constraints, and one system on several machines."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

import irbatch
from irbatch.efficiency import EfficiencyRecord, Hardware, Latency
from irbatch.leaderboard import Leaderboard
from irbatch.leaderboard.report import MACHINE

A100 = Hardware(instance="p4d", gpu="NVIDIA A100-SXM4-80GB", n_gpu=8, cpu="Xeon 8275", n_cpu=96,
                ram_gb=1152)  # fmt: skip
A10 = Hardware(instance="g5", gpu="NVIDIA A10G", n_gpu=1, ram_gb=16)
BARE = Hardware(instance="c6g.large", cpu="Graviton2", n_cpu=2, n_gpu=0, ram_gb=4)
MACHINES = {"big": A100, "small": A10, "bare": BARE, "unknown": Hardware()}


def machines() -> Leaderboard:
    records = [EfficiencyRecord(system=name, hardware=each) for name, each in MACHINES.items()]
    return Leaderboard({name: {"RR": 0.5} for name in MACHINES}, records)


def test_a_measure_comes_first() -> None:
    board = Leaderboard({"a": {"gpu": 0.5}}, EfficiencyRecord(system="a", hardware=A100))
    assert board._document("text", columns=["gpu"]).parts[0].rows[0].cells[1].text == "0.5"


def test_columns() -> None:
    (table,) = machines()._document("text", columns=list(MACHINE)).parts
    assert [each.heading for each in table.columns][1:] == list(MACHINE.values())
    rows = {row.cells[0].text: [cell.text for cell in row.cells[1:]] for row in table.rows}
    assert rows == {
        "big": ["p4d", "Xeon 8275", "96", "NVIDIA A100-SXM4-80GB", "8", "1,152"],
        "small": ["g5", "–", "–", "NVIDIA A10G", "1", "16"],
        "bare": ["c6g.large", "Graviton2", "2", "–", "0", "4"],
        "unknown": ["–"] * 6,
    }
    assert table.rows[0].cells[6].value == 1152.0, "sorted by the number"


def test_indexing_time_is_shown_where_it_is_known() -> None:
    known = EfficiencyRecord(system="a", indexing_time=90, peak_gpu_memory=1500)
    board = Leaderboard({"a": {"RR": 0.5}}, known)
    heads = [each.heading for each in board._document("text").parts[0].columns]
    assert heads == ["system", "RR", "indexing time (s)"]
    (table,) = board._document("text", columns=["gpu_memory", "indexing_time"]).parts
    assert [cell.text for cell in table.rows[0].cells] == ["a", "1,500", "90"]


# One system on several machines.


def record(instance: str | None, mean: float, system: str = "dense") -> EfficiencyRecord:
    hardware = Hardware(instance=instance)
    return EfficiencyRecord(system=system, hardware=hardware, latency=Latency(mean=mean))


PRICES = {"small": 0.1, "large": 0.5}


def on_machines() -> Leaderboard:
    """A system on two machines, and another on one of them."""
    results = irbatch.evaluate_runs(
        {"q1": {"d": 1}, "q2": {"d": 1}, "q3": {"d": 1}},
        {"dense": {"q1": {"d": 1.0}, "q2": {"d": 1.0}}, "bm25": {"q1": {"d": 1.0}}}, "RR",
    )  # fmt: skip
    records = [record("small", 40), record("large", 10), record("small", 20, "bm25")]
    return Leaderboard(results, records).priced(PRICES)


def test_rows_are_told_apart_and_share_accuracy() -> None:
    board = on_machines()
    assert board.systems == ["dense on small", "dense on large", "bm25"]
    assert board.means[:, 0].tolist() == pytest.approx([2 / 3, 2 / 3, 1 / 3])
    np.testing.assert_array_equal(board.intervals[0], board.intervals[1])
    assert [each.system for each in board.records] == ["dense", "dense", "bm25"]
    costs = [price * ms / 3600 / 1000 * 1e6 for price, ms in ((0.1, 40), (0.5, 10), (0.1, 20))]
    assert board.values("cost").tolist() == pytest.approx(costs)
    assert board.caption().startswith("2 systems on 3 machines, 3 queries.")
    found = board.pareto(["RR", "latency"])
    assert found.dominated_by == {"dense on small": ["dense on large"], "bm25": ["dense on large"]}


def test_rows_are_written_and_read_back() -> None:
    board = on_machines()
    again = Leaderboard.from_json(board.to_json())
    assert (again.systems, again.records) == (board.systems, board.records)
    np.testing.assert_array_equal(again.means, board.means)
    systems = json.loads(board.to_json())["systems"]
    del systems[1]["accuracy"], systems[1]["queries"]
    shared = Leaderboard.from_json(json.dumps(systems))
    np.testing.assert_array_equal(shared.means, board.means)
    assert shared.n_queries == [3, 3, 3]


def test_results_may_be_of_rows() -> None:
    records = [record("small", 40), record("large", 10)]
    board = Leaderboard({"dense on small": {"RR": 0.5}, "dense": {"RR": 0.25}}, records)
    assert board.means.tolist() == [[0.5], [0.25]]


@pytest.mark.parametrize("instance", ["small", None])
def test_machines_that_cannot_be_told_apart(instance: str | None) -> None:
    records = [record(instance, 40), record(instance, 10)]
    input_error(lambda: Leaderboard({"dense": {"RR": 1}}, records), "two records of 'dense'",
                "take an instance each")  # fmt: skip


@pytest.mark.parametrize(
    ("prices", "said"),
    [
        ({"smal": 0.1}, "no system was measured on 'smal'; did you mean small?"),
        ({"small": -1}, "price_per_hour=-1"),
        (0.1, "prices go from instances to numbers"),
    ],
)
def test_prices_that_are_none(prices: Any, said: str) -> None:
    input_error(lambda: on_machines().priced(prices), said)
