"""Machine code in files: what is loaded gives the source's bits, and only what fits is loaded."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import struct
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

import irbatch
from irbatch import InputWarning
from irbatch.cli import main
from irbatch.runtime import kernels, stored_code
from irbatch.runtime.kernels import Kernel, kernel

pytestmark = pytest.mark.skipif(not stored_code.is_supported(), reason="no code is stored here")

Array = npt.NDArray[Any]
STEP = 3


class Sums(NamedTuple):
    """Where a kernel writes to."""

    whole: Array
    real: Array


class Work(NamedTuple):
    """Named tuples in named tuples."""

    values: Array
    sums: Sums
    times: int


@kernel
def _twice(value: float) -> float:
    return 2.0 * value


@kernel
def _add_up(codes: Array, there: Array, work: Work, factor: float, skip: bool) -> Any:
    total = 0
    for i in range(codes.shape[0]):
        for j in range(codes.shape[1]):
            if there[i] and not (skip and codes[i, j] == 0):
                total += STEP * int(codes[i, j])
                work.sums.real[j] += _twice(factor) * work.values[i, j] * work.times
        work.sums.whole[i] = total
    return total, total / 7, total > 10


@kernel
def _largest(values: Array) -> float:
    largest = values[0]
    for value in values:
        if value > largest:
            largest = value
    return float(largest)


@kernel
def _double_in_place(values: Array) -> None:
    for i in range(values.size):
        values[i] *= 2


@kernel
def _is_long(values: Array) -> bool:
    return values.size > 3


@kernel
def _allocate(n: int) -> int:
    return int(np.zeros(n).size)


def arguments(dtype: str = "i1") -> tuple[Any, ...]:
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 5, (6, 9)).astype(dtype)
    sums = Sums(np.zeros(6, np.int64), np.zeros(9))
    return codes, rng.random(6) < 0.8, Work(rng.random((6, 9)), sums, 4), 0.3, True


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of their own for files, and kernels that nothing was loaded for."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("IRBATCH_JIT", "1")
    for each in (_add_up, _largest, _double_in_place, _is_long, _allocate):
        monkeypatch.setattr(each, "_code", {})
    monkeypatch.setattr(Kernel, "not_kept", set())
    monkeypatch.setattr(Kernel, "_may_compile", True)
    return tmp_path


def forget(*kernels: Kernel) -> None:
    for each in kernels:
        each._code.clear()


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From now on, whatever is compiled fails."""

    def forbid() -> None:
        def refuse(*_: Any) -> None:
            raise AssertionError("this should have been loaded")

        monkeypatch.setattr(Kernel, "_compile", refuse)

    return forbid


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u8", "f4", "f8"])
def test_what_is_compiled_and_what_is_loaded_give_the_bits_of_the_source(
    dtype: str, folder: Path, no_compiler: Callable[[], None]
) -> None:
    plain = arguments(dtype)
    expected = _add_up.source(*plain)
    compiled = arguments(dtype)
    assert _add_up.run(1, *compiled) == expected
    no_compiler()
    forget(_add_up)
    loaded = arguments(dtype)
    found = _add_up.run(1, *loaded)
    assert found == expected
    assert [type(each) for each in found] == [int, float, bool]
    for each in (compiled, loaded):
        assert each[2].sums.whole.tobytes() == plain[2].sums.whole.tobytes()
        assert each[2].sums.real.tobytes() == plain[2].sums.real.tobytes()
    assert len(files(folder)) == 1


def test_results_of_every_kind() -> None:
    values = np.array([1.5, -2.0, 7.25, 3.0])
    assert _largest.run(1, values) == 7.25
    assert _is_long.run(1, values) is True
    assert _double_in_place.run(1, values) is None
    assert values.tolist() == [3.0, -4.0, 14.5, 6.0]


def test_arrays_that_are_not_contiguous() -> None:
    values = np.arange(40.0).reshape(8, 5)
    assert _largest.run(1, values[::-2, 3]) == 38.0
    assert _largest.run(1, values.T[2]) == 37.0
    _double_in_place.run(1, values[1::3, 4])
    assert values[:, 4].tolist() == [4.0, 18.0, 14.0, 19.0, 48.0, 29.0, 34.0, 78.0]


def test_numpy_numbers_are_numbers() -> None:
    expected = _add_up.source(*arguments())
    *rest, factor, skip = arguments()
    assert _add_up.run(1, *rest, np.float64(factor), np.bool_(skip)) == expected


