"""What rows of the tables are to reach, and which of them the guide shows, each under its key.

A unit of "× faster" is how many times as long as irbatch the other tool takes, of "×" how many
times as long as the other irbatch takes. All are of the whole sizes.
"""

from __future__ import annotations

from dataclasses import dataclass

UNITS = {
    "× faster": 1, "×": 1, "µs": 1e-6, "ms": 1e-3, "s": 1, "bytes": 1, "MB": 1e6, "M rows/s": 1e6,
}  # fmt: skip


@dataclass(frozen=True)
class Aim:
    """A bound that a figure is to keep: such as 12, "× faster", which it is to be at `least`."""

    bound: float
    unit: str

    @property
    def least(self) -> bool:
        return self.unit in ("× faster", "M rows/s")

    def __str__(self) -> str:
        return f"{'≥' if self.least else '≤'} {self.bound:g} {self.unit.removesuffix(' faster')}"

    def reached(self, figure: float) -> bool:
        """Tell whether a figure keeps the bound: a ratio, seconds, bytes, or rows a second."""
        value = figure / UNITS[self.unit]
        return value >= self.bound if self.least else value <= self.bound


# Collections of the usual size: queries, documents of each, measures, whether scores tie, and how
# many times faster than pytrec_eval the adapter is to be after its first call.
SMALL = (
    (43, 100, 3, False, 3.5), (43, 1_000, 3, False, 4), (43, 1_000, 3, True, 4),
    (43, 1_000, 34, False, 4), (250, 1_000, 4, False, 8),
)  # fmt: skip


def small_key(queries: int, depth: int, measures: int, tied: bool) -> str:
    """Return the beginning of the keys of one of `SMALL`."""
    return f"small, {queries} × {depth}, {measures}{', tied' * tied}"


_AIMS: dict[str, dict[str, float]] = {
    "× faster": {
        "dicts, 1 judged, pytrec_eval": 18, "dicts, 20 judged, pytrec_eval": 15,
        "dicts, 60 judged, pytrec_eval": 12, "dicts, 1 judged, prepared, ranx": 60,
        "dicts, 20 judged, prepared, ranx": 40,
        **{f"{small_key(*size)}, first call": 1 for *size, _ in SMALL},
        **{f"{small_key(*size)}, later calls": times for *size, times in SMALL},
        "files, trec_eval": 22, "files, polars": 3, "frames, polars": 2, "scores, topk": 4,
        "scores, torchmetrics": 300, "updates, 256 × 1,000": 1,
        "comparing, scipy": 30, "diversity, 1000, judgments": 8, "diversity, 1000, prepared": 12,
        "diversity, 10000, judgments": 25, "diversity, 10000, prepared": 100,
    },
    "×": {
        "ids, copy": 3, "comparing, flips": 3, "scan, copy": 2.8, "small, ties": 1.5,
        "users, list": 1.2, "embeddings, dot": 1.3, "embeddings, cosine": 1.3,
        "embeddings, float16": 1.3, "scores, 64 × 1,000": 1, "comparing, rbo": 4,
        "scan, formulas": 1.4,
    },
    "ms": {
        "updates, 32 × 1,000": 0.3, "cold, first result": 20, "cold, first call": 10,
        "cold, read_qrels": 25,
    },
    "µs": {"updates, 64 × 64": 70},
    "s": {"users, ids": 3, "users, items": 0.8, "users, sessions": 8, "users, polars": 4},
    "bytes": {"users, memory": 120},
    "MB": {"parquet, memory": 400},
    "M rows/s": {
        **{f"parquet, {ids}": 12 for ids in ("text", "zstd", "plain", "dictionary", "numbers")},
    },
}  # fmt: skip
AIMS = {key: Aim(bound, unit) for unit, of in _AIMS.items() for key, bound in of.items()}

