"""Packing rankings that are lists of document ids, best first."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from irbatch.errors import InputError
from irbatch.ids import first_repeated, same_kind
from irbatch.matrix import UNJUDGED
from irbatch.pack.block import Block, blank_matrix, plan_query_blocks
from irbatch.qrels import Qrels

__all__ = ["pack_ids"]


def pack_ids(
    qrels: Qrels, rankings: Sequence[Sequence[Any]], rows: npt.NDArray[np.intp]
) -> Iterator[Block]:
    """Pack ranked id lists.

    Args:
        qrels: the judgments.
        rankings: for each of `rows`, the retrieved document ids, best first.
        rows: intp ``(queries,)``, positions in `qrels.queries`.

    Yields:
        Blocks whose `rows` are positions in `rows`.

    Raises:
        InputError: for a document that stands in a ranking twice, or ids of another kind than
            the judgments'.
    """
    depths = np.fromiter(map(len, rankings), np.int64, len(rankings))
    for picks in plan_query_blocks(qrels, rows, depths):
        matrix, codes, owners = blank_matrix(qrels, rows[picks], depths[picks])
        bounds = np.searchsorted(owners, np.arange(picks.size + 1))
        for i, pick in enumerate(picks.tolist()):
            row = int(rows[pick])
            place = _look_up(qrels, row, rankings[pick])
            local = np.append(codes[bounds[i] : bounds[i + 1]], np.int32(UNJUDGED))
            matrix.codes[i, : place.size] = local[place]  # place -1 picks the last: unjudged
        yield Block(picks, matrix)


def _look_up(qrels: Qrels, row: int, ranking: Sequence[Any]) -> npt.NDArray[np.intp]:
    """Return each document's place among the query's judged ones, -1 for an unjudged one."""
    query = qrels.queries[row]
    kind = same_kind(ranking, "document", "run", query)
    if kind and qrels.document_kind not in (None, kind):
        raise InputError(
            f"document ids are {kind}, such as {ranking[0]!r}, but the relevant ones are "
            f"{qrels.document_kind}",
            source="run",
            query=query,
            document=ranking[0],
        )
    if len(set(ranking)) != len(ranking):
        twice = first_repeated(ranking)
        hint = "; if it is padding, say so with pad=" if twice == -1 else ""
        raise InputError(
            f"document {twice!r} stands in the ranking twice{hint}",
            source="run",
            query=query,
            document=twice,
        )
    places = map(qrels.place_of(row).get, ranking, itertools.repeat(-1))
    return np.fromiter(places, np.intp, len(ranking))
