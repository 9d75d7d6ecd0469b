"""Evaluating a large run file while it is read: what is kept of a query is its values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike

import numpy as np

from irbatch.array_types import Positions
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.evaluation.averaging import (
    Answers,
    Computed,
    average,
    check_named_levels,
    compute_values,
)
from irbatch.evaluation.results import Results
from irbatch.evaluation.settings import Progress, Settings
from irbatch.formats import open_run
from irbatch.formats.file_reader import Reader
from irbatch.measures import Plan
from irbatch.pack import Block, pack_run
from irbatch.pack.table import pack_table

__all__ = ["StreamedValues", "evaluate_file"]


def evaluate_file(
    plan: Plan,
    qrels: Qrels,
    path: str | PathLike[str],
    settings: Settings,
    order_by: str,
    threads: int | None,
    progress: Progress | None,
) -> Results | Run:
    """Evaluate a run file as it is read, in memory that doesn't grow with it.

    Args:
        plan: the measures.
        qrels: the judgments.
        path: the run file.
        settings: how to average.
        order_by: what orders documents, ``"score"`` or ``"rank"``.
        threads: how many threads scan.
        progress: called with bytes read and bytes in all.

    Returns:
        The results; or, of a file that is better read whole, the run.

    Raises:
        InputError: listing the first 20 problems by line.
    """
    check_named_levels(plan, qrels)
    with open_run(path, order_by, progress) as opened:
        if isinstance(opened, Run):
            return opened
        if "int" in (qrels.query_kind, qrels.document_kind):
            return Run(opened.table(), opened.file.path)  # for whoever says what is wrong with it
        streamed = StreamedValues(plan, qrels, settings, threads)
        streamed.read(opened)
    answers = Answers(streamed.queries, "str", opened.file.path)
    order = settings.ordering.describe(order_by)
    return average(plan, qrels, answers, streamed.computed, settings, order)


Watch = Callable[[Positions, Iterable[Block]], Iterable[Block]]


class StreamedValues:
    """The values of the queries read so far.

    Args:
        plan, qrels, settings, threads: as in `evaluate_file`.
        watch: sees blocks on their way: from their queries' positions in `qrels.queries`, and the
            blocks, to the blocks.

    Attributes:
        queries: those of the run, as keys.
    """

    def __init__(
        self,
        plan: Plan,
        qrels: Qrels,
        settings: Settings,
        threads: int | None = None,
        watch: Watch = lambda rows, blocks: blocks,
    ) -> None:
        self.plan, self.qrels, self.settings, self.threads = plan, qrels, settings, threads
        self._watch = watch
        self.queries: dict[str, None] = {}
        self._row_of = {query: row for row, query in enumerate(qrels.queries)}
        self._values = np.zeros((len(qrels), len(plan.measures)))
        self._no_relevant, self._empty = np.zeros(len(qrels), bool), np.zeros(len(qrels), bool)
        self._tied = np.zeros(len(qrels), bool)
        self._done = np.zeros(len(qrels), bool)
        self._matched = False

    def read(self, reader: Reader) -> None:
        """Evaluate a file; a query that comes once more is evaluated once more."""
        for table in reader.tables():
            self.queries.update(dict.fromkeys(table))
            mine = [self._row_of[query] for query in table if query in self._row_of]
            rows = np.array(mine, np.intp)
            blocks = pack_table(self.qrels, table, rows, self.settings.ordering)
            self._compute(rows, blocks)

    def computed(self, rows: Positions) -> Computed:
        """Return the values of some queries; those that were not read have retrieved nothing."""
        absent = rows[~self._done[rows]]
        if absent.size:
            nothing = pack_run(self.qrels, Run({}), absent, self.settings.ordering)
            self._compute(absent, nothing)
        of_rows = self._values[rows], self._no_relevant[rows], self._empty[rows]
        return Computed(*of_rows, self._matched, self._tied[rows])

    def _compute(self, rows: Positions, blocks: Iterable[Block]) -> None:
        watched = self._watch(rows, blocks)
        computed = compute_values(self.plan, watched, rows.size, self.settings, self.threads)
        self._values[rows] = computed.values
        self._no_relevant[rows], self._empty[rows] = computed.no_relevant, computed.empty
        self._tied[rows] = computed.tied
        self._matched = self._matched or computed.matched
        self._done[rows] = True
