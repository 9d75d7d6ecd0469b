"""What a part of the queries comes to, as a value that adds up: in any order, to the same bits."""

from __future__ import annotations

import itertools
import json
from base64 import b64decode, b64encode
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from heapq import nsmallest
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from irbatch.data.ids import NO_HASHES, IdHashes, hash_ids, same_kind
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.errors import InputError, imported, kind_of, many, shown, warn_all, warnings_kept
from irbatch.evaluation.accumulator import (
    KEEPS,
    Accumulator,
    QueryValues,
    Rows,
    Sums,
    by_id,
    check_state,
    plain,
    reading_state,
    reject,
    write_state,
)
from irbatch.evaluation.evaluation import Cutoffs, Evaluation, Judgments, Measures, Rankings
from irbatch.evaluation.notices import nothing_relevant, warn_of_empty, warn_of_unjudged
from irbatch.evaluation.queries import (
    Partition,
    Queries,
    QueryMark,
    check_answered,
)
from irbatch.evaluation.results import Results
from irbatch.evaluation.settings import EvaluateOptions, check_settings
from irbatch.measures import Measure, parse_measures
from irbatch.runtime.files import written
from irbatch.runtime.numbers import check_choice, check_whole
from irbatch.runtime.progress import Progress

if TYPE_CHECKING:
    from irbatch.data.items import Items

WHAT = "partial result"
HASHES = ("hashes", "not_judged")
FOUND = ("name", "judgments", "judged", "any_judged", "samples", "warnings", *HASHES)
ADDING_UP = ("measures", "settings", "keep", "apart", "judgments")  # alike of what adds up
MOST_SAMPLES = 4  # ids of each kind that are kept for messages
METADATA = b"irbatch"  # of an Arrow schema


