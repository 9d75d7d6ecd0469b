"""How the hot loops run: one Python source, executed as it stands or compiled by Numba.

Compiling a kernel costs a second or more in a new process, loading it from Numba's disk cache a
few tenths; walking some ten thousand cells in plain Python costs less than either. So a kernel
runs its own source uncompiled until the work it has done that way adds up to what compiling would
have cost, then compiles once. Both ways are the same statements in the same order: the same bits.

`IRBATCH_JIT` overrides the choice: ``1`` compiles at the first call, ``0`` never compiles.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

# Cells of plain-Python work after which a kernel compiles. Plain Python takes about 0.1 us a cell
# (see benchmarks/test_cold_start.py), so this is about 0.2 s, what importing Numba costs. Once
# that is paid, loading one more kernel from the disk cache takes some hundredths.
PLAIN_CELLS = 2_000_000
PLAIN_CELLS_WITH_NUMBA = 200_000


class Kernel:
    """A module-level function over arrays and numbers that can run plain or compiled.

    A kernel may call other kernels of its own file by their global names. It never allocates for
    the caller, keeps no state, and trusts its arguments: its callers check them.

    Arrays that belong together are one argument, a NamedTuple. Compiled code finds its fields by
    their positions, and the disk cache only notices edits of the kernel's own file: after fields
    of one type have changed places in another file, clear the cache.
    """

    _entries: ClassVar[list[Kernel]] = []
    _compile_always = False

    def __init__(self, source: FunctionType) -> None:
        self.source = source
        self.__doc__ = source.__doc__
        self.__name__ = source.__name__
        self._compiled: Callable[..., Any] | None = None
        self._plain_cells = 0
        Kernel._entries.append(self)

    def __call__(self, *arguments: Any) -> Any:
        """Run the source as plain Python."""
        return self.source(*arguments)

    def run(self, cells: int, *arguments: Any) -> Any:
        """Run plain or compiled, whichever is sooner done for work of about `cells` cells."""
        if self._compiled is None and not self._should_compile(cells):
            self._plain_cells += cells
            return self.source(*arguments)
        try:
            return self.compiled()(*arguments)
        except Exception:
            # Kernels raise nothing of their own: this is a disk cache that cannot be read or
            # written (full disk, read-only home, damaged file). Compile without it; a real error
            # comes again.
            self._compiled = self._compile(cache=False)
            return self._compiled(*arguments)

    def compiled(self) -> Callable[..., Any]:
        """Return the compiled kernel (compilation itself happens at its first call)."""
        if self._compiled is None:
            try:
                self._compiled = self._compile(cache=True)
            except RuntimeError:  # no directory that a cache could be written to
                self._compiled = self._compile(cache=False)
        return self._compiled

    @staticmethod
    @contextmanager
    def always_compiled() -> Iterator[list[str]]:
        """Compile whatever runs inside; the list given is filled with the names on leaving."""
        names: list[str] = []
        Kernel._compile_always = True
        try:
            yield names
        finally:
            Kernel._compile_always = False
            names += [each.__name__ for each in Kernel._entries if each._compiled is not None]

    def _should_compile(self, cells: int) -> bool:
        wish = "1" if Kernel._compile_always else os.environ.get("IRBATCH_JIT", "auto")
        limit = PLAIN_CELLS_WITH_NUMBA if "numba" in sys.modules else PLAIN_CELLS
        return wish == "1" or (wish != "0" and self._plain_cells + cells > limit)

    def _compile(self, *, cache: bool) -> Callable[..., Any]:
        """Bind the kernels this one calls to their compiled forms, and wrap it for Numba."""
        import numba

        called = {
            name: value._compile(cache=False)
            for name, value in self.source.__globals__.items()
            if isinstance(value, Kernel) and name in self.source.__code__.co_names
        }
        source = self.source
        if called:
            source = FunctionType(
                source.__code__, {**source.__globals__, **called}, source.__name__
            )
            source.__qualname__ = self.source.__qualname__
            source.__module__ = self.source.__module__
        # error_model="numpy" leaves out checks for divisions by zero, of which kernels have none.
        compiling = numba.njit(nogil=True, cache=cache, error_model="numpy")
        decorated: Callable[..., Any] = compiling(source)
        return decorated


def kernel(source: Callable[..., Any]) -> Kernel:
    """Declare a hot loop."""
    if not isinstance(source, FunctionType):
        raise TypeError(f"a kernel is a plain function, not {type(source).__name__}")
    return Kernel(source)


def as_input(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array as kernels take theirs: contiguous, aligned, and not marked read-only.

    Numba would compile each kernel once more for read-only arrays. No kernel writes to its input,
    so what may not be written to is passed on, without copying it, under another mark.
    """
    array = np.require(array, requirements=["C", "A"])
    return array if array.flags.writeable else np.asarray(_Unmarked(array))


class _Unmarked:
    """The memory of an array, which it keeps alive."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        self._array = array
        place = array.__array_interface__["data"][0]
        self.__array_interface__ = {**array.__array_interface__, "data": (place, False)}
