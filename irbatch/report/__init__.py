"""What everything that is reported has in common: the forms that it is written in."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from irbatch.errors import CONTROLS, imported
from irbatch.runtime.numbers import check_keywords

if TYPE_CHECKING:
    from irbatch.report.document import Document, Record

# Each form is imported when it is written: few want any, and none wants all.

Path = str | PathLike[str]
FORMULAS = tuple("=+-@\t\r\n")  # what begins with these, a spreadsheet would run
UNQUOTED = {code: shown for code, shown in CONTROLS.items() if chr(code) not in "\t\n\r"}
UNSAFE = {code: f"\\u{code:04x}" for code in CONTROLS if code > 31}  # of JSON, beyond its own
SURROGATE = "[\ud800-\udfff]"  # may stand alone in Python, not in a file


class Reported:
    """What prints as a table, is shown by notebooks, and is written in every form.

    What a class adds to this are its options: keywords of `_document`, which makes the report for
    people, and of `_everything` and `_records`, which are for programs.
    """

    _label: ClassVar[str] = "tab:results"
    _document: Callable[..., Document]  # of "text", "markdown", "latex", "html" or "notebook"
    _everything: Callable[..., Record]
    _records: Callable[..., tuple[Sequence[str], Iterable[Record]]]

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        from irbatch.report.html import write_document

        return write_document(self._document("notebook"), fragment=True)

    def to_text(
        self, path: Path | None = None, *, ansi: bool = False, width: int = 100, **options: Any
    ) -> str:
        """Return, or also write, tables for a terminal.

        Args:
            path: where to write it; an existing file is replaced whole or not at all.
            ansi: whether what stands out is bold, by a terminal's escapes; if not, it is starred.
            width: columns that would make lines longer than this go on in a further table.
            **options: what the tables have, as the class says.

        Raises:
            InputError: if an option has a value that it can't have.
        """
        from irbatch.report.text import write_text

        document = self._made(self.to_text, self._document, options, "text")
        return _written(write_text(document, ansi=ansi, width=width), path)

    def to_markdown(self, path: Path | None = None, **options: Any) -> str:
        """Return, or also write, such tables in GitHub's Markdown; arguments as of `to_text`."""
        from irbatch.report.text import write_markdown

        document = self._made(self.to_markdown, self._document, options, "markdown")
        return _written(write_markdown(document), path)

    def to_latex(
        self,
        path: Path | None = None,
        *,
        caption: str | None = None,
        label: str | None = None,
        environment: str = "table",
        **options: Any,
    ) -> str:
        r"""Return, or also write, a table for a paper; it needs booktabs and graphicx.

        TeX itself shrinks it where it is wider than a line or higher than a page. What shaped the
        numbers stands in a comment. Letters that pdfLaTeX lacks take XeLaTeX or LuaLaTeX.

        Args:
            path, **options: as in `to_text`.
            caption: what the caption begins with, in place of how many systems and queries there
                are, which then stands in the comment; how systems were tested, what is relevant,
                that means are over different queries, and what signs and brackets mean follows.
            label: what ``\ref`` calls the table; default: ``"tab:results"``, or what else it is of.
            environment: ``"table"``, or ``"table*"`` across both columns of a paper.

        Raises:
            InputError: as `to_text`, and if ``\label`` doesn't take the label.
        """
        from irbatch.report.latex import write_document

        document = self._made(self.to_latex, self._document, options, "latex")
        label = self._label if label is None else label
        return _written(write_document(document, label, caption, environment), path)

    def to_html(self, path: Path | None = None, **options: Any) -> str:
        """Return, or also write, a page that stands alone, with tables that can be sorted.

        Arguments and errors as of `to_text`.
        """
        from irbatch.report.html import write_document

        document = self._made(self.to_html, self._document, options, "html")
        return _written(write_document(document), path)

    def to_dict(self, **options: Any) -> dict[Any, Any]:
        """Return everything, every number with every digit, as dicts and lists."""
        return self._made(self.to_dict, self._everything, options)

    def to_json(self, path: Path | None = None, **options: Any) -> str:
        """Return, or also write, everything as JSON; NaN and infinite numbers become null."""
        return write_json(self._made(self.to_json, self._everything, options), path)

    def to_csv(self, path: Path | None = None, **options: Any) -> str:
        """Return, or also write, lines with every number, every digit of it.

        Names that a spreadsheet would take for a formula get a leading apostrophe.
        """
        names, records = self._made(self.to_csv, self._records, options)
        return write_csv(names, records, path)

    def to_pandas(self, **options: Any) -> Any:
        """Return a pandas frame of the lines and columns of `to_csv`.

        Raises:
            ImportError: naming the extra, when pandas is not installed.
        """
        names, records = self._made(self.to_pandas, self._records, options)
        return imported("frames", "pandas", "pandas").DataFrame(list(records), columns=names)

    def to_polars(self, **options: Any) -> Any:
        """Return a polars frame of the lines and columns of `to_csv`; errors as `to_pandas`."""
        names, records = self._made(self.to_polars, self._records, options)
        pl = imported("frames", "polars", "polars")
        rows = [list(record.values()) for record in records]
        return pl.DataFrame(rows, schema=list(names), orient="row", infer_schema_length=None)

    @staticmethod
    def _made(
        method: Any, make: Callable[..., Any], options: dict[str, Any], *arguments: Any
    ) -> Any:
        """Return what is made with options, of which a method rejects those that it lacks."""
        check_keywords(method, options, make.__kwdefaults__ or ())
        return make(*arguments, **options)


def write_json(everything: Record, path: Path | None) -> str:
    """Return, or also write, an object as JSON; NaN and infinite numbers become null."""
    import json

    text = json.dumps(_finite(everything), ensure_ascii=False, indent=1, allow_nan=False)
    text = text.translate(UNSAFE)
    return _written(text + "\n", path)


def _finite(value: Any) -> Any:
    """Put null in place of NaN and infinite numbers, however deep."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list) else value


def write_csv(names: Sequence[str], records: Iterable[Record], path: Path | None) -> str:
    """Return, or also write, one line a record."""
    import csv

    lines: list[str] = []
    # With this line end a writer of Python before 3.13, too, quotes a lone "\r".
    target = SimpleNamespace(write=lambda line: lines.append(line.removesuffix("\r\n") + "\n"))
    writer = csv.writer(target, lineterminator="\r\n")
    for row in (names, *(record.values() for record in records)):
        writer.writerow("" if cell is None else csv_cell(cell) for cell in row)
    return _written("".join(lines), path)


def csv_cell(value: object) -> str:
    """Write text for a CSV cell; what a spreadsheet would run as a formula is defused."""
    if not isinstance(value, str):
        return str(value)
    safe = value.translate(UNQUOTED)
    return f"'{safe}" if value.startswith(FORMULAS) else safe


def _written(text: str, path: Path | None) -> str:
    from irbatch.runtime.files import written  # with pathlib, which takes 5 ms to import

    text = re.sub(SURROGATE, lambda match: f"\\u{ord(match[0]):04x}", text)
    return written(text, path)
