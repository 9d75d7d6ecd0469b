"""What a part of the queries comes to, as a value that adds up: in any order, to the same bits."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from irbatch.array_types import Bools
from irbatch.data.ids import NO_HASHES, IdHashes, hash_ids, same_kind
from irbatch.data.marked import MarkedQrels
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.errors import InputError, kind_of, many, shown, warn_all, warnings_kept
from irbatch.evaluation.accumulator import (
    Addition,
    QueryValues,
    Sums,
    empty_kept,
    items_of_run,
    write_items,
)
from irbatch.evaluation.evaluation import Cutoffs, Evaluation, Judgments, Measures, Rankings
from irbatch.evaluation.queries import (
    Counts,
    Partition,
    Queries,
    QueryMark,
    best_without,
    check_answered,
    count_queries,
    warn_of_best,
    warn_of_empty,
    warn_of_unjudged,
)
from irbatch.evaluation.results import Means, Results, nothing_relevant
from irbatch.evaluation.settings import EvaluateOptions, check_settings
from irbatch.evaluation.states import (
    ARRAYS,
    FORMAT,
    Findings,
    by_id,
    first_ids,
    read_arrow,
    read_json,
    read_partial,
    write_arrow,
    write_hashes,
    write_json,
)
from irbatch.runtime.numbers import check_choice
from irbatch.runtime.progress import Progress

if TYPE_CHECKING:
    from irbatch.data.items import ItemStatistics


def add_absent(
    evaluation: Evaluation,
    kept: QueryValues | Sums,
    hashes: IdHashes,
    findings: Findings,
    judgments: Qrels | MarkedQrels,
) -> tuple[QueryValues | Sums, Findings]:
    """Add the judged queries that no partition answered, as ``missing=`` says; and count them."""
    rows = np.flatnonzero(~_find(judgments.queries, kept, hashes))
    absent = [judgments.queries[row] for row in rows.tolist()]
    samples = {"judged": first_ids(judgments.queries), "missing": first_ids(absent)}
    findings = replace(findings, judged=len(judgments), samples={**findings.samples, **samples})
    if not absent or evaluation.settings.missing != "zero":
        return kept, findings
    # Without rankings it makes no difference what orders documents, or what they cost.
    plain = replace(evaluation, order_by="score", costs=None)
    found = plain.evaluate(judgments, Run({}), None, Partition(absent=rows))
    best = best_without(found.columns, found.values, found.marks)
    ids = found.query_ids if isinstance(kept, QueryValues) else None
    kept = kept.added([Addition(ids, found)])
    return kept, replace(findings, best=(*findings.best, *best))


def _find(queries: list[Any], kept: QueryValues | Sums, hashes: IdHashes) -> Bools:
    """Tell which of the judged queries partitions have answered."""
    if isinstance(kept, Sums):
        there = np.isin(hash_ids(queries), hashes)
    else:
        there = kept.rows_of(queries) >= 0
    if np.count_nonzero(there) != len(kept):
        problem = f"only {np.count_nonzero(there)} of its {len(kept)} queries are judged"
        raise InputError(problem, source="partial")
    return there


def finish(
    evaluation: Evaluation,
    kept: QueryValues | Sums,
    findings: Findings,
    settings: dict[str, str],
    order: list[Any] | None,
    name: str | None,
) -> Results | Means:
    """Return results in an order of queries, None for that of their ids; say what there is to say.

    `kept` has every query that is averaged.
    """
    extra = findings.extra if isinstance(findings.extra, int) else findings.extra.size
    if isinstance(kept, Sums):
        results: Results | Means = kept.results(settings)
        results.counts = _counts(results.counts, findings.judged, extra)
    else:
        results = _results(kept, findings.judged, extra, settings, order)
    results.name = name
    counts = results.counts
    samples = {each: findings.samples.get(each, ()) for each in ("judged", "missing", "answered")}
    judged, missing, answered = samples.values()
    check_answered(
        Queries(counts.judged, judged), Queries(counts.missing, missing),
        Queries(counts.answered + extra, answered), evaluation.settings.missing, name,
    )  # fmt: skip
    warn_all((*findings.warnings, *nothing_relevant(results)))
    found: Collection[str] = findings.best
    if isinstance(results, Results):  # of what is kept now: some queries may have been left out
        found = best_without(results.columns, results.values, results.marks)
    warn_of_best([each for each in map(str, evaluation.measures) if each in found])
    warn_of_empty(counts, evaluation.settings, name)
    if not findings.any_judged:
        documents = findings.samples.get("document", ())
        warn_of_unjudged(next(iter(documents), None), counts.answered, name)
    return results


def _counts(counts: Counts, judged: int, extra: int) -> Counts:
    """Complete the counts of queries that are averaged."""
    return replace(counts, judged=judged, missing=judged - counts.answered, extra=extra)


def _results(
    kept: QueryValues, judged: int, extra: int, settings: dict[str, str], order: list[Any] | None
) -> Results:
    """Return what is kept as results, in order."""
    ids, (values, marks, items) = kept.everything()
    rows = kept.rows_of(sorted(ids, key=by_id) if order is None else order)
    rows = rows[rows >= 0]
    values, marks = values[rows], marks[rows]
    if items is not None:
        items = items.take(rows.tolist())
    queries = [ids[row] for row in rows.tolist()]
    counts = count_queries(marks, judged, extra)
    return Results(values, queries, kept.measures, counts, settings, None, marks, items)


ADDING_UP = ("measures", "settings", "keep", "apart", "judgments")


class PartialResult:
    """What a partition of the queries comes to: values by query, or exact sums.

    Made by `irbatch.evaluate_partition`. Partial results add up, with `merge`, ``+`` or ``sum()``,
    in any order and grouping, on any machine; what `results` returns of the sum is, to the bits,
    what `irbatch.evaluate` returns of everything in one process. They pickle, and go through JSON
    and Arrow.

    Attributes:
        settings: every setting that shaped the numbers, by name.
        keep: ``"queries"`` or ``"sums"``.
        apart: whether each partition had the judgments of its queries alone.
        name: what messages call the partition; None of a sum.

    >>> import irbatch
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}, "q3": {"d3": 1}}
    >>> one = irbatch.evaluate_partition(qrels, {"q1": {"d1": 1.0}}, "RR")
    >>> other = irbatch.evaluate_partition(qrels, {"q2": {"d1": 2.0, "d2": 1.0}}, "RR")
    >>> (one + other).results(qrels).per_query("RR")
    {'q1': 1.0, 'q2': 0.5, 'q3': 0.0}
    """

    def __init__(
        self,
        evaluation: Evaluation,
        kept: QueryValues | Sums,
        findings: Findings,
        *,
        judgments: str | None,
        hashes: IdHashes = NO_HASHES,
        name: str | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self._evaluation, self.kept, self.findings = evaluation, kept, findings
        self.settings = evaluation.signature() if settings is None else dict(settings)
        self.name = name
        self.judgments = judgments  # tells them apart; None where each partition has its own
        self.hashes = hashes  # of the queries of sums, ascending; none where partitions are apart

    @property
    def measures(self) -> list[str]:
        """Canonical names."""
        return [str(each) for each in self._evaluation.measures]

    @property
    def keep(self) -> str:
        """What is kept: values of ``"queries"``, or ``"sums"``."""
        return "sums" if isinstance(self.kept, Sums) else "queries"

    @property
    def apart(self) -> bool:
        """Whether each partition had the judgments of its queries alone."""
        return self.judgments is None

    @property
    def options(self) -> dict[str, Any]:
        """The settings as `irbatch.evaluate` takes them."""
        return {**asdict(self._evaluation.settings), "order_by": self._evaluation.order_by}

    def __len__(self) -> int:
        return len(self.kept)

    def __repr__(self) -> str:
        named = f" of {self.name!r}" if self.name else ""
        return f"<PartialResult{named}: {many(len(self), 'query')}, {' '.join(self.measures)}>"

    def merge(self, *others: PartialResult) -> PartialResult:
        """Return the sum of this and others; none of them changes.

        Raises:
            InputError: if one is of other measures, settings or judgments, or two have the same
                query.
        """
        return merge_partials([self, *others])

    def __add__(self, other: object) -> PartialResult:
        return self.merge(other) if isinstance(other, PartialResult) else NotImplemented

    def __radd__(self, other: object) -> PartialResult:
        # sum() begins with 0
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def results(
        self,
        qrels: Judgments | None = None,
        *,
        name: str | None = None,
        items: ItemStatistics | None = None,
    ) -> Results | Means:
        """Return the results of everything: `Results`, or `Means` of ``keep="sums"``.

        What partitions could not know is settled here: queries of the judgments that none of them
        answered, as ``missing=`` says; and warnings, each of which is issued once.

        Args:
            qrels: the judgments that the partitions were evaluated with; none for ``apart=True``,
                where each had its own.
            name: what to call the system.
            items: what is known of documents, where measures read that.

        Raises:
            InputError: if judgments are others, if no query is judged, or a judged one is missing
                with ``missing="error"``.
        """
        evaluation, kept, findings, order = self._evaluation, self.kept, self.findings, None
        if items is not None:
            evaluation = replace(evaluation, items=items)
        if not self.apart:
            if qrels is None:
                problem = "give the judgments that partitions were evaluated with"
                raise InputError(problem, source="qrels")
            judgments = evaluation.judgments(qrels)
            if judgments.fingerprint != self.judgments:
                problem = "these are other judgments than those that the partitions were "
                problem += "evaluated with"
                raise InputError(problem, source="qrels")
            kept, findings = add_absent(evaluation, kept, self.hashes, findings, judgments)
            order = judgments.queries
        elif qrels is not None:
            problem = "each partition had its own judgments (apart=True): there are none to add"
            raise InputError(problem, source="qrels")
        return finish(evaluation, kept, findings, self.settings, order, name)

    def state_dict(self) -> dict[str, Any]:
        """Return everything in numbers, texts and lists, which `from_state` reads."""
        known = self.kept.known
        state = self.kept.state()
        rest = {
            "format": FORMAT,
            "measures": self.measures,
            "keep": self.keep,
            "options": self.options,
            "settings": self.settings,
            "name": self.name,
            "judgments": self.judgments,
            **self.findings.state(),
        }
        if self.keep == "sums":
            rest["hashes"] = write_hashes(self.hashes)
        arrays = {key: state[key] for key in ARRAYS[self.keep]}
        items = {} if known is None else {"items": write_items(known, state["items"])}
        lists = {
            n: each.tolist() if hasattr(each, "tolist") else each for n, each in arrays.items()
        }
        return {**rest, **lists, **items}

    @classmethod
    def from_state(
        cls, state: Mapping[str, Any], *, items: ItemStatistics | None = None
    ) -> PartialResult:
        """Return the partial result that `state_dict` returned the state of.

        Args:
            state: see `state_dict`; values by query may be an array.
            items: what is known of documents, where measures of the whole run read that.

        Raises:
            InputError: if it is the state of something else, naming the key.
        """
        return cls(**read_partial(state, items))

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """Return, or also write, the state as JSON; NaN becomes null."""
        return write_json(self.state_dict(), path)

    @classmethod
    def from_json(cls, text: str, *, items: ItemStatistics | None = None) -> PartialResult:
        """Return what `to_json` wrote; `items` and errors as in `from_state`."""
        return cls.from_state(read_json(text), items=items)

    def to_arrow(self) -> Any:
        """Return a pyarrow table: a row a query; its schema's metadata say everything else.

        Columns are ``query_id``, one float64 column a measure (NaN where a query is not averaged),
        weights of weighted means as ``weight of …``, ``marks``, and ``items`` where measures of
        the whole run read them. Sums have no rows.

        Raises:
            ImportError: naming the extra, when pyarrow is not installed.
        """
        ids, rows = self.kept.everything() if isinstance(self.kept, QueryValues) else ([], None)
        return write_arrow(self.state_dict(), self._evaluation.measures, ids, rows)

    @classmethod
    def from_arrow(cls, table: Any, *, items: ItemStatistics | None = None) -> PartialResult:
        """Return what `to_arrow` made a table of; `items` and errors as in `from_state`."""
        return cls.from_state(read_arrow(table), items=items)

    def queries(self) -> list[Any]:
        """List the queries whose values are kept."""
        return self.kept.everything()[0] if isinstance(self.kept, QueryValues) else []

    def without(self, queries: Collection[Any]) -> PartialResult:
        """Return what there is of other queries; those left out are evaluated elsewhere, whole."""
        if not isinstance(self.kept, QueryValues):
            raise InputError("sums cannot tell queries apart", source="partial")
        given = self._evaluation, self.kept.without(queries), self.findings
        stays: dict[str, Any] = {"judgments": self.judgments, "settings": self.settings}
        return PartialResult(*given, name=self.name, **stays)

    def _added(self, other: PartialResult) -> PartialResult:
        self._check(other)
        findings = self.findings.joined(other.findings)
        same_kind(findings.samples.get("answered", ()), "query", "run")
        kept, hashes = self.kept, self.hashes
        if isinstance(kept, Sums):
            kept = kept.with_state(other.kept.state())
            hashes = np.concatenate([hashes, other.hashes])
            hashes.sort(kind="stable")
            if (hashes[1:] == hashes[:-1]).any():
                raise self._overlap(other)
        elif len(other) and isinstance(other.kept, QueryValues):
            ids, rows = other.kept.everything()
            if (twice := np.flatnonzero(kept.rows_of(ids) >= 0)).size:
                raise self._overlap(other, ids[twice[0]])
            kept = kept.added([Addition(ids, rows)])
        given = self._evaluation, kept, findings
        stays: dict[str, Any] = {"judgments": self.judgments, "settings": self.settings}
        return PartialResult(*given, hashes=hashes, **stays)

    def _check(self, other: PartialResult) -> None:
        """Refuse what doesn't add up with this."""
        for what in ADDING_UP:
            mine, theirs = getattr(self, what), getattr(other, what)
            if mine == theirs:
                continue
            if what == "settings":
                name = next(n for n in {**mine, **theirs} if mine.get(n) != theirs.get(n))
                what, mine, theirs = name, mine.get(name), theirs.get(name)
            called = f" {other.name!r}" if other.name else ""
            problem = (
                f"partial result{called}: {what} is {shown(theirs)}, and {shown(mine)} of others"
            )
            raise InputError(problem, source="partial", value=theirs)

    def _overlap(self, other: PartialResult, query: Any = None) -> InputError:
        names = [each.name for each in (self, other) if each.name]
        where = f" ({' and '.join(map(repr, names))})" if names else ""
        which = "it is" if query is not None else "a query is"
        problem = f"{which} in two partitions{where}: each is to have whole rankings"
        return InputError(problem, source="partial", query=query)


