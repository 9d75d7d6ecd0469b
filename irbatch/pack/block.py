"""A block of packed queries, and the empty matrix that judgments prepare for it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Bools, Ints, Positions
from irbatch.data.qrels import Qrels
from irbatch.engine.matrix import BLOCK_BYTES, BYTE_LEVELS, RelevanceMatrix, plan_blocks
from irbatch.runtime.numbers import distinct


@dataclass(frozen=True, eq=False)
class Block:
    """Some of the queries, packed.

    Args:
        rows: intp ``(queries,)``, the position of each among the queries to evaluate.
        matrix: their relevance.
        tied: bool ``(queries,)``, which have documents of one score whose order matters and was
            not decided by their ids; None if no query has.
    """

    rows: Positions
    matrix: RelevanceMatrix
    tied: Bools | None = None


def plan_query_blocks(qrels: Qrels, rows: Positions, depths: Ints) -> Iterator[Positions]:
    """Group queries into blocks, see `plan_blocks`.

    Args:
        qrels: the judgments.
        rows: positions in `qrels.queries` of the queries to evaluate.
        depths: int64 ``(rows,)``, their rankings' lengths.
    """
    levels = qrels.levels.size
    if levels > BYTE_LEVELS and rows.size:
        # A block of n queries with j judgments each has at most n*j levels of its own, so that
        # its n*n*j counts fill the budget at about this many levels.
        most = int((qrels.starts[rows + 1] - qrels.starts[rows]).max())
        levels = min(levels, math.isqrt(BLOCK_BYTES * most // 8) + 1)
    return plan_blocks(depths, levels)


def blank_matrix(
    qrels: Qrels, rows: Positions, retrieved: Ints
) -> tuple[RelevanceMatrix, npt.NDArray[np.int32], Ints]:
    """Start a block: nothing judged yet at any rank, but the judgments counted.

    Args:
        qrels: the judgments.
        rows: positions in `qrels.queries`.
        retrieved: int64 ``(rows,)``, their rankings' lengths.

    Returns:
        The matrix; the codes int32 ``(judgments,)`` that the judged documents of these queries
        have in it, one query after the other; and the row of each, int64 ``(judgments,)``.
    """
    codes, row_index = qrels.gather(rows)
    if qrels.levels.size <= BYTE_LEVELS:
        counts = qrels.level_counts(rows)
        return RelevanceMatrix.unjudged(retrieved, qrels.levels, counts), codes, row_index
    used = distinct(codes[codes >= 0])
    counts = qrels.level_counts(rows, used)
    local = np.where(codes < 0, codes, np.searchsorted(used, codes)).astype(np.int32)
    return RelevanceMatrix.unjudged(retrieved, qrels.levels[used], counts), local, row_index
