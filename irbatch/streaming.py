"""Evaluating a large run file while it is read: what is kept of a query is its values."""

from __future__ import annotations

import os
from os import PathLike
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from irbatch.averaging import Answers, Computed, average, check_named_levels, compute_values
from irbatch.formats import read_large_run
from irbatch.formats.columns import UnevenRunError, stream_run_columns
from irbatch.measures import Plan
from irbatch.pack import pack_run
from irbatch.pack.text import pack_text
from irbatch.qrels import Qrels
from irbatch.results import Results
from irbatch.runs import Run
from irbatch.settings import Progress, Settings

__all__ = ["evaluate_file"]


def evaluate_file(
    plan: Plan,
    qrels: Qrels,
    path: str | PathLike[str],
    settings: Settings,
    threads: int | None,
    progress: Progress | None,
) -> Results | None:
    """Evaluate a run file as it is read, in memory that doesn't grow with it.

    Args:
        plan: the measures.
        qrels: the judgments.
        path: the run file.
        settings: how to average.
        threads: how many threads scan.
        progress: called with queries done and queries in all.

    Returns:
        The results; None for a file that is small, or has to be read whole: one with an odd line,
        whose problems are then named, or with a query that returns after others.
    """
    check_named_levels(plan, qrels)
    if "int" in (qrels.query_kind, qrels.document_kind):
        return None
    streamed = _Streamed(plan, qrels, settings, threads, progress)
    if read_large_run(path, streamed.read) is None:
        return None
    answers = Answers(streamed.queries, "str", os.fspath(path))
    order = settings.score_order()
    return average(plan, qrels, answers, streamed.computed, settings, order)


class _Streamed:
    """The values of the queries read so far."""

    def __init__(
        self,
        plan: Plan,
        qrels: Qrels,
        settings: Settings,
        threads: int | None,
        progress: Progress | None,
    ) -> None:
        self.plan, self.qrels, self.settings = plan, qrels, settings
        self.threads, self.progress = threads, progress
        self.queries: dict[str, None] = {}
        self._row_of = {query: row for row, query in enumerate(qrels.queries)}
        self._values = np.zeros((len(qrels), len(plan.measures)))
        self._no_relevant, self._empty = np.zeros(len(qrels), bool), np.zeros(len(qrels), bool)
        self._done = np.zeros(len(qrels), bool)

    def read(self, stream: BinaryIO) -> bool | None:
        """Evaluate a stream; None when it has to be read whole."""
        try:
            for rankings in stream_run_columns(stream):
                self.queries.update(dict.fromkeys(rankings))
                mine = [self._row_of[query] for query in rankings if query in self._row_of]
                rows = np.array(mine, np.intp)
                blocks = pack_text(self.qrels, rankings, rows, self.settings.score_dtype)
                self._keep(
                    rows,
                    compute_values(self.plan, blocks, rows.size, self.settings, self.threads),
                )
                if self.progress is not None:
                    self.progress(int(self._done.sum()), len(self.qrels))
        except UnevenRunError:
            return None
        return True

    def computed(self, rows: npt.NDArray[np.intp]) -> Computed:
        """Return the values of some queries; those that were not read have retrieved nothing."""
        absent = rows[~self._done[rows]]
        if absent.size:
            blocks = pack_run(self.qrels, Run({}), absent, self.settings.score_dtype)
            self._keep(
                absent, compute_values(self.plan, blocks, absent.size, self.settings, self.threads)
            )
        return self._values[rows], self._no_relevant[rows], self._empty[rows]

    def _keep(self, rows: npt.NDArray[np.intp], computed: Computed) -> None:
        self._values[rows], self._no_relevant[rows], self._empty[rows] = computed
        self._done[rows] = True