def merge_partials(partials: Iterable[PartialResult] | PartialResult) -> PartialResult:
    """Return the sum of partial results, at least one, in any order; of a single one, it alone.

    Raises:
        InputError: as `PartialResult.merge`, and if there are none.

    >>> import irbatch
    >>> qrels = {f"q{i}": {"d1": 1} for i in range(4)}
    >>> parts = [irbatch.evaluate_partition(qrels, {q: {"d1": 1.0}}, "RR") for q in ("q1", "q3")]
    >>> merge_partials(parts).results(qrels)["RR"]
    0.5
    """
    total = None
    for each in (partials,) if isinstance(partials, PartialResult) else partials:
        if not isinstance(each, PartialResult):
            raise InputError(f"{kind_of(each)} is no PartialResult", source="partial")
        total = each if total is None else total._added(each)
    if total is None:
        raise InputError("there are no partial results", source="partial")
    return total


@dataclass(frozen=True, eq=False)
class PartitionTask:
    """What is asked of every partition; `choose` makes it. It pickles.

    Args:
        evaluation: measures, settings, and what both read.
        keep: ``"queries"`` or ``"sums"``.
        apart: whether each partition comes with the judgments of its queries alone.
    """

    evaluation: Evaluation
    keep: str = "queries"
    apart: bool = False

    @classmethod
    def choose(
        cls,
        measures: Measures,
        cutoffs: Cutoffs = None,
        *,
        keep: str = "queries",
        apart: bool = False,
        **settings: Any,
    ) -> PartitionTask:
        """Return the task; refuse what can be refused before anything is read.

        Args:
            measures, cutoffs, keep, apart, **settings: see `irbatch.evaluate_partition`.

        Raises:
            InputError: if there is no such measure, or an option has another value than it can
                have.
        """
        check_choice("keep", keep, tuple(ARRAYS))
        return cls(Evaluation.choose(measures, cutoffs, **settings), keep, bool(apart))

    def judgments(self, qrels: Judgments) -> Qrels | MarkedQrels:
        """Return judgments as the measures read them, whatever they come as; they pickle."""
        return self.evaluation.judgments(qrels)

    def partial(
        self,
        qrels: Judgments | None,
        run: Rankings,
        name: str | None = None,
        progress: Progress | bool | None = None,
    ) -> PartialResult:
        """Return what a partition comes to, see `irbatch.evaluate_partition`."""
        partition = Partition(self.apart)
        if qrels is None or (self.apart and isinstance(qrels, Mapping) and not qrels):
            return self._unjudged(run, name)
        judgments = self.judgments(qrels)
        with warnings_kept() as caught:
            found = self.evaluation.evaluate(judgments, run, progress, partition)
        answered, known = partition.answered, set(found.query_ids)
        samples = {"answered": first_ids(answered)}
        if partition.document is not None:
            samples["document"] = (partition.document,)
        extra: IdHashes | int = found.counts.extra
        if self.apart:
            absent = QueryMark.MISSING.holds(found.marks).tolist()
            missing = itertools.compress(found.query_ids, absent)
            samples |= {"judged": first_ids(judgments.queries), "missing": first_ids(missing)}
        else:
            extra = np.unique(hash_ids(each for each in answered if each not in known))
        findings = Findings(
            extra,
            len(judgments) if self.apart else 0,
            partition.any_judged,
            tuple(best_without(found.columns, found.values, found.marks)),
            samples,
            tuple(caught),
        )
        kept, hashes = self._kept(found)
        by = None if self.apart else judgments.fingerprint
        given = self.evaluation, kept, findings
        return PartialResult(*given, judgments=by, hashes=hashes, name=name)

    def partial_of_rankings(self, qrels: Judgments, rankings: dict[Any, Any]) -> PartialResult:
        """Return what whole rankings come to, which were read before."""
        read = replace(self, evaluation=replace(self.evaluation, order_by="score"))
        part = read.partial(qrels, Run(rankings))
        given = self.evaluation, part.kept, part.findings
        return PartialResult(*given, judgments=part.judgments, hashes=part.hashes)

    def _unjudged(self, run: Rankings, name: str | None) -> PartialResult:
        """Return what queries come to that are not judged."""
        if not self.apart:
            raise InputError("None are no judgments, but for apart=True", source="qrels")
        with warnings_kept() as caught:
            queries = self.evaluation.rankings(run).queries
        samples = {"answered": first_ids(queries)}
        findings = Findings(len(queries), samples=samples, warnings=tuple(caught))
        given = self.evaluation, self._empty_kept(), findings
        return PartialResult(*given, judgments=None, name=name)

    def _empty_kept(self) -> QueryValues | Sums:
        measures = self.evaluation.measures
        return empty_kept(self.keep, measures, items_of_run(measures, self.evaluation.items))

    def _kept(self, found: Results) -> tuple[QueryValues | Sums, IdHashes]:
        """Keep of results what is to be kept, and the hashes of the queries of sums."""
        kept, hashes = self._empty_kept(), NO_HASHES
        if isinstance(kept, Sums):
            kept = kept.added([Addition(None, found, found.counts if self.apart else None)])
            hashes = hashes if self.apart else np.sort(hash_ids(found.query_ids))
        elif found.query_ids:
            kept = kept.added([Addition(found.query_ids, found)])
        return kept, hashes


