"""The public verbs: from judgments and a system's rankings to results, or those of several."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, cast

from irbatch.data.runs import Run
from irbatch.errors import InputError, kind_of
from irbatch.evaluation.evaluation import Cutoffs, Evaluation, Judgments, Measures, Rankings
from irbatch.evaluation.pipeline import evaluate_run
from irbatch.evaluation.results import Results, SystemResults
from irbatch.evaluation.settings import EvaluateOptions, check_settings
from irbatch.runtime.progress import progress_on_bar

if TYPE_CHECKING:
    from concurrent.futures import Executor
__all__ = ["evaluate", "evaluate_runs"]

# What names of files end in that is no part of a system's name.
ENDINGS = ("gz", "bz2", "xz", "zst", "run", "txt", "trec", "tsv", "csv", "jsonl", "parquet")

System = TypeVar("System")


def evaluate(
    qrels: Judgments | None,
    run: Rankings | Sequence[Rankings],
    measures: Measures,
    cutoffs: Cutoffs = None,
    *,
    executor: Executor | int | None = None,
    **settings: Unpack[EvaluateOptions],
) -> Results:
    """Evaluate one system.

    Queries are joined by id. Documents are ordered by score, ties by document id, both
    descending. A document is relevant when its grade is at least 1, or a measure's ``rel``.

    Args:
        qrels: `Qrels`, query to document to grade, the path of a TREC qrels file, or a table as
            `Qrels.from_table` takes it, such as a frame, whose columns have known names; for
            measures that read more than grades `Qrels` with marks, or what these are made of. A
            table without a column of grades has grade 1. None, for measures of items that read no
            judgments, such as ``"Gini@10"``: all queries of the run are averaged then.
        run: `Run`, query to document to score, the path of a run file, a folder of files or a
            pattern of their names, or a table. One without scores, but with ranks, is taken in
            their order.
        measures: names such as ``"nDCG@10"``, ``"P@{1,5,10}"``, ``"AP(rel=2)"``, or other
            tools' names; or `Measure` objects.
        cutoffs: one or several, applied to every measure given without one; None among them
            stands for full depth.
        missing: what a judged query that is missing from the run does: score ``"zero"`` (the
            default), be left out (``"skip"``), or be an ``"error"``.
        no_relevant: what a query without relevant documents does: score ``"zero"``, or be left
            out of a measure's mean (``"skip"``).
        judged_only: remove documents without a grade >= 0 from the rankings first.
        score_dtype: precision in which scores are compared, ``"float64"`` (the default), in which
            whole numbers beyond 2^53 may tie, or ``"float32"``, as trec_eval 9 does, in which
            all beyond 3.4e38 tie.
        ties: what becomes of documents that share a score: ``"id"`` orders them by id,
            descending, as trec_eval does, ``"id_ascending"`` the other way round, ``"index"`` as
            they came; ``"expected"`` is the expected value over all orders, ``"pessimistic"`` and
            ``"optimistic"`` put lower and higher grades first; ``"error"`` rejects ties of
            different grades.
        rel: the least relevant grade for measures without a ``rel`` of their own; default 1.
            Measures of gain don't look at it, as with trec_eval's ``-l``.
        max_depth: leave out documents beyond this rank, as trec_eval's ``-M``.
        trec_eval: be as version ``"9"`` (9.0.8, also pytrec_eval) or ``"10"`` in all that is not
            said otherwise. 9 compares scores as float32, leaves missing queries out, and rounds
            the recall points of `IPrec` up; 10 compares as float64 and rejects missing queries.
            Either averages all queries with ``missing="zero"``, its ``-c``.
        order_by: what orders the documents of a run file, or of a table, that has both,
            ``"score"`` or ``"rank"``.
        columns: role to the name of the column, where names of a table, or of a file's header, keys
            or Parquet, are not known: ``query`` or ``user``, ``document`` or ``item``; of judgments
            ``grade``, ``relevance`` or ``rating``, ``subtopic``, ``stratum``, ``probability``; of
            runs ``score``, ``rank``. A name is that of judgments and runs;
            ``{"qrels": {…}, "run": {…}}`` names theirs apart. A number is the grade of all.
        exclude: documents to take out of rankings first, such as what users have seen: a mapping
            of queries to documents, a table with columns such as ``user_id`` and ``item_id``,
            `Qrels`, or a sparse matrix. A large run file is read whole then.
        repeats: what becomes of a document that a table or file judges repeatedly for a query: an
            ``"error"`` (the default), or one judgment, whose grade is the ``"first"``, the largest
            (``"max"``) or their ``"sum"``.
        items: what is known of documents, for measures that read items.
        costs: what documents cost those who look at them, for measures of users who go by it, such
            as TBG; default: 1 each. They are looked up for each document of every ranking, of
            which a large run file is read whole. `DocumentCosts`, or document to cost.
        threads: how many threads scan; default: as many as the work is worth.
        progress: True shows a bar of rich (``irbatch[cli]``) on standard error or in a notebook,
            from the first second on; a function is called with how much is done and how much there
            is: bytes of a large run file, partitions of a run that comes in several, queries of
            anything else.
        executor: what evaluates the partitions of a run, several at once and each with one thread:
            a `concurrent.futures.Executor` of threads or processes, on this machine or others, as
            of Dask, MPI and Ray; or a number of processes to start. Judgments are sent once to
            each of these, and with every partition to an executor of processes. The run is a list
            of partitions (paths, mappings, tables, `Run`s), a folder or a pattern such as
            ``"runs/*.parquet"``. Queries that stand in several partitions are found, and evaluated
            whole.

    Raises:
        InputError: if something has no defined result, naming query, document, line and value.
        ChildProcessError: if a process of the executor was killed; of a number of processes, if
            that happened twice over the same partition.

    >>> qrels = {"q1": {"d1": 2, "d2": 1}, "q2": {"d3": 1}}
    >>> run = {"q1": {"d2": 0.9, "d1": 0.8}, "q2": {"d4": 0.7, "d3": 0.6}}
    >>> evaluate(qrels, run, ["nDCG@10", "P@{1,2}"]).mean()
    {'nDCG@10': 0.7453242267118274, 'P@1': 0.5, 'P@2': 0.75}
    """
    check_settings(evaluate, settings)
    evaluation = Evaluation.choose(measures, cutoffs, **settings)
    several = isinstance(run, list | tuple)
    if executor is not None or several:
        from irbatch.evaluation.executors import are_partitions, evaluate_partitions

        if qrels is None:
            raise InputError("partitions need judgments, not None", source="qrels")
        if not several or are_partitions(run):
            return evaluate_partitions(evaluation, qrels, run, executor)
    return evaluate_run(evaluation, qrels, cast(Rankings, run))


def evaluate_runs(
    qrels: Judgments,
    runs: Mapping[str, Rankings] | Iterable[Rankings],
    measures: Measures,
    cutoffs: Cutoffs = None,
    *,
    executor: Executor | int | None = None,
    **settings: Unpack[EvaluateOptions],
) -> SystemResults:
    """Return the results of several systems, by name; the judgments are prepared once.

    What comes back is a dict and a table: printed as one, or written for a page or a paper.

    Args:
        runs: system name to rankings, or rankings that bring their names: paths (their stems are
            the names) or named `Run` objects.
        qrels, measures, cutoffs, **settings: as in `evaluate`.
        executor: as there; each system is evaluated by one worker.

    Raises:
        InputError: as `evaluate`, and if a system has no name or two have the same.

    >>> qrels = {"q1": {"d1": 1}}
    >>> runs = {"good": {"q1": {"d1": 2, "d2": 1}}, "bad": {"q1": {"d1": 1, "d2": 2}}}
    >>> {name: results["RR"] for name, results in evaluate_runs(qrels, runs, "RR").items()}
    {'good': 1.0, 'bad': 0.5}
    """
    check_settings(evaluate_runs, settings)
    evaluation = Evaluation.choose(measures, cutoffs, **settings)
    prepared = evaluation.judgments(qrels)
    named = {
        name: Run(run, name) if isinstance(run, Mapping) else run
        for name, run in name_systems(runs).items()
    }
    if executor is None:
        results = {name: evaluate_run(evaluation, prepared, run) for name, run in named.items()}
    else:
        from irbatch.evaluation.executors import run_tasks
        from irbatch.evaluation.partial import evaluate_part

        common = evaluation._replace(progress=None), prepared
        with progress_on_bar("systems", evaluation.progress) as tell:
            pairs = [(run, name) for name, run in named.items()]
            parts = run_tasks(executor, common, evaluate_part, pairs, tell)
        results = {part.name: part.results(prepared, name=part.name) for part in parts}
    for name, system in results.items():
        system.name = name
    return SystemResults(results)


def name_systems(
    systems: Mapping[str, System] | Iterable[System], what: str = "run"
) -> dict[str, System]:
    """Return what comes from several systems by the systems' names.

    Mappings have them; runs and results bring theirs; paths give theirs. One without a name, or two
    of the same, are rejected; messages call them `what`.
    """
    if isinstance(systems, Mapping):
        return dict(systems)
    is_one = isinstance(systems, str | os.PathLike | Run) or hasattr(systems, "counts")
    if is_one or not isinstance(systems, Iterable):
        forms = f"in a list or a mapping of names to {what}s"
        hint = "; of one run see evaluate" if what == "run" else ""
        raise InputError(f"{what}s are several, {forms}, not as {kind_of(systems)}{hint}")
    listed: list[Any] = list(systems)
    short_names = list(map(_short_name, listed))
    counts = Counter(short_names)
    by_name: dict[str, System] = {}
    for system, name in zip(listed, short_names, strict=True):
        if counts[name] > 1 and isinstance(system, str | os.PathLike):
            name = os.fspath(system)
        if not name or name in by_name:
            problem = f"two {what}s are called {name!r}" if name else f"a {what} has no name"
            advice = f"systems need different names: give a mapping of names to {what}s"
            raise InputError(f"{problem}; {advice}", source=what)
        by_name[name] = system
    return by_name


def _short_name(system: Any) -> str:
    """Return a system's own name, or that of its file without the endings of archives and runs."""
    if not isinstance(system, str | os.PathLike):
        return getattr(system, "name", None) or ""
    from irbatch.formats.files import is_pattern

    path = os.fspath(system)
    if is_pattern(path):
        return path
    parts = os.path.basename(path.rstrip("/")).split(".")  # noqa: PTH119 - pathlib takes 5 ms to import
    while len(parts) > 1 and parts[-1] in ENDINGS:
        parts.pop()
    return ".".join(parts)
