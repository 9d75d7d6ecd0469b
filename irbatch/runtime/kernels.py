"""How the hot loops run: one Python source, executed in one of three ways, with the same bits.

1. A wheel has all kernels as machine code, in one library (see `irbatch.runtime.build_kernels`). It
   is opened with ctypes by the first work that is worth it; nothing is compiled or written, and
   Numba is not imported. Who could change the library could change the modules beside it.
2. Without a library, or where it lacks a kernel, Numba compiles, and keeps what it has compiled in
   its own cache: in editable installations and on platforms without a wheel. Processes that start
   together may compile the same: a lock file would hang, or fail, in homes on a network, and would
   save developers alone some seconds.
3. Little work runs the source as plain Python: until then it has cost as much as the other two do.

`IRBATCH_JIT` overrides the choice: ``0`` runs all as plain Python, ``1`` all compiled, from the
library or by Numba, and ``numba`` all by Numba.
"""

from __future__ import annotations

import ctypes
import functools
import os
import struct
import sys
import zlib
from _thread import RLock  # threading takes 1.5 ms to import
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from irbatch.array_types import Ints, NDArray
from irbatch.errors import warn
from irbatch.runtime.threads import cached_property

# Cells of plain-Python work, at about 0.1 us a cell: of all kernels after which the library is used
# (opening it takes as long as 2,000, a kernel 300; but after so many there will be as many more);
# of one after which, without a library, it is compiled (0.1 s and more, and 0.3 s for Numba).
LOAD_AFTER, COMPILE_AFTER = 500, 2_000_000
MOST_RESULTS = 8  # numbers that a kernel may return
# Libraries of kernels, beside this module: of a wheel; and made for a working tree, whose kernels
# may have changed since, which the names of its functions tell.
OF_WHEEL = "compiled-kernels.so"
IN_PLACE = f"compiled-kernels-{sys.implementation.cache_tag}-in-place.so"


class CFunction:
    """A function of Python's C interface, by letters: ``q`` of 64 bits, ``i`` of 32, ``d`` a float.

    Kernels call it in plain Python, too; `for_numba` is what they call when they are compiled.
    """

    def __init__(self, name: str, result: str, arguments: str) -> None:
        self.name, self.result, self.arguments = name, result, arguments

    def __repr__(self) -> str:
        return f"{self.result} {self.name}({self.arguments})"

    def __call__(self, *arguments: Any) -> Any:
        """Call it from plain Python."""
        return self._plain(*arguments)

    @cached_property
    def _plain(self) -> Any:
        kinds: dict[str, Any] = {"q": ctypes.c_int64, "i": ctypes.c_int32, "d": ctypes.c_double}
        result, *arguments = (kinds[letter] for letter in self.result + self.arguments)
        return ctypes.PYFUNCTYPE(result, *arguments)((self.name, ctypes.pythonapi))

    def for_numba(self) -> Any:
        """Return what stands for it in compiled code."""
        from numba import types

        kinds = {"q": types.int64, "i": types.int32, "d": types.float64}
        arguments = [kinds[argument] for argument in self.arguments]
        return types.ExternalFunction(self.name, kinds[self.result](*arguments))


class Field:
    """Reads a number that stands at some address: ``q`` of 64 bits, ``d`` a float."""

    def __init__(self, letter: str) -> None:
        self.letter = letter

    def __repr__(self) -> str:
        return f"{self.letter} at"

    def __call__(self, address: int) -> Any:
        """Read the number in plain Python."""
        kind = ctypes.c_double if self.letter == "d" else ctypes.c_int64
        return kind.from_address(int(address)).value

    def for_numba(self) -> Any:
        """Return what stands for it in compiled code."""
        from numba import types
        from numba.extending import intrinsic

        kind = types.float64 if self.letter == "d" else types.int64

        def load(_: Any, address: Any) -> Any:
            def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
                pointer = context.get_value_type(types.CPointer(kind))
                return builder.load(builder.inttoptr(arguments[0], pointer))

            return kind(types.int64), generate

        return intrinsic(load)


