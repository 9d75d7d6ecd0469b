"""Why two systems differ, in one object, with reports of it in every form."""

from __future__ import annotations

from os import PathLike

from irbatch.comparing.explaining.nouns import Explained
from irbatch.comparing.explaining.tables import list_everything, make_document
from irbatch.report import markdown, records, terminal
from irbatch.runtime.files import written

Path = str | PathLike[str]


class Explanation(Explained):
    """What `irbatch.explain` returns: queries that changed, and reports of them.

    Pairs are of the first system and the second one. What a document adds to a value is what the
    value grows by where, going down the ranking, one comes to the document: the gain over the
    discount and the ideal DCG, of nDCG; precision at its rank over all relevant, of AP. These add
    up to the value. It is said of measures that are such a sum.

    Attributes:
        measure, systems, means: what was compared, and the means of all queries.
        worse, better, same: how many queries got worse, better, or stayed as they were.
        queries: the `QueryExplanation` of those asked for.
        depth: how many ranks of each ranking are shown.
        cutoff: the measure's; None: it looks at whole rankings.
        sign: 1 if higher values are better, -1 if lower ones are, 0 if neither is.
        adds: whether it is known what each document adds.
        grades: the relevant grades that the judgments have, ascending.
        settings: how the values came about.
    """

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html(fragment=True)

    def to_text(
        self,
        *,
        digits: int = 4,
        ansi: bool = False,
        width: int = terminal.WIDTH,
        path: Path | None = None,
    ) -> str:
        """Return, or also write, tables for a terminal.

        Args:
            digits: how many decimals of values.
            ansi, width, path: as in `irbatch.Comparison.to_text`.

        Raises:
            InputError: if digits is not a whole number from 0 to 17.
        """
        document = make_document(self, digits, (0, 0))
        return written(terminal.write_document(document, ansi=ansi, width=width), path)

    def to_markdown(self, *, digits: int = 4, path: Path | None = None) -> str:
        """Return, or also write, such tables in GitHub's Markdown; options as in `to_text`."""
        return written(markdown.write_document(make_document(self, digits, (100, 100))), path)

    def to_html(
        self,
        path: Path | None = None,
        *,
        digits: int = 4,
        title: str | None = None,
        fragment: bool = False,
    ) -> str:
        """Return, or also write, a page on which each query opens and shows both rankings.

        It loads nothing, and opens queries without its script, too, which sorts tables.

        Args:
            path, digits: as in `to_text`.
            title, fragment: as in `irbatch.Comparison.to_html`.
        """
        from irbatch.report import html

        document = make_document(self, digits, (120, 240), title)
        return written(html.write_document(document, fragment=fragment), path)

    def to_json(self, path: Path | None = None) -> str:
        """Return, or also write, everything as JSON; NaN and infinite numbers become null."""
        return records.write_json(list_everything(self), path)