def test_files_are_named_by_what_they_are_made_from(folder: Path) -> None:
    for dtype in ("f4", "f8"):
        _largest.run(1, np.ones(3, dtype))
    _largest.run(1, np.ones((3, 2))[:, 0])
    assert len(files(folder)) == 3
    assert all(name.startswith("largest-") for name in files(folder))


def test_another_constant_makes_another_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = _add_up.run(1, *arguments())[0]
    forget(_add_up)
    monkeypatch.setitem(_add_up.source.__globals__, "STEP", 6)
    assert _add_up.run(1, *arguments())[0] == 2 * first
    assert len(files(folder)) == 2


def test_every_damaged_byte_and_every_missing_end_is_noticed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _largest.run(1, np.array([1.0, 5.0]))
    (path,) = folder.iterdir()
    content = path.read_bytes()
    made_from = content[4:].partition(b"\n")[0].decode()
    assert stored_code.load("_largest", made_from) is not None
    for place, byte in enumerate(content):
        start, end = content[:place], content[place + 1 :]
        ways = (
            start,
            start + bytes([byte ^ (1 << place % 8)]) + end,
            start + b"\0\0" + end,
            start + end,
        )
        for damaged in ways:
            monkeypatch.setattr(stored_code, "_read", lambda *_, damaged=damaged: damaged)
            assert stored_code.load("_largest", made_from) is None, place


