"""What an evaluation returns: values of measures by query, and their means."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np

from irbatch.array_types import Bytes, Floats
from irbatch.data.ids import IdColumn
from irbatch.errors import InputError, did_you_mean, imported, many
from irbatch.evaluation.queries import (
    Counts,
    Rows,
    count_queries,
    level_of,
    value_of,
    weight_column,
    with_weights,
)
from irbatch.measures import Measure
from irbatch.measures.names import parse_measures
from irbatch.report import Reported
from irbatch.runtime.arrays import uncompiled
from irbatch.runtime.numbers import check_choice, check_number
from irbatch.runtime.sums import exact_mean, exact_sum
from irbatch.runtime.threads import cached_property

if TYPE_CHECKING:
    from irbatch.report.document import Document, Record


class Results(Reported):
    """Values of measures, per query and on average.

    Where means alone were kept (``keep="sums"``), `has_values` is False, whatever asks for values
    of queries raises `InputError`, and tables have the row of means, ``all``.

    Reports for people (`to_text`, `to_markdown`, `to_latex`, `to_html`) have as options: `digits`,
    how many decimals (default: 4); `names`, how measures are spelled, as in `mean`; `per_query`,
    whether rows of queries stand before that of their means (False); `intervals`, whether means
    come with those of `intervals` (False), as `to_json` has them, too.

    Args:
        of_queries: what is known of each query: `Rows`, or what returns them, called when something
            of them is asked for; None where means alone were kept.
        query_ids: the queries; of a column a list is made when asked for.
        measures: one a column.
        counts: see `Counts`; default: as queries are marked.
        settings: every setting that shaped the numbers, by name.
        name: the system's.
        means: those that are known, by column: all of them where means alone were kept.

    >>> import irbatch
    >>> results = irbatch.evaluate({"q1": {"d1": 1}}, {"q1": {"d2": 2.0, "d1": 1.0}}, ["RR", "P@1"])
    >>> results["RR"], results.mean()
    (0.5, {'RR': 0.5, 'P@1': 0.0})
    """

    def __init__(
        self,
        of_queries: Rows | Callable[[], Rows] | None,
        query_ids: Sequence[Any] | IdColumn,
        measures: Sequence[Measure],
        counts: Counts | None,
        settings: Mapping[str, str],
        name: str | None = None,
        means: Mapping[int, float] | None = None,
    ) -> None:
        self.columns = tuple(measures)
        """The measures themselves."""
        self.settings = dict(settings)
        self.name = name
        self.has_ids = not isinstance(query_ids, range)  # or they are rows
        self.has_values = of_queries is not None
        if isinstance(query_ids, Sequence):
            self.query_ids = list(query_ids)
        else:
            self._query_ids = query_ids
        if counts is not None:
            self.counts = counts
        self._means = dict(means or {})
        self._evaluated = of_queries

    @cached_property
    def _column(self) -> dict[str, int]:
        """Each measure's column, by its canonical name."""
        return {str(measure): column for column, measure in enumerate(self.columns)}

    @cached_property
    def query_ids(self) -> list[Any]:
        """The queries."""
        return self._query_ids.tolist()

    @property
    @uncompiled
    def of_queries(self) -> Rows:
        """What is known of each query, which may have waited until now."""
        if self._evaluated is None:
            problem = "these are means alone: values of queries are kept with keep='queries'"
            raise InputError(problem, source="results")
        if not isinstance(evaluated := self._evaluated, Rows):
            self._evaluated = evaluated = evaluated()
        evaluated.values.flags.writeable = False
        return evaluated

    @property
    def values(self) -> Floats:
        """Float64 ``(queries, measures)``, read-only; NaN where one was not to be averaged."""
        return self.of_queries.values[:, : len(self.columns)]

    @property
    def marks(self) -> Bytes:
        """What is marked of each query, uint8 ``(queries,)``, see `QueryMark`."""
        return self.of_queries.marks

    @cached_property
    def counts(self) -> Counts:
        """How many queries there were, and what became of them."""
        return count_queries(self.marks)

    def __getstate__(self) -> dict[str, Any]:
        if self.has_values:
            _ = self.of_queries
        return vars(self)

    @property
    def measures(self) -> list[str]:
        """Canonical names, one a mean."""
        return list(self._column)

    @property
    def signature(self) -> str:
        """Every setting that shaped the numbers, on one line."""
        return " | ".join(f"{name}: {value}" for name, value in self.settings.items())

    @cached_property
    def rows(self) -> dict[Any, int]:
        """Query id to its row in `values`."""
        return {query: row for row, query in enumerate(self.query_ids)}

    @uncompiled
    def __getitem__(self, name: str | Measure) -> float:
        """Return a measure's mean (or sum, for a count), by any spelling of its name."""
        return self._mean(self.column_of(name))

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[str]:
        return iter(self._column)

    def __contains__(self, name: object) -> bool:
        return self._find(str(name)) is not None

    def keys(self) -> list[str]:
        """Name the measures: results read like a mapping of measures to means."""
        return self.measures

    def items(self) -> Iterator[tuple[str, float]]:
        """Return the measures and their means."""
        return iter(self.mean().items())

    @uncompiled
    def mean(self, names: str = "irbatch") -> dict[str, float]:
        """Return every measure's mean over queries; of counts the sum.

        For GMAP it is the geometric mean, for GAUC the weighted one.

        Of a measure of the whole run its value. Means are exactly rounded (`math.fsum`), so the
        order of queries doesn't show in them.

        Args:
            names: how they are called: ``"irbatch"``, ``"trec_eval"``, ``"ir_measures"``,
                ``"ranx"``, ``"beir"``, ``"mteb"``, ``"sentence-transformers"``, …; a measure that
                has no such name keeps ours. ``"as given"``: as each was asked for.
        """
        return {of.spelled(names): self._mean(i) for i, of in enumerate(self.columns)}

    def intervals(
        self, interval: str = "t", level: float = 0.05, *, names: str = "irbatch"
    ) -> dict[str, tuple[float, float]]:
        """Return the bounds of every measure's mean, were other queries of this kind asked.

        Counts, weighted means, measures of the whole run and a mean of a single query have none:
        NaN, as has a geometric mean with a value of 0.

        Args:
            interval: by Student's ``"t"``; by bootstrap ``"percentile"`` or ``"bca"``, of 2,000
                draws; or ``"bounded"``, wider ones that hold whatever the distribution of values
                from a known range (Waudby-Smith & Ramdas 2024), and Student's of others.
            level: the chance that an interval misses.
            names: as in `mean`.

        Raises:
            InputError: if means alone were kept, or there is no such interval or level.

        >>> import irbatch
        >>> results = irbatch.evaluate_matrix([[1, 0], [0, 1], [1, 1]], "RR")
        >>> [round(bound, 4) for bound in results.intervals()["RR"]]
        [0.1162, 1.0]
        """
        from irbatch.evaluation.tables import find_interval  # for those who want some
        from irbatch.statistics.intervals import INTERVALS

        check_choice("interval", interval, (*INTERVALS, "bounded"))
        check_number("level", level, above=0, below=1)
        return {of.spelled(names): find_interval(self, of, interval, level) for of in self.columns}

    def per_query(self, name: str | Measure | None = None) -> dict[Any, float]:
        """Return a measure's value for each query id; of a single measure without its name, too.

        Raises:
            InputError: if it is a measure of the whole run, which one of several is not said, or
                means alone were kept.
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
        return dict(zip(self.query_ids, _listed(self.values[:, column]), strict=True))

    def plot(
        self: Results | SystemResults,
        measure: str | Measure | Iterable[str | Measure] | None = None,
        *,
        interval: str | None = "t",
        level: float = 0.05,
        ax: Any = None,
    ) -> Any:
        """Plot a measure against its cutoffs where there are several, else means as bars.

        Intervals are bands, of up to six systems, or lines on bars.

        Args:
            measure: one or more that were evaluated; ``"nDCG"`` for that at all its cutoffs,
                ``"iprec_at_recall"`` for precision against recall. Default: the first one at all
                its cutoffs, if it has several, else a bar for each.
            interval, level: of the mean, as in `intervals`; None for none.
            ax: matplotlib's axes to draw on; default: those of a new figure.

        Returns:
            The axes, which a notebook shows; ``.figure.savefig("results.svg")`` saves the picture.

        Raises:
            InputError: if a measure was not evaluated, or not for every system.
            ImportError: naming the extra, when matplotlib is not installed.

        >>> import irbatch
        >>> results = irbatch.evaluate({"q": {"a": 1}}, {"q": {"b": 2, "a": 1}}, "AP P@{1,2}")
        >>> results.plot("P").get_xlabel()
        'cutoff'
        >>> [label.get_text() for label in results.plot().get_yticklabels()]
        ['AP', 'P@1', 'P@2']
        """
        from irbatch.evaluation.plots import plot_results

        return plot_results(by_system(self), measure, (interval, level), ax)

    def __repr__(self) -> str:
        named = f" of {self.name!r}" if self.name else ""
        width = max(map(len, self.measures), default=0)
        size = f"{many(self.counts.queries, 'query')}, {many(len(self.columns), 'measure')}"
        lines = [f"{type(self).__name__}{named}: {size}"]
        lines += [f"  {name:{width}}  {self.shown(name)}" for name in self.measures]
        return "\n".join([*lines, *(f"  {note}" for note in self.notes())])

    __str__ = __repr__

    def shown(self, name: str | Measure) -> str:
        """Format a mean for people: with four decimals, a count as a whole number."""
        from irbatch.evaluation.tables import show_value  # for those who read them

        return show_value(self[name], self.columns[self.column_of(name)], 4)

    def notes(self) -> list[str]:
        """Say what the means hide: queries missing, ignored, or without relevant documents."""
        counts = self.counts
        level = level_of(self.settings)
        irrelevant = "without relevant documents" + (f" at rel={level}" if level != "1" else "")
        if self.settings.get("queries without relevant documents") == "skip":
            irrelevant += ", left out of means that need one"
        numbers = [
            (counts.missing, "missing from the run"),
            (counts.extra, "only in the run, ignored"),
            (counts.no_relevant, irrelevant),
            (counts.tied, "with ties that matter"),
        ]
        return [f"{many(number, 'query')} {what}" for number, what in numbers if number]

    def column_of(self, name: str | Measure) -> int:
        """Return a measure's position among `measures`, by any spelling; else KeyError."""
        column = self._find(str(name))
        if column is None:
            evaluated, nearest = ", ".join(self.measures), did_you_mean(name, self.measures)
            raise KeyError(f"{name!s} was not evaluated; there are: {evaluated}{nearest}")
        return column

    def to_dict(self, names: str = "irbatch") -> dict[Any, dict[str, float]]:  # type: ignore[override]
        """Return query id to measure name to value, the shape pytrec_eval returns.

        Measures of the whole run are left out, here and in tables. `names` is as in `mean`.
        """
        heads, ids, values = self._table(names)
        return {
            query: dict(zip(heads, row, strict=True))
            for query, row in zip(ids, _listed(values), strict=True)
        }

    def to_pandas(self, names: str = "irbatch") -> Any:  # type: ignore[override]
        """Return a pandas frame: one row a query (the index), one column a measure.

        `names` is as in `mean`.

        Raises:
            ImportError: naming the extra, when pandas is not installed.
        """
        pd = imported("frames", "pandas", "pandas")
        heads, ids, values = self._table(names)
        return pd.DataFrame(values, index=pd.Index(ids, name="query"), columns=heads)

    def _table(self, names: str) -> tuple[list[str], list[Any], Floats]:
        """Return the heads of the columns, queries, and their values, or the means where alone."""
        chosen = [i for i, of in enumerate(self.columns) if of.aggregate != "run"]
        heads = [self.columns[i].spelled(names) for i in chosen]
        if not self.has_values:
            return heads, ["all"], np.array([[self._means[i] for i in chosen]])
        return heads, self.query_ids, self.values[:, chosen]

    def _find(self, name: str) -> int | None:
        """Look a measure up: by its canonical name, or else by what any other stands for."""
        if name not in self._column:
            with suppress(InputError):
                names = [str(measure) for measure in parse_measures([name])]
                return self._column.get(names[0]) if len(names) == 1 else None
        return self._column.get(name)

    def _document(
        self: Results | SystemResults,
        form: str,
        *,
        digits: int = 4,
        names: str = "irbatch",
        per_query: bool = False,
        intervals: bool = False,
        sort: str | Measure | None = None,
    ) -> Document:
        from irbatch.evaluation.tables import document_of  # which loads reports

        return document_of(by_system(self), digits, names, per_query, intervals, sort)

    def _records(self, *, names: str = "irbatch") -> tuple[Sequence[str], Iterable[Record]]:
        heads, ids, values = self._table(names)
        named, rows = ["query", *heads], zip(ids, values.tolist(), strict=True)
        return named, (dict(zip(named, (query, *row), strict=True)) for query, row in rows)

    def _everything(
        self, *, names: str = "irbatch", per_query: bool = True, intervals: bool = False
    ) -> Record:
        everything: Record = {
            "name": self.name,
            "settings": self.settings,
            "counts": self.counts._asdict(),
            "mean": self.mean(names),
        }
        if intervals:
            bounds = self.intervals(names=names).items()
            everything["intervals"] = {name: list(ends) for name, ends in bounds}
        if not (per_query and self.has_values):
            return everything
        everything["per_query"] = {str(q): row for q, row in self.to_dict(names).items()}
        everything["ids"] = "text" if self.has_ids else "rows"
        if self.has_ids and self.query_ids and not isinstance(self.query_ids[0], str):
            everything["ids"] = "numbers"
        everything["marks"] = self.marks.tolist()
        if (judgments := self.of_queries.judgment_counts) is not None:
            everything |= dict(zip(JUDGED, judgments.T.tolist(), strict=True))
        weights = self.of_queries.values[:, len(self.columns) :]
        return {**everything, "weights": weights.tolist()} if weights.size else everything

    @classmethod
    def from_json(cls, source: str | PathLike[str]) -> Results:
        """Return the results that `to_json` wrote, the same in every digit.

        Of measures of the whole run it has the values, and of numbers without a finite value NaN.

        Args:
            source: the text, or the path of a file; that of several systems has to be of one alone.

        Raises:
            InputError: if it is something else, or a measure is not defined here.

        >>> import irbatch
        >>> results = irbatch.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, "RR")
        >>> irbatch.Results.from_json(results.to_json()).per_query("RR")
        {'q': 1.0}
        """
        systems = read_saved(source)
        if len(systems) != 1:
            problem = f"it has results of {many(len(systems), 'system')}, not of one"
            raise InputError(f"{problem}: save each in a file of its own", source="results")
        return next(iter(systems.values()))

    def _mean(self, column: int) -> float:
        """Return what is computed of a measure once."""
        if column not in self._means:
            self._means[column] = self._aggregate(column)
        return self._means[column]

    def _aggregate(self, column: int) -> float:
        measure, items = self.columns[column], self.of_queries.items
        if measure.aggregate == "run" and items is not None:
            return value_of(measure, items.counted(measure.cutoff))
        column_of = self.values[:, column]
        counted = ~np.isnan(column_of)
        values = column_of[counted]
        if measure.aggregate == "sum":
            return exact_sum(values)
        if measure.aggregate == "weighted":
            weights = self.of_queries.values[:, weight_column(self.columns, column)][counted]
            total = exact_sum(weights)
            return exact_sum(values * weights) / total if total else math.nan
        if not values.size:
            return math.nan
        if measure.aggregate == "mean":
            return exact_mean(values)
        if values.min() <= 0:
            return 0.0
        return math.exp(math.fsum(map(math.log, values.data)) / values.size)


