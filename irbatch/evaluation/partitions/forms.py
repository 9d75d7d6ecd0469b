"""Partial results as states, JSON and Arrow tables; what is wrong with one is told by its key."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from irbatch.data.ids import NO_HASHES
from irbatch.errors import ErrorsIn, InputError, imported, kind_of, shown
from irbatch.evaluation.means import with_weights
from irbatch.evaluation.partitions.findings import Findings
from irbatch.evaluation.partitions.item_state import items_of_run
from irbatch.evaluation.partitions.reading import (
    are_texts,
    check_keys,
    check_same,
    get,
    may_skip,
    read_hashes,
    read_kept,
    read_texts,
    refuse,
)
from irbatch.evaluation.partitions.rows import Rows
from irbatch.evaluation.partitions.sums import empty_kept
from irbatch.evaluation.task import Evaluation
from irbatch.measures import Measure

if TYPE_CHECKING:
    from irbatch.data.items import ItemStatistics

FORMAT = 1
WHAT = "partial result"
ARRAYS = {
    "queries": ("query_ids", "values", "marks"),
    "sums": ("sums", "counted", "zeros", "counts"),
}
FINDINGS = ("extra", "judged", "any_judged", "best", "samples", "warnings")
REST = ("format", "measures", "keep", "options", "settings", "name", "judgments", *FINDINGS)
METADATA = b"irbatch"  # of an Arrow schema


def read_partial(state: Mapping[str, Any], items: ItemStatistics | None) -> dict[str, Any]:
    """Return the arguments of the `PartialResult` that a state is of.

    Raises:
        InputError: if it is the state of something else, or of nothing.
    """
    if not isinstance(state, Mapping):
        raise refuse(f"{kind_of(state)} is no state of a {WHAT}", value=state)
    check_same("format", get(state, "format", WHAT), FORMAT)
    keep, names = get(state, "keep", WHAT), get(state, "measures", WHAT)
    if not isinstance(keep, str) or keep not in ARRAYS:
        raise refuse(f"'keep' is {shown(keep)}, not one of {', '.join(ARRAYS)}", value=keep)
    if not are_texts(names):
        raise refuse(f"'measures' are {shown(names)}, not names", value=names)
    evaluation = _evaluation(names, get(state, "options", WHAT), items)
    check_same("measures", names, [str(each) for each in evaluation.measures])
    if items is None and any(each.aggregate == "run" for each in evaluation.measures):
        problem = "measures of the whole run read items: give items=irbatch.ItemStatistics(…)"
        raise InputError(problem, source="items")
    known = items_of_run(evaluation.measures, items)
    kept, hashes = empty_kept(keep, evaluation.measures, known), NO_HASHES
    more = [*(["hashes"] if keep == "sums" else []), *([] if known is None else ["items"])]
    check_keys(state, [*REST, *ARRAYS[keep], *more])
    name, judgments = state["name"], state["judgments"]
    for key, each in (("name", name), ("judgments", judgments)):
        if each is not None and not isinstance(each, str):
            raise refuse(f"{key!r} is {shown(each)}, no text", value=each)
    settings = read_texts("settings", state["settings"])
    found = read_kept(state, keep, evaluation.measures, known, skips=may_skip(settings))
    if keep == "sums":
        hashes = read_hashes("hashes", state["hashes"])
        if hashes.size != (0 if judgments is None else found["counts"][0]):
            raise refuse(f"'hashes' are {hashes.size}, of {found['counts'][0]} queries")
    elif found["query_ids"] is None and len(found["marks"]):
        raise refuse("'query_ids' are missing", value=None)
    kept = kept.with_state({**found, "repeats": 0, "extra": 0})
    findings = Findings.of_state(state, apart=judgments is None)
    return {
        "evaluation": evaluation, "kept": kept, "findings": findings, "judgments": judgments,
        "hashes": hashes, "name": name, "settings": settings,
    }  # fmt: skip


def _evaluation(names: list[str], options: Any, items: ItemStatistics | None) -> Evaluation:
    if not isinstance(options, Mapping) or not all(isinstance(each, str) for each in options):
        raise refuse(f"'options' are {shown(options)}, not settings by name", value=options)
    try:
        return Evaluation.choose(names, items=items, **options)
    except InputError as problem:
        raise problem.with_fields(source=f"state: {problem.source or 'options'}") from None
    except TypeError:
        raise refuse(f"'options' are {shown(options)}, not settings by name") from None


def write_json(state: Mapping[str, Any], path: str | PathLike[str] | None) -> str:
    """Return, or also write, a state as JSON; NaN becomes null."""
    import json

    from irbatch.runtime.files import written

    if "values" in state:
        values = [[None if math.isnan(each) else each for each in row] for row in state["values"]]
        state = {**state, "values": values}
    return written(json.dumps(state, ensure_ascii=False) + "\n", path)


def read_json(text: str) -> dict[str, Any]:
    """Return the state that was written as JSON."""
    import json

    try:
        state = json.loads(text)
    except (ValueError, TypeError, RecursionError) as problem:
        raise refuse(f"this is no JSON: {problem}") from None
    if not isinstance(state, dict):
        raise refuse(f"{kind_of(state)} is no state of a {WHAT}", value=state)
    values = state.get("values")
    if isinstance(values, list) and all(isinstance(row, list) for row in values):
        nan = math.nan
        state["values"] = [[nan if each is None else each for each in row] for row in values]
    return state


def write_arrow(
    state: Mapping[str, Any], measures: Sequence[Measure], ids: list[Hashable], rows: Rows | None
) -> Any:
    """Return a pyarrow table of a state, see `PartialResult.to_arrow`."""
    import json

    pa = imported("Arrow tables", "arrow", "pyarrow")
    names = _columns(measures)
    rest = {key: each for key, each in state.items() if key not in ARRAYS["queries"]}
    columns: dict[str, Any] = {}
    if rows is not None:
        texts = not ids or isinstance(ids[0], str)
        with ErrorsIn(source="partial"):
            columns["query_id"] = _ids(pa, ids, pa.string() if texts else pa.int64())
        columns |= {n: pa.array(rows.values[:, i]) for i, n in enumerate(names)}
        columns["marks"] = pa.array(rows.marks)
        if rows.items_of_queries is not None:
            lists = [each.tolist() for each in rows.items_of_queries.lists]
            columns["items"] = pa.array(lists, pa.list_(pa.int32()))
            rest["items"] = {"catalogue": rest["items"]["catalogue"]}
    return pa.table(columns).replace_schema_metadata({METADATA: json.dumps(rest)})


def _ids(pa: Any, ids: list[Hashable], kind: Any) -> Any:
    try:
        return pa.array(ids, kind)
    except (UnicodeEncodeError, OverflowError, ValueError, TypeError) as problem:
        raise InputError(f"query ids that Arrow cannot hold: {problem}") from None


def _columns(measures: Sequence[Measure]) -> list[str]:
    """Name the columns of values, and of weights behind them."""
    weighted = [each for each in measures if each.aggregate == "weighted"]
    names = [str(each) for each in with_weights(measures)][: len(measures)]
    return [*names, *(f"weight of {each}" for each in weighted)]


def read_arrow(table: Any) -> dict[str, Any]:
    """Return the state that a table was made of; columns may stand in any order."""
    import json

    metadata = getattr(getattr(table, "schema", None), "metadata", None) or {}
    if METADATA not in metadata:
        problem = f"{kind_of(table)} whose schema says nothing of a {WHAT}"
        raise refuse(f"{problem}: is its metadata lost? to_json() keeps everything in one text")
    try:
        state = json.loads(metadata[METADATA])
    except ValueError:
        raise refuse("the schema's metadata are no JSON") from None
    if not isinstance(state, dict) or state.get("keep") != "queries":
        return state if isinstance(state, dict) else {}
    names = state.get("measures")
    measures = Evaluation.choose(names).measures if are_texts(names) and names else ()
    there = table.column_names
    wanted = ["query_id", *_columns(measures), "marks"]
    for name in wanted:
        if there.count(name) != 1 or table.column(name).null_count:
            raise refuse(f"column {name!r} is missing, or some of it is", value=name)
    values = [table.column(name).to_numpy() for name in wanted[1:-1]]
    state["query_ids"] = table.column("query_id").to_pylist()
    state["values"] = np.column_stack(values)
    state["marks"] = table.column("marks").to_numpy()
    if "items" in there and isinstance(state.get("items"), dict):
        state["items"] = {**state["items"], "lists": table.column("items").to_pylist()}
    return state
