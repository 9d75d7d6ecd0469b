"""Machine code of kernels, kept in files and loaded without importing Numba.

Importing Numba and loading kernels from its own disk cache costs a new process 0.7 s and more. Here
a kernel is compiled by Numba once a machine, behind an entry that takes addresses (see
`irbatch.runtime.compiling`), and the image of its code is written to a file, which the next process
copies into memory that it may run: some tenths of a millisecond (python -m benchmarks --only cold).

A file is used only if it is whole, belongs to this user or the system, and was made from this very
bytecode, for this processor and these types of arguments, by these versions of Python and Numba;
anything else is compiled anew. Where no code is kept in this way, Numba keeps it in its own files,
which have no checksum: damage to them may go unnoticed.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import struct
import sys
import zlib
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from irbatch.runtime.kernel_arguments import Arguments, is_number
from irbatch.runtime.object_code import Image, Patch

FORMAT = "irbatch kernel 1"
# Fields of an array's object behind the header that every Python object has, in words of 8 bytes:
# NumPy's PyArrayObject_fields, part of its C ABI.
DATA, SHAPE, STRIDES = (object.__basicsize__ // 8 + field for field in (0, 2, 3))
MOST_RESULTS = 8  # numbers that a kernel may return
# Numba's own convention: places for the result and for an error, then the arguments.
_CONVENTION = ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
_CALL = ctypes.CFUNCTYPE(*_CONVENTION)  # releases the GIL
_CALL_HOLDING = ctypes.PYFUNCTYPE(*_CONVENTION)  # holds it, and raises what C functions have set
_memory: list[mmap.mmap] = []  # that code runs in; kept for as long as the process lives


class Entry(NamedTuple):
    """A kernel compiled for some kinds of arguments."""

    image: Image
    results: str  # of each number returned: "q" if it is whole, "d" a float, "?" a truth value
    is_tuple: bool  # whether the kernel returns a tuple of them


class StoredCode:
    """A kernel's machine code, put in memory; `kinds` as in `Arguments`."""

    def __init__(self, entry: Entry, kinds: Sequence[Any], *, holds_gil: bool) -> None:
        call = _CALL_HOLDING if holds_gil else _CALL
        self._call = call(_put_in_memory(entry.image))
        letters = ["d" if each is float else "q" for each in kinds if is_number(each)]
        self._pack = struct.Struct("=" + "".join(letters)).pack
        self._unpack = struct.Struct("=" + entry.results.replace("?", "q")).unpack_from
        self._truths = [i for i, letter in enumerate(entry.results) if letter == "?"]
        self._results, self._is_tuple = len(entry.results), entry.is_tuple

    def __call__(self, arguments: Arguments) -> Any:
        """Run it, without the GIL unless it holds that.

        Raises:
            RuntimeError: if the kernel raised an error.
            Exception: what a function of Python's C interface has set.
            struct.error: if a whole number takes more than 64 bits.
        """
        out = (ctypes.c_int64 * (1 + MOST_RESULTS))()
        if self._call(out, out, self._pack(*arguments.numbers), out):
            raise RuntimeError("a kernel raised an error")
        if not self._results:
            return None
        found = list(self._unpack(out, 8))
        for i in self._truths:
            found[i] = bool(found[i])
        return tuple(found) if self._is_tuple else found[0]


@functools.cache
def is_supported() -> bool:
    """Tell whether machine code is kept here: by CPython with its GIL, on Linux and x86-64."""
    if sys.platform != "linux" or os.uname().machine != "x86_64" or sys.maxsize < 1 << 32:
        return False
    has_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    return sys.implementation.name == "cpython" and bool(has_gil) and _knows_arrays()


def _knows_arrays() -> bool:
    """Tell whether NumPy's arrays have their fields where entries look for them."""
    array = np.empty((2, 3), np.int16)
    fields = (ctypes.c_int64 * (1 + max(DATA, SHAPE, STRIDES))).from_address(id(array))
    if fields[DATA] != array.ctypes.data:
        return False
    pairs = [(ctypes.c_int64 * 2).from_address(fields[at])[:] for at in (SHAPE, STRIDES)]
    return pairs == [[2, 3], [6, 2]]


def describe(codes: Sequence[CodeType], constants: Sequence[Any], kinds: Sequence[Any]) -> str:
    """Say in one line all that machine code is made from: bytecode, global values, types."""
    typed = [getattr(each, "_fields", str(each)) for each in kinds]
    return repr((_circumstances(), [_parts(code) for code in codes], list(constants), typed))


def digest(codes: Sequence[CodeType], constants: Sequence[Any]) -> int:
    """Return a number of 32 bits that stands for bytecode and global values."""
    return zlib.crc32(repr(([_parts(code) for code in codes], list(constants))).encode())


def _parts(code: CodeType) -> tuple[Any, ...]:
    constants = [_parts(each) if isinstance(each, CodeType) else each for each in code.co_consts]
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_argcount