class SystemResults(Reported, dict[str, Results]):
    r"""Results of several systems by their names: a dict, and a table with one row a system.

    `irbatch.evaluate_runs` returns it; of results that came about otherwise it is made as a dict
    is. Systems may have been evaluated on different measures: what one lacks is shown as ``–``.

    Reports for people have the options of `Results`, and `sort`, the measure by whose means systems
    stand, the best first (default: as they were given). `to_dict`, `to_json`, `to_csv` and frames
    have `names`, all but `to_dict` `per_query` (False), JSON and CSV `intervals`. `to_csv` has one
    line a system, query and measure, the query of a mean being called ``all``; `to_json` system to
    what `Results.to_json` has, and `from_json` reads it; with each system it has those of `gates`,
    what `irbatch.comparing.gate.check` returned.

    >>> import irbatch
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d3": 1}}
    >>> bm25 = {"q1": {"d1": 2, "d2": 1}, "q2": {"d4": 2, "d3": 1}}
    >>> dense = {"q1": {"d2": 2, "d1": 1}, "q2": {"d5": 2, "d4": 1}}
    >>> results = irbatch.evaluate_runs(qrels, {"bm25": bm25, "dense": dense}, "RR P@1")
    >>> results["bm25"]["RR"], list(results)
    (0.75, ['bm25', 'dense'])
    >>> print(results.to_markdown().partition("\n\n")[0])
    | run | RR | P@1 |
    |---|--:|--:|
    | bm25 | **0.7500** | **0.5000** |
    | dense | 0.2500 | 0.0000 |
    """

    plot = Results.plot
    _document = Results._document

    def __missing__(self, name: object) -> Results:
        if any(name in results for results in self.values()):
            raise KeyError(f"{name} is a measure: name a system first, or see to_pandas()")
        hint = did_you_mean(name, map(str, self)) or f"; there are: {', '.join(map(str, self))}"
        raise KeyError(f"there is no system {name!r}{hint}")

    def __repr__(self) -> str:
        return self.to_text().rstrip("\n")

    def to_pandas(self, *, per_query: bool = False, names: str = "irbatch") -> Any:  # type: ignore[override]
        """Return a pandas frame: one row a system (the index), one column a measure.

        Args:
            per_query: whether there is a row for each system and query instead.
            names: how measures are spelled, as in `Results.mean`.

        Raises:
            ImportError: naming the extra, when pandas is not installed.
        """
        pd = imported("frames", "pandas", "pandas")
        index = ["run", "query"] if per_query else ["run"]
        rows = self._rows(per_query, names)
        return pd.DataFrame(rows, columns=None if rows else index).set_index(index)

    def to_polars(self, *, per_query: bool = False, names: str = "irbatch") -> Any:  # type: ignore[override]
        """Return a polars frame: columns ``run``, perhaps ``query``, and one a measure."""
        pl = imported("frames", "polars", "polars")
        return pl.DataFrame(self._rows(per_query, names), infer_schema_length=None)

    def _rows(self, per_query: bool, names: str) -> list[Record]:
        """Return a row for each system, or for each of its queries."""
        if not per_query:
            return [{"run": run, **results.mean(names)} for run, results in self.items()]
        return [
            {"run": run, "query": query, **values}
            for run, results in self.items()
            for query, values in results.to_dict(names).items()
        ]

    def to_dict(self, names: str = "irbatch") -> dict[str, dict[Any, dict[str, float]]]:  # type: ignore[override]
        """Return system to query id to measure name to value; `names` as in `Results.mean`."""
        return {name: results.to_dict(names) for name, results in self.items()}

    def _everything(
        self,
        *,
        per_query: bool = False,
        names: str = "irbatch",
        intervals: bool = False,
        gates: Sequence[Any] = (),
    ) -> Record:
        options: Any = {"per_query": per_query, "names": names, "intervals": intervals}
        systems = {
            name: {**results._everything(**options), "name": name} for name, results in self.items()
        }
        for gate in gates:
            systems[gate.system].setdefault("gates", []).append(gate._asdict())
        return systems

    @classmethod
    def from_json(cls, source: str | PathLike[str]) -> SystemResults:
        """Return the results that `to_json` wrote; `source` and errors as of `Results.from_json`.

        Without ``per_query=True`` they are means alone.
        """
        return cls(read_saved(source))

    def _records(
        self, *, per_query: bool = False, names: str = "irbatch", intervals: bool = False
    ) -> tuple[Sequence[str], Iterable[Record]]:
        from irbatch.evaluation.tables import BOUNDS, VALUE, list_lines, list_measures

        counts = {of.spelled(names) for of in list_measures(self) if of.aggregate == "sum"}
        heads = (*VALUE, *BOUNDS) if intervals else VALUE

        def records() -> Iterator[Record]:
            for line in list_lines(self, names, per_query, intervals):
                for name, value in line.values.items():
                    number = int(value) if name in counts and value.is_integer() else value
                    ends = line.bounds.get(name, ("", "")) if intervals else ()
                    yield dict(zip(heads, (line.run, line.query, name, number, *ends), strict=True))

        return heads, records()


