"""Packing relevance labels that stand in rank order already."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from irbatch.array_types import Codes, Codes2, Floats, Ints, Ints2, Positions
from irbatch.data.cells import LabelRows, Labels
from irbatch.engine.matrix import (
    BLOCK_BYTES,
    BYTE_LEVELS,
    NEGATIVE,
    PAD,
    RelevanceMatrix,
    code_dtype,
    padded_depth,
    plan_blocks,
)
from irbatch.errors import InputError
from irbatch.pack.join import Block
from irbatch.runtime.kernels import kernel
from irbatch.runtime.numbers import distinct

MOST_COUNT_BYTES = 8 * BLOCK_BYTES  # of a block's counts by level


def pack_labels(labels: LabelRows, judged: LabelRows | Ints | None = None) -> Iterator[Block]:
    """Pack labels in rank order.

    Args:
        judged: the labels of all judged documents, in any order; or of how many the label is 1,
            int64 ``(queries,)``, where no other is above 0.
    """
    for picks in plan_blocks(labels.depths, BYTE_LEVELS):
        yield from _pack_block(labels, judged, picks)


def _pack_block(
    labels: LabelRows, judged: LabelRows | Ints | None, picks: Positions
) -> Iterator[Block]:
    """Pack a block; in parts where its labels turn out to be of very many levels."""
    values = labels.block(picks)
    everything = judged.block(picks) if isinstance(judged, LabelRows) else values
    levels = _levels(values, everything)
    if isinstance(judged, np.ndarray):
        levels = distinct(np.append(levels, [0.0, 1.0]))
    if picks.size > 1 and 8 * picks.size * levels.size > MOST_COUNT_BYTES:
        for half in np.array_split(picks, 2):
            yield from _pack_block(labels, judged, half)
        return
    retrieved = labels.depths[picks]
    codes = _encode(values, levels, retrieved)
    counts = _count(codes, retrieved, levels)
    if judged is not None:
        ranked = counts
        if isinstance(judged, LabelRows):
            depths = judged.depths[picks]
            counts = _count(_encode(everything, levels, depths), depths, levels)
        else:
            counts = judged[picks, None] * (levels == 1.0)
        _check_judged(ranked, counts, levels, [labels.queries[pick] for pick in picks])
        counts = np.maximum(counts, ranked)  # ranked documents of grade 0 need not be listed
    yield Block(picks, RelevanceMatrix(codes, levels, retrieved, counts, complete=True))


def _levels(*values: Labels) -> Floats:
    """Return the grades that occur, ascending; for small whole labels all up to the largest."""
    if all(value.dtype.kind in "biu" for value in values):
        largest = max((int(value.max(initial=0)) for value in values), default=0)
        if largest < BYTE_LEVELS:
            return np.arange(largest + 1, dtype=np.float64)
    grades = distinct(np.concatenate([distinct(value) for value in values]).astype(np.float64))
    return grades[grades >= 0]


def _encode(values: Labels, levels: Floats, lengths: Ints) -> Codes:
    """Turn grades into codes, padded to whole words."""
    dtype = code_dtype(levels.size)
    codes = np.full((values.shape[0], padded_depth(values.shape[1], dtype)), PAD, dtype)
    part = codes[:, : values.shape[1]]
    if values.dtype.kind in "biu" and levels.size == (levels[-1] if levels.size else -1) + 1:
        part[:] = values
    else:
        part[:] = np.searchsorted(levels, values.astype(np.float64))
    if values.dtype.kind in "if":
        part[values < 0] = NEGATIVE
    if lengths.size and lengths.min() < values.shape[1]:
        part[np.arange(values.shape[1]) >= lengths[:, None]] = PAD
    return codes


def _count(codes: Codes, lengths: Ints, levels: Floats) -> Ints:
    """Count each row's codes by level, int64 ``(queries, levels)``."""
    counts = np.zeros((codes.shape[0], levels.size), np.int64)
    words = codes.view(np.int64)
    _count_levels.run(words.size + lengths.size, codes, words, lengths, counts)
    return counts


@kernel
def _count_levels(codes: Codes2, words: Ints2, lengths: Ints, counts: Ints2) -> None:
    """Add one to the row's count of each code that is a level; words of zeros are skipped whole."""
    cells = codes.shape[1] // words.shape[1]
    for row in range(codes.shape[0]):
        others = 0
        for w in range((lengths[row] + cells - 1) // cells):
            if words[row, w] != 0:
                for i in range(w * cells, min(lengths[row], (w + 1) * cells)):
                    if codes[row, i] != 0:
                        others += 1
                        if codes[row, i] > 0:
                            counts[row, codes[row, i]] += 1
        if counts.shape[1] > 0:
            counts[row, 0] += lengths[row] - others


def _check_judged(ranked: Ints, judged: Ints, levels: Floats, queries: list[Any]) -> None:
    lacking = (ranked > judged) & (levels > 0)
    if lacking.any():
        row, level = (int(places[0]) for places in np.nonzero(lacking))
        grade, those = float(levels[level]), f"documents of grade {levels[level]:g}"
        problem = f"{ranked[row, level]} {those} are ranked, but only {judged[row, level]} judged"
        raise InputError(problem, source="judged", query=queries[row], value=grade)
