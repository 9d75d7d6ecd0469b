"""What a part of the queries comes to, as a value that adds up: in any order, to the same bits."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from heapq import nsmallest
from itertools import chain
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from irbatch.array_types import Positions
from irbatch.data.ids import NO_HASHES, IdHashes, hash_ids, same_kind
from irbatch.data.runs import Run
from irbatch.errors import InputError, kind_of, many, shown, warn, warnings_kept
from irbatch.evaluation.accumulator import (
    KEEPS,
    Accumulator,
    plain,
    read_array,
    reading_state,
    reject,
    write_array,
)
from irbatch.evaluation.evaluation import Cutoffs, Evaluation, Judgments, Measures, Rankings
from irbatch.evaluation.pipeline import Computed
from irbatch.evaluation.queries import (
    Queries,
    check_answered,
    first_document,
    notes_on,
    warn_of_empty,
    warn_of_unjudged,
)
from irbatch.evaluation.results import Results
from irbatch.evaluation.settings import EvaluateOptions, check_settings
from irbatch.runtime.numbers import check_choice
from irbatch.runtime.progress import Progress

if TYPE_CHECKING:
    from irbatch.data.items import Items

HASHES = ("hashes", "not_judged")
# What a state holds besides what is kept, and its kinds.
FIELDS: dict[str, Any] = {
    "name": (str, type(None)), "judgments": (str, type(None)), "judged": int, "any_judged": bool,
    "samples": Mapping, "warnings": list, "hashes": str, "not_judged": str,
}  # fmt: skip
ADDING_UP = ("measures", "settings", "keep", "apart", "judgments")  # alike of what adds up
MOST_SAMPLES = 4  # ids of each kind that are kept for messages


@dataclass(frozen=True, eq=False, repr=False)
class PartialResult:
    """What a partition of the queries comes to: values by query, or exact sums.

    Made by `evaluate_partition`. `merge_partials` adds partial results up, in any order and
    grouping, on any machine; what `results` returns of the sum is, to the bits, what
    `irbatch.evaluate` returns of everything in one process. They pickle; `state_dict` goes
    through JSON.

    Attributes:
        name: what messages call the partition; None of a sum.

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
    # Ascending: of the queries of sums, and of the run's others; none where they are apart.
    hashes: IdHashes = field(default_factory=NO_HASHES.copy)
    not_judged: IdHashes = field(default_factory=NO_HASHES.copy)
    judged: int = 0  # queries, where each partition has its own judgments
    any_judged: bool = False  # whether any document retrieved is judged
    # A few ids that are "answered", "judged" or "missing", and a "document" that is judged.
    samples: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()  # of files, say; each text once

    @property
    def measures(self) -> list[str]:
        """Canonical names."""
        return [str(measure) for measure in self.evaluation.measures]

    @property
    def settings(self) -> Mapping[str, str]:
        """Every setting that shaped the numbers, by name."""
        return self.kept.settings

    @property
    def keep(self) -> str:
        """What is kept: values of ``"queries"``, or ``"sums"``."""
        return self.kept.keep

    @property
    def apart(self) -> bool:
        """Whether each partition had the judgments of its queries alone."""
        return self.judgments is None

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
        if self.apart != (qrels is None):
            problem = "give the judgments that partitions were evaluated with"
            if self.apart:
                problem = "each partition had its own judgments (apart=True): there are none to add"
            raise InputError(problem, source="qrels")
        if qrels is None:
            return self._finish(self.kept.results(sorted(self.kept.ids, key=by_id)), name)
        evaluation, kept = self.evaluation, self.kept
        judgments = evaluation.judgments(qrels)
        if judgments.fingerprint != self.judgments:
            problem = "these are other judgments than the partitions were evaluated with"
            raise InputError(problem, source="qrels")
        if self.keep == "sums":
            has_results = np.isin(hash_ids(judgments.queries), self.hashes)
        else:
            ids = map(kept.ids.__contains__, judgments.queries)
            has_results = np.fromiter(ids, bool, len(judgments))
        if np.count_nonzero(has_results) != len(self):
            problem = f"only {np.count_nonzero(has_results)} of its {len(self)} queries are judged"
            raise InputError(problem, source="partial")
        rows = np.flatnonzero(~has_results)
        if rows.size and evaluation.settings.missing == "zero":
            # Without rankings it makes no difference what orders documents, or what they cost.
            unordered = evaluation._replace(order_by="score", costs=None)
            zeros = unordered.evaluate(judgments, Run({}), None, lambda computed: rows)
            kept = kept.copy()
            kept.add(zeros.of_queries, zeros.query_ids)
        absent = (judgments.queries[row] for row in rows.tolist())
        samples = {"judged": first_ids(judgments.queries), "missing": first_ids(absent)}
        whole = replace(self, judged=len(judgments), samples={**self.samples, **samples})
        return whole._finish(kept.results(judgments.queries), name)

    def _finish(self, results: Results, name: str | None) -> Results:
        """Complete the results of all partitions, and say what there is to say of them."""
        missing, settings = self.judged - results.counts.answered, self.evaluation.settings
        extra = results.counts.extra + self.not_judged.size
        counts = results.counts._replace(judged=self.judged, missing=missing, extra=extra)
        results.counts, results.name = counts, name
        numbers = {"judged": self.judged, "missing": missing, "answered": counts.answered + extra}
        judged, absent, answered = (
            Queries(number, self.samples.get(of, ())) for of, number in numbers.items()
        )
        check_answered(judged, absent, answered, settings.missing, name)
        warn(*self.warnings, *notes_on(results))
        warn_of_empty(counts, settings, name)
        if not self.any_judged:
            document = next(iter(self.samples.get("document", ())), None)
            warn_of_unjudged(document, counts.answered, name)
        return results

    def state_dict(self) -> dict[str, Any]:
        """Return everything in numbers, texts and lists, as JSON has them, for `from_state`."""
        fields: dict[str, Any] = {name: getattr(self, name) for name in FIELDS}
        fields |= {name: write_array(fields[name]) for name in HASHES}
        fields["samples"] = {name: plain(ids) for name, ids in self.samples.items()}
        fields["warnings"] = list(self.warnings)
        options = {**self.evaluation.settings._asdict(), "order_by": self.evaluation.order_by}
        return self.kept.state(options=options, **fields)

    @classmethod
    def from_state(cls, state: Mapping[str, Any], *, items: Items | None = None) -> PartialResult:
        """Return the partial result that `state_dict` returned the state of.

        Args:
            state: see `state_dict`; values by query may be an array.
            items: what is known of documents, where measures read that.

        Raises:
            InputError: if it is the state of something else.
        """
        keep = state.get("keep") if isinstance(state, Mapping) else None
        of_sums = isinstance(keep, str) and keep == "sums"
        like = Accumulator("sums" if of_sums else "queries", ()).state(options=None, **FIELDS)
        with reading_state(state, "partial result", like, ("format", "keep")):
            try:
                evaluation = Evaluation.choose(state["measures"], items=items, **state["options"])
            except InputError as error:
                raise reject("measures", state["measures"], "of an evaluation") from error
            if items is None and state["items"] is not None:
                problem = "measures of the whole run read items"
                raise InputError(f"{problem}: give items=irbatch.Items(…)", source="items")
            kept = Accumulator(like["keep"], evaluation.measures, items)
            kept.read(state)
            fields = {name: state[name] for name in FIELDS}
            for name, kinds in FIELDS.items():
                if not isinstance(fields[name], kinds):
                    raise reject(name, fields[name], "of its kind")
            for name in HASHES:
                fields[name] = read_array(name, fields[name], [-1], (0, 2**64 - 1), np.uint64)
            if fields["hashes"].size != (len(kept) if fields["judgments"] and of_sums else 0):
                raise reject("hashes", state["hashes"], f"of {many(len(kept), 'query')}")
            fields["samples"] = {str(of): tuple(ids) for of, ids in fields["samples"].items()}
            for of, ids in fields["samples"].items():
                same_kind(ids, "query", f"state samples {of}")
            fields["warnings"] = tuple(map(str, fields["warnings"]))
        return cls(evaluation, kept, **fields)

    def without(self, queries: Collection[Any]) -> PartialResult:
        """Return what there is of other queries; those left out are evaluated elsewhere, whole."""
        return replace(self, kept=self.kept.copy(queries))

    def _check_adds_to(self, first: PartialResult) -> None:
        """Reject what does not add to another."""
        for what in ADDING_UP:
            mine, theirs = getattr(first, what), getattr(self, what)
            if mine == theirs:
                continue
            if what == "settings":
                what = next(n for n in {**mine, **theirs} if mine.get(n) != theirs.get(n))
                mine, theirs = mine.get(what), theirs.get(what)
            called = f" {self.name!r}" if self.name else ""
            problem = f"{what} is {shown(theirs)}, and {shown(mine)} of others"
            raise InputError(f"partial result{called}: {problem}", source="partial", value=theirs)


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
    for part in parts:
        if not isinstance(part, PartialResult):
            raise InputError(f"{kind_of(part)} is not a PartialResult", source="partial")
        part._check_adds_to(parts[0])
    if len(parts) == 1:
        return parts[0]
    samples = {
        name: first_ids(chain.from_iterable(part.samples.get(name, ()) for part in parts))
        for name in sorted({name for part in parts for name in part.samples})
    }
    same_kind(samples.get("answered", ()), "query", "run")
    hashes = np.sort(np.concatenate([part.hashes for part in parts]))
    kept = parts[0].kept.copy()
    for part in parts[1:]:
        query = next(filter(kept.ids.__contains__, part.kept.ids), None)
        if query is not None:
            _reject_repeated(part, query)
        kept.merge(part.kept)
    for repeated in hashes[1:][hashes[1:] == hashes[:-1]]:
        _reject_repeated(next(part for part in reversed(parts) if repeated in part.hashes))
    return replace(
        parts[0], kept=kept, name=None, samples=samples, hashes=hashes,
        not_judged=np.unique(np.concatenate([part.not_judged for part in parts])),
        judged=sum(part.judged for part in parts),
        any_judged=any(part.any_judged for part in parts),
        warnings=tuple(sorted({text for part in parts for text in part.warnings})),
    )  # fmt: skip