class Prefetch(Field):
    """Fetches what is read soon from an array, so that the processor waits for many at once."""

    def __call__(self, array: NDArray[Any], place: int) -> None:  # type: ignore[override]
        """Do nothing in plain Python."""

    def for_numba(self) -> Any:
        """Return what stands for it in compiled code."""
        from llvmlite import ir
        from numba import types
        from numba.extending import intrinsic

        def fetch(_: Any, array: Any, place: Any) -> Any:
            def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
                number, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
                data = context.make_array(array)(context, builder, arguments[0]).data
                at = builder.bitcast(builder.gep(data, [arguments[1]]), pointer)
                kind = ir.FunctionType(ir.VoidType(), [pointer, *[number] * 3])
                function = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
                builder.call(function, [at, number(0), number(3), number(1)])  # to read, and keep
                return context.get_dummy_value()

            return types.void(array, types.int64), generate

        return intrinsic(fetch)


class Arguments:
    """A kernel's arguments as compiled code takes them.

    Args:
        values: the arguments themselves, which keep the arrays alive.

    Attributes:
        kinds: ``int``, ``float`` or ``bool`` of a number; of an array its data type and dimensions,
            negative if it is not contiguous; of a named tuple its class, its fields' kinds, None.
        numbers: of each number and array: the number, the address of the array's object.

    Raises:
        TypeError: if one is of a type that kernels don't take.
    """

    def __init__(self, values: Sequence[Any]) -> None:
        kinds: list[Any] = []
        self.numbers: list[Any] = []
        _flatten(values, kinds, self.numbers)
        self.kinds, self.values = tuple(kinds), values


Code = Callable[[Arguments], Any]


