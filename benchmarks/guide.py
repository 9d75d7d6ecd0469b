"""The table of speed in its guide, made of the rows of a run: ``python -m benchmarks --guide``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.place import where
from benchmarks.report import markdown_line

__all__ = ["GUIDE", "HEADER", "ROWS", "update"]

GUIDE = Path(__file__).parent.parent / "examples" / "speed.md"
START, END = "<!-- speed: python -m benchmarks --guide -->\n", "<!-- /speed -->\n"
HEADER = ("work", "irbatch", "compared with", "takes", "ratio")

# The rows' keys, and what is said of them.
ROWS = {
    "dicts, 1 judged, pytrec_eval": ("dicts, 1 judged a query", "pytrec_eval"),
    "dicts, 1 judged, ir_measures": ("dicts, 1 judged a query", "ir_measures"),
    "dicts, 1 judged, ranx": ("dicts, 1 judged a query", "ranx, its `Qrels` and `Run` made first"),
    "dicts, 20 judged, pytrec_eval": ("dicts, 20 judged", "pytrec_eval"),
    "dicts, 60 judged, pytrec_eval": ("dicts, 60 judged", "pytrec_eval"),
    "dicts, 1 judged, prepared, ranx": (
        "evaluation alone, of `run.prepared()`, 1 judged", "ranx, of what it prepared"),
    "dicts, 20 judged, prepared, ranx": (
        "evaluation alone, 20 judged", "ranx, of what it prepared"),
    "adapter, 1 judged": (
        "an import changed to `irbatch.integrations.pytrec_eval`, dicts in and out, 1 judged",
        "pytrec_eval"),
    "adapter, 20 judged": ("the same, 20 judged", "pytrec_eval"),
    "small, 43 × 1000, 3, first call": (
        "the same, 43 queries, 3 measures, first call of a process", "pytrec_eval"),
    "small, 43 × 1000, 3, later calls": ("its later calls", "pytrec_eval"),
    "files, pytrec_eval": ("TREC files, 20 judged, reading included", "pytrec_eval"),
    "files, ir_measures": ("TREC files, 20 judged, reading included", "ir_measures"),
    "files, polars": ("the same, 4 measures", "polars, a query of its own"),
    "files, duckdb": ("the same, 4 measures", "DuckDB, in SQL"),
    "frames, ir_measures": ("frame of pandas, 1.4 million rows", "ir_measures"),
    "frames, ranx": ("frame of pandas, 1.4 million rows", "ranx"),
    "frames, polars": ("frame of polars, 4 measures", "polars expressions"),
    "ids, copy": ("50,000 × 1,000 ids, 20 relevant a query, 4 measures", "copying the matrix"),
    "scan, copy": ("all statistics at 10 cutoffs, 100,000 × 1,000 int8", "copying the matrix"),
    "scores, topk": (
        "scores, 2,000 × 20,000 float32, 10 relevant each, 5 measures at full depth",
        "`torch.topk(100)` alone"),
    "scores, argsort": (
        "scores, 2,000 × 20,000 float32, 10 relevant each, 5 measures at full depth",
        "`np.argsort`, then `evaluate_matrix`"),
    "scores, torchmetrics": ("scores, 1,000 × 1,000 with labels, 4 measures", "torchmetrics"),
    "scores, sklearn": ("the same, nDCG@10", "scikit-learn's `ndcg_score`"),
    "updates, 256 × 1,000": (
        "update of a `BatchEvaluator`, 256 × 1,000 scores, 4 measures",
        "`np.argsort` of the batch"),
    "diversity, 1000, judgments": (
        "alpha_nDCG@20 of 50 queries × 1,000, judgments prepared",
        "pyndeval, of judgments prepared"),
    "diversity, 10000, judgments": (
        "the same, 50 × 10,000", "pyndeval, of judgments prepared"),
    "diversity, 10000, prepared": (
        "the same, of `run.prepared()`", "pyndeval, of judgments prepared"),
    "comparing, flips": (
        "comparing 9 systems with a baseline, 20 measures, 10,000 sign flips",
        "one matrix product of that size"),
    "comparing, scipy": ("one pair, one measure", "`scipy.stats.permutation_test`"),
}  # fmt: skip


def update(text: str, found: Mapping[str, tuple[str, ...]]) -> str:
    """Return the GUIDE with the rows that were found, by their keys; others stay as they are."""
    before, start, rest = text.partition(START)
    old, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"the GUIDE has no {START.strip()} followed by {END.strip()}")
    kept = {_names(line): line for line in old.splitlines()}
    place = where() if found else old.partition("\n")[0]
    lines = [place, "", markdown_line(HEADER), markdown_line(["---"] * len(HEADER))]
    for key, (work, peer) in ROWS.items():
        _, ours, _, takes, ratio, *_ = found.get(key, [""] * 5)
        line = markdown_line((work, ours, peer, takes, ratio))
        lines.append(line if ratio else kept.get(_names(line), line))
    return before + start + "\n".join(lines) + f"\n\n{end}{after}"


def _names(line: str) -> tuple[str, ...]:
    """Return what a row says was done, and what it was compared with."""
    return tuple(line.split(" | ")[:3:2])
