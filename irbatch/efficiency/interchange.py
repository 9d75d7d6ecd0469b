"""The fields of records, and the forms that these are kept in: JSON, and ir_metadata.

The annotations of a frozen dataclass say what values its fields take: a text (``str``), a finite
number from 0 on (``float``), a whole number (`Whole`, `Count`), another dataclass, or a list or a
mapping of these; with ``| None`` it may be unknown. `told` adds what a field of a record is
besides: a place in ir_metadata, a unit, a quantity that systems are compared by.

ir_metadata (Breuer, Keller and Schaer, SIGIR 2022) says where a run comes from: as YAML, perhaps at
the head of the run. Under ``resources`` its keys are those of tirex-tracker 0.2 where that has
them, with the units of a record. Here a record is a dict, as `EfficiencyRecord.to_dict` returns it.
"""

from __future__ import annotations

import functools
import inspect
import io
import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import MISSING, field, fields, is_dataclass
from itertools import chain
from os import PathLike, fspath
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

from irbatch.errors import ErrorsIn, InputError, did_you_mean, imported, kind_of, shown
from irbatch.formats.streams import Input, open_input
from irbatch.runtime.files import replacing
from irbatch.runtime.numbers import DECIMAL, LARGEST_WHOLE, check_number, check_whole

Whole = Annotated[int, 0]
Count = Annotated[int, 1]  # the least that it may be

LOWER, HIGHER = "lower", "higher"  # is better
BLANK = "\ufeff \t\r\n"  # before JSON

SOURCE = "ir_metadata"
LARGEST = 1 << 20  # bytes of metadata; what is larger is a run
NEITHER = "it is neither YAML nor a run with a header"
START, END = "# ir_metadata.start", "# ir_metadata.end"
FIRST_LINE = re.compile(rb"#[ \t]*ir_metadata\.start[ \t]*\r?(\n|\Z)")
LAST_LINE = re.compile(rb"#[ \t]*ir_metadata\.end\s*")

LIKE_NUMBER = re.compile(r"[-+.]*[0-9]\S*")  # which some reader of YAML may take for one
NULL = re.compile(r"(|~|null|Null|NULL)\Z")
# Where ir_metadata has a field of a record, of its hardware or latency, and its unit or its type.
Places = Mapping[str, tuple[str, Any]]


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
        if keys := own.metadata.get("keys"):
            unit, (kind, _) = own.metadata["unit"], kinds_of(owner)[own.name]
            kind = int if kind in (Whole, Count) else kind
            form = unit.partition(" ")[0] if unit and "{" not in unit else kind
            is_whole = keys.startswith(("method: ", "data: "))
            places[part + own.name] = keys if is_whole else before + keys, form
    return places


# ---------------------------------------------------------------- checks


def of_system(system: object) -> str:
    """Name the record of a system, for errors."""
    return f"record of {shown(system)}"


def field_error(source: str, field: str, problem: str, value: object) -> InputError:
    """Return the error that names a field, and what is wrong with it."""
    return InputError(f"{field} {problem}", source=source, value=value)


def to_known(values: Any) -> Any:
    """Return what is known of an object or a dataclass, and of those in it, as JSON has it."""
    if is_dataclass(values):
        values = vars(values)
    if isinstance(values, tuple):
        return list(values)
    if not isinstance(values, Mapping):
        return values
    found = {name: to_known(value) for name, value in values.items()}
    return {name: value for name, value in found.items() if value not in (None, {})}


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
    present = {name: value for name, value in values.items() if value is not None}
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


# ---------------------------------------------------------------- ir_metadata


def write_ir_metadata(record: Mapping[str, Any], places: Places) -> str:
    """Return a record as YAML, every text in one line, which all readers take for a text."""
    yaml = imported(SOURCE, "yaml", "yaml")
    document: dict[str, Any] = {"schema version": 0.2, "tag": record["system"]}
    for full_name, (keys, form) in places.items():
        part, _, name = full_name.rpartition(".")
        value = (record.get(part) or {} if part else record).get(name)
        if value is not None:
            *groups, last = keys.split(": ")
            place = document
            for group in groups:
                place = place.setdefault(group, {})
            if isinstance(form, str):  # 5 ms, not 5.0 ms
                value = f"{value!r} {form}".replace(".0 ", " ")
            place[last] = value

    class Dumper(yaml.SafeDumper):  # type: ignore[misc, name-defined]
        pass

    def represent(dumper: Any, text: str) -> Any:
        style = "'" if LIKE_NUMBER.fullmatch(text) else None
        style = style if text.isprintable() else '"'
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    Dumper.add_representer(str, represent)
    options = {"sort_keys": False, "allow_unicode": True, "width": float("inf")}
    return str(yaml.dump(document, Dumper=Dumper, **options))


def read_ir_metadata(source: Any, system: str | None, places: Places) -> dict[str, Any]:
    """Return a record as a dict; keys that have no place in it are not read."""
    if isinstance(source, str) and "\n" in source:
        document = _read_yaml(source)
    elif isinstance(source, str | PathLike):
        with ErrorsIn(path=fspath(source)):
            document = _read_file(source)
    else:
        problem = f"it is read from a path or YAML, not from {kind_of(source)}"
        raise InputError(problem, source=SOURCE, value=source)
    name = system or _read_place(SOURCE, document, *places["system"])
    name = name or _read_place(SOURCE, document, "tag", str)
    if name is None:
        problem = "it names no system, neither as method: name nor as tag; say system="
        raise InputError(problem, source=SOURCE)
    record: dict[str, Any] = {}
    for full_name, place in places.items():
        part, _, last = full_name.rpartition(".")
        value = _read_place(of_system(name), document, *place)
        if value is not None:
            (record.setdefault(part, {}) if part else record)[last] = value
    return {**record, "system": name}


