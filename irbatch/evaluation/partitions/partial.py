"""What a part of the queries comes to, as a value that adds up: in any order, to the same bits."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from irbatch.data.ids import NO_HASHES, IdHashes, same_kind
from irbatch.errors import InputError, kind_of, many, shown
from irbatch.evaluation.means import Means
from irbatch.evaluation.partitions.findings import Findings
from irbatch.evaluation.partitions.finishing import add_absent, finish
from irbatch.evaluation.partitions.forms import (
    ARRAYS,
    FORMAT,
    read_arrow,
    read_json,
    read_partial,
    write_arrow,
    write_json,
)
from irbatch.evaluation.partitions.item_state import write_items
from irbatch.evaluation.partitions.kept import QueryValues
from irbatch.evaluation.partitions.reading import write_hashes
from irbatch.evaluation.partitions.rows import Addition
from irbatch.evaluation.partitions.sums import Sums
from irbatch.evaluation.results import Results
from irbatch.evaluation.task import Evaluation, Judgments

if TYPE_CHECKING:
    from irbatch.data.items import ItemStatistics

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
