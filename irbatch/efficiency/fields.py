"""Frozen dataclasses whose annotations say what values they take, and a strict reader of JSON.

A field is a text (``str``), a finite number from 0 on (``float``), a whole number (`Whole`,
`Count`), true or false, another dataclass, or a list or a mapping of these; with ``| None`` it may
be unknown.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from os import PathLike
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from irbatch.errors import ErrorsIn, InputError, did_you_mean, kind_of, shown
from irbatch.runtime.numbers import LARGEST_WHOLE, check_number, check_whole

Whole = Annotated[int, 0]
Count = Annotated[int, 1]  # the least that it may be

BLANK = "\ufeff \t\r\n"  # before JSON


def field_error(source: str, field: str, problem: str, value: object) -> InputError:
    """Return the error that names a field, and what is wrong with it."""
    return InputError(f"{field} {problem}", source=source, value=value)


def only_known(values: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what is None."""
    return {name: value for name, value in values.items() if value is not None}


@functools.cache
def kinds_of(owner: Any) -> dict[str, tuple[Any, bool]]:
    """Return the kind of each field of a dataclass, and whether it may be None."""
    hints = inspect.get_annotations(owner, eval_str=True)
    kinds: dict[str, tuple[Any, bool]] = {}
    for field in fields(owner):
        kind = hints[field.name]
        origin: Any = get_origin(kind)
        options = get_args(kind) if origin in (Union, UnionType) else (kind,)
        kinds[field.name] = options[0], NoneType in options
    return kinds


def check_fields(made: Any, source: str) -> None:
    """Check the fields of a frozen dataclass by their kinds; numbers of NumPy become Python's."""
    for name, (kind, optional) in kinds_of(made.__class__).items():
        value = getattr(made, name)
        if not optional or value is not None:
            with ErrorsIn(source=source):
                object.__setattr__(made, name, check_value(name, kind, value))


def check_value(name: str, kind: Any, value: Any) -> Any:
    """Return a value of a kind, numbers as Python's; `InputError` if it is of another."""
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if kind is Any:
        return value
    if value is None:
        raise InputError(f"{name} is missing")
    if kind is float:
        return check_number(name, value, least=0)
    if hasattr(kind, "__metadata__"):
        return check_whole(name, value, kind.__metadata__[0], LARGEST_WHOLE)
    if kind is str:
        if not isinstance(value, str) or not value.strip():
            raise InputError(f"{name} is {shown(value)}, which is not a text", value=value)
        return value
    if origin in (list, Sequence):
        if not isinstance(value, list | tuple):
            raise InputError(f"{name}: {shown(value)} is not a list", value=value)
        return [check_value(f"{name}, {k}", inner[0], part) for k, part in enumerate(value, 1)]
    if origin in (dict, Mapping):
        if not isinstance(value, Mapping):
            raise InputError(f"{name}: {shown(value)} is not an object", value=value)
        return {
            key: check_value(f"{name}: {shown(key)}", inner[1], part) for key, part in value.items()
        }
    if origin is tuple:
        if not isinstance(value, list | tuple) or len(value) != len(inner):
            problem = f"{name} is {shown(value)}, not {len(inner)} values"
            raise InputError(problem, value=value)
        return tuple(check_value(name, *pair) for pair in zip(inner, value, strict=True))
    if isinstance(value, Mapping) and hasattr(kind, "from_dict"):
        return kind.from_dict(value)
    if is_dataclass(kind) and isinstance(value, Mapping):
        return read_fields(kind, value, name)
    if not isinstance(value, kind):
        wanted_kind = "true or false" if kind is bool else f"an object of {kind.__name__}"
        raise InputError(
            f"{name} is {shown(value)}, {kind_of(value)}, not {wanted_kind}", value=value
        )
    return value


def read_fields(owner: Any, values: Any, name: str = "", also: Mapping[str, str] = {}) -> Any:
    """Make a dataclass of an object of JSON, in which None is as if it weren't there.

    `also` maps what is not a field to the field that may be meant.
    """
    inside = f"{name}: " if name else ""
    if not isinstance(values, Mapping):
        problem = f"{name or 'it'} is {shown(values)}, {kind_of(values)}, not an object"
        raise InputError(problem, value=values)
    kinds = kinds_of(owner)
    for key, value in values.items():
        if key not in kinds:
            hint = f"; did you mean {also[key]}?" if key in also else did_you_mean(key, kinds)
            raise InputError(f"{inside}{shown(key)} is not known{hint}", value=value)
    present = only_known(values)
    for field in fields(owner):
        needed = field.default is MISSING and field.default_factory is MISSING
        if needed and field.name not in present:
            raise InputError(f"{inside}{field.name} is missing")
    try:
        return owner(**present)
    except InputError as problem:
        raise InputError(inside + problem.message, value=problem.value) from None


def read_object(source: str | PathLike[str], what: str) -> Any:
    """Read JSON, no key twice, from a path or a text; `what` says in errors what is read."""
    if not isinstance(source, str | PathLike):
        problem = f"it is read from a path or JSON, not from {kind_of(source)}"
        raise InputError(problem, source=what, value=source)
    path = None if is_json(source) else str(source)
    line = None
    try:
        text = str(source).lstrip(BLANK) if path is None else Path(path).read_text("utf-8-sig")
        with ErrorsIn(source=what, path=path):
            return json.loads(text, object_pairs_hook=_with_single_keys)
    except InputError:
        raise
    except UnicodeDecodeError:
        reason = "it is not UTF-8"
    except json.JSONDecodeError as problem:
        reason, line = f"not JSON: {problem.msg} at column {problem.colno}", problem.lineno
    except (RecursionError, ValueError) as problem:  # nested too deeply, or thousands of digits
        reason = f"not JSON: {problem}"
    except OSError as problem:  # one of reading names no file
        problem.filename = problem.filename or path
        raise
    raise InputError(reason, source=what, path=path, line=line)


def is_json(source: object) -> bool:
    """Tell JSON from a path."""
    return isinstance(source, str) and source.lstrip(BLANK)[:1] in ("{", "[")


def _with_single_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"key {shown(twice)} is given twice", value=twice)
    return values
