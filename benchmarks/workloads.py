"""The data the benchmarks run on: made from seeds, the same everywhere."""

from __future__ import annotations

import numpy as np

from irbatch.matrix import UNJUDGED, RelevanceMatrix

Table = dict[str, dict[str, float]]

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
