"""Joining a run that was read as columns with the judgments: ids are compared as bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from irbatch.matrix import RelevanceMatrix
from irbatch.pack.block import Block, plan_query_blocks
from irbatch.pack.place import place_judged
from irbatch.qrels import Qrels
from irbatch.ranking import as_compared, order_scores, round_scores
from irbatch.text_rankings import TextRankings, find_rows

__all__ = ["pack_text"]

Floats = npt.NDArray[np.float64]


def pack_text(
    qrels: Qrels, rankings: TextRankings, rows: npt.NDArray[np.intp], score_dtype: str
) -> Iterator[Block]:
    """Pack rankings of some of the judged queries; see `irbatch.pack.pack_run`.

    Args:
        qrels: the judgments, whose ids are text.
        rankings: the rankings.
        rows: intp ``(queries,)``, positions in `qrels.queries`.
        score_dtype: the precision scores are compared in.
    """
    places = np.array([rankings.places.get(qrels.queries[row], -1) for row in rows], np.int64)
    depths = np.diff(rankings.bounds, append=rankings.bounds[-1])[places]
    depths[places < 0] = 0
    for picks in plan_query_blocks(qrels, rows, depths):
        yield Block(
            picks,
            _pack_block(qrels, rankings, rows[picks], places[picks], depths[picks], score_dtype),
        )


def _pack_block(
    qrels: Qrels,
    rankings: TextRankings,
    rows: npt.NDArray[np.intp],
    places: npt.NDArray[np.int64],
    depths: npt.NDArray[np.int64],
    score_dtype: str,
) -> RelevanceMatrix:
    starts = np.concatenate(([0], np.cumsum(depths)))
    begins = np.where(places < 0, 0, rankings.bounds[places])
    parts = [slice(begin, begin + n) for begin, n in zip(begins, depths, strict=True)]
    scores = np.concatenate([rankings.scores[part] for part in parts]) if parts else np.empty(0)
    round_scores(scores, score_dtype)
    judged_rows = find_rows(rankings, places, *_encode(qrels, rows))
    wanted = np.where(judged_rows < 0, np.nan, rankings.scores[judged_rows])

    def tied(owner: int, score: float) -> Sequence[str]:
        fresh = as_compared(rankings.scores[parts[owner]], score_dtype)
        return rankings.documents(begins[owner] + np.flatnonzero(fresh == score))

    order_scores(scores, starts)  # none is NaN: the grammar of scores has no such number
    return place_judged(qrels, rows, scores, starts, as_compared(wanted, score_dtype), tied)


def _encode(
    qrels: Qrels, rows: npt.NDArray[np.intp]
) -> tuple[tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]], npt.NDArray[np.int64]]:
    """Write the ids of judged documents as bytes, and say where each query's begin and end."""
    ids = [each.encode(errors="surrogatepass") for row in rows.tolist()
           for each in qrels.documents[row]]  # fmt: skip
    starts = np.zeros(len(ids) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, ids), np.int64, len(ids)), out=starts[1:])
    counts = qrels.starts[rows + 1] - qrels.starts[rows]
    text = np.frombuffer(b"".join(ids) or b"\0", np.uint8)
    return (text, starts), np.concatenate(([0], np.cumsum(counts)))
