"""The functions of the library, and the code that is theirs."""

from __future__ import annotations

import gc
import importlib
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType

Key = tuple[str, str, int]  # of a function: file, name, line


def by_key(code: CodeType) -> dict[Key, list[CodeType]]:
    """Sort all code in a module's by the function that it is of."""
    found: dict[Key, list[CodeType]] = {}
    for each in codes_in(code):
        found.setdefault(key(each), []).append(each)
    return found


def functions_of(paths: set[str]) -> dict[Key, list[FunctionType]]:
    """Find all functions of the library; files given are imported, if they weren't."""
    for path in paths:
        importlib.import_module(
            ".".join(Path(path).with_suffix("").parts).removesuffix(".__init__")
        )
    library = str(Path("irbatch").resolve())
    gc.unfreeze()  # what is frozen isn't listed
    found: dict[Key, list[FunctionType]] = {}
    for each in gc.get_objects():
        if type(each) is FunctionType and each.__code__.co_filename.startswith(library):
            found.setdefault(key(each.__code__), []).append(each)
    return found


def key(code: CodeType) -> Key:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Yield code, and all code within it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from codes_in(each)