class Kernel:
    """A module-level function over arrays and numbers that can run plain or compiled.

    Its arguments are arrays, whole numbers of 64 bits, floats, truth values and named tuples of
    these; it returns numbers, or nothing. Arrays that belong together are one argument, a named
    tuple. It may call other kernels by their global names. It allocates nothing, keeps no state,
    raises nothing, and trusts its arguments: its callers check them. What it is compiled for stands
    in the annotations, see `irbatch.array_types`.

    Args:
        source: the function.
        is_inlined: whether it is put in where it is called: LLVM leaves a call with arrays, each of
            which is six arguments and more, where it takes longer than what is done in it.
        holds_gil: whether it looks at Python's objects, see `TYPES`.
    """

    _entries: ClassVar[list[Kernel]] = []
    _may_compile = True
    _all_plain_cells: ClassVar[int] = 0  # of all kernels together
    is_kept = True  # whether Numba can keep what it compiles
    _lock = RLock()  # while code is loaded or compiled

    def __init__(self, source: Any, *, is_inlined: bool = False, holds_gil: bool = False) -> None:
        self.source, self.is_inlined, self.holds_gil = source, is_inlined, holds_gil
        self.__doc__ = source.__doc__
        self.__name__ = source.__name__
        self._code: dict[tuple[Any, ...], Code] = {}  # by kinds of arguments
        self._forms: dict[tuple[Any, ...], Any] = {}  # for Numba, by options
        self._plain_cells = 0
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
        if self._code or _is_worth(Kernel._all_plain_cells + cells, LOAD_AFTER):
            flat = Arguments(arguments)
            code = self._code.get(flat.kinds) or self._find(flat, cells)
            if code is not None:
                return code, flat
        self._plain_cells += cells
        Kernel._all_plain_cells += cells
        return None, None

    def _find(self, flat: Arguments, cells: int) -> Code | None:
        """Load or compile what runs such arguments, if the work is worth it."""
        if self.holds_gil and not can_read_objects():
            return None
        with Kernel._lock:
            code = self._code.get(flat.kinds) or self._load(flat)  # perhaps another thread's
        cells += self._plain_cells
        if code is None and Kernel._may_compile and _is_worth(cells, COMPILE_AFTER):
            # Numba imports it. Its hooks of forks come before the lock: a fork that waits for the
            # lock would call those that are new by then after the fork alone.
            import concurrent.futures.thread  # noqa: F401

            with Kernel._lock:
                code = self._code.get(flat.kinds) or self._compile(flat)
        return code

    # ------------------------------------------------------------------ the library

    def _load(self, flat: Arguments) -> Code | None:
        library, level, is_in_place = open_library()
        if library is None or os.environ.get("IRBATCH_JIT") == "numba":
            return None
        name = f"{level}_{self.symbol(flat.kinds, is_in_place)}"
        function = getattr(library[self.holds_gil], name, None)
        if function is None:
            return None
        code = self._code[flat.kinds] = library_code(function, flat, self.results())
        return code

    def symbol(self, kinds: tuple[Any, ...], is_in_place: bool) -> str:
        """Name this kernel, compiled for some kinds, in a library.

        A wheel's name doesn't depend on the source as Python compiles it, which ``-OO`` changes.
        """
        words = []
        for kind in kinds:
            kind = kind.type if isinstance(kind, np.dtype) else kind
            words.append(str(getattr(kind, "__name__", kind)))
        text = " ".join([self.source.__module__, *words, *([self.digest()] if is_in_place else [])])
        return f"{self.__name__.strip('_')}_{zlib.crc32(text.encode()):08x}"

    def results(self) -> list[str]:
        """Name the types of the numbers returned, one by one."""
        annotation = str(self.source.__annotations__.get("return"))
        names = annotation.removeprefix("tuple[").removesuffix("]").split(", ")
        return [name for name in names if name != "None"]

    def digest(self) -> str:
        """Return what is different when the source, that of a kernel called, or a constant is."""
        kernels = [self]
        for kernel in kernels:  # which become more
            kernels += [other for other in kernel.called(Kernel).values() if other not in kernels]
        constants = sorted({pair for kernel in kernels for pair in kernel._constants()})
        text = repr((sys.implementation.cache_tag, constants))
        checksum = zlib.crc32(text.encode())
        for kernel in kernels:
            checksum = _add_to(checksum, kernel.source.__code__)
        return f"{checksum:08x}"

    def called(self, *kinds: type[Any]) -> dict[str, Any]:
        """Return the global values of some types that the source uses, by name."""
        values, names = self.source.__globals__, self.source.__code__.co_names
        used = {name: values[name] for name in names if name in values}
        return {name: value for name, value in used.items() if isinstance(value, kinds)}

    def _constants(self) -> Iterator[tuple[str, str]]:
        for name, value in self.called(object).items():
            if not isinstance(value, Kernel | ModuleType):
                yield name, str(getattr(value, "_fields", value))

    # ------------------------------------------------------------------ Numba

    def _compile(self, flat: Arguments) -> Code | None:
        """Let Numba compile the source, or load what it has kept."""
        try:
            import numba
        except Exception as problem:  # whatever the reason
            Kernel._may_compile = False
            reason = f"Numba cannot be imported ({type(problem).__name__}: {problem})"
            warn(f"{reason}: what it would compile runs as plain Python, which takes far longer")
            return None
        try:
            decorated = self.for_numba(self.digest(), cache=True)
        except RuntimeError:  # there is no folder that Numba may write to
            Kernel.is_kept = False
            decorated = self.for_numba()
        decorated.compile(tuple(map(numba.typeof, flat.values)))
        code = self._code[flat.kinds] = functools.partial(_run_with_numba, decorated)
        return code

    def for_numba(self, digest: str = "", **options: Any) -> Any:
        """Bind the kernels this one calls to their compiled forms, and wrap it for Numba.

        Numba's cache tells kernels apart by names and by the dates of their own files: `digest`,
        in the name, tells when one that is called has changed in another file. What is made is
        kept: Numba compiles a kernel that several others call once for each kind.
        """
        import numba

        key = digest, *options.items()
        if key in self._forms:
            return self._forms[key]
        source = self.source
        bound = {name: callee.for_numba(**options) for name, callee in self.called(Kernel).items()}
        foreign = self.called(CFunction, Field)
        bound.update({name: callee.for_numba() for name, callee in foreign.items()})
        if bound or digest:
            source = FunctionType(source.__code__, {**source.__globals__, **bound}, source.__name__)
            source.__qualname__ = self.source.__qualname__ + digest
            source.__module__ = self.source.__module__
        if self.is_inlined:
            options["inline"] = "always"
        # error_model="numpy" leaves out checks for divisions by zero, of which kernels have none.
        wrap = numba.njit(nogil=not self.holds_gil, error_model="numpy", **options)
        self._forms[key] = wrap(source)
        return self._forms[key]


