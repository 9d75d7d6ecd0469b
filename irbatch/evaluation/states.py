"""Reading and writing what was kept of queries: states, JSON and Arrow tables."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Floats, Ints
from irbatch.data.ids import NO_HASHES, IdHashes, check_id, first_repeated, kinds_of
from irbatch.engine.items import Items
from irbatch.errors import ErrorsIn, InputError, did_you_mean, imported, kind_of, shown
from irbatch.evaluation.accumulator import (
    MOST,
    Rows,
    cutoffs_of_run,
    empty_kept,
    items_of_run,
    plain,
    read_items,
)
from irbatch.evaluation.evaluation import Evaluation
from irbatch.evaluation.queries import Counts, QueryMark
from irbatch.evaluation.results import weight_column, with_weights
from irbatch.measures import Measure
from irbatch.runtime.arrays import to_numpy
from irbatch.runtime.numbers import LIMBS, is_whole, round_sum

if TYPE_CHECKING:
    from irbatch.data.items import ItemStatistics


COUNTED = tuple(each.name for each in fields(Counts))
OF_QUERIES = ("answered", "no_relevant", "empty", "tied")  # counts of queries that are averaged
ANY = -1  # number of queries
ROUNDING = 1e-9  # by which values may be beyond their range

refuse = functools.partial(InputError, source="state")


def may_skip(signature: Mapping[str, str]) -> bool:
    """Tell whether settings may have left queries out of some measures' means."""
    return signature.get("queries without relevant documents") != "score 0"


def check_values(
    values: Floats, measures: Sequence[Measure], ids: Sequence[Any], source: str, *, skips: bool
) -> None:
    """Refuse values, and weights behind them, that are not ones of these measures.

    NaN stands for a query that is not averaged, where some are `skips`.
    """
    columns = with_weights(measures)
    low, high = _ranges(columns)
    is_wrong = ~(np.isfinite(values) & (values >= low) & (values <= high))
    # Measures of the whole run have none.
    without = np.array([skips or each.aggregate == "run" for each in columns], bool)
    if without.any():
        is_wrong &= ~(np.isnan(values) & without)
    if is_wrong.any():
        row, column = np.argwhere(is_wrong)[0].tolist()
        value = float(values[row, column])
        problem = f"'values': {value:g} is no value of {columns[column]}"
        raise InputError(problem, source=source, query=ids[row], value=value)


def _ranges(measures: Sequence[Measure]) -> Floats:
    """Return the least and the largest value of each; users' formulas are not held to theirs."""
    free = -np.inf, np.inf
    ranges: Floats = np.array(
        [each.range if each.declaration.builtin else free for each in measures]
    )
    ranges = ranges + np.array([-ROUNDING, ROUNDING])
    return ranges.T


def read_kept(
    state: Mapping[str, Any],
    keep: str,
    measures: Sequence[Measure],
    known: Items | None,
    *,
    skips: bool,
) -> dict[str, Any]:
    """Return the values of queries or their sums, and what is kept of items, if they are known."""
    sums = keep == "sums"
    found = (_read_sums if sums else _read_rows)(state, measures, skips=skips)
    if known is not None:
        queries = int(found["counts"][0]) if sums else len(found["marks"])
        cutoffs = cutoffs_of_run(measures) if sums else None
        found["items"] = read_items(state["items"], known, cutoffs, queries)
    return found


def _read_rows(
    state: Mapping[str, Any], measures: Sequence[Measure], *, skips: bool
) -> dict[str, Any]:
    """Return the ids, values and marks of queries."""
    marks = _read_array("marks", state["marks"], (ANY,), whole=True)
    if (wrong := marks[(marks < 0) | (marks > sum(QueryMark))]).size:
        raise refuse(f"'marks': {wrong[0]} marks nothing", value=int(wrong[0]))
    queries = marks.size
    shape = queries, len(with_weights(measures))
    values = _read_array("values", state["values"], shape, whole=False)
    ids = _read_ids(state["query_ids"], queries)
    check_values(values, measures, range(queries) if ids is None else ids, "state", skips=skips)
    return {"query_ids": ids, "values": values, "marks": marks.astype(np.uint8)}


def read_count(key: str, given: Any) -> int:
    """Return a number of queries."""
    if not is_whole(given) or not 0 <= given <= MOST:
        raise refuse(f"{key!r} is {shown(given)}, not a count", value=given)
    return int(given)


def _read_ids(given: Any, queries: int) -> list[Any] | None:
    if given is None:
        return None
    ids = given.tolist() if hasattr(given, "tolist") else given
    if not isinstance(ids, list | tuple):
        raise refuse(f"'query_ids' are {shown(given)}, not a list", value=given)
    for each in ids if None in kinds_of(ids) else ():
        check_id(each, "query", "state query_ids")
    if len(ids) != queries:
        raise refuse(f"'query_ids' are {len(ids)}, and 'marks' of {queries} queries")
    if (twice := first_repeated(ids)) is not None:
        raise refuse(f"'query_ids' have {shown(twice)} twice", value=twice)
    return list(ids)


