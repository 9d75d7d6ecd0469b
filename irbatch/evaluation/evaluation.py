"""What is asked of runs: measures, settings and what both read; checked before anything is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np

from irbatch.array_types import NDArray, Positions
from irbatch.data.export import Tabular
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.engine.matrix import RelevanceMatrix
from irbatch.engine.ties import ORDERS, TiePolicy
from irbatch.errors import InputError, keyword, many
from irbatch.evaluation.settings import Settings
from irbatch.measures import Measure, Plan, parse_measures, plan_of
from irbatch.runtime.numbers import check_choice
from irbatch.runtime.progress import Progress, progress_on_bar
from irbatch.runtime.threads import check_threads

if TYPE_CHECKING:
    from irbatch.data.column_names import Columns
    from irbatch.data.columns import QueryTable
    from irbatch.data.items import DocumentCosts, Items
    from irbatch.formats.reader import TableReader


Tables = Tabular | NDArray[np.void]
Records = Iterable[object]
Judgments = Qrels | Mapping[Any, Mapping[Any, Any]] | str | os.PathLike[str] | Tables | Records
Rankings = Run | Mapping[Any, Mapping[Any, Any]] | str | os.PathLike[str] | Tables
Measures = str | Measure | Iterable[str | Measure]
Cutoffs = int | Iterable[int | None] | None


def is_file(value: object) -> TypeGuard[str | os.PathLike[str]]:
    """Tell whether judgments or rankings are to be read from a path."""
    return isinstance(value, str | os.PathLike)


def as_qrels(
    qrels: Judgments, columns: Columns = None, marks: str | None = None, repeats: str = "error"
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


class Evaluation(NamedTuple):
    """Measures, settings, and what both read; the same for any number of runs.

    It pickles, and is made by `choose`, which rejects what can be rejected before reading anything.

    Attributes:
        plan: the measures.
        settings: how rankings are read.
        order_by, items, costs, threads, columns: as in `irbatch.evaluate`.
        exclude: the documents to take out.
        in_order: whether rankings stand in it: their scores are not looked at then.
        repeated: rankings that a query has several of, of which the run has one.
        progress: as in `irbatch.evaluate`; workers are not sent it.
        watch: called with the places of queries in `Qrels`, and their matrix.
    """

    plan: Plan
    settings: Settings
    order_by: str = "score"
    items: Items | None = None
    costs: DocumentCosts | None = None
    threads: int | None = None
    columns: Columns = None
    exclude: QueryTable | None = None
    in_order: bool = False
    repeated: Sequence[Run] = ()
    progress: Progress | bool | None = None
    watch: Callable[[Positions, RelevanceMatrix], object] | None = None

    @classmethod
    def choose(
        cls, measures: Measures, cutoffs: Cutoffs = None, *, marks: bool = True, **options: Any
    ) -> Evaluation:
        """Return what `irbatch.evaluate` is asked for by these arguments; perhaps without `marks`.

        Raises:
            InputError: if there is no such measure, or an option has another value than it can
                have.
        """
        own = {name: options.pop(name) for name in Settings._fields if name in options}
        settings = Settings.choose(**own)
        known = {"items": options.get("items") is not None, "marks": marks}
        plan = plan_of(parse_measures(measures, cutoffs), settings.open_parameters(), **known)
        asked = cls(plan, settings, **options)
        check_choice("order_by", asked.order_by, ORDERS)
        if asked.columns is not None:
            from irbatch.data.column_names import check_columns

            check_columns(asked.columns)
        check_threads(asked.threads)
        if asked.costs is not None:
            asked = asked._replace(costs=_read_costs(asked.costs, settings.ties, plan.marks))
        if asked.exclude is not None:
            from irbatch.data.items import read_seen  # for those who leave out what was seen

            asked = asked._replace(exclude=read_seen(asked.exclude))
        return asked

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, whatever they read."""
        return self.plan.measures

    @property
    def order(self) -> str:
        """What the order of rankings comes from, for the signature."""
        by_score = self.settings.ordering.describe(self.order_by)
        order = "as given" if self.in_order else by_score
        if (seen := self.exclude) is None:
            return order
        return f"{order}, without {len(seen.documents)} excluded of {many(len(seen), 'query')}"

    def signature(self) -> dict[str, str]:
        """Name every setting that shapes the numbers."""
        items = self.items.arrays if self.items is not None and self.plan.of_items else None
        return self.settings.signature(self.order, items=items, costs=self.costs)

    def judgments(self, qrels: Judgments) -> Qrels:
        """Return judgments as the measures read them, whatever they come as."""
        return as_qrels(qrels, self.columns, self.plan.marks, self.settings.repeats)

    def check_unjudged(self) -> None:
        """Reject measures that read judgments, where there are none."""
        for measure in self.measures:
            declaration = measure.declaration
            if declaration.reads != "items" or "rel" in declaration.parameters:
                problem = f"{measure} reads judgments, and there are none: None is given"
                raise InputError(problem, source="qrels")

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

    @contextmanager
    def opened(self, run: Rankings) -> Iterator[tuple[TableReader | Run, Progress | None]]:
        """Open a file that can be evaluated as it is read, or read rankings whole.

        Also give what tells how far the work is.
        """
        name = run.name if isinstance(run, Run) else run if is_file(run) else None
        read_whole = self.exclude is not None or self.costs is not None or self.plan.of_items
        with progress_on_bar(str(name or "evaluating"), self.progress) as tell:
            if read_whole or not is_file(run):
                yield self.rankings(run), tell
                return
            from irbatch.formats.files import open_run

            with open_run(run, self.order_by, self.run_columns, tell) as reader:
                yield reader, tell


def _read_costs(costs: Any, ties: str, marks: str | None) -> DocumentCosts:
    """Return costs; reject them beside what leaves open, or takes no part in, who costs what.

    `marks` are what measures read of judgments besides grades.
    """
    from irbatch.data.items import DocumentCosts  # for those who have costs

    if not TiePolicy(ties).by_key:
        decided = ", ".join(policy for policy in TiePolicy if policy.by_key)
        problem = f"{keyword('ties', ties)} leaves open in which order documents cost; give one of"
        raise InputError(f"{problem} {decided}", source="ties", value=ties)
    if marks is not None:
        raise InputError(f"no measure of {marks} reads costs", source="costs", value=costs)
    return costs if isinstance(costs, DocumentCosts) else DocumentCosts(costs)
