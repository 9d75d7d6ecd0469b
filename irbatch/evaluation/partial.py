"""What a part of the queries comes to, as a value that adds up: in any order, to the same bits."""

from __future__ import annotations

import itertools
import math
from base64 import b64decode, b64encode
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from irbatch.data.ids import NO_HASHES, IdHashes, hash_ids, same_kind
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.errors import (
    InputError,
    imported,
    kind_of,
    many,
    shown,
    warn_all,
    warnings_kept,
)
from irbatch.evaluation.accumulator import (
    KEEPS,
    QueryValues,
    Sums,
    check_state,
    in_lists,
    keep_nothing,
    may_skip,
    plain,
    reading_state,
    reject,
)
from irbatch.evaluation.evaluation import Cutoffs, Evaluation, Judgments, Measures, Rankings
from irbatch.evaluation.notices import nothing_relevant, warn_of_empty, warn_of_unjudged
from irbatch.evaluation.queries import (
    Partition,
    Queries,
    QueryMark,
    check_answered,
    count_queries,
)
from irbatch.evaluation.results import Results
from irbatch.evaluation.settings import EvaluateOptions, check_settings
from irbatch.measures import Measure
from irbatch.runtime.numbers import check_choice
from irbatch.runtime.progress import Progress

if TYPE_CHECKING:
    from irbatch.data.items import ItemStatistics

FORMAT = 1
WHAT = "partial result"
ADDING_UP = ("measures", "settings", "keep", "apart", "judgments")
KEYS = ("format", "measures", "keep", "options", "settings", "name", "judgments")
MOST_SAMPLES = 4  # ids of each kind that are kept for messages
METADATA = b"irbatch"  # of an Arrow schema


@dataclass(frozen=True)
class Findings:
    """What partitions have found besides values, which is told of all of them together.

    Args:
        extra: hashes of the queries that are not judged; or how many there are, where partitions
            are `apart`.
        judged: how many queries are judged, where partitions are `apart`; else 0.
        any_judged: whether any document retrieved is judged.
        samples: a few ids that are ``"answered"``, ``"judged"`` or ``"missing"``, and a
            ``"document"`` that is judged.
        warnings: of files, say; each text once.
    """

    extra: IdHashes | int = 0
    judged: int = 0
    any_judged: bool = False
    samples: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def extra_queries(self) -> int:
        """How many queries are not judged."""
        return self.extra if isinstance(self.extra, int) else int(self.extra.size)

    def state(self) -> dict[str, Any]:
        """Return them in numbers, texts and lists."""
        return {
            "extra": self.extra if isinstance(self.extra, int) else _write_hashes(self.extra),
            "judged": self.judged,
            "any_judged": self.any_judged,
            "samples": {name: plain(ids) for name, ids in self.samples.items()},
            "warnings": list(self.warnings),
        }

    @classmethod
    def of_state(cls, state: Mapping[str, Any]) -> Findings:
        """Read what `state` returned."""
        extra, judged, any_judged = (state[key] for key in ("extra", "judged", "any_judged"))
        if not isinstance(extra, int):
            extra = _read_hashes(extra)
        if type(judged) is not int or type(any_judged) is not bool:
            raise reject("'judged' is not a count, or 'any_judged' not true or false")
        samples = {str(name): tuple(ids) for name, ids in state["samples"].items()}
        for name, ids in samples.items():
            same_kind(ids, "query", f"state samples {name}")
        return cls(extra, judged, any_judged, samples, tuple(map(str, state["warnings"])))

    def joined(self, other: Findings) -> Findings:
        """Return those of both."""
        extra: IdHashes | int
        if isinstance(self.extra, int) or isinstance(other.extra, int):
            extra = int(self.extra) + int(other.extra)
        else:
            extra = np.union1d(self.extra, other.extra)
        samples = {
            name: first_ids([*self.samples.get(name, ()), *other.samples.get(name, ())])
            for name in sorted({*self.samples, *other.samples})
        }
        any_judged = self.any_judged or other.any_judged
        warnings = tuple(sorted({*self.warnings, *other.warnings}))
        return Findings(extra, self.judged + other.judged, any_judged, samples, warnings)


