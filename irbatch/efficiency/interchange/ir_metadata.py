"""Records as ir_metadata: YAML on where a run comes from, with what its system took.

The form is that of ir_metadata (Breuer, Keller and Schaer, SIGIR 2022) and, under ``resources``,
that of tirex-tracker 0.2; what neither has stands beside it in the same style.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

import numpy as np

from irbatch.efficiency.interchange.ir_metadata_fields import fields_to_form, form_to_fields
from irbatch.efficiency.interchange.run_header import split_header
from irbatch.efficiency.interchange.yaml_text import read_yaml, write_yaml
from irbatch.errors import InputError
from irbatch.formats.streams import open_input

SOURCE = "ir_metadata"
LARGEST = 64 << 20  # bytes; what is larger is a run
NEITHER = "it is neither YAML nor a run with a header"
MARK = re.compile(r"^(ir_metadata\.(?:start|end))[ \t]*\r?$", re.MULTILINE)
# How metadata begins, after comments, and no run does: as a mapping, or with a mark.
BEGINS = re.compile(
    r"(?:[ \t]*(?:#[^\n]*)?\r?\n)*+[ \t]*(?:[{?%&!\"']|---|ir_metadata\.start|[^\n]*:(?:\s|$))"
)


def write_ir_metadata(
    fields: Mapping[str, Any], derived: Mapping[str, float], more: Mapping[str, Any] | None
) -> str:
    """Return the fields of a record as YAML; see `EfficiencyRecord.to_ir_metadata`.

    Args:
        fields: those that are known.
        derived: the quantities that follow from them.
        more: what else there is to say.
    """
    if more is not None and not isinstance(more, Mapping):
        problem = f"more= takes a mapping, not a {type(more).__name__}"
        raise InputError(problem, source=SOURCE, value=more)
    try:
        return write_yaml(_merged(fields_to_form(fields, derived), more or {}), SOURCE)
    except RecursionError:
        raise InputError("more= is nested too deeply", source=SOURCE) from None


def _merged(ours: Mapping[Any, Any], more: Mapping[Any, Any]) -> dict[Any, Any]:
    """Add what is not ours to what is, however deep; neither is changed."""
    merged = {_yaml_value(key): _yaml_value(value) for key, value in ours.items()}
    for key, value in more.items():
        key = _yaml_value(key)
        if key not in merged:
            merged[key] = _yaml_value(value)
        elif isinstance(merged[key], dict) and isinstance(value, Mapping):
            merged[key] = _merged(merged[key], value)
    return merged


def _yaml_value(value: Any) -> Any:
    """Return a value of the types that YAML has a form for, if it is of a related one."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return {_yaml_value(key): _yaml_value(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_yaml_value(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value


def read_ir_metadata(source: Any, system: str | None) -> dict[str, Any]:
    """Return the fields of a record; see `EfficiencyRecord.from_ir_metadata`."""
    path = None
    try:
        if isinstance(source, str) and "\n" in source:
            source = _parse(source, "it is no mapping in YAML")
        elif isinstance(source, str | PathLike):
            path = fspath(source)
            source = _load(path)
        elif not isinstance(source, Mapping):
            wanted = f"from a path, YAML or a mapping, not from a {type(source).__name__}"
            raise InputError(f"it is read {wanted}", source=SOURCE, value=source)
        return form_to_fields(source, system)
    except InputError as problem:
        raise problem.with_fields(path=path) from None
    except RecursionError:  # of aliases in aliases
        raise InputError("it is nested too deeply", source=SOURCE, path=path) from None


def _load(path: str) -> Mapping[str, Any]:
    """Read a YAML file, or the header of a run, which may be long."""
    with open_input(path, SOURCE) as file:
        if file.is_parquet:
            raise InputError("it is Parquet, which has no header", source=SOURCE)
        header, pieces = split_header(file)
        if header is not None:
            return _parse(header, NEITHER, before=1)
        content = bytearray()
        for piece in pieces:
            if not content and not BEGINS.match(piece.decode(errors="replace")):
                raise InputError(NEITHER, source=SOURCE)
            content += piece
            if len(content) > LARGEST:
                raise InputError(NEITHER, source=SOURCE)
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise InputError("it is not UTF-8", source=SOURCE) from None
    return _parse(text, NEITHER)


def _parse(text: str, otherwise: str, before: int = 0) -> Mapping[str, Any]:
    """Read a mapping in YAML, before which a file has some lines; say what it is otherwise."""
    found = read_yaml(MARK.sub(r"# \1", text), SOURCE, before)
    if not isinstance(found, Mapping):
        raise InputError(otherwise, source=SOURCE, value=found)
    return found
