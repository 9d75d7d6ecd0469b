"""Reading the state of an evaluator of batches: whatever is wrong with it is refused by its key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from irbatch.engine.items import Items
from irbatch.errors import kind_of, shown
from irbatch.evaluation.batches.columns import NAMES
from irbatch.evaluation.partitions.reading import (
    check_keys,
    check_same,
    get,
    may_skip,
    read_count,
    read_kept,
    read_texts,
    refuse,
)
from irbatch.measures import Measure

FORMAT = 1
SHAPING = ("keep", "ties", "no_relevant")  # options that states must share to add up
KEPT = {
    "queries": ("query_ids", "values", "marks", "repeats", "extra"),
    "sums": ("sums", "counted", "zeros", "counts"),
}


def read_state(
    state: Mapping[str, Any],
    settings: Mapping[str, Any],
    measures: Sequence[Measure],
    known: Items | None = None,
) -> dict[str, Any]:
    """Return what a state of such settings and measures has kept, in arrays and lists.

    `known` are the items, where measures of the whole run read them.

    Raises:
        InputError: if it is the state of something else, or of nothing.
    """
    if not isinstance(state, Mapping):
        raise refuse(f"{kind_of(state)} is no state of a BatchEvaluator", value=state)
    wanted = {"format": FORMAT, "measures": [str(each) for each in measures]}
    wanted |= {name: settings[name] for name in SHAPING}
    keys = [*wanted, "signature", "columns", *KEPT[settings["keep"]]]
    keys += [] if known is None else ["items"]
    for key, mine in wanted.items():
        check_same(key, get(state, key, "BatchEvaluator"), mine)
    check_keys(state, keys)
    signature, columns = read_texts("signature", state["signature"]), state["columns"]
    if not isinstance(columns, Mapping):
        raise refuse(f"'columns' are {shown(columns)}, not lists by name", value=columns)
    check_keys(columns, NAMES, " of its columns")
    skips = settings["no_relevant"] == "skip" or may_skip(signature)
    found = read_kept(state, settings["keep"], measures, known, skips=skips)
    if settings["keep"] == "queries":
        found |= {key: read_count(key, state[key]) for key in ("repeats", "extra")}
    return {
        "signature": signature,
        "columns": {name: columns[name] for name in NAMES},  # checked where they are added
        **found,
    }
