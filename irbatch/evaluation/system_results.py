"""Results of several systems: a dict of them, and a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

from irbatch.evaluation.results import ALL, Results
from irbatch.runtime.extras import imported

if TYPE_CHECKING:
    from irbatch.evaluation.system_tables import TableOptions
    from irbatch.measures import Measure
    from irbatch.report.document import Document

# Each form is imported when it is written: few want any, and none wants all.

Path = str | PathLike[str]

VALUE = ("run", "query", "measure", "value")


class SystemResults(dict[str, Results]):
    r"""Results of several systems by their names: a dict, and a table with one row a system.

    `irbatch.evaluate_runs` returns it; of results that came about otherwise it is made as a dict
    is. Systems may have been evaluated on different measures: what one lacks is shown as ``–``.

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

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return self.to_text().rstrip("\n")

    def _repr_html_(self) -> str:
        return self.to_html(fragment=True)

    def to_text(
        self,
        path: Path | None = None,
        *,
        ansi: bool = False,
        width: int = 100,
        **options: Unpack[TableOptions],
    ) -> str:
        """Return, or also write, a table for a terminal.

        Args:
            path: where to write it; an existing file is replaced whole or not at all.
            ansi: whether the best of each column is bold, by a terminal's escapes; if not, it is
                starred. Of counts, and where neither more nor less is better, none is.
            width: columns that would make lines longer than this go on in a further table.
            **options: what the table has, as in all reports for people: `digits`, how many
                decimals (default: 4); `names`, how measures are spelled, as in `Results.mean`;
                `arrows`, whether headings say which way is better (default: False); `per_query`,
                whether rows of each query stand before that of the means (default: False).

        Raises:
            InputError: if digits is not a whole number from 0 to 17, or there are no such names.
        """
        from irbatch.report import terminal

        document = self._document(**options)
        return _written(terminal.write_document(document, ansi=ansi, width=width), path)

    def to_markdown(self, path: Path | None = None, **options: Unpack[TableOptions]) -> str:
        """Return, or also write, a table in GitHub's Markdown; options are those of `to_text`."""
        from irbatch.report import markdown

        return _written(markdown.write_document(self._document(**options)), path)

    def to_latex(
        self,
        path: Path | None = None,
        *,
        caption: str | None = None,
        label: str = "tab:results",
        environment: str = "table",
        line_width: float | None = None,
        headings: Mapping[str, str] | None = None,
        unicode: bool = False,
        **options: Unpack[TableOptions],
    ) -> str:
        r"""Return, or also write, a table for a paper; it needs ``\usepackage{booktabs}``.

        It is never wider than the paper: headings are broken, type becomes smaller, and columns go
        on below. What shaped the numbers stands in a comment.

        Args:
            path, **options: as in `to_text`.
            caption: what the caption begins with, in place of how many systems and queries there
                are, which then stands in the comment; what signs mean follows.
            label: what ``\ref`` calls the table.
            environment: ``"table"``, or ``"table*"`` across both columns of a paper.
            line_width: points of TeX that a line has; default: 345, as article's, or 455 of a
                ``table*``, as ACL's. A column is 219 wide in papers of ACL, 241 of ACM, 252 of
                IEEE.
            headings: columns to what they are called: ``{"run": "Model", "nDCG@10": "nDCG"}``.
            unicode: keep characters beyond ASCII as they are, for XeLaTeX or LuaLaTeX with a font
                that has them.

        Raises:
            InputError: as `to_text`, if there is no column of a heading, and if ``\label`` doesn't
                take the label.
        """
        from irbatch.report import latex

        text = latex.write_document(
            self._document(**options),
            label,
            caption=caption,
            environment=environment,
            line_width=line_width,
            headings=headings,
            unicode=unicode,
        )
        return _written(text, path)

    def to_html(
        self,
        path: Path | None = None,
        *,
        title: str | None = None,
        fragment: bool = False,
        **options: Unpack[TableOptions],
    ) -> str:
        """Return, or also write, a page that stands alone: a sortable table.

        Args:
            path, **options: as in `to_text`.
            title: of the page.
            fragment: leave out what makes it a page, its script too, to stand in a notebook.
        """
        from dataclasses import replace

        from irbatch.report import html

        document = self._document(**options)
        document = replace(document, title=title or document.title)
        return _written(html.write_document(document, fragment=fragment), path)

    def to_csv(
        self, path: Path | None = None, *, per_query: bool = False, names: str = "irbatch"
    ) -> str:
        """Return, or also write, one line a system, query and measure, the value with every digit.

        The query of a mean is called ``all``. Names that a spreadsheet would take for a formula get
        a leading apostrophe. Options are those of `to_text`.
        """
        from irbatch.report.records import write_csv

        return write_csv(VALUE, list_values(self, names, per_query), path)

    def to_json(
        self, path: Path | None = None, *, per_query: bool = False, names: str = "irbatch"
    ) -> str:
        """Return, or also write, JSON: system to signature, counts, means and, if asked, values.

        Numbers that are not finite become null. Options are those of `to_text`.
        """
        from dataclasses import asdict

        from irbatch.report.records import write_json

        everything: dict[str, Any] = {}
        for name, each in self.items():
            everything[name] = {
                "signature": each.signature,
                "counts": asdict(each.counts),
                "mean": each.mean(names),
            }
            if per_query:
                everything[name]["per_query"] = each.to_dict(names)
        return write_json(everything, path)

    def to_pandas(self, *, per_query: bool = False, names: str = "irbatch") -> Any:
        """Return a pandas frame: one row a system (the index), one column a measure.

        Args:
            per_query: whether there is a row for each system and query instead.
            names: as in `to_text`.

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

    def plot(self, measure: str | Measure | None = None, **options: Any) -> Any:
        """Plot systems side by side; arguments, what returns and errors are of `Results.plot`."""
        from irbatch.evaluation.plots import plot_results

        return plot_results(self, measure, **options)

    def _document(self, **options: Unpack[TableOptions]) -> Document:
        from irbatch.evaluation.system_tables import make_document

        return make_document(self, **options)


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


def _written(text: str, path: Path | None) -> str:
    from irbatch.runtime.files import written

    return written(text, path)