@pytest.mark.parametrize("damage", ["empty", "cut off", "garbled", "one bit"])
def test_damaged_files_are_written_anew(
    folder: Path, damage: str, no_compiler: Callable[[], None]
) -> None:
    values = np.array([1.0, 5.0])
    _largest.run(1, values)
    (path,) = folder.iterdir()
    content = path.read_bytes()
    damaged = {
        "empty": b"",
        "cut off": content[: len(content) // 2],
        "garbled": np.random.default_rng(3).bytes(len(content)),
        "one bit": content[:-9] + bytes([content[-9] ^ 4]) + content[-8:],
    }
    path.write_bytes(damaged[damage])
    forget(_largest)
    assert _largest.run(1, values) == 5.0
    forget(_largest)
    assert path.read_bytes() != damaged[damage]
    no_compiler()
    assert _largest.run(1, values) == 5.0


def test_files_of_another_processor_or_version_are_not_loaded(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.array([1.0, 5.0])
    _largest.run(1, values)
    for number in range(2):
        forget(_largest)
        monkeypatch.setattr(stored_code, "_circumstances", lambda number=number: (str(number),))
        assert _largest.run(1, values) == 5.0
    assert len(files(folder)) == 3


def test_files_for_a_kind_of_processor(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Numba's variables name all of it, the processor that is here doesn't count."""
    from numba.core import config

    values = np.arange(40.0)
    _double_in_place.run(1, values.copy())
    (own,) = files(folder).values()
    monkeypatch.setattr(config, "CPU_NAME", "x86-64")
    monkeypatch.setattr(config, "CPU_FEATURES", "")
    monkeypatch.setattr(_double_in_place, "_forms", {})
    monkeypatch.setenv("NUMBA_CPU_NAME", "x86-64")
    here = stored_code._circumstances.__wrapped__()
    assert "x86-64" in here
    assert here[-1].startswith("flags"), "Numba takes the features of this processor"
    monkeypatch.setenv("NUMBA_CPU_FEATURES", "")
    named = stored_code._circumstances.__wrapped__()
    assert named[-2:] == ("x86-64", "")
    monkeypatch.setattr(stored_code, "_circumstances", lambda: named)
    forget(_double_in_place)
    _double_in_place.run(1, values)
    assert values.tolist() == [2.0 * i for i in range(40)]
    (other,) = set(files(folder).values()) - {own}
    assert own.partition(b"\n\n")[2] != other.partition(b"\n\n")[2]


def test_files_of_one_name_but_made_from_something_else_are_written_anew(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_code, "_path", lambda folder, *_: f"{folder}/one.kernel")
    for kind in ("f4", "f8", "f4"):
        forget(_largest, _double_in_place)
        values = np.array([1, 2], kind)
        assert _largest.run(1, values) == 2.0
        _double_in_place.run(1, values)
        assert values.tolist() == [2.0, 4.0]
    assert list(files(folder)) == ["one.kernel"]


@pytest.mark.parametrize("mode", [0o664, 0o646])
def test_files_that_others_could_have_written_are_not_loaded(
    folder: Path, mode: int, no_compiler: Callable[[], None]
) -> None:
    values = np.array([1.0, 5.0])
    _largest.run(1, values)
    (path,) = folder.iterdir()
    no_compiler()
    forget(_largest)
    path.chmod(mode)
    with pytest.raises(AssertionError, match="should have been loaded"):
        _largest.run(1, values)
    path.chmod(0o644)
    assert _largest.run(1, values) == 5.0


def test_where_memory_may_not_be_run_numba_runs_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(13, "the system doesn't let memory be run")

    monkeypatch.setattr(stored_code, "_put_in_memory", refuse)
    for _ in range(2):
        forget(_largest)
        assert _largest.run(1, np.array([1.0, 5.0])) == 5.0


@pytest.mark.parametrize("supported", [True, False])
def test_a_folder_that_cannot_be_written_to(
    folder: Path, supported: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_code, "is_supported", lambda: supported)
    monkeypatch.setattr(_largest, "_forms", {})
    (folder / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder / "file"))
    if not supported:
        from numba.core import caching

        monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    assert _largest.run(1, np.array([1.0, 5.0])) == 5.0
    assert list(files(folder)) == ["file"]
    assert Kernel.not_kept == {_largest}


def test_warming_says_what_was_not_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder / "file"))

    def warm() -> list[str]:
        _largest.run(1, np.array([1.0, 5.0]))
        return ["_largest", "scan_rows"]

    monkeypatch.setattr("irbatch.warmup", warm)
    assert main(["warmup"]) == 1
    said = capsys.readouterr()
    assert said.out == "2 kernels are compiled, 1 of them cached\n"
    assert said.err.startswith(f"irbatch: error: nothing can be written to '{folder}/file'; NUMBA")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder))
    Kernel.not_kept.clear()
    forget(_largest)
    assert main(["warmup"]) == 0
    assert capsys.readouterr().out == "2 kernels are compiled and cached\n"


@pytest.mark.parametrize("problem", [ImportError("no such file"), OSError("libLLVM"), TypeError()])
def test_without_numba_everything_runs_as_plain_python(
    problem: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        @staticmethod
        def find_spec(name: str, *_: object) -> None:
            if name == "numba":
                raise problem

    monkeypatch.delitem(sys.modules, "numba", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Broken, *sys.meta_path])
    values = np.array([1.0, 5.0])
    with pytest.warns(InputWarning, match=type(problem).__name__) as warned:
        found = [_largest.run(1, values), *_add_up.run(1, *arguments())]
    assert found == [5.0, *_add_up.source(*arguments())]
    assert len(warned) == 1
    labels = np.arange(30)[None, :] % 3
    with Kernel.always_compiled():
        found = irbatch.evaluate_matrix(labels, "nDCG RR").mean()
    monkeypatch.setenv("IRBATCH_JIT", "0")
    assert found == irbatch.evaluate_matrix(labels, "nDCG RR").mean()


def test_the_user_has_a_folder_where_the_package_is_read_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "__pycache__").touch()
    monkeypatch.setattr(stored_code, "__file__", str(tmp_path / "stored_code.py"))
    assert _largest.run(1, np.array([1.0, 5.0])) == 5.0
    assert len(list((tmp_path / "irbatch").iterdir())) == 1


def test_elsewhere_numba_keeps_its_own_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_code, "is_supported", lambda: False)
    expected = _add_up.source(*arguments())
    assert _add_up.run(1, *arguments()) == expected
    assert not list(folder.glob("*.kernel"))


def test_a_kernel_that_allocates_runs_but_is_not_kept(folder: Path) -> None:
    assert _allocate.run(1, 3) == 3
    assert not list(folder.glob("*.kernel"))


def test_what_no_entry_takes() -> None:
    odd = np.frombuffer(b"\0" * 17, np.uint8)[1:].view(np.float64)
    assert not odd.flags.aligned
    for values in (odd, [1.0], "1", None):
        with pytest.raises(TypeError):
            _largest.run(1, values)
    with pytest.raises(struct.error):
        _add_up.run(1, *arguments()[:2], arguments()[2]._replace(times=2**64), 0.3, True)


def test_many_threads_at_once(folder: Path) -> None:
    values = np.arange(100.0)
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: _largest.run(1, values), range(64))) == {99.0}
    assert len(files(folder)) == 1


def test_an_interrupt_waits_for_the_compiler(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba that is interrupted, when it is imported or fills its tables, stays broken."""
    compile_really = Kernel._compile
    ended = []

    def compile_interrupted(self: Kernel, flat: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        code = compile_really(self, flat)
        ended.append(self)
        return code

    monkeypatch.setattr(Kernel, "_compile", compile_interrupted)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        _largest.run(1, np.array([1.0, 5.0]))
    assert ended == [_largest]
    assert signal.getsignal(signal.SIGINT) is before
    assert _largest.run(1, np.array([1.0, 5.0])) == 5.0
    with ThreadPoolExecutor(1) as pool:  # which no interrupt reaches
        monkeypatch.setattr(Kernel, "_compile", compile_really)
        assert pool.submit(_is_long.run, 1, np.ones(5)).result() is True


def test_compiling_where_no_signal_can_be_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in an interpreter that is a part of another program."""

    def refuse(*_: object) -> None:
        raise ValueError("signal only works in main thread of the main interpreter")

    monkeypatch.setattr(signal, "signal", refuse)
    assert _largest.run(1, np.array([1.0, 5.0])) == 5.0


def test_a_fork_while_another_thread_compiles(folder: Path) -> None:
    """The child must not wait for a lock that a thread of its parent held, nor compile then."""
    code = (
        "import os, threading\n"
        "from irbatch.runtime import kernels\n"
        "from irbatch.runtime.kernels import Kernel\n"
        "kernels.FORK_WAITS = 0.1\n"
        "held, done = threading.Event(), threading.Event()\n"
        "def hold():\n"
        "    with Kernel._lock:\n"
        "        held.set(); done.wait(20)\n"
        "thread = threading.Thread(target=hold); thread.start(); held.wait()\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    os._exit(Kernel._may_compile or not Kernel._lock.acquire(timeout=5))\n"
        "status = os.waitpid(child, 0)[1]\n"
        "done.set(); thread.join()\n"
        "if not os.fork():\n"
        "    os._exit(not (Kernel._may_compile and Kernel._lock.acquire(timeout=5)))\n"
        "status += os.wait()[1] + (not Kernel._lock.acquire(timeout=5))\n"
        "raise SystemExit(status != 0)\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60)


def test_a_user_without_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container with any user's number: nothing is put in a folder called "~"."""
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    monkeypatch.setattr(stored_code, "__file__", str(tmp_path / "file" / "stored_code.py"))
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    assert _largest.run(1, np.array([1.0, 5.0])) == 5.0
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_numba_is_not_imported_for_what_is_stored(folder: Path) -> None:
    code = (
        "import sys, numpy, irbatch\n"
        "found = irbatch.evaluate_matrix(numpy.eye(40), 'nDCG@10 AP RBP', threads=1)\n"
        "print('numba' in sys.modules, found.mean())"
    )

    def run() -> tuple[list[str], list[str]]:
        words = [sys.executable, "-c", code]
        done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
        return done.stdout.split(maxsplit=1), done.stderr.splitlines()

    (first, said), (second, silent) = run(), run()
    assert [first[0], second[0]] == ["True", "False"]
    assert first[1] == second[1]
    told = "irbatch: compiling once on this machine, some seconds; `irbatch warmup` does all of it"
    assert (said, silent) == ([f"{told} ahead"], [])


def test_workers_and_warming_do_not_say_that_they_compile(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    kernels._say_compiling.cache_clear()
    with Kernel.always_compiled(lambda name: None):
        _largest.run(1, np.ones(3))
    forget(_largest)
    shutil.rmtree(folder)
    folder.mkdir()
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: multiprocessing)
    _largest.run(1, np.ones(3))
    assert kernels._say_compiling.cache_info().currsize == 1
    assert not caplog.records


def test_two_processes_compile_at_once(folder: Path) -> None:
    code = (
        "import sys\n"
        "from irbatch.comparing.correlation import rbo\n"
        "print('numba' in sys.modules, rbo(['a', 'b', 'c'], ['b', 'a', 'd'])[0])\n"
        "print('numba' in sys.modules)"
    )

    def run(at_once: int) -> list[list[str]]:
        words = [sys.executable, "-c", code]
        all_of = [subprocess.Popen(words, stdout=-1, text=True) for _ in range(at_once)]
        printed = [each.communicate(timeout=120)[0].split() for each in all_of]
        assert not any(each.returncode for each in all_of)
        return printed

    first, second = run(2)
    (later,) = run(1)
    assert [first[2], second[2], later[2]] == ["True", "True", "False"]
    assert first[1] == second[1] == later[1]


def test_arrays_with_other_fields_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A NumPy with another layout of arrays is left to Numba, which is compiled for it."""
    assert stored_code._knows_arrays()
    monkeypatch.setattr(stored_code, "DATA", stored_code.DATA + 1)
    assert not stored_code._knows_arrays()