def _reject_repeated(part: PartialResult, query: Any = None) -> None:
    called = f" ({part.name!r})" if part.name else ""
    what = "a query" if query is None else "it"
    problem = f"{what} is in two partitions{called}: each is to have whole rankings"
    raise InputError(problem, source="partial", query=query)


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
    check_choice("keep", keep, KEEPS)
    progress = settings.pop("progress", None)
    evaluation = Evaluation.choose(measures, cutoffs, **settings)
    return evaluate_part(evaluation, qrels, run, name, keep, apart, progress)


def evaluate_part(
    evaluation: Evaluation,
    qrels: Judgments | None,
    run: Rankings,
    name: str | None = None,
    keep: str = "queries",
    apart: bool = False,
    progress: Progress | bool | None = None,
) -> PartialResult:
    """Return what a partition comes to, see `evaluate_partition`."""
    kept = Accumulator(keep, evaluation.measures, evaluation.items)
    kept.note(evaluation.signature())
    fields: dict[str, Any] = {"name": name}
    if qrels is None or (apart and isinstance(qrels, Mapping) and not qrels):
        if not apart:
            raise InputError("None is for apart=True only", source="qrels")
        with warnings_kept() as caught:
            answered: Collection[Any] = evaluation.rankings(run).queries
        kept.extra = len(answered)
        samples = {"answered": first_ids(answered)}
    else:
        judgments, seen = evaluation.judgments(qrels), list[Computed]()

        def choose(computed: Computed) -> Positions:
            seen.append(computed)  # an error is one of all partitions
            every = apart and evaluation.settings.missing != "skip"
            return np.arange(len(judgments)) if every else computed.ranked_rows

        with warnings_kept() as caught:
            results = evaluation.evaluate(judgments, run, progress, choose)
        answered, document = seen[0].answered, first_document(judgments)
        samples = {"answered": first_ids(answered)}
        samples["document"] = () if document is None else (document,)
        fields |= {"judged": len(judgments), "any_judged": seen[0].any_judged}
        kept.add(results.of_queries, results.query_ids)
        if apart:
            kept.extra = results.counts.extra
            missing = (query for query in judgments.queries if query not in answered)
            samples |= {"judged": first_ids(judgments.queries), "missing": first_ids(missing)}
        else:
            others = [query for query in answered if query not in judgments.row_of]
            fields["not_judged"] = np.unique(hash_ids(others))
            if keep == "sums":
                fields["hashes"] = np.sort(hash_ids(results.query_ids))
    return PartialResult(
        evaluation, kept, None if apart else judgments.fingerprint,
        samples=samples, warnings=tuple(caught), **fields,
    )  # fmt: skip


def first_ids(ids: Iterable[Any]) -> tuple[Any, ...]:
    """Return the first few ids in their own order, each once."""
    return tuple(nsmallest(MOST_SAMPLES, set(ids), by_id))


def by_id(query: Any) -> tuple[bool, Any]:
    """Order ids, whole numbers before texts."""
    return isinstance(query, str), query
