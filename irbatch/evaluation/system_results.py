"""Results of several systems: a dict of them, and a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from irbatch.errors import did_you_mean, imported
from irbatch.evaluation.results import ALL, Results
from irbatch.report.reported import Reported

if TYPE_CHECKING:
    from irbatch.measures import Measure
    from irbatch.report.document import Document
    from irbatch.report.records import Record

VALUE = ("run", "query", "measure", "value")


class SystemResults(Reported, dict[str, Results]):
    r"""Results of several systems by their names: a dict, and a table with one row a system.

    `irbatch.evaluate_runs` returns it; of results that came about otherwise it is made as a dict
    is. Systems may have been evaluated on different measures: what one lacks is shown as ``–``.

    Reports for people (`to_text`, `to_markdown`, `to_latex`, `to_html`) have as options: `digits`,
    how many decimals (default: 4); `names`, how measures are spelled, as in `Results.mean`;
    `arrows`, whether headings say which way is better (False); `per_query`, whether rows of each
    query stand before that of the means (False). `to_dict`, `to_json`, `to_csv` and frames have
    `per_query` and `names`. `to_csv` has one line a system, query and measure, the query of a mean
    being called ``all``; `to_json` system to signature, counts, means and, if asked, values.

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
        if any(name in each for each in self.values()):
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
        if not per_query:
            rows = [each.mean(names) for each in self.values()]
            return pd.DataFrame(rows, index=pd.Index(list(self), name="run"))
        found = {
            (name, query): row
            for name, each in self.items()
            for query, row in each.to_dict(names).items()
        }
        index = pd.MultiIndex.from_tuples(list(found), names=["run", "query"])
        return pd.DataFrame(list(found.values()), index=index)

    def to_polars(self, *, per_query: bool = False, names: str = "irbatch") -> Any:  # type: ignore[override]
        """Return a polars frame: columns ``run``, perhaps ``query``, and one a measure."""
        pl = imported("frames", "polars", "polars")
        rows: list[dict[str, Any]] = []
        for run, each in self.items():
            if per_query:
                values = each.to_dict(names).items()
                rows += ({"run": run, "query": query, **row} for query, row in values)
            else:
                rows.append({"run": run, **each.mean(names)})
        return pl.DataFrame(rows, infer_schema_length=None)

    def plot(
        self,
        measure: str | Measure | None = None,
        *,
        interval: str | None = "t",
        level: float = 0.05,
        ax: Any = None,
    ) -> Any:
        """Plot systems side by side; arguments, what returns and errors are of `Results.plot`."""
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
        from irbatch.evaluation.system_tables import make_document

        return make_document(self, digits, names, arrows, per_query)

    def _everything(self, *, per_query: bool = False, names: str = "irbatch") -> Record:
        everything: Record = {}
        for name, each in self.items():
            everything[name] = {
                "signature": each.signature,
                "counts": asdict(each.counts),
                "mean": each.mean(names),
            }
            if per_query:
                everything[name]["per_query"] = each.to_dict(names)
        return everything

    def _records(
        self, *, per_query: bool = False, names: str = "irbatch"
    ) -> tuple[Sequence[str], Iterable[Record]]:
        return VALUE, list_values(self, names, per_query)


def list_values(
    results: Mapping[str, Results], names: str, per_query: bool
) -> Iterator[dict[str, Any]]:
    """Yield run, query, measure and value, the value with every digit."""
    for run, each in results.items():
        rows = each.to_dict(names) if per_query else {}
        summed = dict(zip(each.mean(names), each.summed(), strict=True))
        for query, row in [*rows.items(), (ALL, each.mean(names))]:
            for name, value in row.items():
                count = summed[name]
                number: Any = int(value) if count and value.is_integer() else value
                yield dict(zip(VALUE, (run, str(query), name, number), strict=True))
