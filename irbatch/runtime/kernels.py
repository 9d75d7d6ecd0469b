"""How the hot loops run: one Python source, executed as it stands or compiled by Numba.

Compiling a kernel costs a second or more in a new process, loading machine code that was kept (see
`stored_code`) less than a millisecond, which some thousand cells in plain Python cost, too. So a
kernel runs its own source uncompiled until the work it has done that way adds up to what loading
it costs, or, where nothing is kept, compiling it. Both ways are the same statements in the same
order: the same bits.

`IRBATCH_JIT` overrides the choice: ``1`` compiles at the first call, ``0`` never compiles.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import RLock
from types import CodeType, FunctionType, ModuleType
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from irbatch.errors import warn
from irbatch.runtime.kernel_arguments import Arguments, flatten
from irbatch.runtime.objects import CFunction, Field, has_known_fields

# Cells of plain-Python work, at about 0.1 us a cell, after which a kernel is loaded (0.3 ms) or,
# where nothing is stored, compiled (Numba takes 0.3 s, the first time, and a kernel 0.1 s and
# more). See benchmarks/test_cold_start.py.
LOAD_AFTER = 3_000
COMPILE_AFTER, COMPILE_AFTER_NUMBA = 2_000_000, 200_000
FORK_WAITS = 10.0  # seconds at most, for a kernel that another thread compiles


Code = Callable[[Arguments], Any]


class Kernel:
    """A module-level function over arrays and numbers that can run plain or compiled.

    Its arguments are arrays, whole numbers of 64 bits, floats, truth values and named tuples of
    these; it returns numbers, or nothing. Arrays that belong together are one argument, a named
    tuple. It may call other kernels by their global names. It allocates nothing,
    keeps no state, and trusts its arguments: its callers check them.
    """

    _entries: ClassVar[list[Kernel]] = []
    _compile_always = False
    _may_compile = True
    _tell: ClassVar[Callable[[str], object] | None] = None
    not_kept: ClassVar[set[Kernel]] = set()  # compiled for this process alone
    _lock = RLock()  # while code is loaded or compiled

    def __init__(self, source: FunctionType) -> None:
        self.source = source
        self.holds_gil = self.is_inlined = False
        self.__doc__ = source.__doc__
        self.__name__ = source.__name__
        self._code: dict[tuple[Any, ...], Code] = {}  # by kinds of arguments
        self._forms: dict[tuple[Any, ...], Any] = {}  # for Numba, by options
        self._plain_cells = 0
        self._is_refused = False  # whether it cannot be compiled, which takes long to find out
        Kernel._entries.append(self)

    def __call__(self, *arguments: Any) -> Any:
        """Run the source as plain Python."""
        return self.source(*arguments)

    def run(self, cells: int, *arguments: Any) -> Any:
        """Run plain or compiled, whichever is sooner done for work of about `cells` cells."""
        code, flat = self._choose(cells, arguments)
        return self.source(*arguments) if code is None else code(flat)

    def run_compiled(self, cells: int, *arguments: Any) -> Any:
        """Run compiled; or return None, where it is sooner done, or only, in some other way."""
        code, flat = self._choose(cells, arguments)
        return None if code is None else code(flat)

    def _choose(self, cells: int, arguments: tuple[Any, ...]) -> tuple[Code | None, Any]:
        """Return code for arguments, and these laid out for it; no code if plain is sooner done."""
        if self._code or self._is_worth(cells, LOAD_AFTER):
            flat = flatten(arguments)
            code = self._code.get(flat.kinds) or self._find(flat, cells)
            if code is not None:
                return code, flat
        self._plain_cells += cells
        return None, None

    def is_ready(self, *arguments: Any) -> bool:
        """Tell whether code for such arguments is loaded, or stored: then no work is too little."""
        if os.environ.get("IRBATCH_JIT") == "0":
            return False
        flat = flatten(arguments)
        with Kernel._lock:
            code = self._code.get(flat.kinds) or self._load(flat)
            if code is not None:
                self._code[flat.kinds] = code
        return code is not None

    def runs_compiled(self, cells: int, *arguments: Any) -> bool:
        """Tell whether `run` would: for where NumPy does better than plain Python."""
        is_worth = Kernel._may_compile and self._is_worth(cells, _compile_limit())
        return is_worth or self.is_ready(*arguments)

    @staticmethod
    @contextmanager
    def always_compiled(tell: Callable[[str], object] | None = None) -> Iterator[list[str]]:
        """Compile whatever runs inside; the list given is filled with the names on leaving.

        `tell` is called with the name of each kernel that is compiled, not loaded, before it is.
        """
        names: list[str] = []
        Kernel._compile_always, Kernel._tell = True, tell
        try:
            yield names
        finally:
            Kernel._compile_always, Kernel._tell = False, None
            names += [each.__name__ for each in Kernel._entries if each._code]

    def _is_worth(self, cells: int, limit: int) -> bool:
        """Tell whether plain work, this one's included, goes beyond a limit."""
        choice = "1" if Kernel._compile_always else os.environ.get("IRBATCH_JIT", "auto")
        return choice == "1" or (choice != "0" and self._plain_cells + cells > limit)

    def _find(self, flat: Arguments, cells: int) -> Code | None:
        """Load or compile what runs such arguments, if the work is worth it."""
        if self._is_refused or (self.holds_gil and not can_read_objects()):
            return None
        with Kernel._lock:
            code = self._code.get(flat.kinds)  # another thread may have been first
            if code is None and self._is_worth(cells, LOAD_AFTER):
                code = self._load(flat)
            if code is not None:
                self._code[flat.kinds] = code
        if code is None and Kernel._may_compile and self._is_worth(cells, _compile_limit()):
            # Numba imports it. Its hooks of forks come before the lock: a fork that waits for the
            # lock would call those that are new by then after the fork alone.
            import concurrent.futures.thread  # noqa: F401

            # Numba that was interrupted, when it is imported or fills its tables, stays broken.
            with Kernel._lock, interrupts_later():
                code = self._code.get(flat.kinds) or self._compile(flat)
                if code is not None:
                    self._code[flat.kinds] = code
        return code

    def _load(self, flat: Arguments) -> Code | None:
        from irbatch.runtime.stored_code import StoredCode, is_supported, load

        if not is_supported():
            return None
        with suppress(OSError, ValueError):  # then it is compiled anew
            if entry := load(self.__name__, self._made_from(flat)):
                return StoredCode(entry, flat.kinds, holds_gil=self.holds_gil)
        return None

    def _compile(self, flat: Arguments) -> Code | None:
        """Compile the source, and keep its machine code where that is possible."""
        if Kernel._tell is not None:
            Kernel._tell(self.__name__)
        from irbatch.runtime.stored_code import StoredCode, is_supported, save

        if not _has_numba():
            Kernel._may_compile = False
            return None
        if Kernel._tell is None:
            _say_compiling()
        if is_supported():
            from irbatch.runtime.compiling import PART_OF_ENTRY, compile_entry

            with suppress(Exception):  # a real error comes again
                entry = compile_entry(self._decorated(**PART_OF_ENTRY), flat.kinds)
                if not save(self.__name__, self._made_from(flat), entry):
                    Kernel.not_kept.add(self)
                return StoredCode(entry, flat.kinds, holds_gil=self.holds_gil)
        if self.holds_gil:  # Numba's own wrappers know no such code
            self._is_refused = True
            return None
        try:
            decorated = self._decorated(self._digest(), cache=True)
        except RuntimeError:  # there is no folder that Numba may write to
            decorated = self._decorated(self._digest())
            Kernel.not_kept.add(self)
        return lambda flat: decorated(*flat.given)

    def _decorated(self, digest: str = "", **options: Any) -> Callable[..., Any]:
        """Bind the kernels this one calls to their compiled forms, and wrap it for Numba.

        Numba's cache tells kernels apart by names and by the dates of their own files: `digest`,
        in the name, tells when one that is called has changed in another file. What is made is
        kept: Numba compiles a kernel that several others call once for each kind.
        """
        import numba

        key = digest, *options.items(), *self._sources()[1]
        decorated: Callable[..., Any] | None = self._forms.get(key)
        if decorated is not None:
            return decorated
        source = self.source
        bound = {name: each._decorated(**options) for name, each in self._called(Kernel).items()}
        foreign = self._called((CFunction, Field))
        bound.update({name: each.for_numba() for name, each in foreign.items()})
        if bound or digest:
            source = FunctionType(source.__code__, {**source.__globals__, **bound}, source.__name__)
            source.__qualname__ = self.source.__qualname__ + digest
            source.__module__ = self.source.__module__
        if self.is_inlined:
            options["inline"] = "always"
        # error_model="numpy" leaves out checks for divisions by zero, of which kernels have none.
        wrap = numba.njit(nogil=True, error_model="numpy", **options)
        self._forms[key] = decorated = wrap(source)
        return decorated

    def _called(self, kind: type[Any] | tuple[type[Any], ...]) -> dict[str, Any]:
        known, names = self.source.__globals__, self.source.__code__.co_names
        return {name: known[name] for name in names if isinstance(known.get(name), kind)}

    def _made_from(self, flat: Arguments) -> str:
        """Say what machine code for such arguments is made from."""
        from irbatch.runtime.stored_code import describe

        return describe(*self._sources(), flat.kinds)

    def _digest(self) -> str:
        """Return a number that is another one when a source or a constant has changed."""
        from irbatch.runtime.stored_code import digest

        return f"-{digest(*self._sources()):08x}"

    def _sources(self) -> tuple[list[CodeType], list[tuple[str, str]]]:
        """Return the bytecode of this kernel and those it calls, and the constants they use."""
        kernels = list(self._with_called())
        constants = sorted({each for kernel in kernels for each in kernel._constants()})
        return [each.source.__code__ for each in kernels], constants

    def _with_called(self) -> Iterator[Kernel]:
        yield self
        for each in self._called(Kernel).values():
            yield from each._with_called()

    def _constants(self) -> Iterator[tuple[str, str]]:
        """Yield the global values that the source uses."""
        for name in self.source.__code__.co_names:
            value = self.source.__globals__.get(name)
            if value is not None and not isinstance(value, Kernel | ModuleType):
                yield name, str(getattr(value, "_fields", value))


