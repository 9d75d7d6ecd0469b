"""Kendall's tau union: rank correlation of rankings that have documents of their own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.comparing.two_runs import shared_queries
from irbatch.data.column_names import Columns
from irbatch.data.runs import Run
from irbatch.engine import ties
from irbatch.engine.concordance import compare_pairs
from irbatch.evaluation.evaluation import Rankings
from irbatch.pack.pairs import Pairs, pair_rankings
from irbatch.runtime.numbers import check_choice, check_whole, read_numbers
from irbatch.runtime.ragged import joined_ranges, offsets_of

UNIONS = ("rank", "id")


def tau_union(
    original: Rankings,
    reproduced: Rankings,
    depth: int | None = 1000,
    union: str = "rank",
    *,
    columns: Columns = None,
) -> dict[Any, float]:
    """Return Kendall's tau union of each query that two runs have, in the order of the first.

    The union of both rankings lists their documents. In either ranking each document is replaced
    by its place in this list, and tau compares the two lists of places, rank by rank, as far as the
    shorter ranking goes. NaN where that is less than two ranks.

    Args:
        original, reproduced: `Run`, query to document to score, the path of a run file, or a table.
            Documents of one score stand in trec_eval's order, by id, descending.
        depth: leave out documents beyond this rank.
        union: what it is in the order of: ``"rank"``, the documents of the original ranking, then
            those that only the reproduced one has, as they come: of rankings of the same documents
            that is Kendall's tau. ``"id"``, ascending, as in repro_eval: the value is another one
            if documents are called otherwise, and says little where rankings are not the same.
        columns: what tables call their columns, see `irbatch.evaluate`.

    Raises:
        InputError: if the runs have no query in common, or a score is not a number.

    Source: T. Breuer et al., *How to measure the reproducibility of system-oriented IR
    experiments*, SIGIR 2020, 4.1; repro_eval 0.5.

    >>> first = {"q": {"d2": 4.0, "d1": 3.0, "d3": 2.0}}
    >>> second = {"q": {"d3": 9.0, "d2": 8.0, "d4": 7.0}}
    >>> tau_union(first, second)["q"], tau_union(first, second, union="id")["q"]
    (0.3333333333333333, 1.0)
    """
    if depth is not None:
        check_whole("depth", depth, 1)
    check_choice("union", union, UNIONS)
    runs, queries = shared_queries(original, reproduced, columns)
    if union == "id":
        return {query: _by_id(runs, query, depth) for query in queries}
    values = np.empty(len(queries))
    for pairs in pair_rankings(runs, queries, depth, tied=False):
        values[pairs.first : pairs.last] = _by_rank(pairs)
    return dict(zip(queries, values.tolist(), strict=True))


def _by_rank(pairs: Pairs) -> Floats:
    """Return the coefficients of pairs; the places of an original ranking are its ranks."""
    first, second = pairs.sides
    sizes = np.diff(second.starts)
    shared = np.minimum(np.diff(first.starts), sizes)
    at = joined_ranges(second.starts[:-1], shared)
    # Documents that only the reproduced ranking has come after all of the other, in their order.
    later = first.starts[-1] + np.arange(second.partners.size)
    places = np.where(second.partners >= 0, second.partners, later)[at]
    return compare_pairs(offsets_of(shared), -places.astype(np.float64)).kendall_tau("a")


def _by_id(runs: tuple[Run, Run], query: Any, depth: int | None) -> float:
    """Return the coefficient of a query; ids compare as their places in the union do."""
    orders = [order_documents(run.rankings[query], query, run.name)[:depth] for run in runs]
    shared = min(map(len, orders))
    if shared < 2:
        return math.nan
    first, second = (_places(each[:shared]) for each in orders)
    places = second[np.argsort(-first)].astype(np.float64)
    return float(compare_pairs(np.array([0, shared]), places).kendall_tau("a")[0])


def _places(ids: Sequence[Any]) -> Ints:
    """Return the place of each id among them, in ascending order."""
    texts = ties.id_texts(ids)
    places = np.empty(len(texts), np.int64)
    places[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
    return places


def order_documents(
    documents: Mapping[Any, Any], query: object = None, system: str | None = None
) -> list[Any]:
    """List a query's documents from the first to the last: trec_eval's order.

    By score, those of one score by id, both descending; ids that are numbers as their digits.

    >>> order_documents({"d1": 0.5, "d2": 0.7, "d3": 0.5})
    ['d2', 'd3', 'd1']
    """
    ids = list(documents)
    names = ((query, document) for document in ids)
    scores = read_numbers("score", list(documents.values()), names, source="run", path=system)
    order = ties.order_documents(np.zeros(len(ids), np.int64), scores, ties.id_texts(ids))
    return [ids[place] for place in order.tolist()]
