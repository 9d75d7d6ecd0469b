"""Compiling everything ahead of time, for images and long-lived services."""

from __future__ import annotations

import numpy as np

from irbatch.evaluate import evaluate
from irbatch.jit import Kernel
from irbatch.qrels import Qrels
from irbatch.runs import Run

__all__ = ["warmup"]


WALKS = ("nDCGrel", "RnDCG", "G")  # measures with a kernel of their own


def warmup() -> list[str]:
    """Compile every kernel for the types it is used with, or load it from the disk cache.

    Returns:
        The names of the kernels compiled.

    >>> "_scan_rows" in warmup()  # doctest: +SKIP
    True
    """
    from irbatch.evaluate_arrays import evaluate_ids, evaluate_matrix
    from irbatch.formats.forms import RUN
    from irbatch.formats.pieces import Piece, assemble

    with Kernel.always_compiled() as names:
        # Code types int8, int16 and int32 are those of few, many and very many grades.
        for grades in (2, 200, 40_000):
            labels = np.arange(grades, dtype=np.float64)[None, :]
            evaluate_matrix(labels, ["nDCG@10", *WALKS])
        qrels = {"q": {"a": 1, "b": 0}}
        evaluate(qrels, {"q": {"a": 1.0, "b": 2.0}}, "nDCG@10")
        parsed = assemble([Piece.parse(b"q Q0 a 1 1.5e0 t\nq Q0 b 2 1 t\n", RUN, "")])
        evaluate(qrels, Run(parsed), "nDCG@10")
        evaluate(
            Qrels.from_columns(["q"], ["a"], [1]),
            Run.from_columns(["q", "p", "q"], ["a", "a", "b"], [2.0, 1.0, 1.0]),
            "nDCG@10",
        )
        evaluate_ids(np.array([[1, 2]]), np.array([[2]]), "nDCG@10")
    return names