# What the guide's table says was done, and what it was compared with.
_FULL = "scores, 2,000 × 20,000 float32, 10 relevant each, 5 measures at full depth"
_PREPARED = "pyndeval, of judgments prepared"
ROWS = {
    "dicts, 1 judged, pytrec_eval": ("dicts, 1 judged a query", "pytrec_eval"),
    "dicts, 1 judged, ir_measures": ("dicts, 1 judged a query", "ir_measures"),
    "dicts, 1 judged, ranx": ("dicts, 1 judged a query", "ranx, with making its `Qrels` and `Run`"),
    "dicts, 20 judged, pytrec_eval": ("dicts, 20 judged", "pytrec_eval"),
    "dicts, 60 judged, pytrec_eval": ("dicts, 60 judged", "pytrec_eval"),
    "dicts, 1 judged, prepared, ranx": (
        "evaluation alone, of `run.prepared()`, 1 judged", "ranx, of what it prepared"),
    "dicts, 20 judged, prepared, ranx": (
        "evaluation alone, 20 judged", "ranx, of what it prepared"),
    "small, 43 × 1000, 3, first call": (
        "an import changed to `irbatch.integrations.pytrec_eval`, dicts in and out, 43 queries, "
        "3 measures, first call of a process", "pytrec_eval"),
    "small, 43 × 1000, 3, later calls": ("its later calls", "pytrec_eval"),
    "small, 43 × 1000, 3, tied, later calls": ("the same, scores that tie", "pytrec_eval"),
    "files, pytrec_eval": ("TREC files, 20 judged, reading included", "pytrec_eval"),
    "files, ir_measures": ("TREC files, 20 judged, reading included", "ir_measures"),
    "files, polars": ("the same, 4 measures", "polars, a query of its own"),
    "frames, ir_measures": ("frame of pandas, 1.4 million rows", "ir_measures"),
    "frames, polars": ("frame of polars, 4 measures", "polars expressions"),
    "recommenders, RecTools": ("frame of pandas, 10,000 users × 100 items, 4 measures", "RecTools"),
    "recommenders, LensKit": (
        "frame of pandas, 10,000 users × 100 items, 4 measures", "LensKit, of lists made before"),
    "ids, copy": ("50,000 × 1,000 ids, 20 relevant a query, 4 measures", "copying the matrix"),
    "scan, copy": ("all statistics at 10 cutoffs, 100,000 × 1,000 int8", "copying the matrix"),
    "scores, topk": (_FULL, "`torch.topk(100)` alone"),
    "scores, argsort": (_FULL, "`np.argsort`, then `evaluate_matrix`"),
    "scores, torchmetrics": ("scores, 1,000 × 1,000 with labels, 4 measures", "torchmetrics"),
    "scores, sklearn": ("the same, nDCG@10", "scikit-learn's `ndcg_score`"),
    "embeddings, dot": (
        "embeddings, 500 × 500,000 of 64 dimensions, nDCG@10 and RR", "their product alone"),
    "updates, 256 × 1,000": (
        "update of a `BatchEvaluator`, 256 × 1,000 scores, 4 measures",
        "`np.argsort` of the batch"),
    "diversity, 1000, judgments": (
        "alpha_nDCG@20 of 50 queries × 1,000, judgments prepared", _PREPARED),
    "diversity, 10000, judgments": ("the same, 50 × 10,000", _PREPARED),
    "diversity, 10000, prepared": ("the same, of `run.prepared()`", _PREPARED),
    "comparing, flips": (
        "comparing 9 systems with a baseline, 20 measures, 10,000 sign flips",
        "one matrix product of that size"),
    "comparing, scipy": ("one pair, one measure", "`scipy.stats.permutation_test`"),
}  # fmt: skip

# What the README's table says of some of them.
_USUAL, _WHOLE = "43 queries × 1,000 documents in dicts, 3 measures", "6,980 queries × 1,000"
SHORT = {
    "small, 43 × 1000, 3, first call": (f"{_USUAL}, first call of a process", "pytrec_eval"),
    "small, 43 × 1000, 3, later calls": (f"{_USUAL}, later calls", "pytrec_eval"),
    "dicts, 20 judged, pytrec_eval": (
        f"{_WHOLE} in dicts, 29 values a query, 20 documents judged", "pytrec_eval"),
    "dicts, 1 judged, ir_measures": (f"{_WHOLE} in dicts, 1 judged", "ir_measures"),
    "dicts, 1 judged, ranx": (f"{_WHOLE} in dicts, 1 judged", "ranx, with making its objects"),
    "files, pytrec_eval": (f"{_WHOLE} in TREC files (230 MB), reading included", "pytrec_eval"),
    "files, ir_measures": (f"{_WHOLE} in TREC files (230 MB), reading included", "ir_measures"),
    "recommenders, RecTools": ("frames of recommendations, 10,000 users × 100", "RecTools"),
    "scores, topk": (
        "scores of 20,000 candidates for 2,000 queries, 5 measures at any depth",
        "`torch.topk(100)` alone"),
    "scores, torchmetrics": ("1,000 × 1,000 scores with labels, 4 measures", "torchmetrics"),
}  # fmt: skip
