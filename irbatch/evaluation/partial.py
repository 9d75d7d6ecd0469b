"""What a part of the queries comes to, as a value that adds up: in any order, to the same bits."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from irbatch.array_types import Positions
from irbatch.data.ids import NO_HASHES, IdHashes, hash_ids, kinds_of, same_kind
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.errors import InputError, kind_of, many, shown, warn, warnings_kept
from irbatch.evaluation.accumulator import Accumulator, read_array, reading_state, write_array
from irbatch.evaluation.evaluation import Cutoffs, Evaluation, Judgments, Measures, Rankings
from irbatch.evaluation.pipeline import compute_run
from irbatch.evaluation.queries import check_answered, notes_on, warn_of_unjudged
from irbatch.evaluation.results import Results
from irbatch.evaluation.settings import EvaluateOptions, check_settings
from irbatch.runtime.numbers import check_whole, distinct

if TYPE_CHECKING:
    from irbatch.data.items import Items


@dataclass(frozen=True, eq=False, repr=False)
class PartialResult:
    """What a partition of the queries comes to: values by query, or exact sums.

    Made by `evaluate_partition`. `merge_partials` adds partial results up, in any order and
    grouping, on any machine; what `results` returns of the sum is, to the bits, what
    `irbatch.evaluate` returns of everything in one process. They pickle; `state_dict` goes
    through JSON.

    Attributes:
        name: what messages call the partition; None of a sum.
        measures: canonical names.

    >>> from irbatch.partial import evaluate_partition, merge_partials
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}, "q3": {"d3": 1}}
    >>> one = evaluate_partition(qrels, {"q1": {"d1": 1.0}}, "RR")
    >>> other = evaluate_partition(qrels, {"q2": {"d1": 2.0, "d2": 1.0}}, "RR")
    >>> merge_partials([one, other]).results(qrels).per_query("RR")
    {'q1': 1.0, 'q2': 0.5, 'q3': 0.0}
    """

    evaluation: Evaluation
    kept: Accumulator
    judgments: str | None  # tells them apart; None where each partition has its own
    name: str | None = None
    # Ascending, of the queries of the run: those that are not judged, of sums all. None if apart.
    hashes: IdHashes = field(default_factory=NO_HASHES.copy)
    judged: int = 0  # queries, where each partition has its own judgments
    any_judged: bool = False  # whether any document retrieved is judged
    warnings: tuple[str, ...] = ()  # of files, say; each text once

    @property
    def measures(self) -> list[str]:  # noqa: D102 - in the class
        return [str(measure) for measure in self.evaluation.measures]

    def __len__(self) -> int:
        return len(self.kept)

    def __repr__(self) -> str:
        named = f" of {self.name!r}" if self.name else ""
        return f"<PartialResult{named}: {many(len(self), 'query')}, {' '.join(self.measures)}>"

    def results(self, qrels: Judgments | None = None, *, name: str | None = None) -> Results:
        """Return the results of everything: means alone of ``keep="sums"``.

        What partitions could not know is settled here: queries of the judgments that none of them
        answered, as ``missing=`` says; and warnings, each of which is issued once.

        Args:
            qrels: the judgments that the partitions were evaluated with; none for ``apart=True``,
                where each had its own.
            name: what to call the system.

        Raises:
            InputError: if judgments are others, if no query is judged, or a judged one is missing
                with ``missing="error"``.
        """
        if (qrels is None) != (self.judgments is None):
            problem = "give the judgments that partitions were evaluated with"
            if qrels is not None:
                problem = "each partition had its own judgments (apart=True): there are none to add"
            raise InputError(problem, source="qrels")
        judgments = None if qrels is None else self.evaluation.judgments(qrels)
        kept, settings = self.kept, self.evaluation.settings
        if judgments is None:
            same_kind(kept.ids, "query", "partial")
            n_judged, rows, extra = self.judged, None, kept.extra
            results = kept.results(sorted(kept.ids))
        else:
            rows = self._missing_rows(judgments)
            if rows.size and settings.missing == "zero":
                nothing = Run({})
                zeros = compute_run(self.evaluation, judgments, nothing).results(rows, nothing)
                kept = kept.merged()
                kept.add(zeros.of_queries, zeros.query_ids)
            n_judged = len(judgments)
            extra = self.hashes.size - (len(self) if kept.keep == "sums" else 0)
            results = kept.results(judgments.queries)
        answered = results.counts.answered
        counts = results.counts._replace(judged=n_judged, missing=n_judged - answered, extra=extra)
        results.counts, results.name = counts, name
        check_answered(counts, settings.missing, name, judgments, rows)
        warn(*self.warnings, *notes_on(results))
        if not self.any_judged:
            warn_of_unjudged(judgments, answered, name)
        return results

    def _missing_rows(self, judgments: Qrels) -> Positions:
        """Return the rows of the judgments' queries that no partition answers."""
        if judgments.fingerprint != self.judgments:
            problem = "these are other judgments than the partitions were evaluated with"
            raise InputError(problem, source="qrels")
        if self.kept.keep == "sums":
            has_results = np.isin(hash_ids(judgments.queries), self.hashes)
        else:
            has_results = np.array([query in self.kept.ids for query in judgments.queries])
        rows = np.flatnonzero(~has_results)
        if len(judgments) - rows.size != len(self):
            problem = f"only {len(judgments) - rows.size} of its {len(self)} queries are judged"
            raise InputError(problem, source="partial")
        return rows

    def state_dict(self) -> dict[str, Any]:
        """Return everything in numbers, texts and lists, as JSON has them, for `from_state`."""
        return self.kept.state(
            name=self.name, judgments=self.judgments, hashes=write_array(self.hashes),
            judged=self.judged, any_judged=self.any_judged, warnings=list(self.warnings),
        )  # fmt: skip

    @classmethod
    def from_state(cls, state: Mapping[str, Any], *, items: Items | None = None) -> PartialResult:
        """Return the partial result that `state_dict` returned the state of.

        Args:
            state: see `state_dict`; values by query may be an array.
            items: what is known of documents, where measures read that.

        Raises:
            InputError: if it is the state of something else.
        """
        with reading_state():
            evaluation = Evaluation.choose(state["measures"], items=items, **state["options"])
            kept = _nothing_of(evaluation, state["keep"])
            kept.read(state)
            hashes = read_array("hashes", state["hashes"], [-1], (0, 2**64 - 1), np.uint64)
            return cls(
                evaluation, kept, state["judgments"], state["name"], hashes,
                check_whole("judged", state["judged"], 0), bool(state["any_judged"]),
                tuple(map(str, state["warnings"])),
            )  # fmt: skip

    def query_keys(self) -> Collection[Any]:
        """Return what tells queries apart: ids, or hashes of sums."""
        return self.hashes if self.kept.keep == "sums" else self.kept.ids


