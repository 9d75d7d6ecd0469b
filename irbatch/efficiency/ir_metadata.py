"""Records as ir_metadata: YAML on where a run comes from, with what its system took."""

from __future__ import annotations

import re
from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

import numpy as np

from irbatch.efficiency.ir_metadata_form import form_of, record_of
from irbatch.efficiency.record import EfficiencyRecord
from irbatch.efficiency.run_header import split_header
from irbatch.efficiency.yaml_texts import read_texts, write_texts
from irbatch.errors import InputError
from irbatch.formats.streams import open_input
from irbatch.runtime.files import written

__all__ = ["read_ir_metadata", "write_ir_metadata"]

SOURCE = "ir_metadata"
LARGEST = 64 << 20  # bytes; what is larger is a run
NEITHER = "it is neither YAML nor a run with a header"
MARK = re.compile(r"^(ir_metadata\.(?:start|end))[ \t]*\r?$", re.MULTILINE)
# What a run without a header doesn't begin with, after comments: a mapping, or a mark.
BEGINS = re.compile(
    r"(?:[ \t]*(?:#[^\n]*)?\r?\n)*+[ \t]*(?:[{?%&!\"']|---|ir_metadata\.start|[^\n]*:(?:\s|$))"
)


def write_ir_metadata(
    record: EfficiencyRecord, path: str | PathLike[str] | None, more: Mapping[str, Any] | None
) -> str:
    """Return, or also write, a record as YAML in ir_metadata's form.

    The form is that of ir_metadata (Breuer, Keller and Schaer, SIGIR 2022) and, under
    ``resources``, that of tirex-tracker 0.2; what neither has stands beside it in the same style.
    All numbers are read again as they were.

    Args:
        record: what the system takes.
        path: where to write it; an existing file is replaced whole or not at all.
        more: what else there is to say; where both say something, the record is right.

    Raises:
        InputError: for what YAML has no form for.
        ImportError: naming the extra, when PyYAML is not installed.

    >>> print(write_ir_metadata(EfficiencyRecord(system="bm25", wall_time=0.426), None, None))
    schema version: 0.2
    tag: bm25
    method:
      name: bm25
    resources:
      runtime:
        wallclock: 426 ms
      queries:
        batch size: 1
        repeats: 1
    <BLANKLINE>
    """
    if more is not None and not isinstance(more, Mapping):
        raise InputError(f"more= takes a mapping, not a {type(more).__name__}", source=SOURCE,
                         value=more)  # fmt: skip
    try:
        text = write_texts(_merged(form_of(record), more or {}), SOURCE)
    except RecursionError:
        raise InputError("more= is nested too deeply", source=SOURCE) from None
    return written(text, path)


def _merged(ours: Mapping[Any, Any], more: Mapping[Any, Any]) -> dict[Any, Any]:
    """Add what is not ours to what is, however deep; neither is changed."""
    merged = {_plain(key): _plain(value) for key, value in ours.items()}
    for key, value in more.items():
        key = _plain(key)
        if key not in merged:
            merged[key] = _plain(value)
        elif isinstance(merged[key], dict) and isinstance(value, Mapping):
            merged[key] = _merged(merged[key], value)
    return merged


def _plain(value: Any) -> Any:
    """Return what YAML has a form for in place of its relatives."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return {_plain(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value


def read_ir_metadata(source: Any, system: str | None) -> EfficiencyRecord:
    r"""Read a record from ir_metadata.

    Of what tirex-tracker exports, energy is the sum of what it could measure, and a kilobyte is
    1000 bytes. Its mean CPU percentages are not read, as they weigh steps of unequal length alike.

    Args:
        source: a path of a YAML file or of a run with a header, packed or not; YAML, a text of
            several lines; or the mapping that it holds.
        system: the system's name; default: ``method: name``, or else ``tag``.

    Raises:
        InputError: naming the file, the system and the keys of what can't be read.
        ImportError: naming the extra, when PyYAML is not installed.

    >>> text = "tag: bm25\nresources:\n  ram:\n    used process:\n      max: 29248\n"
    >>> read_ir_metadata(text, None).peak_memory  # MB
    29.248
    """
    if isinstance(source, Mapping):
        return record_of(source, system)
    if isinstance(source, str) and "\n" in source:
        return record_of(_parse(source, False, 0), system)
    if not isinstance(source, str | PathLike):
        raise InputError(f"it is read from a path, YAML or a mapping, not from a "
                         f"{type(source).__name__}", source=SOURCE, value=source)  # fmt: skip
    path = fspath(source)
    try:
        return record_of(_load(path), system)
    except InputError as problem:
        raise problem.placed(path=path) from None


def _load(path: str) -> Mapping[str, Any]:
    """Read a YAML file, or the header of a run, which may be long."""
    with open_input(path, SOURCE) as file:
        if file.is_parquet:
            raise InputError("it is Parquet, which has no header", source=SOURCE)
        header, pieces = split_header(file)
        if header is not None:
            return _parse(header, True, 1)
        content = bytearray()
        for piece in pieces:
            if not content and not BEGINS.match(piece.decode(errors="replace")):
                break
            content += piece
            if len(content) > LARGEST:
                break
        else:
            try:
                return _parse(content.decode(), True, 0)
            except UnicodeDecodeError:
                raise InputError("it is not UTF-8", source=SOURCE) from None
    raise InputError(NEITHER, source=SOURCE)


def _parse(text: str, is_file: bool, before: int) -> Mapping[str, Any]:
    """Read YAML, before which a file has some lines."""
    found = read_texts(MARK.sub(r"# \1", text), SOURCE, before)
    if not isinstance(found, Mapping):
        what = NEITHER if is_file else "it is no mapping in YAML"
        raise InputError(what, source=SOURCE, value=found)
    return found
