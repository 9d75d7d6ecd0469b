"""What is asked of runs: measures, settings and what both read; checked before anything is read."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np

from irbatch.array_types import NDArray
from irbatch.data.export import Tabular
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.engine.ties import ORDERS
from irbatch.errors import InputError, keyword, many
from irbatch.evaluation.pipeline import Choose, Work, evaluate_run
from irbatch.evaluation.queries import Rows, with_weights
from irbatch.evaluation.results import Results
from irbatch.evaluation.settings import Settings
from irbatch.measures import MARKED, Measure, Plan, parse_measures, plan_of
from irbatch.runtime.numbers import check_choice
from irbatch.runtime.threads import check_threads

if TYPE_CHECKING:
    from irbatch.data.column_names import Columns
    from irbatch.data.columns import QueryTable
    from irbatch.data.items import DocumentCosts, Items
    from irbatch.formats.reader import TableReader
    from irbatch.runtime.progress import Progress


Tables = Tabular | NDArray[np.void]
Records = Iterable[object]
Judgments = Qrels | Mapping[Any, Mapping[Any, Any]] | str | os.PathLike[str] | Tables | Records
Rankings = Run | Mapping[Any, Mapping[Any, Any]] | str | os.PathLike[str] | Tables
Measures = str | Measure | Iterable[str | Measure]
Cutoffs = int | Iterable[int | None] | None


# What reads files and tables is imported where there is one.


def is_file(value: object) -> TypeGuard[str | os.PathLike[str]]:
    """Tell whether judgments or rankings are to be read from a path."""
    return isinstance(value, str | os.PathLike)


def judgments_read(measures: Sequence[Measure]) -> str | None:
    """Say what measures read of judgments besides grades; None of measures that read grades alone.

    Raises:
        InputError: if they read different ones; beside subtopics alone some may read grades.
    """
    first: dict[str | None, Measure] = {}
    for measure in measures:
        first.setdefault(measure.declaration.reads if reads_marks(measure) else None, measure)
    marks = [reads for reads in first if reads is not None]
    if len(marks) > 1 or (marks and marks != ["subtopics"] and len(first) > 1):
        (reads, one), (others, other), *_ = first.items()
        problem = f"{one} reads judgments of {reads or 'grades'}, {other} {others or 'grades'}"
        raise InputError(f"{problem}: evaluate them one after the other", source="measures")
    return marks[0] if marks else None


def reads_marks(measure: Measure) -> bool:
    """Tell whether a measure reads more of judgments than grades."""
    return measure.declaration.reads in MARKED


def as_qrels(
    qrels: Judgments,
    columns: Columns = None,
    marks: str | None = None,
    repeats: str = "error",
) -> Qrels:
    """Return judgments, whatever they come as, with the marks that measures read, if any.

    `columns` and `repeats` are as in `irbatch.evaluate`.
    """
    if isinstance(qrels, Qrels):
        if (reads := None if qrels.marks is None else qrels.marks.reads) != marks:
            problem = f"the measures read judgments of {marks or 'grades'}, these are of"
            raise InputError(f"{problem} {reads or 'grades'}: see irbatch.Qrels", source="qrels")
        return qrels
    if isinstance(qrels, Run):
        problem = "a Run is given where judgments belong: first qrels, then run"
        raise InputError(problem, source="qrels")
    if isinstance(qrels, Mapping):
        if marks is None:
            return Qrels.borrow(qrels)
        if all(isinstance(documents, Mapping) for documents in qrels.values()):
            return Qrels(qrels, marks=marks)
    from irbatch.data.column_names import names_for

    column_names = names_for(columns, marks or "qrels")
    if is_file(qrels):
        from irbatch.formats.files import read_qrels

        return read_qrels(qrels, columns=column_names, marks=marks, repeats=repeats)
    return Qrels.from_table(qrels, **column_names, marks=marks, repeats=repeats)


def as_run(run: Rankings, columns: Columns = None, order_by: str = "score") -> Run:
    """Return rankings, whatever they come as."""
    if isinstance(run, Run):
        return run
    if isinstance(run, Qrels):
        problem = "Qrels are given where a run belongs: first qrels, then run"
        raise InputError(problem, source="run")
    if isinstance(run, Mapping):
        return Run(run)
    from irbatch.data.column_names import names_for

    if is_file(run):
        from irbatch.formats.files import read_run

        return read_run(run, order_by=order_by, columns=names_for(columns, "run"))
    from irbatch.data.frames import read_table

    return Run(read_table(run, "run", names_for(columns, "run"), by_rank=order_by == "rank"))


def tell_excluded(order: str, seen: QueryTable) -> str:
    """Describe the order of rankings without the documents that queries have in a table."""
    return f"{order}, without {len(seen.documents)} excluded of {many(len(seen), 'query')}"


def check_unjudged(measures: Iterable[Measure]) -> None:
    """Reject measures that read judgments, where there are none."""
    for measure in measures:
        declaration = measure.declaration
        if declaration.reads != "items" or "rel" in declaration.parameters:
            problem = f"{measure} reads judgments, and there are none: None is given"
            raise InputError(problem, source="qrels")


def as_unjudged(results: Results) -> Results:
    """Return results of queries that have no judgments, which say nothing of these."""
    results.settings["judgments"] = "none"
    results.counts = results.counts._replace(no_relevant=0)  # of none it is known
    results.of_queries.judgment_counts = None
    return results


class Evaluation(NamedTuple):
    """Measures, settings, and what both read; the same for any number of runs.

    It pickles, and is made by `choose`, which rejects what can be rejected before reading anything.
    """

    measures: tuple[Measure, ...]
    settings: Settings
    order_by: str = "score"
    items: Items | None = None
    costs: DocumentCosts | None = None
    threads: int | None = None
    columns: Columns = None
    exclude: QueryTable | None = None
    repeated: Sequence[Run] = ()  # rankings that a query has several of

    @classmethod
    def choose(
        cls,
        measures: Measures,
        cutoffs: Cutoffs = None,
        *,
        order_by: str = "score",
        items: Items | None = None,
        costs: object = None,
        threads: int | None = None,
        columns: Columns = None,
        exclude: Any = None,
        **settings: Any,
    ) -> Evaluation:
        """Return what `irbatch.evaluate` is asked for by these arguments.

        Raises:
            InputError: if there is no such measure, or an option has another value than it can
                have.
        """
        chosen = Settings.choose(**settings)
        parsed = parse_measures(measures, cutoffs)
        check_choice("order_by", order_by, ORDERS)
        if columns is not None:
            from irbatch.data.column_names import check_columns

            check_columns(columns)
        check_threads(threads)
        costs_read = None
        if costs is not None:
            from irbatch.evaluation.items import read_costs  # for those who have costs

            costs_read = read_costs(costs, chosen.ties, judgments_read(parsed))
        seen = None
        if exclude is not None:
            from irbatch.data.items import read_seen  # for those who leave out what was seen

            seen = read_seen(exclude)
        return cls(parsed, chosen, order_by, items, costs_read, threads, columns, seen)

    @property
    def order(self) -> str:
        """What the order of rankings comes from, for the signature."""
        order = self.settings.ordering.describe(self.order_by)
        return order if self.exclude is None else tell_excluded(order, self.exclude)

    def signature(self) -> dict[str, str]:
        """Name every setting that shapes the numbers."""
        reads = any(of.declaration.reads == "items" for of in with_weights(self.measures))
        items = self.items.arrays if self.items is not None and reads else None
        return self.settings.signature(self.order, items=items, costs=self.costs)

    def judgments(self, qrels: Judgments) -> Qrels:
        """Return judgments as the measures read them, whatever they come as."""
        reads = judgments_read(self.measures)
        return as_qrels(qrels, self.columns, reads, self.settings.repeats)

    @property
    def run_columns(self) -> dict[str, Any]:
        """What the columns of runs are called, by role, where that was said."""
        from irbatch.data.column_names import names_for

        return names_for(self.columns, "run")

    def rankings(self, run: Rankings) -> Run:
        """Return rankings, whatever they come as, read whole, without what is excluded."""
        if self.order_by != "score" and isinstance(run, Run | Mapping):
            problem = f"{keyword('order_by')} is for files and tables, which have ranks and scores"
            raise InputError(problem, value=self.order_by)
        whole = as_run(run, self.columns, self.order_by)
        return whole if self.exclude is None else whole.without(self.exclude)

    def evaluate(
        self,
        qrels: Judgments | None,
        run: Rankings,
        progress: Progress | bool | None = None,
        choose: Choose | None = None,
    ) -> Results:
        """Return the results of a run, or of a part of one, see `evaluate_run`."""
        if qrels is None:
            return self._evaluate_unjudged(run, progress)
        if progress is not None and not callable(progress):
            name = run.name if isinstance(run, Run) else run if is_file(run) else None
            from irbatch.runtime.progress import progress_on_bar

            with progress_on_bar(str(name or "evaluating"), progress) as tell:
                return self.evaluate(qrels, run, tell, choose)
        judgments, marked = self.judgments(qrels), None
        if judgments.marks is None:
            plan = plan_of(self.measures, self.settings.open_parameters(), items=bool(self.items))
        elif not all(map(reads_marks, self.measures)):
            return self._evaluate_apart(judgments, run, progress, choose)
        else:
            from irbatch.evaluation.judgments import MarkedValues  # for those who have marks

            marked = MarkedValues(judgments, judgments.marks, self.measures, self.settings)
            plan, judgments = Plan(()), marked.qrels
        with self._opened(run, progress) as opened:
            if (plan.of_items or self.costs) and not isinstance(opened, Run):
                opened = Run(opened.table(), opened.name)
            work = Work(
                plan, self.settings, self.threads, self.order, marked=marked,
                items=self.items, costs=self.costs, repeated=self.repeated,
            )  # fmt: skip
            return evaluate_run(work, judgments, opened, progress, choose)

    def _evaluate_apart(
        self,
        judgments: Qrels,
        run: Rankings,
        progress: Progress | None,
        choose: Choose | None,
    ) -> Results:
        """Return the results of measures of subtopics, and of others, which read largest grades."""
        graded = copy.copy(judgments)
        graded.marks = None
        ranked = self.rankings(run)
        parts = []
        for own, reads in ((judgments, True), (graded, False)):
            measures = tuple(of for of in self.measures if reads_marks(of) is reads)
            part = self._replace(measures=measures, order_by="score", exclude=None)  # as it is read
            parts.append(part.evaluate(own, ranked, progress, choose))
        columns = {
            of: values
            for part in parts
            for of, values in zip(with_weights(part.columns), part.of_queries.values.T, strict=True)
        }
        values = np.column_stack([columns[of] for of in with_weights(self.measures)])
        first, rows = parts[0], parts[1].of_queries
        of_queries = Rows(values, first.marks, rows.judgment_counts, rows.items)
        more = self.measures, first.counts, self.signature(), first.name
        return Results(of_queries, first.query_ids, *more)

    def _evaluate_unjudged(self, run: Rankings, progress: Progress | bool | None) -> Results:
        """Return the results of all queries of a run, of measures that read no judgments."""
        check_unjudged(self.measures)
        ranked = self.rankings(run)
        judgments = Qrels({query: {} for query in ranked.queries})
        in_order = self._replace(order_by="score")  # as it was read
        results = in_order.evaluate(judgments, ranked, progress, lambda computed: computed.rows)
        results.settings = self.signature()
        return as_unjudged(results)

    def _opened(
        self, run: Rankings, progress: Progress | None
    ) -> AbstractContextManager[TableReader | Run]:
        if is_file(run) and self.exclude is None:
            from irbatch.formats.files import open_run

            return open_run(run, self.order_by, self.run_columns, progress)
        return nullcontext(self.rankings(run))
