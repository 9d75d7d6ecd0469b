"""The data the benchmarks run on: made from seeds, the same everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from irbatch.engine.matrix import UNJUDGED, RelevanceMatrix

Table = dict[str, dict[str, float]]
Ints = npt.NDArray[np.int64]

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
# AP, RR, and nDCG, P and R at nine cutoffs, by the names trec_eval and pytrec_eval know.
TREC_EVAL_NAMES = [
    "map",
    "recip_rank",
    *(f"{name}.{','.join(map(str, CUTOFFS))}" for name in ("ndcg_cut", "P", "recall")),
]


def dict_problem(queries: int, depth: int, judged: int, seed: int = 1) -> tuple[Table, Table]:
    """Make qrels and a run as dicts of dicts, the run in the order of its scores.

    Args:
        queries, depth: rankings, and documents in each.
        judged: documents judged for each query, spread over the ranking and a little beyond.
        seed: of the generator.
    """
    rng = np.random.default_rng(seed)
    qrels: Table = {}
    run: Table = {}
    for query in range(queries):
        numbers = rng.choice(8_000_000, depth + judged, replace=False)
        ids = [f"msmarco_doc_{number:08d}" for number in numbers.tolist()]
        scores = np.sort(rng.gamma(2.0, 5.0, depth))[::-1]
        run[str(query)] = dict(zip(ids, scores.tolist(), strict=False))
        chosen = rng.choice(len(ids), judged, replace=False).tolist()
        # Equal text in objects of their own, as when qrels and run come from different files.
        qrels[str(query)] = {"".join(ids[i]): int(g) for i, g in
                             zip(chosen, rng.integers(0, 4, judged), strict=True)}  # fmt: skip
    return qrels, run


def sparse_matrix(queries: int, depth: int, judged: int, seed: int = 0) -> RelevanceMatrix:
    """Make an int8 relevance matrix in which `judged` documents of a row are judged.

    Args:
        queries, depth: its shape.
        judged: judged documents a row, with grades 0 to 3.
        seed: of the generator.
    """
    rng = np.random.default_rng(seed)
    codes = np.full((queries, depth), UNJUDGED, np.int8)
    for row in range(queries):
        ranks = rng.choice(depth, judged, replace=False)
        codes[row, ranks] = rng.integers(0, 4, judged)
    counts = np.stack([(codes == level).sum(axis=1) for level in range(4)], axis=1)
    return RelevanceMatrix(codes, np.arange(4.0), np.full(queries, depth), counts)


@dataclass(frozen=True)
class ScoreProblem:
    """Scores of candidates, and where the relevant ones stand.

    Attributes:
        scores: float32 ``(queries, candidates)``, above 0 and below 1, no two of a query the same,
            so that all tools agree on the order.
        positives: int64 ``(queries, positives)``, columns of the relevant ones, best first.
        places: int64 ``(queries, positives)``, the ranks they have, from 0.
    """

    scores: npt.NDArray[np.float32]
    positives: Ints
    places: Ints

    def labels(self) -> npt.NDArray[np.bool_]:
        """Return which candidates are relevant: bool ``(queries, candidates)``."""
        labels = np.zeros(self.scores.shape, bool)
        np.put_along_axis(labels, self.positives, True, axis=1)
        return labels

    def means(self, names: Iterable[str]) -> dict[str, float]:
        """Return means as the places give them: of AP, RR, nDCG and R, with cutoffs or without."""
        return {name: float(self._values(name).mean()) for name in names}

    def _values(self, name: str) -> npt.NDArray[np.float64]:
        family, _, cutoff = name.partition("@")
        k = int(cutoff or self.scores.shape[1])
        seen = self.places < k
        numbers = np.arange(1, self.places.shape[1] + 1)
        if family == "nDCG":
            ideal = (1 / np.log2(numbers[:k] + 1)).sum()
            return (seen / np.log2(self.places + 2)).sum(axis=1) / ideal
        if family == "RR":
            return seen[:, 0] / (self.places[:, 0] + 1)
        return (seen if family == "R" else seen * numbers / (self.places + 1)).mean(axis=1)


def score_problem(queries: int, candidates: int, positives: int, seed: int = 1) -> ScoreProblem:
    """Make scores of candidates whose relevant ones stand mostly near the top.

    Args:
        queries, candidates: rows and columns.
        positives: relevant candidates a query.
        seed: of the generator.
    """
    rng = np.random.default_rng(seed)
    # Distinct places: sorted draws with repetition, each moved on by the number before it.
    room = candidates - positives + 1
    draws = np.sort((rng.random((queries, positives)) ** 2 * room).astype(np.int64), axis=1)
    places = draws + np.arange(positives)
    descending = (np.arange(candidates, 0, -1) / (candidates + 1)).astype(np.float32)
    scores = np.empty((queries, candidates), np.float32)
    columns = np.empty_like(places)
    for row in range(queries):
        order = rng.permutation(candidates)
        scores[row, order] = descending
        columns[row] = order[places[row]]
    return ScoreProblem(scores, columns, places)


def in_batch_problem(size: int, seed: int = 1) -> ScoreProblem:
    """Make the scores of a batch of pairs, in which row i's relevant candidate is column i."""
    made = score_problem(size, size, 1, seed)
    rows = np.arange(size)
    columns = made.positives[:, 0]
    moved = made.scores[rows, rows]
    made.scores[rows, rows] = made.scores[rows, columns]
    made.scores[rows[columns != rows], columns[columns != rows]] = moved[columns != rows]
    return ScoreProblem(made.scores, rows[:, None], made.places)
