"""What trec_eval would print: its measures, averages and lines, in both its versions.

Queries are taken in the order of their ids, and sums run over them in that order with one division
at the end, so that even the last digit printed is the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from irbatch.averaging import as_set, compute_values
from irbatch.errors import InputError, shown
from irbatch.matrix import NEGATIVE, RelevanceMatrix
from irbatch.measures import TREC_MEASURES, Measure, Plan, TrecValue, list_measures
from irbatch.pack import Block, pack_run
from irbatch.qrels import Qrels
from irbatch.runs import Run
from irbatch.settings import Settings, check_option

__all__ = ["MissingQueryError", "TrecEval", "ZScores", "settle"]

LEAST = math.log(1e-5)  # what a missing query adds to a geometric mean in version 9
MISSING_ZSCORE = -1_000_000.0
ALL = "all"
LARGEST = 10**300  # float64 must hold it

Array = npt.NDArray[np.float64]
ZScores = Mapping[str, Mapping[str, tuple[float, float]]]
"""Query to label to mean and standard deviation."""


class MissingQueryError(InputError):
    """A judged query is missing from the run, which version 10 does not evaluate without -c."""


@dataclass(frozen=True)
class TrecEval:
    """An evaluation as trec_eval makes it.

    Args:
        measures: names, nicknames and parameters as after ``-m``; none: the official ones.
        version: ``"9"`` or ``"10"``.
        complete: average over all judged queries (``-c``).
        level: the least relevant grade (``-l``).
        max_depth: ranks seen (``-M``), or None.
        judged_only: remove unjudged documents (``-J``).
        docs: documents in the collection (``-N``).

    Raises:
        InputError: for measures or parameters the version doesn't have.
    """

    measures: Sequence[str] = ()
    version: str = "10"
    complete: bool = False
    level: int = 1
    max_depth: int | None = None
    judged_only: bool = False
    docs: int = 0

    def __post_init__(self) -> None:
        check_option("trec_eval", self.version)
        if self.version is None:
            raise InputError("a version must be named", value=self.version)
        several = isinstance(self.measures, Sequence) and not isinstance(self.measures, str | bytes)
        if not several or not all(isinstance(each, str) for each in self.measures):
            raise InputError(f"measures {shown(self.measures)} are not several names",
                             source="measures", value=self.measures)  # fmt: skip
        for name, number in (("level", self.level), ("docs", self.docs)):
            if type(number) is not int or not 0 <= number <= LARGEST:
                raise InputError(f"{name}={shown(number)} must be a whole number of at least 0",
                                 value=number)  # fmt: skip

    def values(self) -> list[TrecValue]:
        """List what is printed of each query, in order.

        Raises:
            InputError: for measures or parameters the version doesn't have.
        """
        wanted = list_measures(self.measures or ("official",), self.version)
        return [
            each
            for name, parameters in wanted.items()
            for each in TREC_MEASURES[name].values(parameters)
        ]

    def settings(self) -> Settings:
        """Return the settings that it amounts to."""
        return Settings.like(
            self.version, "zero" if self.complete else None, None,
            judged_only=self.judged_only, rel=float(self.level), max_depth=self.max_depth,
        )  # fmt: skip

    def lines(
        self,
        qrels: Qrels,
        run: Run,
        *,
        per_query: bool = False,
        summary: bool = True,
        zscores: ZScores | None = None,
    ) -> Iterator[str]:
        """Print an evaluation, line by line.

        Args:
            qrels, run: as read from files: ids are text.
            per_query: the values of each query (``-q``).
            summary: the averages (not with ``-n``).
            zscores: to print deviations from these instead of values (``-Z``).

        Raises:
            InputError: when no query is both judged and answered.
            MissingQueryError: as version 10, without `complete`, after what precedes the query.
        """
        table = _Table(self, qrels, run)
        if zscores is not None:
            table.standardize(zscores)
        if per_query:
            yield from table.query_lines()
        if table.stopped_at is not None:
            raise MissingQueryError(
                f"it is judged and missing, as are {table.missing - 1} others; -c scores them 0, "
                "--as 9 leaves them out",
                source="run",
                path=run.name,
                query=table.stopped_at,
            )
        if summary:
            yield from table.summary_lines()


def settle(
    values: Array,
    measures: Sequence[Measure],
    qrels: Qrels,
    rows: npt.NDArray[np.intp],
    level: float,
) -> None:
    """Apply, in place, what is particular to trec_eval in the values of queries.

    Measures averaged geometrically have logarithms for values; and `Rndcg`, though a measure of
    gain, is 0 where nothing is relevant at the level.

    Args:
        values: float64 ``(queries, measures)``.
        measures: the measures.
        qrels: the judgments.
        rows: the queries' places in `qrels.queries`.
        level: the least relevant grade.
    """
    for place, measure in enumerate(measures):
        if measure.aggregate == "geometric":
            values[:, place] = [math.log(each) for each in values[:, place].tolist()]
        elif measure.name == "RnDCG":
            relevant = qrels.level_counts(rows)[:, qrels.levels >= level].sum(axis=1)
            values[relevant == 0, place] = 0.0


class _Table:
    """The values of all queries: one row a query, one column a measure."""

    def __init__(self, options: TrecEval, qrels: Qrels, run: Run) -> None:
        self.options, self.qrels, self.tag = options, qrels, run.tag
        self.columns = options.values()
        self.prefix = ""
        self.stopped_at: str | None = None
        self.missing = 0
        self.rows = self._choose_queries(run)
        self.queries = [qrels.queries[row] for row in self.rows]
        wanted = dict.fromkeys(each.measure for each in self.columns if each.measure)
        self._places = {measure: place for place, measure in enumerate(wanted)}
        self._strings: dict[str, list[str]] = {
            each.label: [""] * len(self.queries) for each in self._strung()
        }
        self._values = self._compute(run, list(wanted))
        self._settle(run)

    def _strung(self) -> Iterator[TrecValue]:
        return (each for each in self.columns if each.length is not None)

    def _choose_queries(self, run: Run) -> npt.NDArray[np.intp]:
        """Return the rows of the judged queries to evaluate, in the order of their ids."""
        order = sorted(range(len(self.qrels)), key=self.qrels.queries.__getitem__)
        answered = [self.qrels.queries[row] in run.rankings for row in order]
        complete = self.options.complete and self.options.version != "9"
        if not any(answered) and not complete:
            raise InputError("no query of it is judged", source="run", path=run.name)
        rows = np.array(order, np.intp)
        if self.options.version == "9":
            return rows[answered]
        if not complete and not all(answered):
            until = answered.index(False)
            self.stopped_at = self.qrels.queries[order[until]]
            self.missing = answered.count(False)
            rows = rows[:until]
        return rows

    def _compute(self, run: Run, measures: list[Measure]) -> Array:
        options, settings = self.options, self.options.settings()
        plan = Plan(measures, settings.open_parameters() | {"docs": float(options.docs)})
        blocks = pack_run(self.qrels, run, self.rows, settings.score_dtype)
        heard = self._show_top(blocks, settings)
        values, _, _ = compute_values(plan, heard, self.rows.size, settings, None)
        return values

    def _show_top(self, blocks: Iterable[Block], settings: Settings) -> Iterator[Block]:
        """Write the relevance strings of blocks on their way."""
        lengths = {each.label: each.length or 0 for each in self._strung()}
        for block in blocks:
            if lengths:
                matrix = as_set(block.matrix, settings)
                for label, length in lengths.items():
                    for row, text in zip(block.rows, _spell_top(matrix, length), strict=True):
                        self._strings[label][row] = text
            yield block

    def _settle(self, run: Run) -> None:
        """Apply what is particular to trec_eval.

        A ranking that version 10 makes up for a missing query has no utility.
        """
        settle(self._values, list(self._places), self.qrels, self.rows, self.options.level)
        made_up = np.array([query not in run.rankings for query in self.queries], bool)
        for measure, place in self._places.items():
            if measure.name == "Utility":
                self._values[made_up, place] = 0.0

    def standardize(self, zscores: ZScores) -> None:
        """Turn values into deviations from a mean, in standard deviations."""
        self.prefix = "Z"
        labels = {each.measure: each.label for each in self.columns}
        for row, query in enumerate(self.queries):
            known = zscores.get(query, {})
            for measure, place in self._places.items():
                value = float(self._values[row, place])
                self._values[row, place] = _standardize(value, known.get(labels[measure]))

    def query_lines(self) -> Iterator[str]:
        """Print each query's values."""
        for row, query in enumerate(self.queries):
            for each in self.columns:
                if each.label in self._strings:
                    yield _line(each.label, query, f"'{self._strings[each.label][row]}'")
                elif each.measure is not None and _shown_of_queries(each.measure):
                    yield self._shown(each, query, self._values[row, self._places[each.measure]])

    def summary_lines(self) -> Iterator[str]:
        """Print the averages."""
        for each in self.columns:
            if each.measure is not None:
                yield self._shown(each, ALL, self._average(each.measure))
            elif each.length is None:
                yield _line(each.label, ALL, self.tag or "")

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

    def _shown(self, each: TrecValue, query: str, value: float) -> str:
        whole = each.measure is not None and each.measure.aggregate == "sum" and not self.prefix
        text = f"{value:.0f}" if whole else f"{value:6.4f}"
        return self.prefix + _line(each.label, query, text)


def _line(label: str, query: str, text: str) -> str:
    return f"{label:22}\t{query}\t{text}"


def _shown_of_queries(measure: Measure) -> bool:
    """Tell what is printed of each query; the rest are of all queries only."""
    return measure.aggregate != "geometric" and measure.name != "NumQ"


def _standardize(value: float, of_query: tuple[float, float] | None) -> float:
    if of_query is None:
        return MISSING_ZSCORE
    mean, deviation = of_query
    if deviation:
        return (value - mean) / deviation
    return 0.0 if value == mean else MISSING_ZSCORE


def _spell_top(matrix: RelevanceMatrix, length: int) -> list[str]:
    """Write the grades of the first documents, one character each.

    ``-`` stands for unjudged, ``.`` for a negative grade and ``>`` for one above 9.
    """
    letters = np.array([*("0123456789>"[min(int(g), 10)] for g in matrix.levels), ".", "-"])
    top = matrix.codes[:, :length].astype(np.int64)
    spelled = letters[np.where(top >= 0, top, np.where(top == NEGATIVE, -2, -1))]
    lengths = np.minimum(matrix.retrieved, length).tolist()
    return ["".join(row[:n]) for row, n in zip(spelled.tolist(), lengths, strict=True)]
