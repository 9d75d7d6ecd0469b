"""Compiling all kernels ahead of time: into the library of a wheel, or into Numba's cache.

Numba translates each kernel, for each kind of arguments that its annotations name, into LLVM's
language; LLVM makes an object file of it for each set of instructions; the system's compiler links
these to one library, which asks for nothing but the C library and Python's C interface.

hatchling does so when it builds a wheel (`BuildHook`), but for editable installations. Without a C
compiler, or with ``IRBATCH_BUILD_KERNELS=0``, the wheel is pure, and says so; with ``1`` it is an
error if it would be. ``python -m irbatch.runtime.build_kernels`` makes a library for a working
tree, in which kernels that have changed since are not found.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import itertools
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import typing
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # it is there only while a wheel is built
    BuildHookInterface = object

PACKAGE = Path(__file__).parents[1]
# Sets of instructions, and LLVM's names of them; `kernels._level` chooses. A v4, with AVX-512, does
# not pay: a matrix takes 6.4 ms with it and 6.2 without, scores 8.5 and 8.2, dicts as long.
X86 = {"v2": "x86-64-v2", "v3": "x86-64-v3"}
OTHERS = {"base": "apple-m1" if sys.platform == "darwin" else "generic"}
LEVELS = X86 if platform.machine().lower() in ("x86_64", "amd64") else OTHERS
PROCESSES = 2
SWITCH = "IRBATCH_BUILD_KERNELS"


class BuildHook(BuildHookInterface):  # type: ignore[misc]
    """Adds the library to a wheel, whose tag becomes that of the platform and of Python."""

    folder = ""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the library, unless the installation is an editable one."""
        choice = os.environ.get(SWITCH)
        if version == "editable" or choice == "0":
            self.app.display_info(f"irbatch: without compiled kernels ({choice or version})")
            return
        sys.path.insert(0, self.root)  # not this file, which hatchling has loaded by another name
        self.folder = tempfile.mkdtemp()
        try:
            from irbatch.runtime.kernels import OF_WHEEL

            imported = importlib.import_module("irbatch.runtime.build_kernels")
            imported.build_library(path := Path(self.folder) / OF_WHEEL)
        except (ImportError, OSError, RuntimeError, subprocess.CalledProcessError) as problem:
            if choice == "1":
                raise
            self.app.display_warning(f"irbatch: without compiled kernels, a pure wheel: {problem}")
            return
        build_data.update(infer_tag=True, pure_python=False)
        build_data["force_include"][str(path)] = f"irbatch/runtime/{OF_WHEEL}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what `initialize` made."""
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)


def build_library(path: Path) -> None:
    """Compile all kernels and link them to the library of a path, which is replaced if it is there.

    Raises:
        OSError, subprocess.CalledProcessError: if a process that compiles, or links, fails.
    """
    compiler = shlex.split(os.environ.get("CC", "cc"))[0]
    if not shutil.which(compiler):
        raise FileNotFoundError(f"there is no C compiler {compiler!r}")
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-m", "irbatch.runtime.build_kernels", folder, path.name]
        paths = [str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        # LLVM optimises what an entry needs at once, for each set of instructions; Numba needn't.
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "NUMBA_OPT": "0"}
        parts = [subprocess.Popen(words, env=environment) for _ in range(PROCESSES)]  # noqa: S603
        for status in [part.wait() for part in parts]:
            if status:
                raise subprocess.CalledProcessError(status, words)
        link(path, sorted(map(str, Path(folder).glob("*.o"))))


def link(path: Path, objects: Sequence[str]) -> None:
    """Link object files to a library that takes the place of the one at the path."""
    linker = shlex.split(os.environ.get("CC", "cc"))
    late = ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else []
    beside = path.with_name(f".{path.name}")
    words = [*linker, "-shared", *late, "-o", str(beside), *objects, "-lm"]
    subprocess.run(words, check=True)  # noqa: S603
    ctypes.PyDLL(str(beside))  # an OSError, if it asks for what is not there
    beside.replace(path)


def declared_kernels() -> Iterator[tuple[Any, list[tuple[Any, ...]]]]:
    """Yield each kernel that is not only called by kernels, with the kinds its annotations name."""
    from irbatch.runtime.kernels import Kernel

    for path in sorted(PACKAGE.rglob("*.py")):
        if "from irbatch.runtime.kernels import" in path.read_text("utf-8"):
            parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
            importlib.import_module(".".join(parts))
    ours = [entry for entry in Kernel._entries if entry.source.__module__.startswith("irbatch.")]
    called = {other for entry in ours for other in entry.called(Kernel).values()}
    for kernel in ours:
        if kernel not in called:
            yield kernel, declared_kinds(kernel.source)


