"""Kernels as plain Python, by Numba and in the library give the same bits, and all are known."""

from __future__ import annotations

import functools
import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from support.kernel_calls import Call, Kinds, is_named, note_calls

import irbatch
from irbatch import InputWarning
from irbatch.array_types import Floats, Floats2, Ints
from irbatch.cli import main
from irbatch.runtime import build_kernels, kernels
from irbatch.runtime.build_kernels import LEVELS, declared_kernels, declared_kinds
from irbatch.runtime.kernels import Arguments, Kernel, kernel, open_library

Array = npt.NDArray[Any]
STEP = 3
NO_LIBRARY = "no library: python -m irbatch.runtime.build_kernels"


class Sums(NamedTuple):
    """Where a kernel writes to."""

    whole: Ints
    real: Floats


class Work(NamedTuple):
    """Named tuples in named tuples."""

    values: Floats2
    sums: Sums
    times: int


@kernel
def _twice(value: float) -> float:
    return 2.0 * value


@kernel
def _add_up(
    codes: Annotated[Array, "i1 i2 f8", 2], work: Work, factor: float, skip: bool
) -> tuple[int, float, bool]:
    total = 0
    for i in range(codes.shape[0]):
        for j in range(codes.shape[1]):
            if not (skip and codes[i, j] == 0):
                total += STEP * int(codes[i, j])
                work.sums.real[j] += _twice(factor) * work.values[i, j] * work.times
        work.sums.whole[i] = total
    return total, total / 7, total > 10


@kernel
def _largest(values: Annotated[Array, "f4 f8"]) -> float:
    largest = values[0]
    for value in values:
        if value > largest:
            largest = value
    return float(largest)


def arguments(dtype: str = "i1") -> tuple[Any, ...]:
    rng = np.random.default_rng(4)
    sums = Sums(np.zeros(6, np.int64), np.zeros(9))
    codes = rng.integers(0, 5, (6, 9)).astype(dtype)
    return codes, Work(rng.random((6, 9)), sums, 4), 0.3, True


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels of this module that nothing was compiled for, and a folder for what will be."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("IRBATCH_JIT", "1")
    monkeypatch.setattr(Kernel, "_may_compile", True)
    monkeypatch.setattr(Kernel, "is_kept", True)
    for each in (_add_up, _largest, _twice):
        monkeypatch.setattr(each, "_code", {})
        monkeypatch.setattr(each, "_forms", {})


# ---------------------------------------------------------------- every kernel, every kind


@functools.cache
def declared() -> list[tuple[Kernel, Kinds]]:
    return [(each, kinds) for each, all_kinds in declared_kernels() for kinds in all_kinds]


@pytest.fixture(scope="module")
def calls() -> dict[tuple[Kernel, Kinds], Call]:
    with pytest.MonkeyPatch.context() as patch:
        return note_calls(patch)


def outcome(call: Call, run: Callable[..., Any]) -> tuple[Any, list[bytes]]:
    """Return what a kernel returns and all that its arrays hold then."""
    values = call.arguments()
    result = run(*values)
    return result, [array.tobytes() for array in _arrays(values)]


def _arrays(values: Any) -> Iterator[Array]:
    for value in values:
        if isinstance(value, np.ndarray):
            yield value
        elif is_named(value):
            yield from _arrays(value)


def by_library(call: Call, kinds: Kinds, level: str) -> Callable[..., Any]:
    library, _, is_in_place = open_library()
    if library is None:
        pytest.skip(NO_LIBRARY)
    name = f"{level}_{call.kernel.symbol(kinds, is_in_place)}"
    function = getattr(library[call.kernel.holds_gil], name, None)
    if function is None:
        pytest.skip(f"{call.kernel.__name__} is not in the library; make it anew")

    def run(*values: Any) -> Any:
        flat = Arguments(values)
        return kernels.library_code(function, flat, call.kernel.results())(flat)

    return run


def by_numba(call: Call) -> Callable[..., Any]:
    return lambda *values: kernels._run_with_numba(call.kernel.for_numba(), Arguments(values))


def runs_here(level: str) -> bool:
    newest = open_library()[1]
    return level == newest or (level, newest) == ("v2", "v3")


def test_every_kernel_is_called_for_every_kind(calls: dict[tuple[Kernel, Kinds], Call]) -> None:
    assert len(declared()) >= 40
    assert set(calls) == set(declared())


