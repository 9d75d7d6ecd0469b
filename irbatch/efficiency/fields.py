"""The fields of records: what values they take, their units and labels; a strict reader of JSON.

The annotations of a frozen dataclass say what values its fields take: a text (``str``), a finite
number from 0 on (``float``), a whole number (`Whole`, `Count`), another dataclass, or a list or a
mapping of these; with ``| None`` it may be unknown. `told` adds what a field of a record is
besides: a place in ir_metadata, a unit, a quantity that systems are compared by.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Mapping
from dataclasses import MISSING, field, fields, is_dataclass
from os import PathLike
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

from irbatch.errors import ErrorsIn, InputError, did_you_mean, kind_of, shown
from irbatch.runtime.numbers import LARGEST_WHOLE, check_number, check_whole

Whole = Annotated[int, 0]
Count = Annotated[int, 1]  # the least that it may be

LOWER, HIGHER = "lower", "higher"  # is better
BLANK = "\ufeff \t\r\n"  # before JSON


class Quantity(NamedTuple):
    """Something that a record tells of a system."""

    name: str  # in records, constraints and axes
    unit: str  # of its numbers
    better: str  # `LOWER` or `HIGHER`
    label: str  # for the heads of tables and the axes of pictures

    @property
    def heading(self) -> str:
        """Its label, with the unit where it has one."""
        return f"{self.label} ({self.unit})" if self.unit else self.label

    @property
    def sign(self) -> float:
        """1 where higher is better, else -1."""
        return 1.0 if self.better == HIGHER else -1.0


def told(
    keys: str = "", unit: str = "", label: str = "", *, better: str = LOWER, **more: Any
) -> Any:
    """Return a field of a dataclass: its keys in ir_metadata, its unit, its label as a quantity."""
    about = {"keys": keys, "unit": unit, "label": label, "better": better}
    return field(metadata=about, **{"default": None, **more})


def list_quantities(owner: Any, before: str = "") -> list[Quantity]:
    """Return the quantities among the fields of a dataclass."""
    return [
        Quantity(before + own.name, about["unit"], about["better"], about["label"])
        for own in fields(owner)
        if (about := own.metadata).get("label")
    ]


def list_places(owner: Any, before: str = "", part: str = "") -> dict[str, tuple[str, Any]]:
    """Return where fields stand in ir_metadata, and each one's unit there, or its type without."""
    places = {}
    for own in fields(owner):
        if own.metadata.get("keys"):
            unit, (kind, _) = own.metadata["unit"], kinds_of(owner)[own.name]
            kind = int if kind in (Whole, Count) else kind
            form = unit.partition(" ")[0] if unit and "{" not in unit else kind
            keys = own.metadata["keys"]
            is_whole = keys.startswith(("method: ", "data: "))
            places[part + own.name] = keys if is_whole else before + keys, form
    return places


def with_currency(unit: str, currency: str | None) -> str:
    """Return a unit, which may be of money; where no currency is said, none is shown."""
    if currency is None and "{currency}" in unit:
        return "per hour" if unit.endswith("/h") else ""
    return unit.format(currency=currency)


# ---------------------------------------------------------------- checks


def of_system(system: object) -> str:
    """Name the record of a system, for errors."""
    return f"record of {shown(system)}"


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
    for own in fields(owner):
        kind = hints[own.name]
        origin: Any = get_origin(kind)
        options = get_args(kind) if origin in (Union, UnionType) else (kind,)
        kinds[own.name] = options[0], NoneType in options
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
    if origin is list:
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
    if is_dataclass(kind) and isinstance(value, Mapping):
        return read_fields(kind, value, name)
    if not isinstance(value, kind):
        problem = f"is {shown(value)}, {kind_of(value)}, not an object of {kind.__name__}"
        raise InputError(f"{name} {problem}", value=value)
    return value


# ---------------------------------------------------------------- JSON


def read_fields(owner: Any, values: Mapping[str, Any], name: str = "") -> Any:
    """Make a dataclass of an object of JSON, in which None is as if it weren't there."""
    inside = f"{name}: " if name else ""
    kinds = kinds_of(owner)
    for key, value in values.items():
        if key not in kinds:
            hint = did_you_mean(key, kinds)
            raise InputError(f"{inside}{shown(key)} is not known{hint}", value=value)
    present = only_known(values)
    for own in fields(owner):
        needed = own.default is MISSING and own.default_factory is MISSING
        if needed and own.name not in present:
            raise InputError(f"{inside}{own.name} is missing")
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
    try:
        text = str(source).lstrip(BLANK) if path is None else Path(path).read_text("utf-8-sig")
        with ErrorsIn(source=what, path=path):
            return json.loads(text, object_pairs_hook=_with_single_keys)
    except InputError:
        raise
    except (RecursionError, ValueError) as problem:  # perhaps of UTF-8, or thousands of digits
        line = getattr(problem, "lineno", None)
        raise InputError(f"not JSON: {problem}", source=what, path=path, line=line) from None
    except OSError as problem:  # one of reading names no file
        problem.filename = problem.filename or path
        raise


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
