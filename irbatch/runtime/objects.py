"""Python's objects as kernels read them: functions of its C interface, and fields of objects.

Such a kernel holds the GIL (see `kernels.kernel_on_objects`), takes objects by their addresses, and
owns none: whoever calls it keeps them alive. It looks only at objects of exactly the types in
`TYPES`, for which nothing it calls runs other code or fails, unless it is said here.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any, NamedTuple

from irbatch.runtime.threads import cached_property

# Where objects have their fields, in bytes: the header that all have, and what `has_known_fields`
# has seen for itself.
TYPE = object.__basicsize__ - 8
FLOAT_VALUE = object.__basicsize__
TEXT_HASH = object.__basicsize__ + 8


class Types(NamedTuple):
    """The addresses of types."""

    dict: int
    list: int
    str: int
    float: int
    int: int


TYPES = Types(*map(id, (dict, list, str, float, int)))


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
        result, *arguments = (kinds[each] for each in self.result + self.arguments)
        return ctypes.PYFUNCTYPE(result, *arguments)((self.name, ctypes.pythonapi))

    def for_numba(self) -> Any:
        """Return what stands for it in compiled code."""
        from numba import types

        kinds = {"q": types.int64, "i": types.int32, "d": types.float64}
        arguments = [kinds[each] for each in self.arguments]
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
        from llvmlite import ir
        from numba import types
        from numba.extending import intrinsic

        kind, stored = types.int64, ir.IntType(64)
        if self.letter == "d":
            kind, stored = types.float64, ir.DoubleType()

        def load(_: Any, address: Any) -> Any:
            def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
                return builder.load(builder.inttoptr(arguments[0], stored.as_pointer()))

            return kind(types.int64), generate

        return intrinsic(load)


word_at, float_at = Field("q"), Field("d")

# Of a dict and the address of three words: a position, 0 to begin with, and where key and value are
# written to. Returns 0 at the end.
next_item = CFunction("PyDict_Next", "i", "qqqq")
list_item = CFunction("PyList_GetItem", "q", "qq")  # IndexError, and 0, where there is none
compare_texts = CFunction("PyUnicode_Compare", "i", "qq")  # 0 if they are the same
whole_as_float = CFunction("PyLong_AsDouble", "d", "q")  # OverflowError, and -1.0
any_error = CFunction("PyErr_Occurred", "q", "")  # 0 if there is none


@functools.cache
def has_known_fields() -> bool:
    """Tell whether objects have their fields where kernels look for them."""
    key, number = "some text", 0.7
    hash(key)  # kept in the object, as that of each key of a dict is
    samples: tuple[object, ...] = ({}, [], key, number, 1)
    return (
        all(word_at(id(each) + TYPE) == id(type(each)) for each in samples)
        and word_at(id(key) + TEXT_HASH) == hash(key)
        and float_at(id(number) + FLOAT_VALUE) == number
    )
