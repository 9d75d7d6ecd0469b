"""Evaluations of all kinds, on a small problem: what each gives is a text with every digit."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import irbatch
from irbatch.formats import streams
from irbatch.formats.bytes import parse_lines

MEASURES = "nDCG@10 AP Bpref IPrec(recall=0.5) P(rel=2)@5"
IDS = [f"d{i}" if i % 5 else f"é{i}" for i in range(30)]
QRELS = {f"q{i}": {IDS[j]: j % 3 for j in range(20)} for i in range(12)}
RUN = {f"q{i}": {IDS[j]: (i * 7 + j * 3) % 11 / 2 for j in range(30)} for i in range(12)}
RANDOM = np.random.default_rng(3)
SCORES = RANDOM.integers(0, 90, (40, 60)).astype(np.float32)
LABELS = RANDOM.random(SCORES.shape) < 0.1


def updated() -> str:
    evaluator = irbatch.BatchEvaluator("RR nDCG@10")
    for rows in (slice(0, 15), slice(15, 40)):
        evaluator.update(SCORES[rows], LABELS[rows])
    return repr(evaluator.compute().mean())


def compared() -> str:
    options = {"draws": 200, "interval": "percentile"}
    few = {query: RUN[query] for query in list(RUN)[3:]}
    return irbatch.compare(QRELS, {"a": RUN, "b": few}, "RR AP", **options).to_json()


def ways(folder: Path) -> dict[str, Callable[[], str]]:
    """Return evaluations by name; a run is written to the folder, and read in many pieces."""
    path = folder / "run"
    irbatch.Run(RUN).to_trec(path)
    return {
        "dictionaries": lambda: repr(irbatch.evaluate(QRELS, RUN, MEASURES).to_dict()),
        "file": lambda: repr(irbatch.evaluate(QRELS, path, MEASURES).to_dict()),
        "reading": lambda: repr(irbatch.read_run(path).to_dict()),
        "scores": lambda: repr(
            irbatch.evaluate_scores(SCORES, LABELS, "AP nDCG@10 IPrec(recall=0.5)", threads=2)
            .values.tolist()
        ),
        "updates": updated,
        "comparison": compared,
    }  # fmt: skip


def read_in_pieces() -> None:
    """Have all files read by the parser, some hundreds of bytes at once."""
    parse_lines.run_compiled = parse_lines.run  # type: ignore[method-assign]
    streams.PIECE = 1 << 11


if __name__ == "__main__":
    read_in_pieces()
    with tempfile.TemporaryDirectory() as name:
        for way, evaluate in ways(Path(name)).items():
            print(way, ascii(evaluate()))