def evaluate_partition(
    qrels: Judgments | None,
    run: Rankings,
    measures: Measures,
    cutoffs: Cutoffs = None,
    *,
    keep: str = "queries",
    apart: bool = False,
    name: str | None = None,
    **settings: Unpack[EvaluateOptions],
) -> PartialResult:
    """Evaluate the whole rankings of some queries, of which others are evaluated elsewhere.

    Nothing is said of the queries that the partition doesn't answer before
    `PartialResult.results` is asked of the sum of all partitions. Warnings wait until then, too.

    Args:
        qrels: all judgments, as `irbatch.evaluate` takes them; with `apart`, those of this
            partition's queries alone, None if none of them is judged.
        run, measures, cutoffs, **settings: as in `irbatch.evaluate`. ``missing=`` is of the end.
        keep: ``"queries"``, the values of each, or ``"sums"``, exact sums of them, and 8 bytes a
            query by which a query in two partitions is found out.
        apart: whether no other partition has judgments of these queries, as after a join of
            judgments and rankings by query. Sums are then of constant size, and a query in two
            partitions is not found out.
        name: what messages call the partition.

    Raises:
        InputError: as `irbatch.evaluate`.

    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> part = evaluate_partition(qrels, {"q2": {"d1": 2.0, "d2": 1.0}}, "RR P@1", keep="sums")
    >>> part.results(qrels).mean()
    {'RR': 0.25, 'P@1': 0.0}
    """
    check_settings(evaluate_partition, settings)
    progress = settings.pop("progress", None)
    task = PartitionTask.choose(measures, cutoffs, keep=keep, apart=apart, **settings)
    return task.partial(qrels, run, name, progress)