@functools.cache
def _circumstances() -> tuple[str, ...]:
    """Say what machine code depends on besides its source: processor and versions.

    The processor is this one, or the kind that Numba's variables name, whichever runs the code.
    """
    versions = FORMAT, sys.version, str(np.ndarray.__basicsize__), _numba_version()
    name = os.environ.get("NUMBA_CPU_NAME", "")
    features = os.environ.get("NUMBA_CPU_FEATURES", "" if name.lower() == "generic" else None)
    if name and features is not None:  # else Numba takes those of this processor
        return *versions, name, features
    with open("/proc/cpuinfo", "rb") as file:  # noqa: PTH123 - pathlib takes 5 ms to import
        first = file.read(1 << 13).partition(b"\n\n")[0].decode(errors="replace").splitlines()
    facts = ("model name", "cpu family", "model\t", "stepping", "flags")
    processor = [line for line in first if line.startswith(facts)]
    return *versions, *filter(None, (name, features)), *processor


def _numba_version() -> str:
    """Tell the installed Numba from others without importing it, which takes 0.3 s."""
    spec = find_spec("numba")
    folder = os.path.dirname(str(spec and spec.origin))  # noqa: PTH120
    with open(os.path.join(folder, "_version.py")) as file:  # noqa: PTH118, PTH123
        return file.read()


def save(name: str, made_from: str, entry: Entry) -> bool:
    """Write a kernel's file, whole or not at all, into the first folder that takes it, if any."""
    from irbatch.runtime.files import replacing

    image = entry.image
    facts = [made_from, f"{entry.is_tuple:d} {image.entry} {entry.results}"]
    facts += [f"{patch.at} {patch.addend} {patch.symbol}" for patch in image.patches]
    body = "\n".join(facts).encode() + b"\n\n" + image.code
    for folder in folders():
        with suppress(OSError):
            os.makedirs(folder, exist_ok=True)  # noqa: PTH103
            with replacing(_path(folder, name, made_from)) as file:
                file.write(_checksum(body) + body)
            return True
    return False


def load(name: str, made_from: str) -> Entry | None:
    """Load a kernel's file; None if there is none that is whole and was made from the same."""
    content = _read(name, made_from)
    if content is None or _checksum(content[4:]) != content[:4]:
        return None
    head, _, code = content[4:].partition(b"\n\n")
    found, returns, *patches = head.decode().split("\n")
    if found != made_from:
        return None
    is_tuple, begin, results = returns.split(" ")
    parts = [each.split(" ", 2) for each in patches]
    places = [Patch(int(at), symbol, int(addend)) for at, addend, symbol in parts]
    return Entry(Image(code, int(begin), places), results, is_tuple == "1")


def _checksum(body: bytes) -> bytes:
    return zlib.crc32(body).to_bytes(4, "little")  # against damage; hashlib takes 5 ms to import


def _path(folder: str, name: str, made_from: str) -> str:
    number = zlib.crc32(made_from.encode())
    return os.path.join(folder, f"{name.strip('_')}-{number:08x}.kernel")  # noqa: PTH118


def _read(name: str, made_from: str) -> bytes | None:
    """Read a file that only this user or the system can have written."""
    for folder in folders():
        with suppress(OSError), open(_path(folder, name, made_from), "rb") as file:  # noqa: PTH123
            found = os.fstat(file.fileno())
            if found.st_uid in (0, os.geteuid()) and not found.st_mode & 0o022:
                return file.read()
    return None


def folders() -> list[str]:
    """List the folders that hold files: ``NUMBA_CACHE_DIR`` alone where it is set.

    Else beside this module, where all users of an installation find them, or in the user's cache.
    """
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return [chosen]
    beside = os.path.join(os.path.dirname(__file__), "__pycache__")  # noqa: PTH118, PTH120
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
    # A user without a home has no cache: "~" must not become a folder of its own.
    return [beside, os.path.join(cache, "irbatch")] if os.path.isabs(cache) else [beside]  # noqa: PTH117, PTH118


def _put_in_memory(image: Image) -> int:
    """Copy code into memory, complete its addresses, and let it be run; return where it begins.

    Raises:
        OSError: if the system doesn't let memory be run.
    """
    memory = mmap.mmap(-1, len(image.code), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    memory.write(image.code)
    for at, symbol, addend in image.patches:
        address = _address_of(symbol) if symbol else begin
        struct.pack_into("<Q", memory, at, address + addend)
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    if protect(begin, len(memory), mmap.PROT_READ | mmap.PROT_EXEC):
        raise OSError(ctypes.get_errno(), "the system doesn't let memory be run")
    _memory.append(memory)
    return begin + image.entry


def _address_of(function: str) -> int:
    """Return where a function of the C library or of Python is."""
    return ctypes.cast(getattr(ctypes.pythonapi, function), ctypes.c_void_p).value or 0