class PartialResult:
    """What a partition of the queries comes to: values by query, or exact sums.

    Made by `irbatch.evaluate_partition`. Partial results add up, with `merge`, ``+`` or ``sum()``,
    in any order and grouping, on any machine; what `results` returns of the sum is, to the bits,
    what `irbatch.evaluate` returns of everything in one process. They pickle, and go through JSON
    and Arrow. `irbatch.merge_partials` is the fastest with many of them.

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
        return self.kept.keep

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
        evaluation, kept, findings, order = self._evaluation, self.kept, self.findings, None
        if items is not None:
            evaluation = replace(evaluation, items=items)
        if self.apart and qrels is not None:
            problem = "each partition had its own judgments (apart=True): there are none to add"
            raise InputError(problem, source="qrels")
        if not self.apart:
            if qrels is None:
                problem = "give the judgments that partitions were evaluated with"
                raise InputError(problem, source="qrels")
            judgments = evaluation.judgments(qrels)
            if judgments.fingerprint != self.judgments:
                problem = "these are other judgments than the partitions were evaluated with"
                raise InputError(problem, source="qrels")
            kept, findings = self._with_absent(evaluation, judgments)
            order = judgments.queries
        if isinstance(kept, QueryValues):
            results: Results = self._in_order(kept, order)
        else:
            results = kept.results(self.settings)
        return _finish(results, findings, evaluation, name)

    def _with_absent(
        self, evaluation: Evaluation, judgments: Qrels
    ) -> tuple[QueryValues | Sums, Findings]:
        """Add the judged queries that no partition answered, as ``missing=`` says; count them."""
        if isinstance(self.kept, Sums):
            there = np.isin(hash_ids(judgments.queries), self.hashes)
        else:
            there = self.kept.rows_of(judgments.queries) >= 0
        if np.count_nonzero(there) != len(self):
            problem = f"only {np.count_nonzero(there)} of its {len(self)} queries are judged"
            raise InputError(problem, source="partial")
        rows = np.flatnonzero(~there)
        absent = [judgments.queries[row] for row in rows.tolist()]
        more = {"judged": first_ids(judgments.queries), "missing": first_ids(absent)}
        samples = {**self.findings.samples, **more}
        findings = replace(self.findings, judged=len(judgments), samples=samples)
        if not absent or evaluation.settings.missing != "zero":
            return self.kept, findings
        # Without rankings it makes no difference what orders documents, or what they cost.
        unordered = replace(evaluation, order_by="score", costs=None)
        found = unordered.evaluate(judgments, Run({}), None, Partition(absent=rows))
        kept = self.kept.copy()
        kept.add(found, found.query_ids)
        return kept, findings

    def _in_order(self, kept: QueryValues, order: Sequence[Any] | None) -> Results:
        """Return what is kept as results in an order of queries, None for that of their ids."""
        rows = kept.rows_of(sorted(kept.ids, key=by_id) if order is None else order)
        places, ids = rows[rows >= 0].tolist(), kept.ids
        found = kept.rows().take(places)
        more = None, found.marks, found.items_of_queries
        queries, counts = [ids[place] for place in places], count_queries(found.marks)
        return Results(found.values, queries, kept.measures, counts, self.settings, *more)

    def state_dict(self) -> dict[str, Any]:
        """Return everything in numbers, texts and lists, which `from_state` reads."""
        stated = [FORMAT, self.measures, self.keep, self.options, self.settings]
        rest = dict(zip(KEYS, [*stated, self.name, self.judgments], strict=True))
        hashes = {"hashes": _write_hashes(self.hashes)} if self.keep == "sums" else {}
        return {**rest, **self.findings.state(), **hashes, **in_lists(self.kept.state())}

    @classmethod
    def from_state(
        cls, state: Mapping[str, Any], *, items: ItemStatistics | None = None
    ) -> PartialResult:
        """Return the partial result that `state_dict` returned the state of.

        Args:
            state: see `state_dict`; values by query may be an array.
            items: what is known of documents, where measures of the whole run read that.

        Raises:
            InputError: if it is the state of something else.
        """
        with reading_state(WHAT):
            keep = state.get("keep") if isinstance(state, Mapping) else None
            if keep not in KEEPS:
                raise reject(f"this is not the state of a {WHAT}: 'keep' is {shown(keep)}")
            keys = [*KEYS, *Findings().state(), *KEEPS[keep]]
            keys += (["hashes"] if keep == "sums" else []) + (["items"] if "items" in state else [])
            check_state(state, WHAT, keys, {"format": FORMAT})
            try:
                evaluation = Evaluation.choose(state["measures"], items=items, **state["options"])
            except InputError as error:
                raise reject("'measures' or 'options' are of no evaluation") from error
            if "items" in state and items is None:
                problem = "measures of the whole run read items"
                raise InputError(f"{problem}: give items=irbatch.ItemStatistics(…)", source="items")
            kept = keep_nothing(keep, evaluation.measures, items)
            settings = {str(key): str(each) for key, each in state["settings"].items()}
            kept.add_state(state, skips=may_skip(settings))
            stated: dict[str, Any] = {key: state[key] for key in ("judgments", "name")}
            if any(each is not None and not isinstance(each, str) for each in stated.values()):
                raise reject("'judgments' or 'name' is not text")
            hashes = _read_hashes(state["hashes"]) if keep == "sums" else NO_HASHES
            if keep == "sums" and hashes.size != (len(kept) if stated["judgments"] else 0):
                raise reject(f"'hashes' are {hashes.size}, of {many(len(kept), 'query')}")
            findings = Findings.of_state(state)
        return cls(evaluation, kept, findings, hashes=hashes, settings=settings, **stated)

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """Return, or also write, the state as JSON, with null for NaN; for `from_json`."""
        import json

        from irbatch.runtime.files import written

        state = self.state_dict()
        if "values" in state:
            rows = state["values"]
            state["values"] = [[None if math.isnan(each) else each for each in row] for row in rows]
        return written(json.dumps(state, ensure_ascii=False) + "\n", path)

    @classmethod
    def from_json(cls, text: str, *, items: ItemStatistics | None = None) -> PartialResult:
        """Return what `to_json` wrote; `items` and errors as in `from_state`."""
        import json

        try:
            state = json.loads(text)
        except (ValueError, TypeError, RecursionError) as problem:
            raise reject(f"this is not JSON: {problem}") from None
        with reading_state(WHAT):
            if isinstance(state, dict) and "values" in state:
                rows = state["values"]
                state["values"] = [[math.nan if e is None else e for e in row] for row in rows]
        return cls.from_state(state, items=items)

    def to_arrow(self) -> Any:
        """Return a pyarrow table: a row a query; its schema's metadata say everything else.

        Columns are ``query_id``, one float64 column a measure (NaN where a query is not averaged),
        weights of weighted means as ``weight of …``, ``marks``, and ``items`` where measures of
        the whole run read them. Sums have no rows.

        Raises:
            ImportError: naming the extra, when pyarrow is not installed.
        """
        import json

        pa = imported("Arrow tables", "arrow", "pyarrow")
        state = self.state_dict()
        columns: dict[str, Any] = {}
        if self.keep == "queries":
            ids, values, marks = (state.pop(key) for key in KEEPS["queries"])
            kind = pa.string() if not ids or isinstance(ids[0], str) else pa.int64()
            try:
                columns["query_id"] = pa.array(ids or [], kind)
            except (UnicodeEncodeError, OverflowError, ValueError, TypeError) as problem:
                said = f"query ids that Arrow cannot hold: {problem}"
                raise InputError(said, source="partial") from None
            names = _columns(self._evaluation.measures)
            table = np.array(values, np.float64).reshape(len(marks), len(names))
            columns |= {name: pa.array(table[:, i]) for i, name in enumerate(names)}
            columns["marks"] = pa.array(marks, pa.uint8())
            if "items" in state:
                columns["items"] = pa.array(state["items"].pop("lists"), pa.list_(pa.int32()))
        return pa.table(columns).replace_schema_metadata({METADATA: json.dumps(state)})

    @classmethod
    def from_arrow(cls, table: Any, *, items: ItemStatistics | None = None) -> PartialResult:
        """Return what `to_arrow` made a table of; `items` and errors as in `from_state`."""
        import json

        metadata = getattr(getattr(table, "schema", None), "metadata", None) or {}
        if METADATA not in metadata:
            problem = f"{kind_of(table)} whose schema says nothing of a {WHAT}"
            raise reject(f"{problem}: is its metadata lost? to_json() keeps everything in one text")
        with reading_state(WHAT):
            state = json.loads(metadata[METADATA])
            if state["keep"] == "queries":
                names = _columns(Evaluation.choose(state["measures"]).measures)
                columns = {name: table.column(name) for name in ("query_id", *names, "marks")}
                if any(column.null_count for column in columns.values()):
                    raise reject("some of its values are missing")
                state["query_ids"] = columns["query_id"].to_pylist() or None
                state["values"] = np.column_stack([columns[name].to_numpy() for name in names])
                state["marks"] = columns["marks"].to_numpy()
                if "items" in state:
                    state["items"]["lists"] = table.column("items").to_pylist()
        return cls.from_state(state, items=items)

    def queries(self) -> list[Any]:
        """List the queries whose values are kept."""
        return self.kept.ids if isinstance(self.kept, QueryValues) else []

    def without(self, queries: Collection[Any]) -> PartialResult:
        """Return what there is of other queries; those left out are evaluated elsewhere, whole."""
        if not isinstance(self.kept, QueryValues):
            raise InputError("sums cannot tell queries apart", source="partial")
        more = self._replaced(name=self.name)
        more.kept = self.kept.without(queries)
        return more

    def _replaced(self, name: str | None = None) -> PartialResult:
        """Return the same, to be added to."""
        return PartialResult(
            self._evaluation, self.kept.copy(), self.findings, judgments=self.judgments,
            hashes=self.hashes, name=name, settings=self.settings,
        )  # fmt: skip

    def _add(self, other: PartialResult) -> None:
        """Add another to this one, which is not shared."""
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
        findings = self.findings.joined(other.findings)
        same_kind(findings.samples.get("answered", ()), "query", "run")
        where = f" ({other.name!r})" if other.name else ""
        problem = f"is in two partitions{where}: each is to have whole rankings"
        if isinstance(self.kept, Sums):
            hashes = np.sort(np.concatenate([self.hashes, other.hashes]), kind="stable")
            if (hashes[1:] == hashes[:-1]).any():
                raise InputError(f"a query {problem}", source="partial")
            self.kept.add_state(other.kept.state(), skips=True)
            self.hashes = hashes
        elif isinstance(other.kept, QueryValues) and len(other):
            ids = other.kept.ids
            if (twice := np.flatnonzero(self.kept.rows_of(ids) >= 0)).size:
                raise InputError(f"it {problem}", source="partial", query=ids[twice[0]])
            self.kept.add(other.kept.rows(), ids)
        self.findings = findings


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
    first: PartialResult | None = None
    total: PartialResult | None = None
    for each in (partials,) if isinstance(partials, PartialResult) else partials:
        if not isinstance(each, PartialResult):
            raise InputError(f"{kind_of(each)} is not a PartialResult", source="partial")
        if first is None:
            first = each
            continue
        total = first._replaced() if total is None else total
        total._add(each)
    if first is None:
        raise InputError("there are no partial results", source="partial")
    return first if total is None else total


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
        cls, measures: Measures, cutoffs: Cutoffs = None, *, keep: str, apart: bool, **settings: Any
    ) -> PartitionTask:
        """Return the task that arguments of `evaluate_partition` ask for, checked."""
        check_choice("keep", keep, KEEPS)
        return cls(Evaluation.choose(measures, cutoffs, **settings), keep, bool(apart))

    def partial(
        self,
        qrels: Judgments | None,
        run: Rankings,
        name: str | None = None,
        progress: Progress | bool | None = None,
    ) -> PartialResult:
        """Return what a partition comes to, see `irbatch.evaluate_partition`."""
        evaluation, partition = self.evaluation, Partition(self.apart)
        kept = keep_nothing(self.keep, evaluation.measures, evaluation.items)
        if qrels is None or (self.apart and isinstance(qrels, Mapping) and not qrels):
            if not self.apart:
                raise InputError("None is for apart=True only", source="qrels")
            with warnings_kept() as caught:
                queries = evaluation.rankings(run).queries
            samples = {"answered": first_ids(queries)}
            findings = Findings(len(queries), samples=samples, warnings=tuple(caught))
            return PartialResult(evaluation, kept, findings, judgments=None, name=name)
        judgments = evaluation.judgments(qrels)
        with warnings_kept() as caught:
            found = evaluation.evaluate(judgments, run, progress, partition)
        samples = {"answered": first_ids(partition.answered)}
        if partition.document is not None:
            samples["document"] = (partition.document,)
        extra: IdHashes | int = found.counts.extra
        judged, by, hashes = len(judgments), None, NO_HASHES
        if self.apart:
            absent = QueryMark.MISSING.holds(found.marks).tolist()
            missing = itertools.compress(found.query_ids, absent)
            samples |= {"judged": first_ids(judgments.queries), "missing": first_ids(missing)}
        else:
            known = set(found.query_ids)
            extra = np.unique(hash_ids(each for each in partition.answered if each not in known))
            judged, by = 0, judgments.fingerprint
            hashes = np.sort(hash_ids(found.query_ids)) if self.keep == "sums" else NO_HASHES
        kept.add(found, found.query_ids)
        findings = Findings(extra, judged, partition.any_judged, samples, tuple(caught))
        return PartialResult(evaluation, kept, findings, judgments=by, hashes=hashes, name=name)

    def partial_of_rankings(self, qrels: Judgments, rankings: dict[Any, Any]) -> PartialResult:
        """Return what whole rankings come to, which were read before."""
        read = replace(self, evaluation=replace(self.evaluation, order_by="score"))
        part = read.partial(qrels, Run(rankings))
        given = self.evaluation, part.kept, part.findings
        return PartialResult(*given, judgments=part.judgments, hashes=part.hashes)


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


def _finish(
    results: Results, findings: Findings, evaluation: Evaluation, name: str | None
) -> Results:
    """Complete the results of all partitions, and say what there is to say of them."""
    judged, extra = findings.judged, findings.extra_queries
    missing = judged - results.counts.answered
    results.counts = counts = replace(results.counts, judged=judged, missing=missing, extra=extra)
    results.name = name
    samples = [findings.samples.get(each, ()) for each in ("judged", "missing", "answered")]
    numbers = [judged, missing, counts.answered + extra]
    of, absent, answered = (Queries(*each) for each in zip(numbers, samples, strict=True))
    check_answered(of, absent, answered, evaluation.settings.missing, name)
    warn_all((*findings.warnings, *nothing_relevant(results)))
    warn_of_empty(counts, evaluation.settings, name)
    if not findings.any_judged:
        documents = findings.samples.get("document", ())
        warn_of_unjudged(next(iter(documents), None), counts.answered, name)
    return results


def _columns(measures: Sequence[Measure]) -> list[str]:
    """Name the columns of values, and of weights behind them."""
    names = [str(each) for each in measures]
    weighted = [f"weight of {each}" for each in measures if each.aggregate == "weighted"]
    return [*names, *weighted]


def first_ids(ids: Iterable[Any]) -> tuple[Any, ...]:
    """Return the first few ids in their own order, each once."""
    from heapq import nsmallest

    return tuple(nsmallest(MOST_SAMPLES, set(ids), by_id))


def by_id(each: Any) -> tuple[bool, Any]:
    """Order ids, whole numbers before texts."""
    return isinstance(each, str), each


def _write_hashes(hashes: IdHashes) -> str:
    """Write hashes as text: their bytes, the lowest first, to base 64."""
    return b64encode(hashes.astype("<u8").tobytes()).decode()


def _read_hashes(given: Any) -> IdHashes:
    read = np.frombuffer(b64decode(given, validate=True), "<u8").astype(np.uint64)
    if (read[1:] <= read[:-1]).any():
        raise reject("hashes do not ascend", value=given)
    return read
