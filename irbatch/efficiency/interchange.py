"""ir_metadata: records as YAML, and at the head of run files.

ir_metadata (Breuer, Keller and Schaer, SIGIR 2022) says where a run comes from. Under
``resources`` its keys are those of tirex-tracker 0.2 where that has them, with the units of a
record. Here a record is a dict, as `EfficiencyRecord.to_dict` returns it.
"""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from irbatch.efficiency.fields import field_error, of_system
from irbatch.errors import ErrorsIn, InputError, imported, kind_of, shown
from irbatch.formats.streams import Input, open_input
from irbatch.runtime.files import replacing
from irbatch.runtime.numbers import DECIMAL

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


def write_ir_metadata(record: Mapping[str, Any], places: Places) -> str:
    """Return a record as YAML, every text in one line, which all readers take for a text."""
    yaml = imported(SOURCE, "yaml", "yaml")
    document: dict[str, Any] = {"schema version": 0.2, "tag": record["system"]}
    for field, (keys, form) in places.items():
        part, _, name = field.rpartition(".")
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
    for field, place in places.items():
        part, _, last = field.rpartition(".")
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
