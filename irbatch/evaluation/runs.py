"""The public verbs: from judgments and a system's rankings to results."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt

from irbatch.data.exports import Tabular
from irbatch.data.marked import MarkedQrels
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.errors import InputError
from irbatch.evaluation.marked import evaluate_marked, judgments_read
from irbatch.evaluation.pipeline import Watch, evaluate_run
from irbatch.evaluation.results import Results
from irbatch.evaluation.settings import EvaluateOptions, Progress, Settings
from irbatch.evaluation.system_names import name_systems
from irbatch.formats import (
    MARKED_QRELS,
    is_file,
    open_run,
    read_marked_qrels,
    read_qrels,
    read_run,
)
from irbatch.measures import MARKED, Measure, Plan, parse_measures

if TYPE_CHECKING:
    from irbatch.data.costs import DocumentCosts
    from irbatch.data.items import ItemStatistics
    from irbatch.formats.table_reader import TableReader

Tables = Tabular | npt.NDArray[np.void]
Judgments = Qrels | MarkedQrels | Mapping[Any, Mapping[Any, Any]] | str | os.PathLike[str] | Tables
Rankings = Run | Mapping[Any, Mapping[Any, Any]] | str | os.PathLike[str] | Tables
Measures = str | Measure | Iterable[str | Measure]
Cutoffs = int | Iterable[int | None] | None


def evaluate(
    qrels: Judgments,
    run: Rankings,
    measures: Measures,
    cutoffs: Cutoffs = None,
    *,
    missing: str | None = None,
    no_relevant: str = "zero",
    judged_only: bool = False,
    score_dtype: str | None = None,
    ties: str = "id",
    rel: float | None = None,
    max_depth: int | None = None,
    trec_eval: str | int | None = None,
    order_by: str = "score",
    items: ItemStatistics | None = None,
    costs: DocumentCosts | Mapping[Any, float] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Results:
    """Evaluate one system.

    Queries are joined by id. Documents are ordered by score, ties by document id, both
    descending. A document is relevant when its grade is at least 1, or a measure's ``rel``.

    Args:
        qrels: `Qrels`, query to document to grade, the path of a TREC qrels file, or a table as
            `Qrels.from_table` takes it, such as a frame, whose columns have known names; for
            measures that read more than grades `SubtopicQrels`, `StratumQrels` or
            `ProbabilityQrels`, or what these and their `from_table` take, or the path of such a
            file.
        run: `Run`, query to document to score, the path of a TREC run file, or a table.
        measures: names such as ``"nDCG@10"``, ``"P@{1,5,10}"``, ``"AP(rel=2)"``, or other
            tools' names; or `Measure` objects.
        cutoffs: one or several, applied to every measure given without one; None among them
            stands for full depth.
        missing: what a judged query that is missing from the run does: score ``"zero"`` (the
            default), be left out (``"skip"``), or be an ``"error"``.
        no_relevant: what a query without relevant documents does: score ``"zero"``, or be left
            out of a measure's mean (``"skip"``).
        judged_only: remove documents without a grade >= 0 from the rankings first.
        score_dtype: precision in which scores are compared, ``"float64"`` (the default) or
            ``"float32"``.
        ties: what becomes of documents that share a score: ``"id"`` orders them by id,
            descending, as trec_eval does, ``"id_ascending"`` the other way round, ``"index"`` as
            they came; ``"expected"`` is the expected value over all orders, ``"pessimistic"`` and
            ``"optimistic"`` put lower and higher grades first; ``"error"`` refuses ties of
            different grades.
        rel: the least relevant grade for measures without a ``rel`` of their own; default 1.
            Measures of gain don't look at it, as with trec_eval's ``-l``.
        max_depth: leave out documents beyond this rank, as trec_eval's ``-M``.
        trec_eval: be as version ``"9"`` (9.0.8, also pytrec_eval) or ``"10"`` in all that is not
            said otherwise. 9 compares scores as float32, leaves missing queries out, and rounds
            the recall points of `IPrec` up; 10 compares as float64 and refuses missing queries.
            Either averages all queries with ``missing="zero"``, its ``-c``.
        order_by: what orders the documents of a run file that has both, ``"score"`` or ``"rank"``.
        items: what is known of documents, for measures that read items.
        costs: what documents cost those who look at them, for measures of users who go by it, such
            as TBG; default: 1 each. They are looked up for each document of every ranking, of
            which a large run file is read whole. `DocumentCosts`, or document to cost.
        threads: how many threads scan; default: as many as the work is worth.
        progress: called with how much is done and how much there is: bytes of a large run file,
            queries of anything else.

    Raises:
        InputError: if something has no defined result, naming query, document, line and value.

    >>> qrels = {"q1": {"d1": 2, "d2": 1}, "q2": {"d3": 1}}
    >>> run = {"q1": {"d2": 0.9, "d1": 0.8}, "q2": {"d4": 0.7, "d3": 0.6}}
    >>> evaluate(qrels, run, ["nDCG@10", "P@{1,2}"]).mean()
    {'nDCG@10': 0.7453242267118274, 'P@1': 0.5, 'P@2': 0.75}
    """
    settings = Settings.choose(
        trec_eval=trec_eval,
        missing=missing,
        score_dtype=score_dtype,
        no_relevant=no_relevant,
        judged_only=judged_only,
        ties=ties,
        rel=rel,
        max_depth=max_depth,
    )
    wanted = parse_measures(measures, cutoffs)
    order = settings.ordering.describe(order_by)
    known = None
    if costs is not None:
        from irbatch.evaluation.costs import read_costs  # for those who have costs

        known = read_costs(costs, ties, judgments_read(wanted))

    def evaluate_by(judged: Qrels, plan: Plan, watch: Watch | None = None) -> Results:
        opening: AbstractContextManager[TableReader | Run]
        if is_file(run):
            opening = open_run(run, order_by, progress)
        elif order_by == "score":
            opening = nullcontext(as_run(run))
        else:
            problem = "order_by= is for files, which have ranks and scores"
            raise InputError(problem, value=order_by)
        with opening as opened:
            if (plan.of_items or known) and not isinstance(opened, Run):
                opened = Run(opened.table(), opened.name)
            return evaluate_run(
                plan, judged, opened, settings, order, threads, progress,
                watch=watch, items=items, costs=known,
            )  # fmt: skip

    if reads := judgments_read(wanted):
        nothing = Plan(())
        return evaluate_marked(
            as_marked_qrels(qrels, reads), wanted, settings,
            lambda judged, watch: evaluate_by(judged, nothing, watch),
        )  # fmt: skip
    plan = Plan(wanted, settings.open_parameters(), items=items is not None)
    return evaluate_by(as_qrels(qrels), plan)


def evaluate_runs(
    qrels: Judgments,
    runs: Mapping[str, Rankings] | Iterable[Rankings],
    measures: Measures,
    cutoffs: Cutoffs = None,
    **settings: Unpack[EvaluateOptions],
) -> dict[str, Results]:
    """Return the results of several systems, by name; the judgments are prepared once.

    Args:
        runs: system name to rankings, or rankings that bring their names: paths (their stems are
            the names) or named `Run` objects.
        qrels, measures, cutoffs, **settings: as in `evaluate`.

    Raises:
        InputError: as `evaluate`, and if a system has no name or two have the same.

    >>> qrels = {"q1": {"d1": 1}}
    >>> runs = {"good": {"q1": {"d1": 2, "d2": 1}}, "bad": {"q1": {"d1": 1, "d2": 2}}}
    >>> {name: results["RR"] for name, results in evaluate_runs(qrels, runs, "RR").items()}
    {'good': 1.0, 'bad': 0.5}
    """
    wanted = parse_measures(measures, cutoffs)
    reads = judgments_read(wanted)
    prepared = as_marked_qrels(qrels, reads) if reads else as_qrels(qrels)
    results = {}
    for name, run in name_systems(runs).items():
        named = Run(run, name) if isinstance(run, Mapping) else run
        results[name] = evaluate(prepared, named, wanted, **settings)
        results[name].name = name
    return results


def as_qrels(qrels: Judgments) -> Qrels:
    """Return judgments, whatever they come as."""
    if isinstance(qrels, Qrels):
        return qrels
    if isinstance(qrels, MarkedQrels):
        examples = {"subtopics": "alpha_nDCG", "strata": "xInfAP", "probabilities": "StatAP"}
        problem = f"judgments of {qrels.reads} are for measures that read them, such as"
        raise InputError(f"{problem} {examples[qrels.reads]}", source="qrels")
    if is_file(qrels):
        return read_qrels(qrels)
    if isinstance(qrels, Mapping):
        return Qrels(qrels, borrowed=True)
    if isinstance(qrels, Run):
        raise InputError("a Run is given where judgments belong: first qrels, then run")
    return Qrels.from_table(qrels)


def as_marked_qrels(qrels: Judgments, reads: str) -> MarkedQrels:
    """Return the judgments that measures read, which declare so, whatever they come as."""
    kind = MARKED_QRELS[reads]
    if isinstance(qrels, kind):
        return qrels
    if isinstance(qrels, Qrels | MarkedQrels | Run):
        problem = f"{type(qrels).__name__} have no {reads}, which the measures read"
        raise InputError(f"{problem}: give {MARKED[reads]}", source="qrels")
    if isinstance(qrels, str | os.PathLike):
        return read_marked_qrels(qrels, reads)
    if isinstance(qrels, Mapping) and all(isinstance(each, Mapping) for each in qrels.values()):
        return kind(qrels)
    return kind.from_table(qrels)


def as_run(run: Rankings, name: str | None = None) -> Run:
    """Return rankings, whatever they come as; `name` is for those that bring none."""
    if isinstance(run, Run):
        return run
    if is_file(run):
        return read_run(run)
    if isinstance(run, Qrels):
        raise InputError("Qrels are given where a run belongs: first qrels, then run")
    return Run(run, name) if isinstance(run, Mapping) else Run.from_table(run, name=name)
