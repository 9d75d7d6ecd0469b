"""Compiling everything ahead of time, for images and long-lived services."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from irbatch.data.ids import MANY, TextColumn
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.evaluation.runs import evaluate
from irbatch.runtime.kernels import Kernel

CLEARED = "\r\x1b[K"  # a terminal's line
# Measures with a kernel of their own.
WALKS = "nDCGrel RnDCG G Qmeasure GAP Compat Tau ERR(gain=linear,max_grade=40000)"


def warmup(*, progress: bool = True) -> list[str]:
    """Compile every kernel for the types it is used with, or load it from the disk cache.

    Args:
        progress: whether standard error tells of what has to be compiled: a terminal how much is
            done, anything else in one line.

    Returns:
        The names of the kernels compiled.

    >>> "scan_rows" in warmup()  # doctest: +SKIP
    True
    """
    from irbatch.comparing.correlation import rbo
    from irbatch.evaluation.ranked import evaluate_ids, evaluate_matrix
    from irbatch.evaluation.scores import evaluate_scores
    from irbatch.formats.lines import RUN
    from irbatch.formats.reader import Piece, assemble
    from irbatch.pack.counting import SORTED_FROM
    from irbatch.statistics.resampling import draw_means, draw_ranges, flip_signs

    with _progress(progress) as tell, Kernel.always_compiled(tell) as names:
        # Code types int8, int16 and int32 are those of few, many and very many grades.
        for grades in (2, 200, 40_000):
            evaluate_matrix(np.arange(grades, dtype=np.float64)[None, :], ["nDCG@10", WALKS])
        qrels = {"q": {"a": 1, "b": 0}}
        evaluate(qrels, {"q": {"a": 1.0, "b": 2.0}}, "nDCG@10")
        evaluate({"q": {"aspect": {"a": 1}}}, {"q": {"a": 1.0}}, "alpha_nDCG")
        evaluate({"q": {"stratum": {"a": 1}}}, {"q": {"a": 1.0}}, "xInfAP InfIPrec")
        lines = bytearray(b"q Q0 a 1 1.5e0 t\nq Q0 b 2 1 t\n")
        evaluate(qrels, Run(assemble([Piece.parse(lines, RUN, "").compact()])), "nDCG@10")
        _look_up_texts()
        _look_up_items()
        evaluate_ids(np.array([[1, 2]]), np.array([[2]]), "nDCG@10")
        for dtype in (np.float16, np.float32, np.float64, np.int64, np.uint64):
            few = np.arange(SORTED_FROM + 2, dtype=dtype)[None, :]
            few[0, 1] = few[0, 0]
            for some in (4, SORTED_FROM + 1):  # counted for one by one, and sorted
                options: dict[str, Any] = {"positives": [list(range(some))], "exclude": [[some]]}
                evaluate_scores(few, measures="nDCG@10", ties="index", **options)
        few, many = np.ones((4, 2, 3)), np.ones((30, 2, 1))
        list(draw_ranges(few, 1, 0))
        flip_signs(many[:, 0], 1, 0)
        flip_signs(np.ones((30, 30)), 1, 0)
        draw_means(many[:, 0], 1, 0)
        for ties in ("id", "a"):
            rbo(["a", "b"], ["b", "a"], ties=ties)
        evaluate_scores(np.array([[2.0, 1.0, 1.0, 1.0]]), [[0, 0, 1, 0]], "nDCG@10")
    return names


@contextmanager
def _progress(wanted: bool) -> Iterator[Callable[[str], None] | None]:
    """Give a function to be told of each kernel that is to be compiled."""
    if not wanted or sys.stderr is None:
        yield None
        return
    on_terminal, done = sys.stderr.isatty(), 0

    def tell(name: str) -> None:
        nonlocal done
        done += 1
        if on_terminal:
            said = f"{CLEARED}compiling, once a machine: {done} ({name})"
            print(said, end="", file=sys.stderr, flush=True)
        elif done == 1:
            print("compiling, once a machine: half a minute", file=sys.stderr, flush=True)

    try:
        yield tell
    finally:
        if on_terminal and done:
            print(CLEARED, end="", file=sys.stderr, flush=True)


def _look_up_items() -> None:
    """Evaluate measures of items, similar by each of what similarity may be by, and of groups."""
    from irbatch.data.items import ItemStatistics
    from irbatch.engine.similarity import SIMILARITIES

    ones = np.ones((2, 2))
    known: dict[str, Any] = {"interactions": {"q": ["a", "b"]}}
    known["groups"] = {"a": "A", "b": "B"}
    items = ItemStatistics(["a", "b"], embeddings=ones, similarity=ones, **known)
    run = {"q": {"a": 2.0, "b": 1.0}}
    names = [f"{name}(by={by})" for by in SIMILARITIES for name in ("ILD", "Unexpectedness")]
    evaluate({"q": {"a": 1}}, run, [*names, "AWRF(target=uniform)"], items=items)


def _look_up_texts() -> None:
    """Evaluate columns of text, as lists and frames have them, and list what is in one."""
    qrels = Qrels.from_columns(["q"], ["a"], [1])
    queries, documents = ["q", "p", "q"], ["a", "a", "b"]
    evaluate(qrels, Run.from_columns(queries, documents, [2.0, 1.0, 1.0]), "nDCG@10")
    TextColumn.encode(["a"] * MANY).tolist()