def declared_kinds(function: Any) -> list[tuple[Any, ...]]:
    """List the kinds of arguments, see `kernels.Arguments`, that annotations stand for.

    An array has one dimension, or the number that `typing.Annotated` adds. Types of its elements
    that are added, ``"i4 i8"``, are tried one by one, the same for all arrays with the same types;
    added to a named tuple they are those of its arrays that could have others, too.
    """
    hints = _hints(function)
    hints.pop("return", None)
    open_choices = sorted({types for hint in hints.values() for types in _open_types(hint)})
    choices = [[(types, element) for element in types.split()] for types in open_choices]
    return [
        tuple(itertools.chain.from_iterable(_kinds(hint, dict(chosen)) for hint in hints.values()))
        for chosen in itertools.product(*choices)
    ]


def _hints(of: Any) -> dict[str, Any]:
    """Return the annotations of a function, or of a named tuple, whose fields hide no types."""
    return typing.get_type_hints(of, localns={}, include_extras=True)


def _taken_apart(hint: Any) -> tuple[Any, str, int]:
    """Return a type, the types of elements added to it, and the number of dimensions."""
    added = getattr(hint, "__metadata__", ())
    letters = next((note for note in added if isinstance(note, str)), "")
    dimensions = next((note for note in added if isinstance(note, int)), 1)
    return (hint.__origin__ if added else hint), letters, dimensions


def _open_types(hint: Any) -> Iterator[str]:
    """Yield the types of elements that are to be chosen from."""
    kind, letters, _ = _taken_apart(hint)
    if letters:
        yield letters
    elif hasattr(kind, "_fields"):
        for field in _hints(kind).values():
            yield from _open_types(field)


def _kinds(hint: Any, chosen: dict[str, str], fixed: str = "") -> Iterator[Any]:
    kind, letters, dimensions = _taken_apart(hint)
    if kind in (int, float, bool):
        yield kind
    elif hasattr(kind, "_fields"):
        yield kind
        for field in _hints(kind).values():
            yield from _kinds(field, chosen, letters or fixed)
        yield None
    else:
        dtype = typing.get_args(typing.get_args(kind)[1])[0]  # of ``np.ndarray[Any, np.dtype[…]]``
        yield from (np.dtype((fixed or chosen[letters]) if letters else dtype), dimensions)


# ---------------------------------------------------------------------- Numba and LLVM


def compile_kernels(folder: Path, *, is_in_place: bool) -> None:
    """Compile the kernels that no other process has claimed, into object files of a folder."""
    gc.disable()  # looking for garbage takes a quarter of the time
    for kernel, all_kinds in declared_kernels():
        try:
            (folder / f"{kernel.source.__module__}.{kernel.__name__}").mkdir()
        except FileExistsError:
            continue
        for kinds in all_kinds:
            symbol = kernel.symbol(kinds, is_in_place)
            module, entry = _translate(kernel, kinds)
            for level, processor in LEVELS.items():
                code = _optimize(module, entry, f"{level}_{symbol}", processor)
                (folder / f"{level}_{symbol}.o").write_bytes(code)


def _translate(kernel: Any, kinds: Sequence[Any]) -> tuple[str, str]:
    """Translate a kernel behind an entry, see `kernels.library_code`, into LLVM's language.

    Returns the text, and the name of the entry in it.
    """
    import numba
    from numba import types
    from numba.np.arrayobj import get_cfarray_intrinsic

    from irbatch.runtime.kernels import float_at, word_at

    options = {"_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    names: dict[str, Any] = {
        "kernel": kernel.for_numba(**options),
        "word_at": word_at.for_numba(),
        "float_at": float_at.for_numba(),
        "carray": get_cfarray_intrinsic("C", None),
    }
    arguments = list(_arguments(iter(kinds), itertools.count(), names))
    accepted = tuple(kind for kind, _ in arguments)
    names["kernel"].compile(accepted)
    result = names["kernel"].overloads[accepted].signature.return_type
    is_tuple = isinstance(result, types.BaseTuple)
    results = list(result) if is_tuple else [] if result == types.none else [result]
    kinds_of_numbers = {types.Float: "float", types.Boolean: "bool", types.Integer: "int"}
    returned = [
        word for kind in results for of, word in kinds_of_numbers.items() if isinstance(kind, of)
    ]
    if returned != kernel.results():
        raise RuntimeError(f"{kernel.__name__} returns {returned}, and says {kernel.results()}")
    lines = [f"result = kernel({', '.join(text for _, text in arguments)})"]
    for i, word in enumerate(returned):
        names[f"to_{word}"] = _pointer_to(types.float64 if word == "float" else types.int64)
        value = f"result[{i}]" if is_tuple else "result"
        lines.append(f"carray(to_{word}(out + {8 * (1 + i)}), 1)[0] = {value}")
    exec("\n ".join(["def entry(words, out):", *lines, "return 0"]), names)  # noqa: S102 - ours
    signature = types.int64(types.int64, types.int64)
    entry = numba.cfunc(signature, nopython=True, error_model="numpy", _nrt=False)(names["entry"])
    return str(entry._library._final_module), entry.native_name.removeprefix("cfunc.")


