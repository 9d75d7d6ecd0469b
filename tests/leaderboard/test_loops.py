"""Latencies of closed and of open loops on a leaderboard: told apart, not compared silently."""

from __future__ import annotations

import csv
import io
import warnings
from typing import Any

import pytest

from irbatch import InputWarning
from irbatch.efficiency import EfficiencyRecord, Latency, Load, LoadAtRate
from irbatch.leaderboard import Leaderboard

CLOSED = Latency(mean=2, p95=3, calls=100, loop="closed")
OPEN = Latency(mean=40, p95=90, calls=100, loop="open", rate=50, arrivals="poisson", errors=0)
FASTER = Latency(mean=60, p95=95, calls=100, loop="open", rate=80)
UNSAID = Latency(mean=5, p95=9, calls=100)


def make(latencies: list[Latency | None], **fields: list[Any]) -> Leaderboard:
    names = [f"s{i}" for i in range(len(latencies))]
    records = [
        EfficiencyRecord(
            system=name, latency=latency, **{key: each[i] for key, each in fields.items()}
        )
        for i, (name, latency) in enumerate(zip(names, latencies, strict=True))
    ]
    return Leaderboard({name: {"RR": 0.5 + i / 10} for i, name in enumerate(names)}, records)


@pytest.mark.parametrize(
    ("latencies", "label", "said"),
    [
        ([CLOSED, CLOSED], "closed-loop mean latency", "of calls of 1 query, in a closed loop."),
        ([OPEN, None], "open-loop mean latency", "in an open loop of 50 queries/s."),
        ([UNSAID, UNSAID], "mean latency", "of calls of 1 query."),
        ([UNSAID, CLOSED], "mean latency", "of calls of 1 query."),
    ],
)
def test_one_loop_is_said_of_the_column(
    latencies: list[Latency | None], label: str, said: str
) -> None:
    board = make(latencies)
    assert board.axis("latency").label == label
    text = board.to_text()
    assert f"{label} (ms)" in text
    assert said in text
    assert "not comparable" not in text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        board.pareto(["RR", "latency"])


@pytest.mark.parametrize(
    ("latencies", "said"),
    [
        ([CLOSED, OPEN], "s0 in a closed loop; s1 in an open loop of 50 queries/s"),
        ([OPEN, UNSAID], "s0 in an open loop of 50 queries/s; s1 in one unsaid"),
        ([OPEN, FASTER], "s0 in an open loop of 50 queries/s; s1 in an open loop of 80 queries/s"),
    ],
)
def test_several_are_told_and_none_is_the_best(latencies: list[Latency | None], said: str) -> None:
    board = make(latencies)
    same = len({each and each.loop for each in latencies}) == 1
    label = "open-loop latency p95" if same else "latency p95, loops differ"
    assert board.axis("latency_p95").label == label
    text = board.to_text(columns=["latency_p95", "RR"])
    assert f"Latency is not comparable across loops: {said}." in text
    assert "o: of an open loop, from when a query was due" in text
    rows = [line for line in text.splitlines() if line.startswith("s")][-2:]
    values = [row.split()[1] for row in rows]
    assert not any(value.startswith("*") for value in values), "only RR has a best"
    marked = [" o " in f"{row} " for row in rows]
    assert marked == [each is not None and each.loop == "open" for each in latencies]
    for act in (
        lambda: board.pareto(["RR", "latency"]),
        lambda: board.where("latency_p95 < 50"),
    ):
        with pytest.warns(InputWarning, match="latency_\\w+ is of different loops"):
            act()
    with pytest.warns(InputWarning, match="different loops"):
        assert "not comparable" in board.to_html(plots=False, frontier=["RR", "latency"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        board.pareto(["RR"])


def test_programs_get_the_loop() -> None:
    rows = list(csv.DictReader(io.StringIO(make([CLOSED, OPEN]).to_csv())))
    assert [row["loop"] for row in rows] == ["closed", "open"]
    assert [row["rate"] for row in rows] == ["", "50.0"]
    assert Leaderboard.from_json(make([CLOSED, OPEN]).to_json()).records[1].latency == OPEN


def test_bounds_of_sustained_rates() -> None:
    same = make([OPEN, OPEN], sustained_rate=[50, 60], sustained_p99=[100, 100])
    assert "Sustained rate: with p99 within 100 ms." in same.to_text()
    assert "sustained rate (queries/s)" in same.to_text()
    assert same.sorted("sustained_rate").systems == ["s1", "s0"], "more is better"
    other = make([OPEN, OPEN], sustained_rate=[50, 60], sustained_p99=[100, None])
    told = "of different bounds: s0 with p99 within 100 ms; s1 with a bound unsaid."
    assert told in other.to_text()
    with pytest.warns(InputWarning, match="sustained_rate is of different bounds"):
        other.pareto(["RR", "sustained_rate"])


def test_a_load_stands_on_a_leaderboard() -> None:
    latency = Latency(p99=30, loop="open", rate=50)
    rates = [LoadAtRate(rate=50, achieved=50, latency=latency)]
    load = Load(about=EfficiencyRecord(system="a"), rates=rates, within=40)
    for given in (load, [load], {"a": load}):
        board = Leaderboard({"a": {"RR": 0.5}}, given)
        assert board.values("latency_p99").tolist() == [30]
        assert board.values("sustained_rate").tolist() == [50]


def test_new_quantities_are_axes() -> None:
    amounts = {"peak_gpu_memory": [1, 2], "children_memory": [3, 4], "indexing_time": [6, 5]}
    board = make([CLOSED, CLOSED], **amounts, indexing_memory=[7, 8], children_time=[9, 9])
    for name in (*amounts, "indexing_memory"):
        assert name in board.axes
    assert board.where("gpu_memory < 2").systems == ["s0"]
    assert board.pareto(["children_memory", "indexing_time"]).frontier == ["s0", "s1"]
    assert "peak GPU memory (MB)" in board.to_text(columns=["gpu_memory"])