def _compile_limit() -> int:
    return COMPILE_AFTER_NUMBA if "numba" in sys.modules else COMPILE_AFTER


def _has_numba() -> bool:
    """Import Numba; if that fails, whatever the reason, warn that everything takes longer."""
    try:
        import numba  # noqa: F401
    except Exception as problem:
        said = f"Numba cannot be imported ({type(problem).__name__}: {problem})"
        warn(f"{said}: what it would compile runs as plain Python, which takes far longer")
        return False
    return True


@functools.cache
def _say_compiling() -> None:
    """Say why work pauses, once, but not in each of many worker processes."""
    import logging  # as Numba does
    import multiprocessing

    if multiprocessing.parent_process() is None:
        said = "compiling once on this machine, some seconds; `irbatch warmup` does all of it ahead"
        logging.getLogger("irbatch").warning("irbatch: %s", said)


def _before_fork() -> None:
    """Wait for what is being compiled: in a child Numba's own locks would stay locked for ever."""
    _forks.append(Kernel._lock.acquire(timeout=FORK_WAITS))


def _after_fork() -> None:
    if _forks.pop():
        Kernel._lock.release()


def _in_child() -> None:
    """Take a lock that no thread holds; do without Numba where the fork didn't wait for it."""
    Kernel._may_compile = _forks.pop()
    _forks.clear()
    Kernel._lock = RLock()


