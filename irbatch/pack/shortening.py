"""Leaving out of rankings what no measure looks at, before they are joined with judgments.

That is worth it where a query has about as many judged documents as retrieved ones, as in judgments
of subtopics: each of these would be looked up (`python -m benchmarks --only diversity`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from irbatch.array_types import Floats, Ints, Positions
from irbatch.data.columns import QueryTable
from irbatch.data.dicts import are_dicts, read_judgments
from irbatch.data.runs import Run
from irbatch.engine.ties import DESCENDING, Ordering, as_compared, check_order
from irbatch.runtime.ragged import offsets_of

WORTH_IT = 4  # rankings so many times as long as what is looked at


def shortened(run: Run, queries: Iterable[Any], depth: int, ordering: Ordering) -> Run | None:
    """Return the rankings of some queries down to a rank, with all that tie with what stands there.

    None if rankings are short, if what they hold is to be checked first, or if ids don't decide
    between documents of one score.
    """
    rankings = run.rankings
    wanted = [query for query in queries if query in rankings]
    if not ordering.ties.by_id:
        return None
    if isinstance(rankings, QueryTable):
        of_each = _of_table(rankings, wanted, depth, ordering.score_dtype)
    elif are_dicts(rankings):
        of_each = _of_dicts([rankings[each] for each in wanted], depth, ordering.score_dtype)
    else:
        return None
    return None if of_each is None else Run(dict(zip(wanted, of_each, strict=True)), run.name)


def _of_dicts(
    rankings: Sequence[Mapping[Any, Any]], depth: int, score_dtype: str
) -> Iterator[dict[Any, Any]] | None:
    starts = offsets_of(list(map(len, rankings)))
    if not _is_worth_it(starts, depth):
        return None
    scores = read_judgments(rankings, starts)  # which are text and numbers, as rankings are
    if scores is None:
        return None
    bounds = starts[:-1], starts[1:]
    return map(_pick, rankings, _find_first(as_compared(scores, score_dtype), *bounds, depth))


def _pick(ranking: Mapping[Any, Any], first: int | Positions) -> dict[Any, Any]:
    """Return some of a ranking's documents: the first so many, or those at some places."""
    if isinstance(first, int):
        return dict(itertools.islice(ranking.items(), first))
    items = list(ranking.items())
    return dict([items[place] for place in first.tolist()])


def _of_table(
    table: QueryTable, queries: Sequence[Any], depth: int, score_dtype: str
) -> Iterator[dict[Any, Any]] | None:
    places = np.array([table.places[query] for query in queries], np.intp)
    sizes = table.ends[places] - table.begins[places]
    if not _is_worth_it(offsets_of(sizes), depth) or table.repeated >= 0:
        return None
    begins, ends = table.begins[places], table.ends[places]
    ordered = score_dtype == "float64" and table.is_ordered  # found out once for all calls
    compared = as_compared(table.numbers, score_dtype)
    found = _find_first(compared, begins, ends, depth, ordered=ordered)
    parts = [
        begin + (np.arange(first) if isinstance(first, int) else first)
        for begin, first in zip(begins.tolist(), found, strict=True)
    ]
    rows = np.concatenate(parts)
    items = zip(table.ids(rows), table.numbers[rows].tolist(), strict=True)
    return (dict(itertools.islice(items, part.size)) for part in parts)


def _is_worth_it(starts: Ints, depth: int) -> bool:
    return bool(starts[-1] > WORTH_IT * depth * (starts.size - 1))


def _find_first(
    scores: Floats, begins: Ints, ends: Ints, depth: int, *, ordered: bool = False
) -> Iterator[int | Positions]:
    """Yield what of each ranking has as high a score as the one at a rank.

    Where scores descend, how many documents that are; else their places in it, ascending.
    """
    states = np.full(begins.size, DESCENDING) if ordered else check_order(scores, begins, ends)
    for begin, end, state in zip(begins.tolist(), ends.tolist(), states.tolist(), strict=True):
        part = scores[begin:end]
        if part.size <= depth:
            yield part.size
        elif state == DESCENDING:
            last = part[depth - 1]
            tied = np.count_nonzero(part[depth:] == last) if part[depth] == last else 0
            yield depth + int(tied)
        else:
            lowest = part.size - depth
            yield np.flatnonzero(part >= np.partition(part, lowest)[lowest])
