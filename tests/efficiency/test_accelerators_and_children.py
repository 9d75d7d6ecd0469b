"""What accelerators and child processes hold and take, and what building an index takes."""

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
    Indexing,
    accelerators,
    children,
    measure_indexing,
    measure_search,
)

QUERIES = {"q1": "cat", "q2": "dog", "q3": "cow"}
quick = partial(measure_search, hardware=Hardware(), draws=0, progress=False)
MEGA = 1_000_000


def search(query: Any) -> list[str]:
    return ["d1"]


# Children

on_linux = pytest.mark.skipif(
    children.living_children() is None, reason="children are listed on Linux alone"
)
SERVER = """
import sys
held = bytearray(80_000_000)
for line in sys.stdin:
    print(sum(range(1_000_000)), flush=True)
"""


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Children that stand since earlier tests, as Python's tracker of resources, are not listed."""
    before, listed = set(children.living_children() or ()), children._children_of

    def without(process: int) -> list[int] | None:
        found = listed(process)
        return found and [each for each in found if each not in before]

    monkeypatch.setattr(children, "_children_of", without)


@pytest.fixture
def server() -> Iterator[Any]:
    """A search by a process that another one has begun."""
    command = f'"{sys.executable}" -c "$0"; true'
    with subprocess.Popen(
        ["/bin/sh", "-c", command, SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process


@on_linux
def test_a_server_is_counted_while_it_lives_and_when_it_has_ended(server: Any) -> None:
    def ask(query: str) -> list[str]:
        server.stdin.write("\n")
        server.stdin.flush()
        return [server.stdout.readline().strip()]

    record = quick(ask, QUERIES, repeat=4).record
    assert (record.children_memory or 0) > 80
    assert (record.peak_memory or 0) < (record.children_memory or 0) + 2000
    assert (record.children_time or 0) > 0.02
    assert record.children_cpu_used == (record.children_time or 0) / (record.wall_time or 1)
    before = children.children_time() or 0
    server.stdin.close()
    server.wait()
    assert children.living_children() == []
    assert children.children_memory() == 0
    assert (children.children_time() or 0) >= before - 0.05, "10 ms is a clock's tick"


@on_linux
def test_without_children_they_take_nothing() -> None:
    record = quick(search, QUERIES).record
    assert (record.children_memory, record.children_time) == (0.0, 0.0)
    assert record.children_cpu_used == 0


@pytest.fixture
def processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """This process with a child, which has one, too; and one that has just ended."""
    monkeypatch.setattr(children, "PROC", tmp_path)
    page, tick = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")
    for process, listed in ((os.getpid(), {1: "7 9 ", 2: ""}), (7, {7: "8"}), (8, {8: ""})):
        for task, text in listed.items():
            folder = tmp_path / str(process) / "task" / str(task)
            folder.mkdir(parents=True)
            (folder / "children").write_text(text)
    for process, pages, ticks in ((7, 3 * MEGA // page, (1, 2, 3, 4)), (8, 0, (0, 0, 0, 5))):
        times = " ".join(str(each * tick) for each in ticks)
        (tmp_path / str(process) / "statm").write_text(f"999 {pages} 9 9 0 9 0\n")
        head = f"{process} (a ) (b) S 1 2 3 4 5 6 7 8 9 10"
        (tmp_path / str(process) / "stat").write_text(f"{head} {times} 20 0 1 0\n")
    return tmp_path


def test_all_that_descend_are_counted(processes: Path) -> None:
    assert sorted(children.living_children() or []) == [7, 8, 9]
    assert children.children_memory() == pytest.approx(3.0, abs=0.01)
    used = children.resource.getrusage(children.resource.RUSAGE_CHILDREN)
    assert children.children_time() == used.ru_utime + used.ru_stime + 15


def test_where_children_are_not_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "PROC", tmp_path)
    record = quick(search, QUERIES).record
    assert (record.children_memory, record.children_time) == (None, None)
    assert record.children_cpu_used is None


# Accelerators


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
    watch = accelerators.GpuWatch()
    assert watch.read() == 300
    cuda.hold(0, 500 * MEGA)  # below the mark of what was before
    watch.look()
    cuda.hold(0, 300 * MEGA)
    assert watch.read() == 500
    cuda.hold(1, 70 * MEGA)  # and given back before anyone looks
    cuda.hold(1, 0)
    assert watch.read() == 570
    assert cuda.most == [900 * MEGA, 70 * MEGA], "marks stay"


def test_torch_may_come_to_accelerators_later(cuda: Cuda) -> None:
    cuda.used = False
    watch = accelerators.GpuWatch()
    assert watch.read() is None
    cuda.used = True
    assert watch.read() == 900, "all that it has held was since"


def test_it_is_in_the_record(cuda: Cuda) -> None:
    def searching(query: str) -> list[str]:
        cuda.hold(0, 1000 * MEGA)
        return ["d1"]

    found = quick(searching, QUERIES)
    assert found.record.peak_gpu_memory == found.record.value("gpu_memory") == 1000
    assert "\n  peak GPU memory 1,000 MB" in repr(found)
    assert "children" not in repr(found)


def test_the_driver_is_asked_where_torch_is_not_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ours, other = os.getpid(), 1

    class Library:
        NVMLError = KeyError
        used = ((ours, 40 * MEGA), (other, 999 * MEGA), (ours, None))

        def nvmlInit(self) -> None:  # noqa: N802
            pass

        def nvmlDeviceGetCount(self) -> int:  # noqa: N802
            return 2

        def nvmlDeviceGetHandleByIndex(self, number: int) -> int:  # noqa: N802
            return number

        def nvmlDeviceGetComputeRunningProcesses(self, device: int) -> list[Any]:  # noqa: N802
            return [SimpleNamespace(pid=pid, usedGpuMemory=used) for pid, used in self.used]

    library = Library()
    monkeypatch.setitem(sys.modules, "pynvml", library)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert quick(search, QUERIES).record.peak_gpu_memory is None, "there is no driver"
    monkeypatch.setattr(accelerators, "DRIVER", tmp_path)
    assert quick(search, QUERIES, warmup=0).record.peak_gpu_memory == 80
    library.used = ()
    assert quick(search, QUERIES).record.peak_gpu_memory is None, "another's is not ours"
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert quick(search, QUERIES).record.peak_gpu_memory is None


def test_the_library_has_what_is_called() -> None:
    library = pytest.importorskip("pynvml")
    for name in ("Init", "DeviceGetCount", "DeviceGetHandleByIndex",
                 "DeviceGetComputeRunningProcesses", "Error"):  # fmt: skip
        assert hasattr(library, f"nvml{name}" if name != "Error" else "NVMLError")


# Indexing


def test_building_an_index_is_measured(tmp_path: Path) -> None:
    def build() -> str:
        held = np.ones(50_000_000)
        (tmp_path / "index").write_bytes(bytes(int(held[0]) * 1500))
        return "built"

    built = measure_indexing(build, index_path=tmp_path / "index")
    assert (built.index, built.disk) == ("built", 0.0015)
    assert built.time > 0
    assert built.memory is None or built.memory > 400
    assert built.fields == {
        "indexing_time": built.time,
        **({} if built.memory is None else {"indexing_memory": built.memory}),
        "index_disk": 0.0015,
    }
    record = quick(search, QUERIES, indexing=built).record
    assert (record.indexing_time, record.index_disk) == (built.time, 0.0015)
    assert EfficiencyRecord.from_json(record.to_json()) == record
    (tmp_path / "other").write_bytes(b"x" * 20)
    assert (
        quick(search, QUERIES, indexing=built, index_path=tmp_path / "other").record.index_disk
        == 2e-5
    )


@on_linux
def test_children_that_build_count() -> None:
    code = "import time; held = bytearray(90_000_000); time.sleep(0.1)"
    built = measure_indexing(lambda: subprocess.run([sys.executable, "-c", code], check=True))
    assert built.memory is not None
    assert built.memory > 90
    assert built.fields.keys() == {"indexing_time", "indexing_memory"}


async def build_later() -> None:
    pytest.fail("it is refused")


def test_refused(tmp_path: Path) -> None:
    input_error(lambda: measure_indexing(5), "build", "not to be called")  # type: ignore[arg-type]
    input_error(lambda: measure_indexing(build_later), "build", "async def")
    gone = tmp_path / "gone"
    input_error(lambda: measure_indexing(dict, index_path=gone), "index_path", "not there")
    input_error(lambda: Indexing(time=-1), "time")
    input_error(lambda: quick(search, QUERIES, indexing={"time": 1}), "indexing")
    with pytest.raises(ZeroDivisionError):
        measure_indexing(lambda: 1 // 0)


def test_an_index_is_not_printed() -> None:
    found = measure_indexing(lambda: list(range(10_000)))
    assert len(repr(found)) < 200
    assert len(found.index) == 10_000
