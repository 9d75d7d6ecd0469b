"""Compiling kernels with Numba behind entries that other processes load, see `stored_code`.

An entry takes the packed numbers of `kernel_arguments.Arguments`, makes the kernel's arguments of
them, and writes down what the kernel returns. It reads arrays where NumPy's objects have their
fields.
"""

from __future__ import annotations

import ctypes
import gc
import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np import arrayobj, numpy_support

from irbatch.runtime.object_code import make_image
from irbatch.runtime.stored_code import DATA, SHAPE, STRIDES, Entry
from irbatch.runtime.whole_library import PREFIX, WholeCompiler

PART_OF_ENTRY: dict[str, Any] = {  # options of functions that only entries call
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "_nrt": False,
    "pipeline_class": WholeCompiler,
}
WORD = ir.IntType(64)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep Python from looking for garbage, which takes a quarter of the time of compiling."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@_uncollected()
def compile_entry(kernel: Any, kinds: Sequence[Any]) -> Entry:
    """Compile a kernel, decorated as `PART_OF_ENTRY` says, for some kinds of arguments.

    Raises:
        RuntimeError: if its code needs what other processes don't have.
    """
    names: dict[str, Any] = {"kernel": kernel, "word": _word, "real": _real, "put": _put}
    arguments = list(_arguments(iter(kinds), itertools.count(), names))
    kernel.compile(accepted := tuple(each for each, _ in arguments))
    result = kernel.overloads[accepted].signature.return_type
    is_tuple = isinstance(result, types.BaseTuple)
    results = list(result) if is_tuple else [] if result == types.none else [result]
    lines = [f"result = kernel({', '.join(each for _, each in arguments)})"]
    for i in range(len(results)):
        lines.append(f"put(out, {1 + i}, result{f'[{i}]' if is_tuple else ''})")
    exec("\n ".join(["def entry(words, out):", *lines, "return 0"]), names)  # noqa: S102 - ours
    signature = types.int64(types.voidptr, types.voidptr)
    options = {"nopython": True, "_nrt": False, "error_model": "numpy"}
    entry = numba.cfunc(signature, pipeline_class=WholeCompiler, **options)(names["entry"])
    symbol = entry.native_name.removeprefix(PREFIX)
    image = make_image(entry._library.object_code(symbol), symbol)
    called = [each.symbol for each in image.patches if each.symbol]  # "" is the image itself
    if unknown := [each for each in called if not hasattr(ctypes.pythonapi, each)]:
        raise RuntimeError(f"{kernel.__name__} needs {', '.join(unknown)}")
    return Entry(image, "".join(map(_letter, results)), is_tuple)


def _letter(result: types.Type) -> str:
    if isinstance(result, types.Float):
        return "d"
    return "?" if result == types.boolean else "q"


def _arguments(
    kinds: Iterator[Any], number: Iterator[int], names: dict[str, Any]
) -> Iterator[tuple[types.Type, str]]:
    """Yield the type of each argument and how an entry makes it, up to the end of a named tuple."""
    for kind in kinds:
        if kind is None:
            return
        if isinstance(kind, np.dtype):
            i, dimensions = next(number), next(kinds)
            layout = "C" if dimensions > 0 else "A"
            of = types.Array(numpy_support.from_dtype(kind), abs(dimensions), layout)
            names[f"array_{i}"] = _make_reader(of)
            yield of, f"array_{i}(words, {i})"
        elif kind is float:
            yield types.float64, f"real(words, {next(number)})"
        elif kind is bool:
            yield types.boolean, f"word(words, {next(number)}) != 0"
        elif kind is int:
            yield types.int64, f"word(words, {next(number)})"
        else:
            names[name := f"tuple_{len(names)}"] = kind
            fields = list(_arguments(kinds, number, names))
            yield (
                types.BaseTuple.from_types([each for each, _ in fields], kind),
                f"{name}({', '.join(each for _, each in fields)})",
            )


# What entries are made of. Numba calls `generate` to write their instructions.


def _place(builder: Any, words: Any, i: Any, kind: ir.Type = WORD) -> Any:
    return builder.gep(builder.bitcast(words, kind.as_pointer()), [i])


@intrinsic  # type: ignore[untyped-decorator]
def _word(_: Any, words: types.Type, i: types.Type) -> Any:
    """Read a whole number."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_place(builder, *arguments))

    return types.int64(words, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _real(_: Any, words: types.Type, i: types.Type) -> Any:
    """Read a float."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        words, i = arguments
        return builder.load(_place(builder, words, i, ir.DoubleType()))

    return types.float64(words, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _put(_: Any, out: types.Type, i: types.Type, value: types.Type) -> Any:
    """Write a number down: a float as such, anything else as a whole number."""
    stored = types.float64 if isinstance(value, types.Float) else types.int64

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        out, i, number = arguments
        place = _place(builder, out, i, context.get_value_type(stored))
        builder.store(context.cast(builder, number, value, stored), place)
        return context.get_dummy_value()

    return types.none(out, types.int64, value), generate


def make_loader(letter: str) -> Any:
    """Return what loads a number from an address: "d" a float, "q" a whole one of 64 bits."""
    kind, stored = (types.float64, ir.DoubleType()) if letter == "d" else (types.int64, WORD)

    @intrinsic  # type: ignore[untyped-decorator]
    def load(_: Any, address: types.Type) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.load(builder.inttoptr(arguments[0], stored.as_pointer()))

        return kind(types.int64), generate

    return load


def _make_reader(of: types.Array) -> Any:
    """Return what makes an array of a type from the address of its object."""

    @intrinsic  # type: ignore[untyped-decorator]
    def read(_: Any, words: types.Type, i: types.Type) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            element = context.get_data_type(of.dtype)
            item = context.get_constant(types.intp, context.get_abi_sizeof(element))
            fields = builder.inttoptr(builder.load(_place(builder, *arguments)), WORD.as_pointer())

            def field(at: int) -> Any:
                return builder.load(builder.gep(fields, [WORD(at)]))

            def sizes(at: int) -> list[Any]:
                begin = builder.inttoptr(field(at), WORD.as_pointer())
                return [builder.load(builder.gep(begin, [WORD(k)])) for k in range(of.ndim)]

            shape = sizes(SHAPE)
            strides = sizes(STRIDES)
            if of.layout == "C":  # known when compiling, which makes for faster code
                strides = [item]
                for size in reversed(shape[1:]):
                    strides.insert(0, builder.mul(strides[0], size))
            array = arrayobj.make_array(of)(context, builder)
            arrayobj.populate_array(
                array,
                data=builder.inttoptr(field(DATA), element.as_pointer()),
                shape=cgutils.pack_array(builder, shape),
                strides=cgutils.pack_array(builder, strides),
                itemsize=item,
                meminfo=None,
            )
            return array._getvalue()

        return of(words, types.int64), generate

    return read
