"""What trec_eval would print: its measures, averages and lines, in both its versions.

Queries are taken in the order of their ids, and sums run over them in that order with one division
at the end, so that even the last digit printed is the same.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irbatch.array_types import Floats, Positions
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.engine.matrix import NEGATIVE, RelevanceMatrix
from irbatch.errors import InputError, on_one_line
from irbatch.evaluation.evaluation import Evaluation
from irbatch.evaluation.pipeline import compute_run
from irbatch.evaluation.queries import QueryMark
from irbatch.evaluation.settings import Settings
from irbatch.formats.reader import TableReader
from irbatch.measures import Measure, Plan
from irbatch.measures.names import TREC_MEASURES, TrecValue, list_measures, list_values
from irbatch.runtime.numbers import check_whole


@dataclass(frozen=True)
class TrecEval:
    """An evaluation as trec_eval makes it, by its options."""

    measures: Sequence[str] = ()  # names, nicknames and parameters (-m); none: the official ones
    version: str = "10"  # or "9"
    complete: bool = False  # average over all judged queries (-c)
    level: int = 1  # the least relevant grade (-l)
    ranks: int | None = None  # seen (-M)
    judged_only: bool = False  # remove unjudged documents (-J)
    docs: int = 0  # documents in the collection (-N)

    def __post_init__(self) -> None:
        check_whole("-l", self.level, 0)
        check_whole("-N", self.docs, 0)

    def values(self) -> list[TrecValue]:
        """List what is printed of each query, in order."""
        measures = list_measures(self.measures or ("official",), self.version)
        return [
            value
            for name, parameters in measures.items()
            for value in list_values(TREC_MEASURES[name], parameters)
        ]

    def settings(self) -> Settings:
        """Return the settings that it amounts to."""
        return Settings.choose(
            trec_eval=self.version,
            missing="zero" if self.complete else None,
            judged_only=self.judged_only,
            rel=float(self.level),
            max_depth=self.ranks,
        )


LEAST = math.log(1e-5)  # what a missing query adds to a geometric mean in version 9
MISSING_ZSCORE = -1_000_000.0

ZScores = Mapping[str, Mapping[str, tuple[float, float]]]
"""Query to label to mean and standard deviation."""


class MissingQueryError(InputError):
    """A judged query is missing from the run, which version 10 does not evaluate without -c."""


def print_lines(
    options: TrecEval,
    qrels: Qrels,
    run: Run | TableReader,
    *,
    per_query: bool = False,
    summary: bool = True,
    zscores: ZScores | None = None,
) -> Iterator[str]:
    """Yield the lines that trec_eval prints: of each query (``-q``), and the averages (not ``-n``).

    Given Z-scores (``-Z``), deviations from these are printed.

    Raises:
        MissingQueryError: as version 10, without ``-c``, after what precedes the query.
    """
    table = Printed(options, qrels, run)
    if zscores is not None:
        table.standardize(zscores)
    if per_query:
        yield from table.query_lines()
    if table.stopped_at is not None:
        raise MissingQueryError(
            f"it is judged and missing, as are {table.missing - 1} others; -c scores them 0, "
            "--as 9 leaves them out",
            source="run",
            path=table.name,
            query=table.stopped_at,
        )
    if summary:
        yield from table.summary_lines()


def take_logarithms(values: Floats, measures: Sequence[Measure]) -> None:
    """Turn values ``(queries, measures)`` of geometric means, in place, into their logarithms."""
    for place, measure in enumerate(measures):
        if measure.aggregate == "geometric":
            values[:, place] = [math.log(value) for value in values[:, place].tolist()]


class Printed:
    """The values of all queries: one row a query, one column a measure."""

    def __init__(self, options: TrecEval, qrels: Qrels, run: Run | TableReader) -> None:
        self.options, self.qrels = options, qrels
        self.columns = options.values()
        self.prefix = ""
        self.stopped_at: str | None = None
        self.missing = 0
        measures = dict.fromkeys(column.measure for column in self.columns if column.measure)
        self._places = {measure: place for place, measure in enumerate(measures)}
        self._strings = {
            column.label: np.full(len(qrels), "", object)
            for column in self.columns
            if column.length is not None
        }
        settings = options.settings()
        plan = Plan(list(measures), settings.open_parameters() | {"docs": float(options.docs)})
        self.name = run.name
        computed = compute_run(Evaluation(plan, settings, watch=self._spell), qrels, run)
        computed.take(self._choose_queries(computed.answered))
        self.tag = run.tag
        self.rows, self._values = computed.rows, computed.of_queries.values
        self.queries = [qrels.queries[row] for row in self.rows]
        take_logarithms(self._values, list(measures))
        self._make_up(np.flatnonzero(QueryMark.MISSING.holds(computed.of_queries.marks)))

    def _choose_queries(self, answered: Collection[str]) -> Positions:
        """Return the rows of the judged queries to evaluate, in the order of their ids."""
        order = sorted(range(len(self.qrels)), key=self.qrels.queries.__getitem__)
        is_answered = [self.qrels.queries[row] in answered for row in order]
        complete = self.options.complete and self.options.version != "9"
        if not any(is_answered) and not complete:
            raise InputError("no query of it is judged", source="run", path=self.name)
        rows = np.array(order, np.intp)
        if self.options.version == "9":
            return rows[is_answered]
        if not complete and not all(is_answered):
            until = is_answered.index(False)
            self.stopped_at = self.qrels.queries[order[until]]
            self.missing = is_answered.count(False)
            rows = rows[:until]
        return rows

    def _make_up(self, places: Positions) -> None:
        """Set what version 10 has of queries that are missing from the run.

        It ranks one unjudged document there. It takes the effect of that away again, but only
        from `utility` and `relstring` without parameters.
        """
        retrieved = 0 if self.options.judged_only else 1
        rows = self.rows[places]
        levels = self.qrels.levels >= self.options.level
        relevant = self.qrels.level_counts(rows)[:, levels].sum(axis=1)
        for printed in self.columns:
            measure = printed.measure
            if printed.length is not None:
                length = 0 if printed.label == "relstring" else min(retrieved, printed.length)
                self._strings[printed.label][rows] = "-" * length
            elif measure is not None and measure.name == "Utility":
                rest = float(self.options.docs) - retrieved - relevant
                value = measure["b"] * retrieved + measure["c"] * relevant + measure["d"] * rest
                column = self._places[measure]
                self._values[places, column] = 0.0 if printed.label == "utility" else value

    def _spell(self, rows: Positions, matrix: RelevanceMatrix) -> None:
        """Write the relevance strings of some queries."""
        for column in self.columns:
            if column.length is not None:
                self._strings[column.label][rows] = _spell_top(matrix, column.length)

    def standardize(self, zscores: ZScores) -> None:
        """Turn values into deviations from a mean, in standard deviations."""
        self.prefix = "Z"
        labels = {column.measure: column.label for column in self.columns}
        for row, query in enumerate(self.queries):
            of_query = zscores.get(query, {})
            for measure, place in self._places.items():
                mean, deviation = of_query.get(labels[measure], (math.nan, 0.0))
                off = float(self._values[row, place]) - mean
                without = 0.0 if off == 0 else MISSING_ZSCORE
                self._values[row, place] = off / deviation if deviation else without

    def query_lines(self) -> Iterator[str]:
        """Print each query's values; some measures are of all queries only."""
        forms: list[str] = []
        cells: list[list[Any]] = []
        for column in self.columns:
            measure = column.measure
            if measure is None and column.length is not None:
                cells.append(self._strings[column.label][self.rows].tolist())
            elif measure and measure.aggregate != "geometric" and measure.name != "NumQ":
                cells.append(self._values[:, self._places[measure]].tolist())
            else:
                continue
            forms.append(self._form(column))
        if not forms:
            return
        # One format for all of a query's lines: a line at a time takes five times as long.
        form = "\n".join(forms)
        for query, *row in zip(self.queries, *cells, strict=True):
            filled: list[Any] = [on_one_line(query)] * (2 * len(row))
            filled[1::2] = row
            yield from (form % tuple(filled)).split("\n")

    def _form(self, column: TrecValue) -> str:
        """Return what makes a query and a value a line."""
        label = f"{column.label:22}".replace("%", "%%")
        if column.measure is None:
            return f"{label}\t%s\t%s" if column.length is None else f"{label}\t%s\t'%s'"
        whole = column.measure.aggregate == "sum" and not self.prefix
        return f"{self.prefix}{label}\t%s\t%{'.0f' if whole else '6.4f'}"

    def summary_lines(self) -> Iterator[str]:
        """Print the averages."""
        for column in self.columns:
            if column.measure is not None:
                yield self._form(column) % ("all", self._average(column.measure))
            elif column.length is None:
                yield self._form(column) % ("all", on_one_line(self.tag or ""))

    def _average(self, measure: Measure) -> float:
        """Sum a column in the order of queries; and divide, unless it is a count."""
        complete = self.options.complete
        number = len(self.qrels) if complete else len(self.queries)
        if measure.name == "NumQ":
            return number
        column = self._values[:, self._places[measure]]
        total = float(np.add.accumulate(column)[-1]) if column.size else 0.0
        if measure.name == "NumRel" and complete and not self.prefix:
            return int((self.qrels.codes >= np.searchsorted(self.qrels.levels, 1)).sum())
        if measure.aggregate == "sum":
            return total
        if measure.aggregate == "geometric":
            return math.exp((total + (number - len(self.queries)) * LEAST) / number)
        return total / number


def _spell_top(matrix: RelevanceMatrix, length: int) -> list[str]:
    """Write the grades of the first documents, one character each.

    ``-`` stands for unjudged, ``.`` for a negative grade and ``>`` for one above 9.
    """
    letters = np.array([*("0123456789>"[min(int(g), 10)] for g in matrix.levels), ".", "-"])
    top = matrix.codes[:, :length].astype(np.int64)
    spelled = letters[np.where(top >= 0, top, np.where(top == NEGATIVE, -2, -1))]
    lengths = np.minimum(matrix.retrieved, length).tolist()
    return ["".join(row[:n]) for row, n in zip(spelled.tolist(), lengths, strict=True)]