def by_system(results: Results | SystemResults) -> Mapping[str, Results]:
    """Return results by system, those of one too."""
    return results if isinstance(results, SystemResults) else {results.name or "system": results}


def _listed(values: Floats) -> list[Any]:
    """List values; NaN is `math.nan` itself, so that dicts which have it equal one another."""
    if not np.isnan(values).any():
        return values.tolist()
    objects = values.astype(object)
    objects[np.isnan(values)] = math.nan
    return objects.tolist()


# What reading something else than was written raises.
DAMAGED = ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError
IDS = {"text": str, "numbers": int}
JUDGED = ("relevant", "judged")  # what is counted of each query's judgments


def read_saved(source: str | PathLike[str]) -> dict[str, Results]:
    """Return results of one system or several, by name, of JSON's text or a file of it."""
    import json  # with pathlib: for those who have such a file
    from pathlib import Path

    path = None
    try:
        if not (isinstance(source, str) and source.lstrip().startswith("{")):
            path = fspath(source)
            source = Path(path).read_text("utf-8")
        saved = json.loads(source)
        if "mean" in saved:
            saved = {saved["name"] or "system": saved}
        return {name: _read_system(state) for name, state in saved.items()}
    except OSError as problem:
        raise InputError(problem.strerror or str(problem), source="results", path=path) from None
    except DAMAGED as problem:
        what = f"this is not what Results.to_json() writes: {type(problem).__name__}: {problem}"
        raise InputError(what, source="results", path=path) from None