def _read_sums(
    state: Mapping[str, Any], measures: Sequence[Measure], *, skips: bool
) -> dict[str, Any]:
    """Return the sums of measures, and counts of queries."""
    columns = with_weights(measures)
    n = len(columns)
    shapes = {"sums": (n, LIMBS), "counted": (n,), "zeros": (n,), "counts": (len(COUNTED),)}
    arrays = {key: _read_array(key, state[key], shape, whole=True) for key, shape in shapes.items()}
    counts = dict(zip(COUNTED, arrays["counts"].tolist(), strict=True))
    queries = counts["queries"]
    for name, number in counts.items():
        if number < 0 or (name in OF_QUERIES and number > queries):
            raise refuse(f"'counts': {name} is {number}, of {queries} queries", value=number)
    if counts["answered"] + counts["missing"] != counts["judged"]:
        raise refuse("'counts': answered and missing are not those judged", value=counts)
    parts = zip(columns, *(arrays[key] for key in ("sums", "counted", "zeros")), strict=True)
    for measure, limbs, counted, zeros in parts:
        whole = measure.aggregate == "run"
        if not (0 if skips or whole else queries) <= counted <= (0 if whole else queries):
            problem = f"'counted' of {measure} is {counted}, and in 'counts' are {queries} queries"
            raise refuse(problem, value=int(counted))
        if not 0 <= zeros <= (counted if measure.aggregate == "geometric" else 0):
            raise refuse(f"'zeros' of {measure} is {zeros}, of {counted} counted", value=int(zeros))
        if measure.aggregate != "weighted":
            _check_sum(measure, limbs, int(counted - zeros))
    for column, measure in enumerate(measures):
        if measure.aggregate == "weighted":
            weights = round_sum(arrays["sums"][weight_column(measures, column)])
            _check_sum(measure, arrays["sums"][column], weights)
    return arrays


def _check_sum(measure: Measure, limbs: Ints, terms: float) -> None:
    """Refuse a sum that so many values cannot have, or ones of so much weight."""
    low, high = _ranges([measure])[:, 0].tolist()
    if measure.aggregate == "geometric":  # logarithms are summed
        low, high = np.log(5e-324), np.log(high)
    total = round_sum(limbs)
    bounds = (terms * low, terms * high) if terms else (0.0, 0.0)
    if not bounds[0] <= total <= bounds[1]:
        problem = f"'sums' of {measure} are {total:g}, of {terms:g} counted that are no zeros"
        raise refuse(problem, value=total)


def _read_array(key: str, given: Any, shape: tuple[int, ...], *, whole: bool) -> npt.NDArray[Any]:
    """Return numbers of a shape, whose first size may be `ANY`: int64 if `whole`, else float64."""
    try:
        array = to_numpy(given, "state")
    except InputError as problem:
        raise refuse(f"{key!r}: {problem.message}", value=given) from None
    if array.shape == (0,) and shape[0] in (0, ANY):
        return np.empty((0, *shape[1:]), np.int64 if whole else np.float64)
    if array.shape[1:] != shape[1:] or not array.ndim or shape[0] not in (ANY, len(array)):
        wanted = f"{shape} of the queries that 'marks' are of" if key == "values" else shape
        raise refuse(f"{key!r} are of shape {array.shape}, not {wanted}", value=given)
    kinds, what = ("iu", "whole numbers below 2^62") if whole else ("iuf", "numbers")
    fits = array.dtype.kind in kinds and not _has_truth(given, array.ndim)
    if not fits or (whole and (array.max() > MOST or array.min() < -MOST)):
        raise refuse(f"{key!r} are not {what}: {shown(given)}", value=given)
    return array.astype(np.int64 if whole else np.float64)


def _has_truth(given: Any, dimensions: int) -> bool:
    """Tell whether lists hold truth values, which NumPy takes for numbers beside numbers."""
    if not isinstance(given, list | tuple):
        return False
    flat: Iterable[Any] = itertools.chain.from_iterable(given) if dimensions > 1 else given
    return bool({bool, np.bool_} & set(map(type, flat)))


def check_same(key: str, stated: Any, mine: Any) -> None:
    """Refuse a setting that is another one."""
    plain = is_whole(stated) or isinstance(stated, str) or are_texts(stated)
    if not plain or stated != mine:
        raise refuse(f"{key!r} is {shown(stated)}, not {shown(mine)}", value=stated)


def are_texts(given: Any) -> bool:
    """Tell whether something is a list of texts."""
    return isinstance(given, list) and all(isinstance(each, str) for each in given)


def get(state: Mapping[str, Any], key: str, of_what: str) -> Any:
    """Return an entry of a state, or refuse what has none."""
    if key not in state:
        raise refuse(f"{key!r} is missing: this is no state of a {of_what}")
    return state[key]