@pytest.mark.parametrize("way", [*LEVELS, pytest.param("numba", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", sorted({each.__name__ for each, _ in declared()}))
def test_every_way_gives_the_bits_of_plain_python(
    calls: dict[tuple[Kernel, Kinds], Call], name: str, way: str
) -> None:
    if way != "numba" and not runs_here(way):
        pytest.skip(f"this processor has no {way}")
    for each, kinds in declared():
        if each.__name__ == name:
            call = calls[each, kinds]
            run = by_numba(call) if way == "numba" else by_library(call, kinds, way)
            assert outcome(call, run) == outcome(call, each.source)


def test_the_library_has_every_kernel_as_it_is_now() -> None:
    library, _, is_in_place = open_library()
    if library is None:
        pytest.skip(NO_LIBRARY)
    for level, (each, kinds) in itertools.product(LEVELS, declared()):
        assert hasattr(library[0], f"{level}_{each.symbol(kinds, is_in_place)}"), each


# ---------------------------------------------------------------- what kernels are


def test_declared_kinds() -> None:
    f8, i8 = np.dtype("f8"), np.dtype("i8")
    work = [Work, f8, 2, Sums, i8, 1, f8, 1, None, int, None]
    assert declared_kinds(_add_up.source) == [
        (np.dtype(each), 2, *work, float, bool) for each in ("i1", "i2", "f8")
    ]
    assert Arguments(arguments("i2")).kinds == declared_kinds(_add_up.source)[1]
    assert Arguments(build_kernels.example(iter(declared_kinds(_add_up.source)[0]))).kinds == (
        Arguments(arguments("i1")).kinds
    )


def test_a_change_of_source_of_a_called_kernel_or_of_a_constant_shows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    digests = {_add_up.digest()}
    monkeypatch.setitem(_add_up.source.__globals__, "STEP", 6)
    digests.add(_add_up.digest())
    monkeypatch.setattr(_twice, "source", lambda value: value + value)
    digests.add(_add_up.digest())
    assert len(digests) == 3
    names = {_add_up.symbol(each, True) for each in declared_kinds(_add_up.source)}
    assert len(names) == 3


def test_what_no_kernel_takes() -> None:
    odd = np.frombuffer(b"\0" * 17, np.uint8)[1:].view(np.float64)
    assert not odd.flags.aligned
    swapped = np.ones(2, np.dtype("f8").newbyteorder())
    for values in (odd, swapped, [1.0], "1", None):
        with pytest.raises(TypeError):
            _largest.run(1, values)


# ---------------------------------------------------------------- Numba, where there is no library


@pytest.mark.parametrize("dtype", ["i1", "i2", "f8"])
def test_numba_gives_the_bits_of_the_source(dtype: str) -> None:
    plain, compiled = arguments(dtype), arguments(dtype)
    results = _add_up.run(1, *compiled)
    assert results == _add_up.source(*plain)
    assert [type(each) for each in results] == [int, float, bool]
    assert compiled[1].sums.real.tobytes() == plain[1].sums.real.tobytes()
    *rest, factor, skip = arguments(dtype)
    assert _add_up.run(1, *rest, np.float64(factor), np.bool_(skip)) == results


@pytest.mark.slow  # Numba compiles
def test_another_process_takes_what_numba_has_kept(tmp_path: Path) -> None:
    code = (
        "from irbatch.comparing.rankings import rbo\n"
        "from irbatch.engine.overlap import _sum_up\n"
        "print(rbo(['a', 'b', 'c'], ['b', 'a', 'd'])[0])\n"
        "(form,) = _sum_up._forms.values()\n"
        "print(sum(form.stats.cache_hits.values()))"
    )
    environment = {**os.environ, "IRBATCH_JIT": "numba"}

    def run(at_once: int) -> list[list[str]]:
        words = [sys.executable, "-c", code]
        pipes = {"stdout": -1, "stderr": -1, "text": True, "env": environment}
        all_of = [subprocess.Popen(words, **pipes) for _ in range(at_once)]  # type: ignore[call-overload]
        printed = [each.communicate(timeout=300) for each in all_of]
        assert not any(each.returncode for each in all_of), printed
        return [out.split() for out, _ in printed]

    first, second = run(2)
    (later,) = run(1)
    assert first[0] == second[0] == later[0]
    assert later[1] == "1"


def test_where_nothing_can_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from numba.core import caching

    monkeypatch.setattr("irbatch.cli.warmup.warmup", list)
    assert main(["warmup"]) == 0
    assert "compiled: 0" in capsys.readouterr().out
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    assert _largest.run(1, np.array([1.0, 5.0])) == 5.0
    monkeypatch.setattr("irbatch.cli.warmup.warmup", lambda: ["_largest"])
    assert main(["warmup"]) == 1
    assert "NUMBA_CACHE_DIR" in capsys.readouterr().err


def test_warming_up_compiles_what_the_library_lacks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one = [(_largest, declared_kinds(_largest.source))]
    monkeypatch.setattr(build_kernels, "declared_kernels", lambda: one)
    assert irbatch.runtime.warmup() == ["_largest", "_largest"]
    assert capsys.readouterr().err == "compiling, once a machine: half a minute\n"
    assert set(_largest._code) == set(declared_kinds(_largest.source))
    monkeypatch.setattr(_largest, "_load", lambda flat: _largest._code[flat.kinds])
    assert irbatch.runtime.warmup() == []


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


# ---------------------------------------------------------------- the library, and building it


def test_the_library_needs_neither_numba_nor_a_folder_to_write_to(tmp_path: Path) -> None:
    if open_library()[0] is None:
        pytest.skip(NO_LIBRARY)
    code = (
        "import sys, numpy, irbatch\n"
        "found = irbatch.evaluate_matrix(numpy.eye(100), 'nDCG@10 AP RBP', threads=1)\n"
        "print('numba' in sys.modules, found.mean())"
    )
    home = tmp_path / "home"
    home.mkdir(0o555)
    printed = set()
    for jit in ("0", "1"):
        places = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"), str(home))
        done = subprocess.run(
            [sys.executable, "-B", "-c", code],
            env={**os.environ, **places, "IRBATCH_JIT": jit},
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        )
        assert done.stderr == ""
        printed.add(done.stdout)
    assert len(printed) == 1
    assert printed.pop().startswith("False")
    assert not list(home.iterdir())


@pytest.mark.parametrize(
    ("version", "environment", "said"),
    [
        ("editable", {}, "irbatch: without compiled kernels (editable)"),
        ("standard", {"IRBATCH_BUILD_KERNELS": "0"}, "irbatch: without compiled kernels (0)"),
        ("standard", {"CC": "no-such-compiler"}, "a pure wheel: there is no C compiler 'no-such-"),
    ],
)
def test_wheels_without_compiled_kernels(
    version: str, environment: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.syspath_prepend(str(build_kernels.PACKAGE.parent))
    hook = build_kernels.BuildHook.__new__(build_kernels.BuildHook)
    lines: list[str] = []
    app = SimpleNamespace(display_info=lines.append, display_warning=lines.append)
    monkeypatch.setattr(build_kernels.BuildHook, "app", app, raising=False)
    monkeypatch.setattr(build_kernels.BuildHook, "root", str(build_kernels.PACKAGE.parent), False)
    data: dict[str, Any] = {"force_include": {}}
    hook.initialize(version, data)
    hook.finalize(version, data, "")
    assert data == {"force_include": {}}
    (line,) = lines
    assert said in line
    monkeypatch.setenv("IRBATCH_BUILD_KERNELS", "1")
    if "CC" in environment:
        with pytest.raises(OSError, match="no C compiler"):
            hook.initialize(version, data)


@pytest.mark.parametrize("name", [kernels.OF_WHEEL, kernels.IN_PLACE])
def test_a_library_of_a_few_kernels(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Build one, open it in place of the one that is there, and run what it has."""
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    monkeypatch.setattr(build_kernels, "PROCESSES", 0)
    monkeypatch.setattr(build_kernels, "declared_kernels", lambda: few)
    few = [(_add_up, declared_kinds(_add_up.source)), (_largest, declared_kinds(_largest.source))]
    folder = tmp_path / "objects"
    folder.mkdir()
    is_in_place = name == kernels.IN_PLACE
    build_kernels.compile_kernels(folder, is_in_place=is_in_place)
    path = tmp_path / name
    objects = [str(each) for each in folder.glob("*.o")]
    build_kernels.link(path, objects)
    monkeypatch.setattr(kernels, "__file__", str(tmp_path / "kernels.py"))
    open_library.cache_clear()
    try:
        monkeypatch.setattr(Kernel, "_compile", None)
        assert _largest.run(1, np.array([1.0, 5.0])) == 5.0
        for dtype in ("i1", "i2", "f8"):
            plain, linked = arguments(dtype), arguments(dtype)
            assert _add_up.run(1, *linked) == _add_up.source(*plain)
            assert linked[1].sums.real.tobytes() == plain[1].sums.real.tobytes()
        monkeypatch.setitem(_add_up.source.__globals__, "STEP", 6)
        _add_up._code.clear()
        has_none = _add_up._load(Arguments(arguments())) is None
        assert has_none == is_in_place, "a working tree's has changed; a wheel's, at most by -OO"
    finally:
        open_library.cache_clear()
