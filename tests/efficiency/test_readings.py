"""Measuring a search: what the operating system and torch tell of it."""

from __future__ import annotations

import os
import sys
import threading
from datetime import datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from irbatch import InputError, InputWarning
from irbatch.efficiency import Hardware, measure_search
from irbatch.efficiency import readings as the_readings

QUERIES = {"q1": "cat", "q2": "dog", "q3": "cow"}
quick = partial(measure_search, hardware=Hardware(), draws=0, progress=False)


def search(query: Any) -> dict[str, float]:
    return {"d1": 2.0, "d2": 1.0}


# What the operating system tells


def test_time_and_memory_of_the_process() -> None:
    def busy(query: int) -> list[str]:
        held = np.ones(query * 1_000_000 // 8)
        return [f"{held.sum():.0f}"]

    record = quick(busy, [60] * 20).record
    assert record.wall_time is not None
    assert record.wall_time > 0
    assert record.user_time is not None
    assert record.system_time is not None
    assert record.cpu_used == (record.user_time + record.system_time) / record.wall_time
    assert record.cpu_used > 0
    assert record.peak_memory is None or record.peak_memory > 60
    began = datetime.fromisoformat(str(record.start_time))
    assert began.utcoffset() is not None
    assert began.microsecond == 0


on_linux = pytest.mark.skipif(not the_readings.PAGES.exists(), reason="Linux alone has it")


@on_linux
def test_memory_held_before_does_not_count() -> None:
    np.ones(400_000_000 // 8)
    before = the_readings.peak_memory()
    assert before is not None
    record = quick(search, QUERIES).record
    assert record.peak_memory is not None
    assert record.peak_memory < before - 300


@on_linux
def test_the_mark_of_the_process_stays() -> None:
    np.ones(300_000_000 // 8)
    before = the_readings.peak_memory()
    assert before is not None
    quick(search, QUERIES)
    after = the_readings.peak_memory()
    assert after is not None
    assert after >= before


@on_linux
def test_what_a_call_gives_back_counts() -> None:
    def searching(query: int) -> list[str]:
        return [f"{np.ones(200_000_000 // 8).sum():.0f}"]

    np.ones(400_000_000 // 8)  # so that the mark tells nothing of it
    held = the_readings.held_memory()
    assert held is not None
    assert quick(searching, range(5), warmup=5).record.peak_memory > held + 150


class Memory:
    """What the operating system says of memory, as it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, mark: float, held: float | None) -> None:
        self.mark, self.held, self.now = mark, held, 0.0
        monkeypatch.setattr(the_readings, "peak_memory", lambda: self.mark)
        monkeypatch.setattr(the_readings, "held_memory", lambda: self.held)
        clock = SimpleNamespace(monotonic=lambda: self.now, perf_counter=lambda: self.now)
        monkeypatch.setattr(the_readings, "time", clock)


def test_a_mark_that_rises_is_the_peak(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Memory(monkeypatch, mark=500.0, held=300.0)

    def searching(query: str) -> list[str]:
        memory.mark = 512.0
        return ["d"]

    assert quick(searching, QUERIES).record.peak_memory == 512.0


@pytest.mark.parametrize("warmup", [0, 2])
def test_below_the_mark_the_peak_is_what_was_seen(
    monkeypatch: pytest.MonkeyPatch, warmup: int
) -> None:
    memory = Memory(monkeypatch, mark=500.0, held=300.0)

    def searching(query: str) -> list[str]:
        memory.now += 1.0
        memory.held = {"cat": 310.0, "dog": 420.0, "cow": 320.0}[query]
        return ["d"]

    assert quick(searching, QUERIES, warmup=warmup).record.peak_memory == 420.0


def test_calls_in_quick_succession_are_looked_at_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory = Memory(monkeypatch, mark=500.0, held=300.0)
    looks: list[float] = []
    monkeypatch.setattr(the_readings, "held_memory", lambda: looks.append(memory.now) or 300.0)

    def searching(query: int) -> list[str]:
        memory.now += 0.001
        return ["d"]

    quick(searching, range(100), warmup=0)
    assert 8 <= len(looks) <= 15


def test_where_only_the_mark_is_told_it_is_the_peak(monkeypatch: pytest.MonkeyPatch) -> None:
    Memory(monkeypatch, mark=500.0, held=None)
    assert quick(search, QUERIES).record.peak_memory == 500.0


def test_a_call_of_the_warm_up_that_fails_leaves_no_thread() -> None:
    def failing(query: str) -> None:
        raise OSError("no index")

    before = threading.active_count()
    with pytest.raises(OSError, match="no index"):
        quick(failing, QUERIES)
    assert threading.active_count() == before


def test_memory_is_read_in_megabytes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "status").write_text("VmPeak:\t 9 kB\nVmHWM:\t   250000 kB\n")
    monkeypatch.setattr(the_readings, "STATUS", tmp_path / "status")
    assert the_readings.peak_memory() == 256.0
    (tmp_path / "statm").write_text("9999 500 99 9 0 99 0\n")
    monkeypatch.setattr(the_readings, "PAGES", tmp_path / "statm")
    held = 500 * os.sysconf("SC_PAGE_SIZE") / 1e6
    assert the_readings.held_memory() == held
    assert quick(search, QUERIES).record.peak_memory == held


@pytest.mark.parametrize(("platform", "expected"), [("linux", 1.024), ("darwin", 0.001)])
def test_memory_where_there_is_no_proc(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, platform: str, expected: float
) -> None:
    used = SimpleNamespace(ru_maxrss=1000, ru_utime=0.0, ru_stime=0.0)
    resource = SimpleNamespace(getrusage=lambda who: used, RUSAGE_SELF=0)
    monkeypatch.setattr(the_readings, "STATUS", tmp_path / "none")
    monkeypatch.setattr(the_readings, "PAGES", tmp_path / "none")
    monkeypatch.setattr(the_readings.sys, "platform", platform)
    monkeypatch.setattr(the_readings, "resource", resource)
    assert the_readings.held_memory() is None
    assert the_readings.peak_memory() == expected
    (tmp_path / "status").write_text("Name:\tgvisor\n")
    monkeypatch.setattr(the_readings, "STATUS", tmp_path / "status")
    assert the_readings.peak_memory() == expected


def test_where_nothing_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(the_readings, "STATUS", tmp_path / "none")
    monkeypatch.setattr(the_readings, "PAGES", tmp_path / "none")
    monkeypatch.setattr(the_readings, "resource", None)
    times = iter([(1.0, 0.5), (3.0, 1.5)])
    monkeypatch.setattr(
        the_readings.os, "times", lambda: SimpleNamespace(**dict(zip(("user", "system"),
                                                                     next(times), strict=True)))
    )  # fmt: skip
    record = quick(search, QUERIES).record
    assert record.peak_memory is None
    assert (record.user_time, record.system_time) == (2.0, 1.0)


@pytest.mark.parametrize(("begin", "end", "cores"), [(1.0, 1.0, None), (1.0, 3.0, 1.5)])
def test_without_time_no_cores_were_used(
    monkeypatch: pytest.MonkeyPatch, begin: float, end: float, cores: float | None
) -> None:
    clock = SimpleNamespace(perf_counter=iter([begin, end]).__next__)
    monkeypatch.setattr(the_readings, "time", clock)
    monkeypatch.setattr(the_readings, "cpu_times", iter([(0.0, 1.0), (2.5, 1.5)]).__next__)
    assert the_readings.Watch().read()["cpu_used"] == cores


def test_times_have_nanoseconds_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        the_readings, "time", SimpleNamespace(perf_counter=iter([0.1, 0.4]).__next__)
    )
    monkeypatch.setattr(the_readings, "cpu_times", iter([(0.2, 0.7), (0.3, 0.8)]).__next__)
    used = the_readings.Watch().read()
    assert (used["wall_time"], used["user_time"], used["system_time"]) == (0.3, 0.1, 0.1)
    assert 0.4 - 0.1 != 0.3


def test_hardware() -> None:
    here = measure_search(search, QUERIES, draws=0, progress=False)
    assert here.record.hardware == Hardware.here()
    assert quick(search, QUERIES, hardware="c6g").record.hardware == Hardware.here("c6g")
    described = Hardware(cpu="abacus")
    assert quick(search, QUERIES, hardware=described).record.hardware == described


def test_sizes_on_disk(tmp_path: Path) -> None:
    index = tmp_path / "index"
    (index / "deep" / "deeper").mkdir(parents=True)
    (index / "a").write_bytes(b"x" * 1000)
    (index / "deep" / "deeper" / "b").write_bytes(b"x" * 500)
    (index / "again").hardlink_to(index / "a")
    (index / "link").symlink_to(index / "a")
    (index / "nowhere").symlink_to(index / "none")
    (index / "circle").symlink_to(index)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "c").write_bytes(b"x" * 70)
    (index / "elsewhere").symlink_to(outside)
    (index / "linked file").symlink_to(outside / "c")
    os.mkfifo(index / "pipe")
    (tmp_path / "model").write_bytes(b"x" * 42)
    record = quick(search, QUERIES, index_path=str(index), model_path=tmp_path / "model").record
    assert (record.index_disk, record.model_disk) == (1570 / 1e6, 42 / 1e6)
    both = [index, index / "a", tmp_path / "model"]
    assert quick(search, QUERIES, model_path=both).record.model_disk == 1612 / 1e6
    (tmp_path / "to the index").symlink_to(index)
    linked = quick(search, QUERIES, index_path=tmp_path / "to the index").record
    assert linked.index_disk == 1570 / 1e6


def test_a_folder_that_cannot_be_read_is_no_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(path: Any) -> Any:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(the_readings.os, "scandir", forbidden)
    with pytest.raises(PermissionError):
        quick(search, QUERIES, index_path=tmp_path)


# FLOPs and models


def test_flops_that_are_told() -> None:
    assert quick(search, QUERIES, flops=1e9).record.flops == 1e9
    assert quick(search, QUERIES).record.flops is None
    assert quick(search, ["a", "bbb"], flops=lambda query: 10 * len(query)).record.flops == 20.0


@pytest.mark.parametrize("wrong", [None, -1, float("nan"), "many"])
def test_wrong_flops_name_the_query(wrong: Any) -> None:
    told = {"cat": 1, "dog": wrong, "cow": 3}
    with pytest.raises(InputError, match="flops is") as refused:
        quick(search, QUERIES, flops=told.get, system="s")
    assert refused.value.query == "q2"
    assert "'s'" in str(refused.value)


def test_flops_are_counted_by_torch() -> None:
    torch = pytest.importorskip("torch")
    model = torch.nn.Linear(8, 4, bias=False)
    model.register_buffer("more", torch.zeros(10, dtype=torch.float16))
    sizes: list[int] = []

    def encode(queries: Any) -> Any:
        sizes.append(len(queries))
        return [["d"]] * len(model(torch.stack(list(queries))))

    rows = torch.ones(50, 8)
    record = quick(encode, rows, batch_size=20, model=model, warmup=0).record
    assert record.flops == 2 * 8 * 4
    assert sizes == [20, 20, 10, 20], "one call of 20 is of the first 32 queries"
    assert record.model_memory == (8 * 4 * 4 + 10 * 2) / 1e6
    sizes.clear()
    alone = quick(lambda row: encode([row])[0], rows, model=model, warmup=0, model_memory=7)
    assert alone.record.flops == 2 * 8 * 4
    assert len(sizes) == 50 + 32
    assert alone.record.model_memory == 7.0
    sizes.clear()
    told = quick(encode, rows, batch_size=50, model=model, warmup=0, flops=5).record
    assert (told.flops, sizes) == (5.0, [50])
    assert told.model_memory == (8 * 4 * 4 + 10 * 2) / 1e6


def test_calls_of_more_queries_than_are_counted() -> None:
    torch = pytest.importorskip("torch")
    model = torch.nn.Linear(8, 4, bias=False)
    encode = lambda queries: [["d"]] * len(model(torch.stack(queries)))  # noqa: E731
    assert quick(encode, torch.ones(90, 8), batch_size=40, model=model).record.flops == 64
    assert quick(encode, torch.ones(3, 8), batch_size=40, model=model).record.flops == 64


def test_weights_that_are_shared_count_once() -> None:
    torch = pytest.importorskip("torch")
    first, second = (torch.nn.Linear(4, 4, bias=False) for _ in range(2))
    second.weight = first.weight
    model = torch.nn.Sequential(first, second)
    assert quick(search, QUERIES, model=model, flops=0).record.model_memory == 64 / 1e6


def test_a_model_that_search_does_not_call_has_no_flops() -> None:
    torch = pytest.importorskip("torch")
    with pytest.warns(InputWarning, match="torch counted no FLOPs"):
        record = quick(search, QUERIES, model=torch.nn.Linear(8, 4)).record
    assert record.flops is None


@pytest.mark.parametrize("without_torch", [False, True])
def test_what_is_no_model_is_refused(without_torch: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if without_torch:
        monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match=r"'s': model is a str, not a torch\.nn\.Module"):
        quick(search, QUERIES, model="bert", system="s")
