"""The structs of Arrow's C interface, and who owns the memory behind them.

https://arrow.apache.org/docs/format/CDataInterface.html
"""

from __future__ import annotations

import ctypes
import weakref
from ctypes import POINTER, c_char_p, c_int, c_int64, c_void_p
from typing import Any

import numpy as np
import numpy.typing as npt

Release = ctypes.CFUNCTYPE(None, c_void_p)
Get = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)
Text = ctypes.CFUNCTYPE(c_char_p, c_void_p)
stream_address = ctypes.PYFUNCTYPE(c_void_p, ctypes.py_object, c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


class Schema(ctypes.Structure):
    """What a column is."""

    _fields_ = (
        ("format", c_char_p), ("name", c_char_p), ("metadata", c_void_p), ("flags", c_int64),
        ("n_children", c_int64), ("children", POINTER(c_void_p)), ("dictionary", c_void_p),
        ("release", Release), ("private_data", c_void_p),
    )  # fmt: skip


class Array(ctypes.Structure):
    """What a column holds in one chunk."""

    _fields_ = (
        ("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64),
        ("n_children", c_int64), ("buffers", POINTER(c_void_p)), ("children", POINTER(c_void_p)),
        ("dictionary", c_void_p), ("release", Release), ("private_data", c_void_p),
    )  # fmt: skip


class Stream(ctypes.Structure):
    """Functions that give the schema and the chunks."""

    _fields_ = (
        ("get_schema", Get), ("get_next", Get), ("get_last_error", Text), ("release", Release),
        ("private_data", c_void_p),
    )  # fmt: skip


def release(struct: Any) -> None:
    """Release what a producer filled in, unless that was done; it resets the pointer itself."""
    if struct.release:
        struct.release(ctypes.byref(struct))


class Batch:
    """The owner of a chunk's memory: whatever lies over it keeps this alive."""

    def __init__(self) -> None:
        self.array = Array()
        # Not at exit: arrays may still be in use then, and producers half taken down.
        weakref.finalize(self, release, self.array).atexit = False


class _Memory:
    """Memory as NumPy understands it; `np.asarray` keeps this as the array's base."""

    def __init__(self, batch: Batch, address: int, dtype: np.dtype[Any], count: int) -> None:
        self.batch = batch
        self.__array_interface__ = {
            "data": (address, True),  # read-only
            "shape": (count,),
            "typestr": dtype.str,
            "version": 3,
        }


def items_of(batch: Batch, address: int, dtype: np.dtype[Any], count: int) -> npt.NDArray[Any]:
    """Return items of a batch's memory, read-only."""
    return np.asarray(_Memory(batch, address, dtype, count))
