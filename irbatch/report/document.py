"""What a report says, before it takes a form: every form is written from the same document.

Texts may hold any character: renderers escape them. Numbers are written by `irbatch.report.text`,
and keep beside their text the value that they are sorted by.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

NOTHING = "–"  # what is shown of NaN
BETTER, WORSE = "↑", "↓"  # marks of a cell
BEST, MARKS = "{best}", "{marks}"  # of a legend; each form says here how it shows them

Legend = Sequence[tuple[str, str]]
Record = dict[str, Any]


class Cell(NamedTuple):
    """A cell of a table: a name, or a number as people see it."""

    text: str
    value: float = math.nan  # it is sorted by; NaN stands last
    stands_out: bool = False  # a number is bold, or starred
    after: str = ""  # follows in small print: an interval, or a remark on a name
    marks: Sequence[str] = ()  # superscripts


class Column(NamedTuple):
    """A column of a product: all that any form of report knows of it.

    `make_table` lays out those that have a heading, `list_records` those that have a name; both
    work on items, one a row, of any kind that the column's functions take.

    Attributes:
        heading: for people; empty of what only programs read, and shown of a mark only where one
            can sort by it.
        kind: of a name what a row is of, of a mark a letter or sign before it.
        descends: whether the largest is what one looks for.
        name: for programs; empty of what only people see.
        value: takes an item, returns its value with every digit; None and NaN where it is unknown.
        show: takes a value that is not None, returns its text.
        text: takes an item, returns its text; in place of `show`.
        more: takes an item, returns fields of its `Cell` beside the text: ``{"stands_out": True}``.
        meaning: one line, which stands under the table.

    >>> column = Column("share (%)", name="share", value=lambda item: item["share"],
    ...                 show=lambda share: f"{100 * share:.0f}", meaning="of all documents")
    >>> column.cell({"share": 0.25}).text, list_records([column], [{"share": 0.25}])
    ('25', (['share'], [{'share': 0.25}]))
    """

    heading: str
    kind: Literal["mark", "name", "text", "number"] = "number"
    descends: bool = True
    name: str = ""
    value: Callable[[Any], Any] = lambda item: item
    show: Callable[[Any], str] = str
    text: Callable[[Any], str] | None = None
    more: Callable[[Any], Record] = lambda item: {}
    meaning: str = ""

    def cell(self, item: Any) -> Cell:
        """Return the cell of an item."""
        value = self.value(item)
        if self.text is not None:
            text = self.text(item)
        else:
            text = NOTHING if value is None else self.show(value)
        fields = {"text": text, **self.more(item)}
        if isinstance(value, int | float) and not isinstance(value, bool):
            fields.setdefault("value", value if isinstance(value, int) else float(value))
        return Cell(**fields)


class Table(NamedTuple):
    """A table: rows of cells; a whole one is not cut where it is wider than a terminal."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    whole: bool = False

    def column(self, position: int) -> list[Cell]:
        """Return a column's cells."""
        return [row[position] for row in self.rows]

    @property
    def meanings(self) -> str:
        """What the columns mean, as one sentence."""
        text = "; ".join(
            f"{column.heading}: {column.meaning}" for column in self.columns if column.meaning
        )
        return f"{text}." if text else ""

    def annotated(self, position: int) -> bool:
        """Tell whether something stands after a column's numbers."""
        return any(cell.after or cell.marks for cell in self.column(position))


class Figure(NamedTuple):
    """A picture, and what it shows in words; `draw` returns matplotlib's axes."""

    title: str
    caption: str
    draw: Callable[[], Any]


class Heading(NamedTuple):
    """What the parts after it are of."""

    text: str


class Sentences(NamedTuple):
    """What is known, in words."""

    texts: Sequence[str]


class Details(NamedTuple):
    """A table whose rows have more to show: a page opens it, other forms write it after the table.

    `parts` are those of each row.
    """

    table: Table
    parts: Sequence[Sequence[Part]]


Part = Heading | Table | Figure | Sentences | Details


def opened(parts: Iterable[Part]) -> Iterator[Heading | Table | Figure | Sentences]:
    """Write details one after the other, under a heading of their row's names and texts."""
    for part in parts:
        if not isinstance(part, Details):
            yield part
            continue
        yield part.table
        names = [
            k for k, column in enumerate(part.table.columns) if column.kind in ("name", "text")
        ]
        for row, behind in zip(part.table.rows, part.parts, strict=True):
            yield Heading(": ".join(row[k].text for k in names if row[k].text))
            yield from opened(behind)


class Document(NamedTuple):
    """A report: how it came about, what signs mean, its parts, and what shaped the numbers.

    `note` is what has to be said of the tables under any other caption, too.
    """

    title: str
    caption: str
    legend: Legend
    parts: Sequence[Part]
    settings: str = ""
    note: str = ""

    def explained(self, best: str, marks: str = "superscripts") -> str:
        """Write the legend, in which a form says how the best stand out and what marks are."""
        signs = {BEST: best, MARKS: marks}
        text = "; ".join(f"{signs.get(sign, sign)}: {meaning}" for sign, meaning in self.legend)
        return f"{text}." if text else ""


def make_table(
    caption: str, columns: Sequence[Column], items: Iterable[Any], *, whole: bool = False
) -> Table:
    """Lay out one row an item, of the columns that have a heading."""
    shown_columns = [column for column in columns if column.heading]
    rows = [[column.cell(item) for column in shown_columns] for item in items]
    return Table(caption, shown_columns, rows, whole)


def list_records(columns: Sequence[Column], items: Iterable[Any]) -> tuple[list[str], list[Record]]:
    """Return the names of the columns that have one, and a record of their values an item.

    A name that an earlier column has, too, gets a number: ``"loss (2)"``.
    """
    by_name: dict[str, Column] = {}
    for column in columns:
        if column.name:
            often = sum(other.name == column.name for other in by_name.values())
            by_name[f"{column.name} ({often + 1})" if often else column.name] = column
    records = [{name: column.value(item) for name, column in by_name.items()} for item in items]
    return list(by_name), records
