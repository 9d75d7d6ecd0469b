"""Results of several systems: a dict of them by name, and a table with a row for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from irbatch.errors import did_you_mean, imported, many
from irbatch.evaluation.results import Plotted, Results, read_saved
from irbatch.evaluation.tables import (
    BOUNDS,
    VALUE,
    better_of,
    list_measures,
    list_notes,
    list_values,
    make_table,
    tell_different_queries,
    tell_how,
)
from irbatch.measures import Measure
from irbatch.report.document import BEST, BETTER, WORSE, Document

if TYPE_CHECKING:
    from irbatch.report.document import Record


class SystemResults(Plotted, dict[str, Results]):
    r"""Results of several systems by their names: a dict, and a table with one row a system.

    `irbatch.evaluate_runs` returns it; of results that came about otherwise it is made as a dict
    is. Systems may have been evaluated on different measures: what one lacks is shown as ``–``.

    Reports for people (`to_text`, `to_markdown`, `to_latex`, `to_html`) have as options: `digits`,
    how many decimals (default: 4); `names`, how measures are spelled, as in `Results.mean`;
    `arrows`, whether headings say which way is better (False); `per_query`, whether rows of each
    query stand before that of the means (False); `intervals`, whether means come with those of
    `Results.intervals` (False); `sort`, the measure by whose means systems stand, the best first
    (default: as they were given). `to_dict`, `to_json`, `to_csv` and frames have `per_query` and
    `names` (`to_dict`: `names`), JSON and CSV `intervals`. `to_csv` has one line a system, query
    and measure, the query of a mean being called ``all``; `to_json` system to what
    `Results.to_json` has, values if asked, and `from_json` reads it; with each system it has those
    of `gates`, what `irbatch.comparing.gate.check` returned.

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
        if per_query and self:
            frames = {run: results.to_pandas(names) for run, results in self.items()}
            return pd.concat(frames, names=["run"])
        means = [results.mean(names) for results in self.values()]
        return pd.DataFrame(means, index=pd.Index(list(self), name="run"))

    def to_polars(self, *, per_query: bool = False, names: str = "irbatch") -> Any:  # type: ignore[override]
        """Return a polars frame: columns ``run``, perhaps ``query``, and one a measure."""
        pl = imported("frames", "polars", "polars")
        rows: list[Record] = []
        for run, results in self.items():
            if per_query:
                values = results.to_dict(names).items()
                rows += ({"run": run, "query": query, **row} for query, row in values)
            else:
                rows.append({"run": run, **results.mean(names)})
        return pl.DataFrame(rows, infer_schema_length=None)

    def to_dict(self, names: str = "irbatch") -> dict[str, dict[Any, dict[str, float]]]:  # type: ignore[override]
        """Return system to query id to measure name to value; `names` as in `Results.mean`."""
        return {name: results.to_dict(names) for name, results in self.items()}

    def _document(
        self,
        form: str,
        *,
        digits: int = 4,
        names: str = "irbatch",
        arrows: bool = False,
        per_query: bool = False,
        intervals: bool = False,
        sort: str | Measure | None = None,
    ) -> Document:
        shaped: Any = {"arrows": arrows, "per_query": per_query, "intervals": intervals}
        shaped["sort"] = sort
        table = make_table(self, digits=digits, names=names, **shaped)
        legend = []
        if any(cell.stands_out for row in table.rows for cell in row.cells):
            legend.append((BEST, "the best of its column"))
        if arrows and any(map(better_of, list_measures(self))):
            legend.append((f"{BETTER} {WORSE}", "more, less is better"))
        apart, systems = tell_different_queries(self), many(len(self), "system")
        note = f"{apart[0].upper()}{apart[1:]}." if apart else ""
        counts = sorted({results.counts.queries for results in self.values()})
        least = f"{counts[0]} to " if len(counts) > 1 else ""
        queries = f", {least}{many(counts[-1], 'query')}" if counts else ""
        stated = [results.settings for results in self.values()]
        shared = stated[0].items() if stated else ()
        common = {k: v for k, v in shared if all(settings.get(k) == v for settings in stated)}
        note = f"{tell_how(common, intervals)} {note}".strip()
        caption = f"{'. '.join([systems + queries, *list_notes(self)])}. {note}".rstrip()
        footer = " | ".join(f"{name}: {value}" for name, value in common.items())
        return Document(f"Results of {systems}", caption, legend, [table], footer, note)

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
        rows = list_values(self, names=names, per_query=per_query, intervals=intervals)
        return (*VALUE, *BOUNDS) if intervals else VALUE, rows
