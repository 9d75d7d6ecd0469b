"""Efficiency records: every number against NumPy, arithmetic by hand, or the plain twin."""

from __future__ import annotations

import dataclasses
import json
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracle.leaderboard import percentile_interval
from support.efficiency_records import FULL as OF_EVERYTHING

from irbatch.efficiency import QUANTITIES, EfficiencyRecord, Hardware, Latency
from irbatch.efficiency.quantities import ALIASES, DERIVED, PERCENTILES, STATISTICS
from irbatch.statistics.resampling import draw_counts

TIMES = st.floats(0, 1e9)
FULL = dataclasses.replace(
    OF_EVERYTHING,
    repeat=5,
    n_queries=100,
    batch_size=4,
    latency=Latency(mean=36, p50=30, p90=50, p95=60, p99=90, intervals={"mean": (34, 39)},
                    level=0.1, calls=125, loop="closed"),
    currency="EUR",
)  # fmt: skip

# ---------------------------------------------------------------- latency


@settings(deadline=None)
@given(st.lists(TIMES, min_size=1, max_size=40), st.integers(1, 3))
@example([7.0], 1)
@example([3.0, 3.0, 3.0], 2)
def test_latency_is_numpys(times: list[float], repeats: int) -> None:
    table = [times] * repeats
    found = Latency.from_samples(table, draws=0)
    everything = np.array(table).ravel()
    assert found.mean == pytest.approx(everything.mean(), rel=1e-12)
    for name, percent in PERCENTILES.items():
        assert getattr(found, name) == np.percentile(everything, percent), name
    assert found.calls == len(times) * repeats
    assert found.intervals == {}
    assert found == Latency.from_samples(everything[::-1], draws=0), "of calls in any order"


@pytest.mark.parametrize("level", [0.05, 0.2])
@pytest.mark.parametrize(
    "shape", [(1, 2), (1, 5), (1, 6), (10, 6), (3, 35), (2, 36), (1, 367), (2, 368)]
)
def test_intervals_are_the_twins(shape: tuple[int, int], level: float) -> None:
    """Percentiles of few calls have none; repeats are no further calls."""
    times = np.random.default_rng(5).gamma(2, 10, shape)
    found = Latency.from_samples(times, level=level, draws=20, seed=4)
    draws = np.concatenate(list(draw_counts(shape[1], 20, 4))).astype(int)
    means = [np.repeat(times, often, axis=1).mean() for often in draws]  # of calls with repeats
    expected: dict[str, Any] = {"mean": np.percentile(means, [50 * level, 100 - 50 * level])}
    for name, percent in PERCENTILES.items():
        expected[name] = percentile_interval(times.tolist(), percent, level)
    expected = {name: bounds for name, bounds in expected.items() if bounds is not None}
    assert list(found.intervals) == list(expected)
    assert found.level == level
    for name, bounds in expected.items():
        assert found.intervals[name] == pytest.approx(tuple(map(float, bounds)), rel=1e-10), name


# ---------------------------------------------------------------- costs and quantities


def test_a_short_last_call_does_not_make_queries_cheap() -> None:
    # 9 queries in calls of 4, 4 and 1: 3 queries a call, 12 ms each.
    short = dataclasses.replace(FULL, n_queries=9, repeat=1, latency=Latency(
        mean=36, intervals={"mean": (34, 39)}, calls=3))  # fmt: skip
    assert (FULL.queries_per_call, short.queries_per_call) == (4, 3)
    assert short.cost_per_million == pytest.approx(0.5 * 36 / 3 / 3.6, rel=1e-14)
    bounds = [0.5 * bound / 3 / 3.6 for bound in (34, 39)]  # a million ms are 1 h / 3.6
    assert short.interval("cost") == pytest.approx(tuple(bounds), rel=1e-14)
    assert dataclasses.replace(short, repeat=2).queries_per_call == 6, "of 3 calls, in two passes"
    lacking: list[dict[str, Any]] = [
        {"n_queries": None}, {"latency": None}, {"latency": Latency(mean=36)},
    ]  # fmt: skip
    for each in lacking:
        assert dataclasses.replace(short, **each).queries_per_call == 4


@settings(deadline=None)
@given(st.floats(0, 1e6), st.floats(0, 1e6), st.integers(1, 512), st.floats(1e-6, 1e9))
def test_costs_of_a_million_queries(
    price: float, mean: float, batch: int, throughput: float
) -> None:
    record = EfficiencyRecord(system="a", latency=Latency(mean=mean), batch_size=batch,
                              throughput=throughput, price_per_hour=price)  # fmt: skip
    expected = price * mean / batch / 3.6
    assert record.cost_per_million == pytest.approx(expected, rel=1e-12, abs=1e-290)
    expected = price * 1e6 / throughput / 3600
    assert record.throughput_cost_per_million == pytest.approx(expected, rel=1e-12, abs=1e-290)


