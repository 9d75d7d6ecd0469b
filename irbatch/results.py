"""What an evaluation returns: one type, for one measure or forty, one query or a million."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from irbatch.extras import imported

__all__ = ["Column", "Counts", "Results"]

SHOWN_DIGITS = 4
SHOWN_MEASURES = 40


class Column(Protocol):
    """What results need to know of a measure: its names, and how its values add up."""

    @property
    def aggregate(self) -> str:
        """``"mean"``, ``"geometric"`` or ``"sum"``."""
        ...

    def spelled(self, style: str) -> str:
        """Return its name in some tool's spelling."""
        ...

    def answers_to(self, name: str) -> bool:
        """Tell whether a name, in any spelling, is its own."""
        ...


@dataclass(frozen=True)
class Counts:
    """How many queries there were, and what became of them.

    Attributes:
        queries: averaged.
        judged: in the qrels.
        answered: in both the qrels and the run.
        missing: in the qrels only; they score 0 unless asked otherwise.
        extra: in the run only; they are ignored.
        no_relevant: averaged ones without a document of grade 1 or more.
        empty: answered ones whose ranking is empty.
        tied: those whose values depend on the order of documents that share a score.
    """

    queries: int
    judged: int
    answered: int
    missing: int
    extra: int
    no_relevant: int
    empty: int
    tied: int = 0