def read_texts(key: str, given: Any) -> dict[str, str]:
    """Return texts by name."""
    if not isinstance(given, Mapping) or not are_texts([*given, *given.values()]):
        raise refuse(f"{key!r} is {shown(given)}, not texts by name", value=given)
    return dict(given)


def check_keys(given: Mapping[str, Any], keys: Sequence[str], of_what: str = "") -> None:
    """Refuse a mapping that lacks keys, or has others."""
    for key in keys:
        if key not in given:
            raise refuse(f"{key!r}{of_what} is missing")
    for key in given:
        if key not in keys:
            raise refuse(f"{shown(key)} is no key{of_what}{did_you_mean(key, keys)}", value=key)


def write_hashes(hashes: IdHashes) -> str:
    """Write hashes as text: their bytes, the lowest first, to base 64."""
    from base64 import b64encode

    return b64encode(hashes.astype("<u8").tobytes()).decode()


def read_hashes(key: str, given: Any) -> IdHashes:
    """Return hashes, ascending ones, each once."""
    from base64 import b64decode
    from binascii import Error

    try:
        read = np.frombuffer(b64decode(given, validate=True), "<u8").astype(np.uint64)
    except (Error, TypeError, ValueError):
        raise refuse(f"{key!r} are {shown(given)}, no hashes", value=given) from None
    if (read[1:] <= read[:-1]).any():
        raise refuse(f"{key!r} do not ascend", value=given)
    return read


SAMPLES = ("answered", "document", "judged", "missing")
MOST_SAMPLES = 4  # ids of each kind that are kept for messages


@dataclass(frozen=True)
class Findings:
    """What partitions have found besides values, which is told of all of them together.

    Args:
        extra: hashes of the queries that are not judged; or how many there are, where partitions
            are `apart`.
        judged: how many queries are judged, where partitions are `apart`; else 0.
        any_judged: whether any document retrieved is judged.
        best: measures that are at their best for queries without a ranking.
        samples: a few ids, by what they are, see `SAMPLES`.
        warnings: of files, say; each text once.
    """

    extra: IdHashes | int = 0
    judged: int = 0
    any_judged: bool = False
    best: tuple[str, ...] = ()
    samples: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def state(self) -> dict[str, Any]:
        """Return them in numbers, texts and lists."""
        extra = self.extra if isinstance(self.extra, int) else write_hashes(self.extra)
        return {
            "extra": extra,
            "judged": self.judged,
            "any_judged": self.any_judged,
            "best": list(self.best),
            "samples": {name: plain(ids) for name, ids in self.samples.items()},
            "warnings": list(self.warnings),
        }

    @classmethod
    def of_state(cls, state: Mapping[str, Any], *, apart: bool) -> Findings:
        """Read what `state` returned, where partitions are `apart` or not."""
        extra = state["extra"]
        any_judged, samples = state["any_judged"], state["samples"]
        if not isinstance(any_judged, bool):
            raise refuse(f"'any_judged' is {shown(any_judged)}, no truth value", value=any_judged)
        if not isinstance(samples, Mapping) or not set(samples) <= set(SAMPLES):
            raise refuse(f"'samples' are {shown(samples)}, not ids by {SAMPLES}", value=samples)
        for key in ("best", "warnings"):
            if not are_texts(state[key]):
                raise refuse(f"{key!r} are {shown(state[key])}, not texts", value=state[key])
        for ids in samples.values():
            if not isinstance(ids, list | tuple) or None in kinds_of(ids):
                raise refuse(f"'samples' hold {shown(ids)}, not ids", value=ids)
        return cls(
            read_count("extra", extra) if apart else read_hashes("extra", extra),
            read_count("judged", state["judged"]),
            any_judged,
            tuple(state["best"]),
            {name: tuple(ids) for name, ids in samples.items()},
            tuple(state["warnings"]),
        )

    def joined(self, other: Findings) -> Findings:
        """Return those of both."""
        extra: IdHashes | int
        if isinstance(self.extra, int) or isinstance(other.extra, int):
            extra = int(self.extra) + int(other.extra)
        else:
            extra = np.union1d(self.extra, other.extra)
        names = sorted({*self.samples, *other.samples})
        samples = {
            name: first_ids([*self.samples.get(name, ()), *other.samples.get(name, ())])
            for name in names
        }
        return Findings(
            extra,
            self.judged + other.judged,
            self.any_judged or other.any_judged,
            tuple(sorted({*self.best, *other.best})),
            samples,
            tuple(sorted({*self.warnings, *other.warnings})),
        )


def first_ids(ids: Iterable[Any]) -> tuple[Any, ...]:
    """Return the first few ids in their own order, each once."""
    from heapq import nsmallest

    return tuple(nsmallest(MOST_SAMPLES, set(ids), by_id))


def by_id(each: Any) -> tuple[bool, Any]:
    """Order ids, whole numbers before texts."""
    return isinstance(each, str), each


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