def test_values_by_name() -> None:
    stated = dataclasses.replace(FULL, stated_cost=7)
    assert (stated.cost_per_million, stated.value("cost"), stated.interval("cost")) == (7, 7, None)
    assert stated.throughput_cost_per_million == FULL.throughput_cost_per_million
    assert EfficiencyRecord.from_json(stated.to_json()) == stated
    for name in QUANTITIES:
        value = FULL.value(name)
        assert isinstance(value, float), name
        if not name.startswith("latency"):
            assert value == getattr(FULL, name), name
    assert [FULL.value(f"latency_{each}") for each in STATISTICS] == [36, 30, 50, 60, 90]
    assert "emissions" not in QUANTITIES, "which are of all queries: not to be compared"
    for alias, name in ALIASES.items():
        assert FULL.value(alias) == FULL.value(name), alias
    bare = EfficiencyRecord(system="a")
    assert {bare.value(name) for name in (*QUANTITIES, *ALIASES)} == {None}
    assert {bare.interval(name) for name in QUANTITIES} == {None}


# ---------------------------------------------------------------- JSON


@pytest.mark.parametrize(
    "record",
    [
        FULL,
        EfficiencyRecord(system="a"),
        EfficiencyRecord(system='\x1b[31m \u202e <script> \\ " {currency}', currency="{€}"),
        EfficiencyRecord(system="a", throughput=1 / 3, energy=5e-324, stated_cost=0,
                         latency=Latency(p50=1e-7, loop="open", rate=2.5, arrivals="fixed",
                                         errors=0, timeouts=3)),
        EfficiencyRecord(system="a", n_queries=np.int64(3), throughput=np.float32(0.5),
                         hardware=Hardware(n_cpu=np.int8(2))),
    ],
)  # fmt: skip
def test_json_round_trip(record: EfficiencyRecord, tmp_path: Path) -> None:
    text = record.to_json(tmp_path / "a.json")
    again = EfficiencyRecord.from_json(text)
    assert again == record == EfficiencyRecord.from_json(tmp_path / "a.json")
    assert again.to_json() == text
    assert EfficiencyRecord.from_dict(record.to_dict()) == record
    assert pickle.loads(pickle.dumps(record)) == record
    for made in record, record.hardware:
        with pytest.raises(dataclasses.FrozenInstanceError):
            made.system = 1  # type: ignore[union-attr]


def test_json_says_units_and_what_follows() -> None:
    said = json.loads(FULL.to_json())
    assert said["units"]["latency"] == "ms"
    assert said["units"]["price_per_hour"] == "EUR/h"
    assert said["units"]["cost_per_million"] == "EUR"
    assert said["units"]["emissions"] == said["units"]["emissions_per_query"] == "kg CO2eq"
    assert said["emissions"] == 0.001
    assert said["derived"] == {name: FULL.value(name) for name in DERIVED}
    for name in QUANTITIES:
        assert name.startswith("latency_") or name in said["units"], name
    least = json.loads(EfficiencyRecord(system="a").to_json())
    assert least == {"system": "a", "batch_size": 1, "repeat": 1, "units": {}}


# ---------------------------------------------------------------- hardware, records


def test_this_machine() -> None:
    here = Hardware.here("c6g.xlarge")
    assert here.instance == "c6g.xlarge"
    if hasattr(os, "sched_getaffinity"):
        assert here.n_cpu == len(os.sched_getaffinity(0))
    assert here.cpu is None or here.cpu.strip()
    assert (here.gpu is None) == (here.n_gpu == 0)
    if hasattr(os, "sysconf"):
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        assert here.ram_gb == pytest.approx(memory / 1e9, abs=0.06)
    assert Hardware.here().instance is None
    assert dataclasses.replace(here, instance=None) == Hardware.here()


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({}, ""),
        ({"instance": "c6g.xlarge", "n_cpu": 4, "ram_gb": 8}, "c6g.xlarge, 4 CPU, 8 GB"),
        ({"cpu": "Xeon", "n_cpu": 2, "ram_gb": 16.84}, "2 cores of Xeon, 16.84 GB"),
        ({"gpu": "H200", "n_gpu": 1, "cpu": "Xeon", "n_cpu": 16}, "1 × H200, 16 cores of Xeon"),
        ({"n_gpu": 0, "n_cpu": 4}, "4 CPU"),
    ],
)
def test_hardware_in_words_and_repr(known: dict[str, Any], said: str) -> None:
    hardware = Hardware(**known)
    assert str(hardware) == said
    record = EfficiencyRecord(system="a", hardware=hardware, batch_size=1, repeat=3, warmup=0,
                              latency=Latency(mean=8), currency="EUR")  # fmt: skip
    shown = f"hardware={hardware!r}, " if said else ""
    assert repr(record) == (
        f"EfficiencyRecord(system='a', {shown}warmup=0, repeat=3, "
        f"latency={record.latency!r}, currency='EUR')"
    )
    for each in record, FULL:
        assert eval(repr(each)) == each