@dataclass(frozen=True, eq=False, repr=False)
class PartialResult:
    """What a partition of the queries comes to: values by query, or exact sums.

    Made by `evaluate_partition`. `merge_partials` adds partial results up, in any order and
    grouping, on any machine; what `results` returns of the sum is, to the bits, what
    `irbatch.evaluate` returns of everything in one process. They pickle, and go through JSON and
    Arrow.

    Attributes:
        settings: every setting that shaped the numbers, by name.
        name: what messages call the partition; None of a sum.

    >>> from irbatch.partial import evaluate_partition, merge_partials
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}, "q3": {"d3": 1}}
    >>> one = evaluate_partition(qrels, {"q1": {"d1": 1.0}}, "RR")
    >>> other = evaluate_partition(qrels, {"q2": {"d1": 2.0, "d2": 1.0}}, "RR")
    >>> merge_partials([one, other]).results(qrels).per_query("RR")
    {'q1': 1.0, 'q2': 0.5, 'q3': 0.0}
    """

    evaluation: Evaluation
    kept: QueryValues | Sums
    settings: Mapping[str, str]
    judgments: str | None  # tells them apart; None where each partition has its own
    name: str | None = None
    hashes: IdHashes = field(
        default_factory=NO_HASHES.copy
    )  # of the queries of sums, ascending; none where they are apart
    not_judged: IdHashes = field(
        default_factory=NO_HASHES.copy
    )  # of other queries of the run; none where they are apart
    judged: int = 0  # queries, where each partition has its own judgments
    any_judged: bool = False  # whether any document retrieved is judged
    # A few ids that are "answered", "judged" or "missing", and a "document" that is judged.
    samples: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()  # of files, say; each text once

    @property
    def measures(self) -> list[str]:
        """Canonical names."""
        return [str(each) for each in self.evaluation.measures]

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

    def results(
        self,
        qrels: Judgments | None = None,
        *,
        name: str | None = None,
        items: Items | None = None,
    ) -> Results:
        """Return the results of everything: means alone of ``keep="sums"``.

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
        evaluation = self.evaluation if items is None else replace(self.evaluation, items=items)
        if self.apart:
            if qrels is not None:
                problem = "each partition had its own judgments (apart=True): there are none to add"
                raise InputError(problem, source="qrels")
            order = sorted(self.queries(), key=by_id)
            return self._finish(self.kept.results(self.settings, order), evaluation, name)
        if qrels is None:
            problem = "give the judgments that partitions were evaluated with"
            raise InputError(problem, source="qrels")
        judgments = evaluation.judgments(qrels)
        if judgments.fingerprint != self.judgments:
            problem = "these are other judgments than the partitions were evaluated with"
            raise InputError(problem, source="qrels")
        rows = self._absent(judgments)
        absent, kept = [judgments.queries[row] for row in rows], self.kept
        if absent and evaluation.settings.missing == "zero":
            # Without rankings it makes no difference what orders documents, or what they cost.
            unordered = replace(evaluation, order_by="score", costs=None)
            zeros = unordered.evaluate(judgments, Run({}), None, Partition(absent=np.array(rows)))
            kept = kept.copy()
            kept.add(Rows.of(zeros), zeros.query_ids)
        ids = {"judged": first_ids(judgments.queries), "missing": first_ids(absent)}
        whole = replace(self, judged=len(judgments), samples={**self.samples, **ids})
        results = kept.results(self.settings, judgments.queries)
        return whole._finish(results, evaluation, name)

    def _absent(self, judgments: Qrels) -> list[int]:
        """Return the positions of the judged queries that no partition answered."""
        if isinstance(self.kept, Sums):
            there = np.isin(hash_ids(judgments.queries), self.hashes)
        else:
            there = self.kept.rows_of(judgments.queries) >= 0
        if np.count_nonzero(there) != len(self):
            problem = f"only {np.count_nonzero(there)} of its {len(self)} queries are judged"
            raise InputError(problem, source="partial")
        return np.flatnonzero(~there).tolist()

    def _finish(self, results: Results, evaluation: Evaluation, name: str | None) -> Results:
        """Complete the results of all partitions, and say what there is to say of them."""
        missing = self.judged - results.counts.answered
        extra = results.counts.extra + self.not_judged.size
        counts = replace(results.counts, judged=self.judged, missing=missing, extra=extra)
        results.counts, results.name = counts, name
        numbers = {"judged": self.judged, "missing": missing, "answered": counts.answered + extra}
        judged, absent, answered = (
            Queries(number, self.samples.get(of, ())) for of, number in numbers.items()
        )
        check_answered(judged, absent, answered, evaluation.settings.missing, name)
        warn_all((*self.warnings, *nothing_relevant(results)))
        warn_of_empty(counts, evaluation.settings, name)
        if not self.any_judged:
            document = next(iter(self.samples.get("document", ())), None)
            warn_of_unjudged(document, counts.answered, name)
        return results

    def state_dict(self) -> dict[str, Any]:
        """Return everything in numbers, texts and lists, which `from_state` reads."""
        found: dict[str, Any] = {name: getattr(self, name) for name in FOUND}
        for name in HASHES:  # their bytes, the lowest first, to base 64
            found[name] = b64encode(found[name].astype("<u8").tobytes()).decode()
        found["samples"] = {name: plain(ids) for name, ids in self.samples.items()}
        found["warnings"] = list(self.warnings)
        chosen = self.evaluation
        options = {**asdict(chosen.settings), "order_by": chosen.order_by}
        return write_state(self.kept, self.settings, options=options, **found)

    @classmethod
    def from_state(cls, state: Mapping[str, Any], *, items: Items | None = None) -> PartialResult:
        """Return the partial result that `state_dict` returned the state of.

        Args:
            state: see `state_dict`; values by query may be an array.
            items: what is known of documents, where measures of the whole run read that.

        Raises:
            InputError: if it is the state of something else.
        """
        said = state.get("keep") if isinstance(state, Mapping) else None
        keep = "sums" if isinstance(said, str) and said == "sums" else "queries"
        like = write_state(Accumulator.of(keep, (), None), {}, **dict.fromkeys(("options", *FOUND)))
        with reading_state(WHAT):
            check_state(state, WHAT, like, ("format", "keep"))
            try:
                evaluation = Evaluation.choose(state["measures"], items=items, **state["options"])
            except InputError as error:
                raise reject("'measures' or 'options' are of no evaluation") from error
            if items is None and state["items"] is not None:
                problem = "measures of the whole run read items"
                raise InputError(f"{problem}: give items=irbatch.Items(…)", source="items")
            settings = {str(key): str(each) for key, each in state["settings"].items()}
            kept = Accumulator.of(keep, evaluation.measures, items)
            kept.add_state(state)
            found = {name: state[name] for name in FOUND}
            for name in HASHES:
                read = np.frombuffer(b64decode(found[name], validate=True), "<u8")
                found[name] = read = read.astype(np.uint64)
                if (read[1:] <= read[:-1]).any():
                    raise reject(f"{name!r} do not ascend", value=state[name])
            if found["hashes"].size != (len(kept) if found["judgments"] and keep == "sums" else 0):
                raise reject(f"'hashes' are not of {many(len(kept), 'query')}")
            texts = [each for each in (found["name"], found["judgments"]) if each is not None]
            if not all(isinstance(each, str) for each in texts):
                raise reject("'judgments' or 'name' is not text")
            check_whole("judged", found["judged"], 0)
            check_choice("any_judged", found["any_judged"], (True, False))
            found["samples"] = {str(of): tuple(ids) for of, ids in found["samples"].items()}
            for of, ids in found["samples"].items():
                same_kind(ids, "query", f"state samples {of}")
            found["warnings"] = tuple(map(str, found["warnings"]))
        return cls(evaluation, kept, settings, **found)

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """Return, or also write, the state as JSON, with null for NaN; for `from_json`."""
        return written(json.dumps(self.state_dict(), ensure_ascii=False) + "\n", path)

    @classmethod
    def from_json(cls, text: str, *, items: Items | None = None) -> PartialResult:
        """Return what `to_json` wrote; `items` and errors as in `from_state`."""
        with reading_state(WHAT):
            return cls.from_state(json.loads(text), items=items)

    def to_arrow(self) -> Any:
        """Return a pyarrow table: a row a query; its schema's metadata say everything else.

        Columns are ``query_id``, one float64 column a measure (NaN where a query is not averaged),
        weights of weighted means as ``weight of …``, ``marks``, and ``items`` where measures of
        the whole run read them. Sums have no rows.

        Raises:
            ImportError: naming the extra, when pyarrow is not installed.
        """
        pa = imported("Arrow tables", "arrow", "pyarrow")
        state = self.state_dict()
        columns: dict[str, Any] = {}
        if self.keep == "queries":
            ids, values, marks = (state.pop(key) for key in ("query_ids", "values", "marks"))
            kind = pa.string() if not ids or isinstance(ids[0], str) else pa.int64()
            try:
                columns["query_id"] = pa.array(ids or [], kind)
            except (UnicodeEncodeError, OverflowError, ValueError, TypeError) as problem:
                said = f"query ids that Arrow cannot hold: {problem}"
                raise InputError(said, source="partial") from None
            names = _columns(self.evaluation.measures)
            table = np.array(values, np.float64).reshape(len(marks), len(names))
            columns |= {name: pa.array(table[:, i]) for i, name in enumerate(names)}
            columns["marks"] = pa.array(marks, pa.uint8())
            if state["items"] is not None:
                columns["items"] = pa.array(state["items"].pop("lists"), pa.list_(pa.int32()))
        return pa.table(columns).replace_schema_metadata({METADATA: json.dumps(state)})

    @classmethod
    def from_arrow(cls, table: Any, *, items: Items | None = None) -> PartialResult:
        """Return what `to_arrow` made a table of; `items` and errors as in `from_state`."""
        metadata = getattr(getattr(table, "schema", None), "metadata", None) or {}
        if METADATA not in metadata:
            problem = f"{kind_of(table)} whose schema says nothing of a {WHAT}"
            raise reject(f"{problem}: is its metadata lost? to_json() keeps everything in one text")
        with reading_state(WHAT):
            state = json.loads(metadata[METADATA])
            if state["keep"] == "queries":
                names = _columns(parse_measures(state["measures"]))
                columns = [table.column(name) for name in ("query_id", *names, "marks")]
                if any(column.null_count for column in columns):
                    raise reject("some of its values are missing")
                state["query_ids"] = columns[0].to_pylist()
                state["values"] = np.column_stack([each.to_numpy() for each in columns[1:-1]])
                state["marks"] = columns[-1].to_numpy()
                if state["items"] is not None:
                    state["items"]["lists"] = table.column("items").to_pylist()
        return cls.from_state(state, items=items)

    def queries(self) -> list[Any]:
        """List the queries whose values are kept."""
        return self.kept.ids if isinstance(self.kept, QueryValues) else []

    def without(self, queries: Collection[Any]) -> PartialResult:
        """Return what there is of other queries; those left out are evaluated elsewhere, whole."""
        if not isinstance(self.kept, QueryValues):
            raise InputError("sums cannot tell queries apart", source="partial")
        return replace(self, kept=self.kept.copy(queries))

    def _plus(self, other: PartialResult) -> PartialResult:
        """Return the sum of this and another, in what is kept here alone."""
        for what in ADDING_UP:
            mine, theirs = getattr(self, what), getattr(other, what)
            if mine == theirs:
                continue
            if what == "settings":
                what = next(n for n in {**mine, **theirs} if mine.get(n) != theirs.get(n))
                mine, theirs = mine.get(what), theirs.get(what)
            called = f" {other.name!r}" if other.name else ""
            problem = f"{what} is {shown(theirs)}, and {shown(mine)} of others"
            raise InputError(f"partial result{called}: {problem}", source="partial", value=theirs)
        samples = {
            of: first_ids([*self.samples.get(of, ()), *other.samples.get(of, ())])
            for of in sorted({*self.samples, *other.samples})
        }
        same_kind(samples.get("answered", ()), "query", "run")
        hashes = np.sort(np.concatenate([self.hashes, other.hashes]), kind="stable")
        twice = [each for each in other.queries() if each in self.kept]
        if twice or (hashes[1:] == hashes[:-1]).any():
            where = f" ({other.name!r})" if other.name else ""
            what = "it" if twice else "a query"
            problem = f"{what} is in two partitions{where}: each is to have whole rankings"
            raise InputError(problem, source="partial", query=twice[0] if twice else None)
        self.kept.merge(other.kept)  # type: ignore[arg-type]
        return replace(
            self, samples=samples, hashes=hashes,
            not_judged=np.union1d(self.not_judged, other.not_judged),
            judged=self.judged + other.judged, any_judged=self.any_judged or other.any_judged,
            warnings=tuple(sorted({*self.warnings, *other.warnings})),
        )  # fmt: skip


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
    total: PartialResult | None = None
    first: PartialResult | None = None
    for each in (partials,) if isinstance(partials, PartialResult) else partials:
        if not isinstance(each, PartialResult):
            raise InputError(f"{kind_of(each)} is not a PartialResult", source="partial")
        if total is None:
            first = total = each
            continue
        if total is first:  # the caller's
            total = replace(total, kept=total.kept.copy(), name=None)
        total = total._plus(each)
    if total is None:
        raise InputError("there are no partial results", source="partial")
    return total


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
    return evaluate_part(evaluation, qrels, run, keep, apart, name, progress)


def evaluate_part(
    evaluation: Evaluation,
    qrels: Judgments | None,
    run: Rankings,
    keep: str = "queries",
    apart: bool = False,
    name: str | None = None,
    progress: Progress | bool | None = None,
) -> PartialResult:
    """Return what a partition comes to, see `evaluate_partition`."""
    kept, settings = (
        Accumulator.of(keep, evaluation.measures, evaluation.items),
        evaluation.signature(),
    )
    if qrels is None or (apart and isinstance(qrels, Mapping) and not qrels):
        if not apart:
            raise InputError("None is for apart=True only", source="qrels")
        with warnings_kept() as caught:
            queries = evaluation.rankings(run).queries
        nothing = np.empty((0, len(kept.columns)))
        kept.add(Rows(nothing, np.empty(0, np.uint8)), (), len(queries))
        samples = {"answered": first_ids(queries)}
        return PartialResult(evaluation, kept, settings, None, name, samples=samples,
                             warnings=tuple(caught))  # fmt: skip
    judgments, partition = evaluation.judgments(qrels), Partition(bool(apart))
    with warnings_kept() as caught:
        results = evaluation.evaluate(judgments, run, progress, partition)
    ids: dict[str, Iterable[Any]] = {"answered": partition.answered, "document": ()}
    if partition.document is not None:
        ids["document"] = (partition.document,)
    found: dict[str, Any] = {"judged": len(judgments)}
    if apart:
        absent = QueryMark.MISSING.holds(results.marks).tolist()
        missing = itertools.compress(results.query_ids, absent)
        ids |= {"judged": judgments.queries, "missing": missing}
    else:
        known = set(results.query_ids)
        others = [each for each in partition.answered if each not in known]
        found = {"not_judged": np.unique(hash_ids(others))}
        if keep == "sums":
            found["hashes"] = np.sort(hash_ids(results.query_ids))
    kept.add(Rows.of(results), results.query_ids, results.counts.extra if apart else 0)
    return PartialResult(
        evaluation, kept, settings, None if apart else judgments.fingerprint, name,
        any_judged=partition.any_judged, warnings=tuple(caught),
        samples={of: first_ids(some) for of, some in ids.items()}, **found,
    )  # fmt: skip


def _columns(measures: Sequence[Measure]) -> list[str]:
    """Name the columns of values, and of weights behind them."""
    names = [str(each) for each in measures]
    weighted = [f"weight of {each}" for each in measures if each.aggregate == "weighted"]
    return [*names, *weighted]


def first_ids(ids: Iterable[Any]) -> tuple[Any, ...]:
    """Return the first few ids in their own order, each once."""
    return tuple(nsmallest(MOST_SAMPLES, set(ids), by_id))