def _read_place(source: str, document: Any, keys: str, form: str | type) -> Any:
    """Return the value at a place of a document; None where there is none."""
    path, value = keys.split(": "), document
    for depth, key in enumerate(path):
        if value is None:
            return None
        if not isinstance(value, Mapping):
            inside = ": ".join(path[:depth])
            raise field_error(source, inside, f"is {shown(value)}, not a mapping", value)
        value = value.get(key)
    if value is None:
        return None
    kind = "text" if form is str else "number"
    if isinstance(form, str):
        kind = f"number of {form}"
        number, _, unit = str(value).partition(" ")
        if unit == form and re.fullmatch(DECIMAL, number):
            return float(number)
    elif isinstance(value, str):
        with suppress(ValueError):
            return form(value)
    raise field_error(source, keys, f"is {shown(value)}, which is not a {kind}", value)


def _read_file(path: str | PathLike[str]) -> Mapping[str, Any]:
    """Read a YAML file, or the header of a run, which may be long."""
    with open_input(path, SOURCE) as file:
        if file.is_parquet:
            raise InputError(NEITHER, source=SOURCE)
        header, pieces = _split_header(file)
        if header is not None:
            return _read_yaml(header)
        content = b""
        while len(content) <= LARGEST and (piece := next(pieces, b"")):
            content += piece
    if len(content) > LARGEST:
        raise InputError(NEITHER, source=SOURCE)
    return _read_yaml(_decoded(content))


def _decoded(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        raise InputError("it is not UTF-8", source=SOURCE, line=line) from None


def _read_yaml(text: str) -> Mapping[str, Any]:
    """Read a mapping in YAML, whose scalars are texts, or None."""
    yaml = imported(SOURCE, "yaml", "yaml")

    class Loader(yaml.BaseLoader):  # type: ignore[misc, name-defined]
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                mark = self.peek_event().start_mark
                raise yaml.MarkedYAMLError(problem="it has an alias", problem_mark=mark)
            return super().compose_node(parent, index)

    Loader.add_implicit_resolver("null", NULL, None)
    Loader.add_constructor("null", lambda loader, node: None)
    try:
        document = yaml.load(text, Loader=Loader)
    except RecursionError:
        raise InputError("not YAML: it is nested too deeply", source=SOURCE) from None
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        reason = getattr(problem, "problem", None) or "it has a character that YAML has not"
        line = mark and mark.line + 1
        raise InputError(f"not YAML: {reason}", source=SOURCE, line=line) from None
    if not isinstance(document, Mapping):
        raise InputError(NEITHER, source=SOURCE, value=document)
    return document


def _split_header(file: Input) -> tuple[str | None, Iterator[bytes | bytearray]]:
    """Return the YAML of a header, None where there is none, and what follows, in pieces.

    The YAML begins with an empty line in place of the header's first: so lines have their numbers.
    """
    pieces = file.counted_pieces()
    first = next(pieces, bytearray())
    if not FIRST_LINE.match(first):
        return None, chain([first], pieces)
    rest = io.BytesIO(first)
    lines: list[bytes] = []
    for line in rest:
        lines.append(line[1:])
        if LAST_LINE.fullmatch(line):
            text = _decoded(b"".join([b"\n", *lines[1:-1]]))
            return textwrap.dedent(text), chain([rest.read()], pieces)
        if not line.startswith(b"#"):
            break
    problem = f"the header does not end: {END!r} is missing"
    raise InputError(problem, source=file.source, path=file.path, line=len(lines))


def annotate_run(path: str | PathLike[str], record: Any) -> None:
    r"""Write a record into a run file, as its header; the run stays as it is.

    A header is lines that begin with ``#`` between ``# ir_metadata.start``, the first one, and
    ``# ir_metadata.end``. This library, trec_eval (its current source) and repro_eval take them for
    comments.

    Args:
        path: a run; what is packed by its name (``.gz``, ``.bz2``, ``.xz``, ``.zst``) stays so. It
            is replaced whole or not at all, and never held in memory.
        record: the `EfficiencyRecord` of the system, or the `Measurement` or `Load` that has it.

    Raises:
        InputError: if the file cannot have a header, or has one.
        ImportError: naming the extra, when PyYAML is not installed.
        OSError: as the system says; the file is as it was then.

    >>> import tempfile, pathlib
    >>> from irbatch.efficiency import EfficiencyRecord
    >>> path = pathlib.Path(tempfile.mkdtemp(), "bm25.run")
    >>> _ = path.write_text("q1 Q0 d1 1 9.5 bm25\n")
    >>> annotate_run(path, EfficiencyRecord(system="bm25", throughput=812.5))
    >>> EfficiencyRecord.from_ir_metadata(path).throughput
    812.5
    """
    record = getattr(record, "record", record)
    if not isinstance(path, str | PathLike) or not hasattr(record, "to_ir_metadata"):
        problem = f"it takes a run's path and a record, not {shown(path)} and {kind_of(record)}"
        raise InputError(problem, source="run", value=record)
    lines = record.to_ir_metadata().removesuffix("\n").split("\n")
    name = fspath(path)
    with ErrorsIn(source="run", path=name):
        if name == "-" or (Path(name).exists() and not Path(name).is_file()):
            raise InputError("it is not a file that can be replaced")
        with replacing(name, pack=True) as new, open_input(name, "run") as file:
            if file.is_parquet:
                raise InputError("it is Parquet, which has no header")
            header, pieces = _split_header(file)
            if header is not None:
                raise InputError("it has a header already")
            new.write("\n".join([START, *(f"# {line}" for line in lines), END, ""]).encode())
            new.writelines(pieces)
