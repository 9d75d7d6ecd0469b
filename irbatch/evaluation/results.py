"""What an evaluation returns: one type, for one measure or forty, one query or a million."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from irbatch.array_types import Bytes, Floats
from irbatch.errors import InputError, imported
from irbatch.evaluation.counts import Counts
from irbatch.evaluation.means import Means, heading, show_value, weight_column
from irbatch.evaluation.run_items import RunItems, join_items
from irbatch.measures import Measure
from irbatch.runtime.numbers import exact_mean
from irbatch.runtime.threads import cached_property

if TYPE_CHECKING:
    from irbatch.report.document import Document
    from irbatch.report.records import Record

ALL = "all"  # what trec_eval calls the row of means


class Results(Means):
    """Values of measures, per query and on average.

    Args:
        values: float64 ``(queries, measures)``; NaN where a measure was not to be averaged. Behind
            them, as many columns of weights as there are measures whose mean is weighted.
        query_ids: the queries.
        measures, counts, settings, name: as in `Means`.
        marks: uint8 ``(queries,)``, what `counts` counts of each, see `QueryMark`.
        items: the items of each query, where measures of the whole run read them. These have no
            values of queries: their columns of `values` are NaN.

    Reports for people have the options of `Means`, and `per_query`, whether there is a row for each
    query instead, before that of the means (False).

    >>> import irbatch
    >>> results = irbatch.evaluate({"q1": {"d1": 1}}, {"q1": {"d2": 2.0, "d1": 1.0}}, ["RR", "P@1"])
    >>> results["RR"], results.mean()
    (0.5, {'RR': 0.5, 'P@1': 0.0})
    """

    def __init__(
        self,
        values: Floats,
        query_ids: Sequence[Any],
        measures: Sequence[Measure],
        counts: Counts,
        settings: Mapping[str, str],
        name: str | None = None,
        marks: Bytes | None = None,
        items: RunItems | None = None,
    ) -> None:
        super().__init__((), measures, counts, settings, name)
        self.items_of_queries = items
        self.weighted_values = values
        self.weighted_values.flags.writeable = False
        self.values = values[:, : len(self.columns)]
        self.has_ids = not isinstance(query_ids, range)  # or they are rows
        self.query_ids = list(query_ids)
        self.marks = np.zeros(len(self.query_ids), np.uint8) if marks is None else marks

    @cached_property
    def rows(self) -> dict[Any, int]:
        """Query id to its row in `values`."""
        return {query: row for row, query in enumerate(self.query_ids)}

    def per_query(self, name: str | Measure | None = None) -> dict[Any, float]:
        """Return a measure's value for each query id; of a single measure without its name, too.

        Raises:
            InputError: if it is a measure of the whole run, or which one of several is not said.
            KeyError: if it was not evaluated.
        """
        if name is None:
            if len(self.columns) != 1:
                problem = f"say of which: {', '.join(self.measures)}; to_dict() has all"
                raise InputError(problem, source="measures")
            name = self.measures[0]
        column = self.column_of(name)
        if self.columns[column].aggregate == "run":
            name = self.measures[column]
            problem = f"{name} is a value of the whole run, of no query: results[{name!r}] has it"
            raise InputError(problem, source="measures", value=name)
        return dict(zip(self.query_ids, self.values[:, column].tolist(), strict=True))

    def to_dict(self, names: str = "irbatch") -> dict[Any, dict[str, float]]:  # type: ignore[override]
        """Return query id to measure name to value, the shape pytrec_eval returns.

        Measures of the whole run are left out, here and in tables. `names` is as in `mean`.
        """
        values = self.values[:, self.of_queries()].tolist()
        rows = (dict(zip(self._names(names), row, strict=True)) for row in values)
        return dict(zip(self.query_ids, rows, strict=True))

    def _names(self, names: str) -> list[str]:
        """Spell the measures that queries have values of."""
        return [self.columns[i].spelled(names) for i in self.of_queries()]

    def to_pandas(self, names: str = "irbatch") -> Any:  # type: ignore[override]
        """Return a pandas frame: one row a query (the index), one column a measure.

        `names` is as in `mean`.

        Raises:
            ImportError: naming the extra, when pandas is not installed.
        """
        pd = imported("frames", "pandas", "pandas")
        index = pd.Index(self.query_ids, name="query")
        values = self.values[:, self.of_queries()]
        return pd.DataFrame(values, index=index, columns=self._names(names))

    def to_polars(self, names: str = "irbatch") -> Any:  # type: ignore[override]
        """Return a polars frame: a column ``query``, and the others as in `to_pandas`."""
        pl = imported("frames", "polars", "polars")
        values = (self.values[:, i].copy() for i in self.of_queries())
        columns = dict(zip(self._names(names), values, strict=True))
        return pl.DataFrame({"query": self.query_ids, **columns})

    def to_csv(self, path: str | PathLike[str] | None = None, *, names: str = "irbatch") -> str:  # type: ignore[override]
        r"""Return, or also write, one line a query and one column a measure.

        Ids that a spreadsheet would take for a formula get a leading apostrophe; control characters
        but tabs and line ends are written as ``\x1b``. `path` is as in `to_json`.
        """
        from irbatch.report.records import csv_cell, csv_text
        from irbatch.runtime.files import written

        rows = zip(self.query_ids, self.values[:, self.of_queries()].tolist(), strict=True)
        lines = ([csv_cell(query), *map(repr, row)] for query, row in rows)
        return written(csv_text([["query", *self._names(names)]], lines), path)

    def plot(
        self,
        measure: str | Measure | None = None,
        *,
        interval: str | None = "t",
        level: float = 0.05,
        ax: Any = None,
    ) -> Any:
        """Plot a measure against its cutoffs where there are several, else means as bars.

        Args:
            measure: such as ``"nDCG"`` for all its cutoffs or ``"nDCG@10"``; default: the first
                one if it has several cutoffs, else a bar for each.
            interval: of the mean, by Student's ``"t"``, by bootstrap ``"percentile"`` or ``"bca"``,
                or None for none.
            level: the chance that an interval misses.
            ax: matplotlib's axes to draw on; default: those of a new figure.

        Returns:
            The axes, which a notebook shows; ``.figure.savefig("results.svg")`` saves the picture.

        Raises:
            InputError: if the measure was not evaluated.
            ImportError: naming the extra, when matplotlib is not installed.
        """
        from irbatch.evaluation.plots import plot_results

        return plot_results(self, measure, interval=interval, level=level, ax=ax)

    def _document(
        self,
        form: str,
        *,
        digits: int = 4,
        names: str = "irbatch",
        arrows: bool = False,
        per_query: bool = False,
    ) -> Document:
        report = super()._document(form, digits=digits, names=names, arrows=arrows)
        if not per_query:
            return report
        from irbatch.report.document import Cell, Column, Row, Table

        chosen = [self.columns[i] for i in self.of_queries()]
        values = [*self.values[:, self.of_queries()].tolist(), [self[each] for each in chosen]]
        rows = [
            Row([Cell(str(query)), *(Cell(show_value(value, each, digits), value)
                                     for value, each in zip(row, chosen, strict=True))])
            for query, row in zip([*self.query_ids, ALL], values, strict=True)
        ]  # fmt: skip
        heads = [Column(heading(each, names, arrows=arrows)) for each in chosen]
        table = Table("Queries, and all of them", [Column("query", "name"), *heads], rows)
        return replace(report, parts=[table])

    def _everything(self, *, names: str = "irbatch") -> Record:
        per_query = {str(query): row for query, row in self.to_dict(names).items()}
        return {**super()._everything(names=names), "per_query": per_query}

    def _aggregate(self, column: int) -> float:
        if self.columns[column].aggregate == "run" and self.items_of_queries is not None:
            return self.items_of_queries.value(self.columns[column])
        column_of = self.values[:, column]
        counted = ~np.isnan(column_of)
        values = column_of[counted].tolist()
        how = self.columns[column].aggregate
        if how == "sum":
            try:
                return math.fsum(values)
            except OverflowError:  # beyond float64
                return math.copysign(math.inf, exact_mean(values))
        if how == "weighted":
            weights = self.weighted_values[:, weight_column(self.columns, column)][counted]
            total = math.fsum(weights.tolist())
            gained = math.fsum(np.multiply(values, weights).tolist())
            return gained / total if total else math.nan
        if not values:
            return math.nan
        if how == "mean":
            return exact_mean(values)
        return math.exp(math.fsum(map(math.log, values)) / len(values)) if min(values) > 0 else 0.0


class LazyResults(Results):
    """Results that are computed, and become `Results`, when something of them is asked for."""

    def __init__(self, compute: Callable[[], Results]) -> None:
        self._compute = compute

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._become(), name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._become().__reduce_ex__(protocol)

    def _become(self) -> Results:
        if compute := vars(self).get("_compute"):  # no other thread was first
            everything = {**vars(compute()), **vars(self)}
            del everything["_compute"]
            self.__dict__ = everything
            self.__class__ = Results  # type: ignore[assignment]
        return self


def join_results(parts: Sequence[Results]) -> Results:
    """Put results of the same measures and settings, of one or more parts, one after the other."""
    first = parts[0]
    if len(parts) == 1:
        return first
    values = np.concatenate([part.weighted_values for part in parts])
    ids = [query for part in parts for query in part.query_ids] if first.has_ids else None
    counts = Counts(*np.sum([astuple(part.counts) for part in parts], axis=0).tolist())
    marks = np.concatenate([part.marks for part in parts])
    queries = range(len(values)) if ids is None else ids
    given = queries, first.columns, counts, first.settings, first.name, marks
    return Results(values, *given, join_items(part.items_of_queries for part in parts))