class Results:
    """Values of measures, per query and on average.

    Args:
        values: float64 ``(queries, measures)``; NaN where a measure was not to be averaged.
        query_ids: the queries.
        measures: the measures.
        counts: see `Counts`.
        settings: every setting that shaped the numbers, by name.
        name: the system's.

    >>> import irbatch
    >>> results = irbatch.evaluate({"q1": {"d1": 1}}, {"q1": {"d2": 2.0, "d1": 1.0}}, ["RR", "P@1"])
    >>> results["RR"], results.mean()
    (0.5, {'RR': 0.5, 'P@1': 0.0})
    """

    def __init__(
        self,
        values: npt.NDArray[np.float64],
        query_ids: Sequence[Any],
        measures: Sequence[Column],
        counts: Counts,
        settings: Mapping[str, str],
        name: str | None = None,
    ) -> None:
        self.values = values
        self.values.flags.writeable = False
        self.query_ids = list(query_ids)
        self._measures = tuple(measures)
        self.counts = counts
        self._settings = dict(settings)
        self.name = name
        self._column = {str(each): column for column, each in enumerate(self._measures)}

    @property
    def measures(self) -> list[str]:
        """Canonical names, one a column of `values`."""
        return list(self._column)

    @property
    def signature(self) -> str:
        """Every setting that shaped the numbers, on one line."""
        return " | ".join(f"{name}: {value}" for name, value in self.settings.items())

    @property
    def settings(self) -> dict[str, str]:
        """Every setting that shaped the numbers, by name."""
        return dict(self._settings)

    def __getitem__(self, name: str | Column) -> float:
        """Return a measure's mean (or sum, for a count), by any spelling of its name."""
        return self._aggregate(self._find(name))

    def __len__(self) -> int:
        return len(self._measures)

    def __iter__(self) -> Iterator[str]:
        return iter(self._column)

    def __contains__(self, name: object) -> bool:
        return self._column_of(str(name)) is not None

    def keys(self) -> list[str]:
        """Name the measures: results read like a mapping of measures to means."""
        return self.measures

    def mean(self, style: str = "irbatch") -> dict[str, float]:
        """Return the mean over queries of every measure; of counts, the sum.

        The mean of a measure declared so, such as GMAP, is the geometric one.

        Means are exactly rounded (`math.fsum`), so the order of queries doesn't show in them.

        Args:
            style: how names are spelled: ``"irbatch"``, ``"trec_eval"``, ``"ir_measures"``,
                ``"ranx"``, ``"beir"``, ``"mteb"`` or ``"sentence-transformers"``; a measure that
                has no such name keeps ours.
        """
        return {
            each.spelled(style): self._aggregate(column)
            for column, each in enumerate(self._measures)
        }

    def per_query(self, name: str | Column) -> dict[Any, float]:
        """Return a measure's value for each query id."""
        column = self._find(name)
        return dict(zip(self.query_ids, self.values[:, column].tolist(), strict=True))

    def to_dict(self, style: str = "irbatch") -> dict[Any, dict[str, float]]:
        """Return query id to measure name to value, the shape pytrec_eval returns."""
        names = [each.spelled(style) for each in self._measures]
        rows = (dict(zip(names, row, strict=True)) for row in self.values.tolist())
        return dict(zip(self.query_ids, rows, strict=True))

    def to_pandas(self) -> Any:
        """Return a pandas frame: one row a query (the index), one column a measure.

        Raises:
            ImportError: naming the extra, when pandas is not installed.
        """
        pd = imported("frames", "pandas", "pandas")
        index = pd.Index(self.query_ids, name="query")
        return pd.DataFrame(self.values.copy(), index=index, columns=self.measures)

    def to_polars(self) -> Any:
        """Return a polars frame: a column ``query`` and one for each measure.

        Raises:
            ImportError: naming the extra, when polars is not installed.
        """
        pl = imported("frames", "polars", "polars")
        columns = {name: self.values[:, i].copy() for i, name in enumerate(self.measures)}
        return pl.DataFrame({"query": self.query_ids, **columns})

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """Return, or also write, everything as JSON; what is no finite number becomes null.

        Args:
            path: where to write it; an existing file is replaced whole or not at all.
        """
        import json

        per_query = {
            str(query): {
                name: value if math.isfinite(value) else None for name, value in row.items()
            }
            for query, row in self.to_dict().items()
        }
        mean = {key: value if math.isfinite(value) else None for key, value in self.mean().items()}
        everything = {
            "name": self.name,
            "settings": self.settings,
            "counts": asdict(self.counts),
            "mean": mean,
            "per_query": per_query,
        }
        text = json.dumps(everything, ensure_ascii=False, indent=1)
        return _written(text + "\n", path)

    def to_csv(self, path: str | PathLike[str] | None = None) -> str:
        """Return, or also write, one line a query and one column a measure.

        Ids that a spreadsheet would take for a formula get a leading apostrophe.

        Args:
            path: where to write it; an existing file is replaced whole or not at all.
        """
        import csv
        import io

        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(["query", *self.measures])
        for query, row in zip(self.query_ids, self.values.tolist(), strict=True):
            writer.writerow([csv_cell(query), *map(repr, row)])
        return _written(buffer.getvalue(), path)

    def __repr__(self) -> str:
        named = f" of {self.name!r}" if self.name else ""
        shown = self.measures[:SHOWN_MEASURES]
        width = max(map(len, shown), default=0)
        size = f"{_many(len(self.query_ids), 'query')}, {_many(len(self._measures), 'measure')}"
        lines = [f"Results{named}: {size}"]
        lines += [f"  {name:{width}}  {self.shown(name)}" for name in shown]
        if len(self._measures) > len(shown):
            lines.append(f"  … and {len(self._measures) - len(shown)} more")
        return "\n".join([*lines, *(f"  {note}" for note in self.notes())])

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th><td>{self.shown(name)}</td></tr>"
            for name in self.measures
        )
        caption = escape(f"{self.name or 'Results'}: {_many(len(self.query_ids), 'query')}")
        notes = "".join(f"<div>{escape(note)}</div>" for note in self.notes())
        return (
            f"<table><caption>{caption}</caption>{rows}</table>{notes}"
            f"<small>{escape(self.signature)}</small>"
        )

    def shown(self, name: str | Column) -> str:
        """Format a mean for people: four decimals, a count as a whole number."""
        column = self._find(name)
        value = self._aggregate(column)
        if self._measures[column].aggregate == "sum" and value.is_integer():
            return str(int(value))
        return f"{value:.{SHOWN_DIGITS}f}"

    def summed(self) -> list[bool]:
        """Tell for each measure whether it is summed over queries, as counts are."""
        return [each.aggregate == "sum" for each in self._measures]

    def notes(self) -> list[str]:
        """Say what the means hide: queries missing, ignored, or without relevant documents."""
        counts = self.counts
        said = [
            (counts.missing, "missing from the run"),
            (counts.extra, "only in the run, ignored"),
            (counts.no_relevant, "without relevant documents"),
            (counts.tied, "with ties that matter"),
        ]
        return [f"{_many(number, 'query')} {what}" for number, what in said if number]

    def _find(self, name: str | Column) -> int:
        column = self._column_of(str(name))
        if column is None:
            raise KeyError(f"{name!s} was not evaluated; there are: {', '.join(self.measures)}")
        return column

    def _column_of(self, name: str) -> int | None:
        """Look a measure up: by its canonical name, or else any other that it answers to."""
        if name in self._column:
            return self._column[name]
        answering = (i for i, each in enumerate(self._measures) if each.answers_to(name))
        return next(answering, None)

    def _aggregate(self, column: int) -> float:
        values = self.values[:, column]
        values = values[~np.isnan(values)].tolist()
        how = self._measures[column].aggregate
        if how == "sum":
            return _sum(values)
        if not values:
            return math.nan
        if how == "geometric" and min(values) <= 0:
            return 0.0
        if how == "geometric":
            return math.exp(math.fsum(map(math.log, values)) / len(values))
        return _mean(values)


def _sum(values: Sequence[float]) -> float:
    """Sum exactly rounded; infinite where it is beyond float64."""
    try:
        return math.fsum(values)
    except OverflowError:
        return math.copysign(math.inf, _mean(values))


def _mean(values: Sequence[float]) -> float:
    try:
        return math.fsum(values) / len(values)
    except OverflowError:  # of the sum, not of the mean
        return math.fsum(value / len(values) for value in values)


def _many(number: int, noun: str) -> str:
    """Count in words: ``1 query``, ``2 queries``."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun.removesuffix('y')}ies" if noun.endswith("y") else f"{number} {noun}s"


def csv_cell(value: object) -> str:
    """Write text for a CSV cell; what a spreadsheet would run as a formula is defused."""
    text = str(value)
    return f"'{text}" if text[:1] in tuple("=+-@\t\r") and isinstance(value, str) else text


def _written(text: str, path: str | PathLike[str] | None) -> str:
    if path is not None:
        from irbatch.files import write_text

        write_text(path, text)
    return text