def merge_partials(partials: Iterable[PartialResult] | PartialResult) -> PartialResult:
    """Return the sum of partial results, at least one, in any order; of a single one, it alone.

    None of them changes.

    Raises:
        InputError: if there are none, one is of other measures, settings or judgments, or two have
            the same query.

    >>> qrels = {f"q{i}": {"d1": 1} for i in range(4)}
    >>> parts = [evaluate_partition(qrels, {q: {"d1": 1.0}}, "RR") for q in ("q1", "q3")]
    >>> merge_partials(parts).results(qrels)["RR"]
    0.5
    """
    parts = [partials] if isinstance(partials, PartialResult) else list(partials)
    if not parts:
        raise InputError("there are no partial results", source="partial")
    shared: dict[str, Any] = {}  # by partial results that add up
    for part in parts:
        if not isinstance(part, PartialResult):
            raise InputError(f"{kind_of(part)} is not a PartialResult", source="partial")
        facts = {"measures": part.measures, "keep": part.kept.keep, "judgments": part.judgments}
        facts |= part.kept.settings
        shared = shared or facts
        for what in {**shared, **facts}:
            if shared.get(what) != (other := facts.get(what)):
                problem = f"{what} is {shown(other)}, and {shown(shared.get(what))} of others"
                raise InputError(problem, source="partial", path=part.name, value=other)
    if len(parts) == 1:
        return parts[0]
    total = add_up(parts)
    if len(total.query_keys()) < sum(len(part.query_keys()) for part in parts):
        seen = set[Any]()
        for part in parts:
            for key in seen.intersection(part.query_keys()):
                query = None if total.kept.keep == "sums" else key
                problem = "a query is in two partitions: each is to have whole rankings"
                raise InputError(problem, source="partial", path=part.name, query=query)
            seen.update(part.query_keys())
    return total