def is_saved(path: str | PathLike[str]) -> bool:
    """Tell whether a file has results, not rankings: JSON that is not in lines."""
    from pathlib import Path

    if not fspath(path).endswith(".json") or not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        return file.readline().strip() == b"{"


def _read_system(state: Mapping[str, Any]) -> Results:
    measures = parse_measures([*state["mean"]])
    means = np.array([*state["mean"].values()], np.float64).tolist()  # None is NaN
    more = measures, Counts(**state["counts"]), dict(state["settings"]), state["name"]
    if "per_query" not in state:
        return Results(None, (), *more, means=dict(enumerate(means)))
    rows = [*state["per_query"].values()]
    n, kind = len(rows), state["ids"]
    values = np.full((n, len(with_weights(measures))), math.nan)
    for column, name in enumerate(state["mean"]):
        if measures[column].aggregate != "run":
            values[:, column] = [row[name] for row in rows]
    if "weights" in state:
        values[:, len(measures) :] = state["weights"]
    judgments = None
    if "judged" in state:
        judgments = np.array([state[key] for key in JUDGED], np.int32).reshape(len(JUDGED), n).T
    of_queries = Rows(values, np.array(state["marks"], np.uint8).reshape(n), judgments)
    ids = range(n) if kind == "rows" else [*map(IDS[kind], state["per_query"])]
    of_run = {i: means[i] for i, measure in enumerate(measures) if measure.aggregate == "run"}
    return Results(of_queries, ids, *more, means=of_run)
