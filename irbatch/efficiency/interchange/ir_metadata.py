"""Records as ir_metadata: YAML on where a run comes from, with what its system took.

The form is that of ir_metadata (Breuer, Keller and Schaer, SIGIR 2022) and, under ``resources``,
that of tirex-tracker 0.2; what neither has stands beside it in the same style.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

import numpy as np

from irbatch.efficiency.checks import of_system, only_known, part_of_record
from irbatch.efficiency.hardware import Hardware
from irbatch.efficiency.interchange import documents
from irbatch.efficiency.interchange.documents import Node, write_amount, write_fields
from irbatch.efficiency.interchange.run_header import split_header
from irbatch.efficiency.interchange.yaml_text import read_yaml, write_yaml
from irbatch.efficiency.latency import STATISTICS, Latency
from irbatch.errors import ErrorsIn, InputError, kind_of
from irbatch.formats.streams import open_input

SOURCE = "ir_metadata"
LARGEST = 64 << 20  # bytes; what is larger is a run
NEITHER = "it is neither YAML nor a run with a header"
MARK = re.compile(r"^(ir_metadata\.(?:start|end))[ \t]*\r?$", re.MULTILINE)
# How metadata begins, after comments, and no run does: as a mapping, or with a mark.
BEGINS = re.compile(
    r"(?:[ \t]*+(?:#[^\n]*+)?\r?\n)*+[ \t]*+(?:[{?%&!\"']|---|ir_metadata\.start|[^\n]*:(?:\s|$))"
)
SCHEMA = 0.2
COSTS = {"price per hour": "price_per_hour", "per million queries": "stated_cost"}
DERIVED_COSTS = {
    "per million queries": "cost_per_million",
    "per million queries at full throughput": "throughput_cost_per_million",
}


def _read_intervals(node: Node) -> dict[str, tuple[float, float]]:
    named = [name for name in STATISTICS if node.at(name).value is not None]
    return {name: node.at(name).bounds("ms") for name in named}


def _write_intervals(intervals: Mapping[str, tuple[float, float]]) -> dict[str, list[str]]:
    return {name: [write_amount(end, "ms") for end in ends] for name, ends in intervals.items()}


def _read_latency(node: Node) -> Latency | None:
    if node.value is None:
        return None
    return part_of_record(node.source, node.path, Latency, node.fields(LATENCY))


SECONDS, MEGABYTES = documents.amounts("s", written="ms"), documents.amounts("MB")

HARDWARE = {
    "instance": ("instance", documents.TEXT),
    "cpu": ("cpu: model", documents.TEXT),
    "n_cpu": ("cpu: number of cores", documents.COUNT),
    "gpu": ("gpu: model", documents.TEXT),
    "n_gpu": ("gpu: number of gpus", documents.COUNT),
    "ram_gb": ("ram", documents.amounts("GB")),
}
LATENCY = {
    **{name: (name, documents.amounts("ms")) for name in STATISTICS},
    "calls": ("calls", documents.FROM_1),
    "loop": ("loop", documents.TEXT),
    "rate": ("rate", documents.amounts("queries/s")),
    "arrivals": ("arrivals", documents.TEXT),
    "errors": ("errors", documents.COUNT),
    "timeouts": ("timeouts", documents.COUNT),
    "level": ("level", documents.NUMBER),
    "intervals": ("intervals", documents.Form(_read_intervals, _write_intervals)),
}
LATENCY_FORM = documents.Form(_read_latency, lambda latency: write_fields(latency.known(), LATENCY))
RECORD = {
    "dataset": ("data: test collection: name", documents.TEXT),
    "source": ("data: source", documents.TEXT),
    "start_time": ("resources: runtime: start time", documents.TEXT),
    "wall_time": ("resources: runtime: wallclock", SECONDS),
    "user_time": ("resources: runtime: user", SECONDS),
    "system_time": ("resources: runtime: system", SECONDS),
    "children_time": ("resources: runtime: children", SECONDS),
    "indexing_time": ("resources: runtime: indexing", SECONDS),
    "n_queries": ("resources: queries: number", documents.FROM_1),
    "batch_size": ("resources: queries: batch size", documents.FROM_1),
    "warmup": ("resources: queries: warm-up calls", documents.COUNT),
    "warmed_queries": ("resources: queries: asked in the warm-up", documents.COUNT),
    "repeat": ("resources: queries: repeats", documents.FROM_1),
    "latency": ("resources: latency", LATENCY_FORM),
    "throughput": ("resources: throughput: value", documents.amounts("queries/s")),
    "throughput_batch_size": ("resources: throughput: batch size", documents.FROM_1),
    "sustained_rate": ("resources: throughput: sustained", documents.amounts("queries/s")),
    "sustained_p99": ("resources: throughput: sustained within", documents.amounts("ms")),
    "peak_memory": ("resources: ram: used process: max", documents.amounts("MB", "KB", bare="KB")),
    "peak_gpu_memory": ("resources: memory: gpu", MEGABYTES),
    "children_memory": ("resources: memory: children", MEGABYTES),
    "model_memory": ("resources: memory: model", MEGABYTES),
    "index_memory": ("resources: memory: index", MEGABYTES),
    "indexing_memory": ("resources: memory: indexing", MEGABYTES),
    "model_disk": ("resources: disk: model", MEGABYTES),
    "index_disk": ("resources: disk: index", MEGABYTES),
    "flops": ("resources: compute: flops", documents.amounts("FLOPs/query")),
    "cpu_used": ("resources: compute: cores used", documents.amounts("cores")),
    "energy": ("resources: energy", documents.amounts("J")),
    "emissions": ("resources: emissions", documents.amounts("kg")),
}


def write_ir_metadata(
    fields: Mapping[str, Any], derived: Mapping[str, float], more: Mapping[str, Any] | None
) -> str:
    """Return the known fields of a record as YAML; see `EfficiencyRecord.to_ir_metadata`."""
    if more is not None and not isinstance(more, Mapping):
        problem = f"more= takes a mapping, not {kind_of(more)}"
        raise InputError(problem, source=SOURCE, value=more)
    try:
        ours, theirs = _yaml_value(_write_form(fields, derived)), _yaml_value(more or {})
        return write_yaml(_merged(ours, theirs), SOURCE)
    except RecursionError:
        raise InputError("more= is nested too deeply", source=SOURCE) from None


def _merged(ours: dict[Any, Any], more: dict[Any, Any]) -> dict[Any, Any]:
    """Add what is not ours to what is, however deep."""
    merged = dict(ours)
    for key, value in more.items():
        known = merged.setdefault(key, value)
        if isinstance(known, dict) and isinstance(value, dict):
            merged[key] = _merged(known, value)
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
    is_yaml = isinstance(source, str) and "\n" in source
    path = fspath(source) if isinstance(source, str | PathLike) and not is_yaml else None
    with ErrorsIn(path=path):
        if is_yaml:
            source = _parse(source, "it is no mapping in YAML")
        elif path is not None:
            source = _load(path)
        elif not isinstance(source, Mapping):
            wanted = f"from a path, YAML or a mapping, not from {kind_of(source)}"
            raise InputError(f"it is read {wanted}", source=SOURCE, value=source)
        try:
            return _read_form(source, system)
        except RecursionError:  # of aliases in aliases
            raise InputError("it is nested too deeply", source=SOURCE) from None


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
            begins = content or BEGINS.match(piece.decode(errors="replace"))
            content += piece
            if not begins or len(content) > LARGEST:
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


def _write_form(fields: Mapping[str, Any], derived: Mapping[str, float]) -> dict[str, Any]:
    """Return what ir_metadata has of a record, numbers with their units as text."""
    hardware = write_fields(fields["hardware"].known(), HARDWARE)
    form = {
        "schema version": SCHEMA,
        "tag": fields["system"],
        **({"platform": {"hardware": hardware}} if hardware else {}),
        "method": {"name": fields["system"]},
        **write_fields(fields, RECORD),
    }
    if cost := _write_cost(fields, derived):
        form["resources"]["cost"] = cost
    return form


def _write_cost(fields: Mapping[str, Any], derived: Mapping[str, float]) -> dict[str, Any]:
    """Write prices; costs that follow from them stand apart, where they are not read again."""
    currency = fields.get("currency", "")
    cost: dict[str, Any] = {
        key: write_amount(fields[name], currency) for key, name in COSTS.items() if name in fields
    }
    if not cost and currency:
        cost["currency"] = currency
    following = {
        key: write_amount(derived[name], currency)
        for key, name in DERIVED_COSTS.items()
        if name in derived and key not in cost and math.isfinite(derived[name])
    }
    return {**cost, "derived": following} if following else cost


def _read_form(form: Mapping[str, Any], system: str | None) -> dict[str, Any]:
    """Return the fields of a record that ir_metadata says; keys that are not known are not read."""
    if system is None:
        top = Node("ir_metadata", form)
        system = top.at("method: name").text() or top.at("tag").text()
    if system is None:
        problem = "it names no system, neither as method: name nor as tag; say system="
        raise InputError(problem, source="ir_metadata")
    top = Node(of_system(system), form)
    resources = top.at("resources")
    fields = {
        "system": system,
        "hardware": Hardware(**top.at("platform: hardware").fields(HARDWARE)),
        **top.fields(RECORD),
        **_read_cost(resources.at("cost")),
    }
    if "energy" not in fields:  # which tirex-tracker tells by part
        parts = (f"{part}: energy used system" for part in ("cpu", "gpu", "ram"))
        fields["energy"] = resources.energy(*parts)
    return fields


def _read_cost(node: Node) -> dict[str, Any]:
    currency = node.at("currency").text()
    fields: dict[str, Any] = {}
    for key, name in COSTS.items():
        fields[name], unit = node.at(key).priced()
        if unit is not None and currency not in (None, unit):
            raise node.at(key).problem(f"but other amounts are in {currency}")
        currency = unit or currency
    return only_known({**fields, "currency": currency})