def _arguments(
    kinds: Iterator[Any], place: Iterator[int], names: dict[str, Any]
) -> Iterator[tuple[Any, str]]:
    """Yield Numba's type of each argument and what an entry reads it with, for a named tuple.

    An array is known by the address of its object, whose fields stand behind the header that every
    object has: NumPy's PyArrayObject_fields, part of its C interface.
    """
    from numba import types
    from numba.np import numpy_support

    scalars = {
        int: (types.int64, "word_at({})"),
        float: (types.float64, "float_at({})"),
        bool: (types.boolean, "word_at({}) != 0"),
    }
    data = object.__basicsize__
    for kind in kinds:
        if kind is None:
            return
        if hasattr(kind, "_fields"):
            names[name := f"tuple_{len(names)}"] = kind
            fields = list(_arguments(kinds, place, names))
            made = types.BaseTuple.from_types([field for field, _ in fields], kind)
            yield made, f"{name}({', '.join(text for _, text in fields)})"
            continue
        word = f"words + {8 * next(place)}"
        if kind in scalars:
            accepted, text = scalars[kind]
            yield accepted, text.format(word)
            continue
        of, dimensions = numpy_support.from_dtype(kind), next(kinds)
        names[f"to_{of}"] = _pointer_to(of)
        array = f"word_at({word}) + {data}"
        sizes = [f"word_at(word_at({array} + 16) + {8 * i})" for i in range(dimensions)]
        text = f"carray(to_{of}(word_at({array})), ({', '.join(sizes)},))"
        yield types.Array(of, dimensions, "C"), text


def _pointer_to(kind: Any) -> Any:
    """Return what makes an address a pointer, in compiled code."""
    from numba import types
    from numba.extending import intrinsic

    def point(_: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return types.CPointer(kind)(types.int64), generate

    return intrinsic(point)


def _optimize(text: str, entry: str, symbol: str, processor: str) -> bytes:
    """Make an object file of a module, for any address, in which only the entry can be seen."""
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(text)
    for value in itertools.chain(module.functions, module.global_variables):
        if not value.is_declaration:
            value.linkage = "internal"
    function = module.get_function(entry)
    function.name, function.linkage = symbol, "external"
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=processor, features="", opt=3, reloc="pic", codemodel="default"
    )
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    passes = llvm.create_pass_builder(machine, tuning)
    passes.getModulePassManager().run(module, passes)
    return bytes(machine.emit_object(module))


def warmup() -> list[str]:
    """Let Numba compile every kernel and keep it; nothing, where a wheel has compiled kernels.

    A line on standard error tells of it.

    Returns:
        The names of the kernels compiled, or found in Numba's cache.

    >>> warmup()  # of a wheel
    []
    """
    from irbatch.runtime.kernels import Arguments

    names: list[str] = []
    for kernel, all_kinds in declared_kernels():
        for kinds in all_kinds:
            arguments = Arguments(example(iter(kinds)))
            if kernel._load(arguments) or not kernel._compile(arguments):
                continue
            if not names and sys.stderr is not None:
                print("compiling, once a machine: half a minute", file=sys.stderr, flush=True)
            names.append(kernel.__name__)
    return names


def example(kinds: Iterator[Any]) -> list[Any]:
    """Make arguments of some kinds, empty arrays and zeros, up to the end of a named tuple."""
    values: list[Any] = []
    for kind in kinds:
        if kind is None:
            break
        if isinstance(kind, np.dtype):
            values.append(np.empty((0,) * next(kinds), kind))
        elif hasattr(kind, "_fields"):
            values.append(kind(*example(kinds)))
        else:
            values.append(kind(0))
    return values


def main(folder: str = "", name: str = "") -> None:
    """Build the library of a working tree; or, in a process of its own, a part of that named."""
    from irbatch.runtime.kernels import IN_PLACE

    if folder:
        compile_kernels(Path(folder), is_in_place=name == IN_PLACE)
    else:
        build_library(Path(__file__).with_name(IN_PLACE))


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main(*sys.argv[1:])