def library_code(function: Any, example: Arguments, results: Sequence[str]) -> Code:
    """Return what runs a kernel of the library, for arguments of the kinds of an example.

    Its function takes where a number is returned to and where an error is told of (Numba's own
    convention; kernels raise none), the packed numbers of `Arguments`, and a place for its results.
    What a function of Python's C interface has set is raised; struct.error if a whole number takes
    more than 64 bits.
    """
    function.argtypes = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
    letters = ["d" if type(number) is float else "q" for number in example.numbers]
    pack = struct.Struct("=" + "".join(letters)).pack
    words = {"int": "q", "float": "d", "bool": "?7x"}
    unpack = struct.Struct("=" + "".join(words[kind] for kind in results)).unpack_from
    places = ctypes.c_int64 * (1 + MOST_RESULTS)

    def run(arguments: Arguments) -> Any:
        out = places()
        if function(out, out, pack(*arguments.numbers), out):
            raise RuntimeError("a kernel raised an error")
        values = unpack(out, 8)
        return values[0] if len(values) == 1 else values or None

    return run


def _run_with_numba(decorated: Callable[..., Any], arguments: Arguments) -> Any:
    try:
        return decorated(*arguments.values)
    except SystemError as problem:  # Python's word for a result beside an error that is set
        raise problem.__cause__ or problem from None


@functools.cache
def open_library() -> tuple[tuple[Any, Any] | None, str, bool]:
    """Open the library, if there is one.

    Returns:
        It, as it is called without the GIL and with it; the set of instructions to choose; and
        whether it was made for a working tree.
    """
    level = _level()
    for name in (OF_WHEEL, IN_PLACE) if level else ():
        path = os.path.join(os.path.dirname(__file__), name)  # noqa: PTH118, PTH120
        if os.path.exists(path):  # noqa: PTH110 - pathlib takes 5 ms to import
            library = ctypes.CDLL(path)
            with_gil = ctypes.PyDLL(path, handle=library._handle)
            return (library, with_gil), level, name == IN_PLACE
    return None, level, False


def _level() -> str:
    """Name the newest set of instructions of `build_kernels.LEVELS` that is here, if any."""
    features = (getattr(np, "_core", None) or np.core)._multiarray_umath.__cpu_features__
    if not features.get("SSE2") and not features.get("X86_V2"):  # which all of x86-64 have
        return "base"
    if features.get("X86_V3", features.get("AVX2") and features.get("FMA3")):
        return "v3"
    return "v2" if features.get("SSE42") and features.get("POPCNT") else ""


def _flatten(values: Sequence[Any], kinds: list[Any], numbers: list[Any]) -> None:
    for value in values:
        kind = type(value)
        if kind is np.ndarray:
            flags = value.flags
            if not (flags.aligned and value.dtype.isnative):
                raise TypeError("arrays of kernels are aligned, and of this machine's byte order")
            kinds += value.dtype, value.ndim if flags.c_contiguous else -value.ndim
            numbers.append(id(value))
        elif kind is int or kind is float or kind is bool:
            kinds.append(kind)
            numbers.append(value)
        elif isinstance(value, np.generic):
            _flatten((value.item(),), kinds, numbers)
        elif hasattr(kind, "_fields"):
            kinds.append(kind)
            _flatten(value, kinds, numbers)
            kinds.append(None)
        else:
            raise TypeError(f"kernels take no {kind.__name__}")


def _add_to(checksum: int, code: CodeType) -> int:
    """Go on with a checksum over what a function does, wherever it stands in its file."""
    plain = [value for value in code.co_consts if not isinstance(value, CodeType)]
    text = repr((plain, code.co_names, code.co_varnames, code.co_argcount))
    checksum = zlib.crc32(code.co_code, zlib.crc32(text.encode(), checksum))
    for value in code.co_consts:
        if isinstance(value, CodeType):
            checksum = _add_to(checksum, value)
    return checksum


def _is_worth(cells: int, limit: int) -> bool:
    """Tell whether so much plain work, this one's included, goes beyond a limit."""
    choice = os.environ.get("IRBATCH_JIT")
    return choice in ("1", "numba") or (choice != "0" and cells > limit)


if hasattr(os, "register_at_fork"):
    # A fork waits for what is being compiled: in a child Numba's own locks would stay locked.
    os.register_at_fork(
        before=Kernel._lock.acquire,
        after_in_parent=Kernel._lock.release,
        after_in_child=Kernel._lock.release,
    )


# ---------------------------------------------------------------------- Python's objects

# Functions of Python's C interface, and fields of objects, for kernels that hold the GIL. These
# take objects by their addresses and own none: whoever calls them keeps the objects alive. They
# look only at objects of exactly the types in `TYPES`, for which nothing they call runs other code
# or fails, unless it is said here.

