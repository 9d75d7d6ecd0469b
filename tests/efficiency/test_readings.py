"""What the system, psutil and torch tell of a search: time, memory, sizes; building an index."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

from irbatch.efficiency import (
    EfficiencyRecord,
    Hardware,
    measure_indexing,
    measure_search,
    readings,
)

QUERIES = {"q1": "cat", "q2": "dog", "q3": "cow"}
MEGA = 1_000_000
quick = partial(measure_search, hardware=Hardware())


def search(query: Any) -> dict[str, float]:
    return {"d1": 2.0, "d2": 1.0}


# ---------------------------------------------------------------- time and memory


def test_memory_held_before_does_not_count() -> None:
    np.ones(400_000_000 // 8)
    watch = readings.Watch()
    before = watch.most_held()
    record = quick(search, QUERIES).record
    assert (record.peak_memory or 0.0) < before - 300
    assert watch.most_held() >= before, "the mark of the process stays"


class Memory:
    """What the operating system says of memory and time, as it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.mark, self.held, self.now, self.looks = 500.0, 300.0, 0.0, 0
        monkeypatch.setattr(readings.Watch, "most_held", lambda watch: self.mark)
        monkeypatch.setattr(readings.Watch, "held", self.look)
        clock = SimpleNamespace(monotonic=lambda: self.now, perf_counter=lambda: self.now)
        monkeypatch.setattr(readings, "time", clock)

    def look(self, *watch: Any) -> float:
        self.looks += 1
        return self.held


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Memory:
    return Memory(monkeypatch)


def test_a_mark_that_rises_is_the_peak(memory: Memory) -> None:
    def searching(query: str) -> list[str]:
        memory.mark = 512.0
        return ["d"]

    assert quick(searching, QUERIES).record.peak_memory == 512.0


@pytest.mark.parametrize("warmup", [0, 2])
def test_below_the_mark_the_peak_is_what_was_seen(memory: Memory, warmup: int) -> None:
    def searching(query: str) -> list[str]:
        memory.now += 1.0
        memory.held = {"cat": 310.0, "dog": 420.0, "cow": 320.0}[query]
        return ["d"]

    assert quick(searching, QUERIES, warmup=warmup).record.peak_memory == 420.0


# ---------------------------------------------------------------- children


SERVER = """
import sys
held = bytearray(80_000_000)
for line in sys.stdin:
    print(sum(range(1_000_000)), flush=True)
"""


@pytest.fixture
def server() -> Iterator[Any]:
    """A search by a process that another one has begun."""
    command = f'"{sys.executable}" -c "$0"; true'
    with subprocess.Popen(
        ["/bin/sh", "-c", command, SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process


def test_a_server_is_counted_while_it_lives_and_when_it_has_ended(server: Any) -> None:
    def ask(query: str) -> list[str]:
        server.stdin.write("\n")
        server.stdin.flush()
        return [server.stdout.readline().strip()]

    record = quick(ask, QUERIES, repeat=4).record
    assert (record.children_memory or 0) > 80
    assert (record.peak_memory or 0) < (record.children_memory or 0) + 2000
    assert (record.children_time or 0) > 0.02
    watch = readings.Watch()
    began, before = {child.pid for child in watch.list_children()}, watch.children_time()
    server.stdin.close()
    server.wait()
    assert {child.pid for child in watch.list_children(now=True)} < began
    assert watch.children_time() >= before - 0.05, "10 ms is a clock's tick"


# ---------------------------------------------------------------- accelerators


class Cuda:
    """What torch tells of two accelerators."""

    def __init__(self, used: bool = True) -> None:
        self.used, self.held, self.most = used, [300 * MEGA, 0], [900 * MEGA, 0]

    def is_initialized(self) -> bool:
        return self.used

    def device_count(self) -> int:
        return 2

    def memory_allocated(self, device: int) -> int:
        return self.held[device]

    def max_memory_allocated(self, device: int) -> int:
        return self.most[device]

    def hold(self, device: int, bytes_held: int) -> None:
        self.held[device] = bytes_held
        self.most[device] = max(self.most[device], bytes_held)


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> Cuda:
    cuda = Cuda()
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda, Tensor=type(None)))
    return cuda


def test_memory_that_rises_is_exact_and_else_what_was_seen(cuda: Cuda) -> None:
    watch = readings.Watch()
    assert watch.memory()["peak_gpu_memory"] == 300
    cuda.hold(0, 500 * MEGA)  # below the mark of what was before
    watch.look()
    cuda.hold(0, 300 * MEGA)
    assert watch.memory()["peak_gpu_memory"] == 500
    cuda.hold(1, 70 * MEGA)  # and given back before anyone looks
    cuda.hold(1, 0)
    assert watch.memory()["peak_gpu_memory"] == 570
    assert cuda.most == [900 * MEGA, 70 * MEGA], "marks stay"


def test_torch_may_come_to_accelerators_later(cuda: Cuda) -> None:
    cuda.used = False
    watch = readings.Watch()
    assert watch.memory()["peak_gpu_memory"] is None
    cuda.used = True
    assert watch.memory()["peak_gpu_memory"] == 900, "all that it has held was since"


# ---------------------------------------------------------------- indexes, models, files


def test_building_an_index_is_measured(tmp_path: Path) -> None:
    def build() -> str:
        held = np.ones(50_000_000)
        (tmp_path / "index").write_bytes(bytes(int(held[0]) * 1500))
        return "built"

    built = measure_indexing(build, index_path=tmp_path / "index")
    assert (built.index, built.disk) == ("built", 0.0015)
    assert built.time > 0
    assert (built.memory or 0) > 400
    assert built.fields == {
        "indexing_time": built.time,
        "indexing_memory": built.memory,
        "index_disk": 0.0015,
    }
    record = quick(search, QUERIES, **built.fields).record
    assert (record.indexing_time, record.index_disk) == (built.time, 0.0015)
    assert EfficiencyRecord.from_json(record.to_json()) == record


async def build_later() -> None:
    pytest.fail("it is refused")


def test_refused(tmp_path: Path) -> None:
    input_error(lambda: measure_indexing(5), "build", "not to be called")  # type: ignore[arg-type]
    input_error(lambda: measure_indexing(build_later), "build", "async def")
    for path, told in ((tmp_path / "gone", "not there"), ([], "not a path"), (b".", "not a path")):
        input_error(lambda path=path: measure_indexing(dict, index_path=path), "index_path", told)
    with pytest.raises(ZeroDivisionError):
        measure_indexing(lambda: 1 // 0)


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
    assert readings.size_on_disk(str(index)) == 1570 / 1e6
    assert readings.size_on_disk(index / "a") == 0.001
    (tmp_path / "to the index").symlink_to(index)
    assert readings.size_on_disk(tmp_path / "to the index") == 1570 / 1e6