_forks: list[bool] = []  # that are going on: whether they hold the lock
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_in_child)


@functools.cache
def can_read_objects() -> bool:
    """Tell whether compiled kernels can read Python's objects here."""
    from irbatch.runtime.stored_code import is_supported

    return is_supported() and has_known_fields()


def kernel(source: Callable[..., Any]) -> Kernel:
    """Declare a hot loop."""
    if not isinstance(source, FunctionType):
        raise TypeError(f"a kernel is a plain function, not {type(source).__name__}")
    return Kernel(source)


def inlined_kernel(source: Callable[..., Any]) -> Kernel:
    """Declare a part of a hot loop, which is put in where it is called.

    LLVM leaves a call with arrays, each of which is six arguments and more, where it takes longer
    than what is done in it (benchmarks/test_files.py).
    """
    made = kernel(source)
    made.is_inlined = True
    return made


def kernel_on_objects(source: Callable[..., Any]) -> Kernel:
    """Declare a hot loop over Python's objects, see `irbatch.runtime.objects`."""
    made = kernel(source)
    made.holds_gil = True
    return made


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


@contextmanager
def interrupts_later() -> Iterator[None]:
    """Let an interrupt come when the block has ended, not within it."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield  # interrupts come to the main thread, and there is something else for them here
        return
    came: list[Any] = []
    try:
        signal.signal(signal.SIGINT, lambda *given: came.append(given))
    except ValueError:  # Python is a part of another program, whose thread is the main one
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            before(*came[0])