# Where objects have their fields, in bytes: the header that all have, and what `can_read_objects`
# has seen for itself.
TYPE = object.__basicsize__ - 8
FLOAT_VALUE = object.__basicsize__
TEXT_HASH = object.__basicsize__ + 8
# A dict's size, and its table, up to Python 3.14: four words, of which one says, by bytes, the
# exponent of its indices' size and its kind, one how many pairs were added; indices; and the pairs.
DICT_SIZE, DICT_TABLE = object.__basicsize__, object.__basicsize__ + 16
TABLE_KIND, TABLE_ADDED, TABLE_HEAD, OF_TEXTS = 8, 24, 32, 1  # a kind: texts alone, with values
KNOWS_TABLES = sys.version_info < (3, 15)
NO_HASH = -1  # of text whose hash was not computed yet
ODD = -1  # instead of what is not as it should be


class Types(NamedTuple):
    """The addresses of types."""

    dict: int
    list: int
    str: int
    float: int
    int: int


TYPES = Types(*map(id, (dict, list, str, float, int)))


word_at, float_at = Field("q"), Field("d")

# Of a dict and three addresses: of a position, 0 to begin with, and where key and value are written
# to. Returns 0 at the end.
next_item = CFunction("PyDict_Next", "i", "qqqq")
list_item = CFunction("PyList_GetItem", "q", "qq")  # IndexError, and 0, where there is none
compare_texts = CFunction("PyUnicode_Compare", "i", "qq")  # 0 if they are the same
whole_as_float = CFunction("PyLong_AsDouble", "d", "q")  # OverflowError, and -1.0
any_error = CFunction("PyErr_Occurred", "q", "")  # 0 if there is none


@functools.cache
def can_read_objects() -> bool:
    """Tell whether compiled kernels can read objects: these have their fields where they look."""
    has_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    if sys.implementation.name != "cpython" or not has_gil:
        return False
    key, number = "some text", 0.7
    samples: tuple[object, ...] = ({key: number}, [], key, number, 1)
    return (
        all(word_at(id(sample) + TYPE) == id(type(sample)) for sample in samples)
        and word_at(id(key) + TEXT_HASH) == hash(key)
        and float_at(id(number) + FLOAT_VALUE) == number
        and (pairs := pairs_of(id(samples[0]), 1, TYPES, *room_for_pairs(1))) != ODD
        and (word_at(pairs), word_at(pairs + 8)) == (id(key), id(number))
    )


def room_for_pairs(most: int) -> tuple[Ints, int]:
    """Make an array that `pairs_of` may take for so many pairs; return it and its address."""
    room = np.empty(1 + 2 * most, np.int64)
    return room, room.ctypes.data


@Kernel
def pairs_of(table: int, size: int, types: Types, room: Ints, room_at: int) -> int:
    """Return where the addresses of a dict's keys and values stand, each key before its value.

    ODD unless it has so many, and all keys are text, whose hashes are known. They are in its table;
    or, if something else was ever there, copied to `room`, behind a position. PyDict_Next alone,
    which looks at each key, takes a third longer, and twice as long if objects are scattered.
    """
    if word_at(table + TYPE) != types.dict or word_at(table + DICT_SIZE) != size:
        return ODD
    if KNOWS_TABLES:
        entries = word_at(table + DICT_TABLE)
        kind = word_at(entries + TABLE_KIND)
        if (kind >> 16) & 255 == OF_TEXTS and word_at(entries + TABLE_ADDED) == size:
            return entries + TABLE_HEAD + (1 << ((kind >> 8) & 255))
    room[0] = 0
    for i in range(1, 2 * size, 2):
        if next_item(table, room_at, room_at + 8 * i, room_at + 8 * i + 8) == 0:
            return ODD
        if word_at(room[i] + TYPE) != types.str or word_at(room[i] + TEXT_HASH) == NO_HASH:
            return ODD
    return room_at + 8


# ---------------------------------------------------------------------- declaring kernels

kernel = Kernel
inlined_kernel = functools.partial(Kernel, is_inlined=True)
kernel_on_objects = functools.partial(Kernel, holds_gil=True)


prefetch = Prefetch("prefetch")


def as_input(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array as kernels take theirs: contiguous and aligned."""
    fits = array.flags.c_contiguous and array.flags.aligned
    return array if fits else np.require(array, requirements=["C", "A"])