def add_up(parts: Sequence[PartialResult]) -> PartialResult:
    """Return the sum of partial results; what there is of a query is that of the first."""
    kept = parts[0].kept.merged(*(part.kept for part in parts[1:]))
    return replace(
        parts[0], kept=kept, name=None,
        hashes=distinct(np.concatenate([part.hashes for part in parts])),
        judged=sum(part.judged for part in parts),
        any_judged=any(part.any_judged for part in parts),
        warnings=tuple(sorted({text for part in parts for text in part.warnings})),
    )  # fmt: skip


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
    evaluation = Evaluation.choose(measures, cutoffs, **settings)
    return evaluate_part(evaluation, qrels, run, name, keep, apart)


def evaluate_part(
    evaluation: Evaluation,
    qrels: Judgments | None,
    run: Rankings,
    name: str | None = None,
    keep: str = "queries",
    apart: bool = False,
) -> PartialResult:
    """Return what a partition comes to, see `evaluate_partition`."""
    kept = _nothing_of(evaluation, keep)
    # What these are for is done.
    lean = evaluation._replace(costs=None, exclude=None, progress=None)
    if qrels is None or (apart and isinstance(qrels, Mapping) and not qrels):
        if not apart:
            raise InputError("None is for apart=True only", source="qrels")
        with warnings_kept() as caught:
            kept.extra = len(evaluation.rankings(run).queries)
        return PartialResult(lean, kept, None, name, warnings=tuple(caught))
    judgments = evaluation.judgments(qrels)
    with warnings_kept() as caught, evaluation.opened(run) as (opened, tell):
        computed = compute_run(evaluation, judgments, opened, tell)
        ranked, answered = computed.ranked_rows, computed.answered
        missing = evaluation.settings.missing
        every = apart and missing != "skip"
        results = computed.results(np.arange(len(judgments)) if every else ranked, opened)
    extra = results.counts.extra if apart else 0
    kept.add(results.of_queries, results.query_ids, extra=extra)
    if not ranked.size and kinds_of(answered) - {judgments.query_kind}:  # as elsewhere, then
        check_answered(results.counts, missing, name, judgments, answered=answered)
    more: dict[str, Any] = {"any_judged": computed.any_judged, "warnings": tuple(caught)}
    if apart:
        return PartialResult(lean, kept, None, name, judged=len(judgments), **more)
    hashed = answered
    if keep == "queries":
        hashed = [query for query in hashed if query not in judgments.row_of]
    hashes = distinct(hash_ids(hashed))
    return PartialResult(lean, kept, judgments.fingerprint, name, hashes, **more)


def _nothing_of(evaluation: Evaluation, keep: str) -> Accumulator:
    """Return what is kept of no queries."""
    options = {**evaluation.settings._asdict(), "order_by": evaluation.order_by}
    kept = Accumulator(keep, evaluation.measures, options, evaluation.items)
    kept.settings = evaluation.signature()
    return kept
