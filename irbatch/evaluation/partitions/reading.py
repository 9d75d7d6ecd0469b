"""Reading what was kept of queries, written as a state: what is wrong is refused by its key."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Floats, Ints
from irbatch.data.ids import IdHashes, check_id, first_repeated, kinds_of
from irbatch.engine.items import Items
from irbatch.errors import InputError, did_you_mean, shown
from irbatch.evaluation.counts import Counts, QueryMark
from irbatch.evaluation.means import weight_column, with_weights
from irbatch.evaluation.partitions.item_state import cutoffs_of_run, read_items
from irbatch.evaluation.partitions.sums import MOST
from irbatch.measures import Measure
from irbatch.runtime.arrays import to_numpy
from irbatch.runtime.numbers import LIMBS, is_whole, round_sum

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
