r"""Reports as tables for a paper: LaTeX with booktabs.

No line is wider than the paper's. A table that would be gets its headings on several lines, then
smaller type; if that isn't enough, columns go on in a further table below, beside the names of the
rows again, and what is higher than a page in a further float. Widths are those of Computer Modern.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from irbatch.errors import InputError, printable
from irbatch.report.document import (
    BETTER,
    WORSE,
    Cell,
    Column,
    Details,
    Document,
    Heading,
    Table,
    split_columns,
)
from irbatch.report.names import join_letters, shorten
from irbatch.report.tex_text import BOLD, escape, number_width, text_width, write_number
from irbatch.runtime.numbers import check_choice, check_number

LABEL = re.compile(r"[A-Za-z0-9:._/ +-]*")
LINES = {"table": 345.0, "table*": 455.0}  # points of a line: of article, of both columns of ACL's
FLOATS = 15  # that LaTeX has to find places for at once
HEIGHT, RULES, LEAST_ROWS = 430.0, 20.0, 3  # points of a page, of a table's rules; rows before it
SCRIPT = 8.6  # points of an em of marks and intervals
BREAKS = re.compile(rf"(?<=[ ,/_])(?![{BETTER}{WORSE}])|(?=[(])")  # of headings, not before arrows
LEAST_HEAD = 4.0  # em that a line of a heading may always take
LENGTHS = (200, 64, 48, 40, 32, 24, 20, 16)  # of names, of which the longest that fits is taken
LABELS_SHARE = 0.45  # of a line, that names of rows take at most


class Type(NamedTuple):
    """Type of some size: its command; points of an em, of the gap beside a column, of a row."""

    command: str
    em: float
    gap: float
    row: float

    def commands(self) -> list[str]:
        """Return what sets it, in a float."""
        gap = rf"\setlength{{\tabcolsep}}{{{self.gap:g}pt}}"
        return [self.command, gap] if self.command else []


# Of papers in 10 points; ems are a twentieth wider, for those in 11 or 12 and for other fonts.
TYPES = (
    Type("", 10.5, 6.0, 12.5),
    Type(r"\small", 9.75, 4.0, 11.5),
    Type(r"\footnotesize", 8.95, 3.0, 10.0),
)


@dataclass(frozen=True)
class Written:
    """A column in LaTeX, its heading on one line and on several, and how many em these take."""

    aligned: str
    labels: bool
    heads: tuple[str, str]
    cells: list[str]
    widths: tuple[float, float]
    after: float  # em that follow numbers, of small type


class Layout(NamedTuple):
    """What stands side by side, in what type, and whether headings have several lines."""

    type: Type
    broken: bool
    parts: list[list[Written]]

    def width(self, part: Sequence[Written]) -> float:
        """Return the points that columns take."""
        text = sum(each.widths[self.broken] * self.type.em + each.after * SCRIPT for each in part)
        return text + 2 * self.type.gap * (len(part) - 1)


def write_document(
    document: Document,
    label: str = "tab:results",
    *,
    caption: str | None = None,
    environment: str = "table",
    line_width: float | None = None,
    headings: Mapping[str, str] | None = None,
    unicode: bool = False,
) -> str:
    r"""Write a report's tables as one, which needs ``\usepackage{booktabs}``.

    All have the same columns; headings stand above their rows; figures and what details open
    are left out, and so is the middle of long names, if that leaves them all different. What shaped
    the numbers stands in a comment. Options are those of `Reported.to_latex`.
    """
    if not isinstance(label, str) or not LABEL.fullmatch(label):
        problem = f"a label is letters, digits and :._/+-, not {label!r}"
        raise InputError(problem, source="label", value=label)
    check_choice("environment", environment, LINES)
    line = check_number(
        "line_width", LINES[environment] if line_width is None else line_width, least=50
    )
    parts = [part.table if isinstance(part, Details) else part for part in document.parts]
    document = replace(document, parts=parts).renamed(headings or {}, {})
    legend = document.explained("Bold")
    if caption is None:
        above = document.caption
    else:
        above, legend = caption, f"{document.note} {legend}".strip()
    if above and legend and not above.rstrip().endswith((".", "!", "?", ":", ";")):
        above += "."
    above = " ".join(filter(None, (above, legend)))
    layout = _lay_out(_columns(document, line, unicode), line)
    lines_above = 2 + text_width(above, unicode) * TYPES[0].em / line
    bodies = [list(_body(document, part, layout, line, unicode)) for part in layout.parts]
    floats = _fill_floats(bodies, layout, HEIGHT - lines_above * TYPES[0].row)
    too_wide = any(layout.width(part) > line for part in layout.parts)
    comments = [document.caption if caption is not None else "", document.settings]
    packages = [r"\usepackage{booktabs}", *([r"\usepackage{graphicx}"] if too_wide else [])]
    written = [f"% needs {' and '.join(packages)}"]
    written += [f"% {_comment(each, unicode)}" for each in comments if each]
    first = [rf"\caption{{{escape(above, unicode)}}}", rf"\label{{{label}}}"]
    again = [r"\addtocounter{table}{-1}", r"\caption{Continued.}"]
    for number, tables in enumerate(floats):
        inside = [r"\centering", *(again if number else first), *layout.type.commands()]
        for place, (k, rows) in enumerate(tables):
            inside += [r"\par\medskip"] if place else []
            inside += _tabular(layout.parts[k], rows, layout, line)
        written += [r"\clearpage"] if number and number % FLOATS == 0 else []
        written += [rf"\begin{{{environment}}}", *(f"  {each}" for each in inside)]
        written.append(rf"\end{{{environment}}}")
    return "\n".join(written) + "\n"


def _comment(text: str, unicode: bool) -> str:
    shown = printable(text)  # on one line
    return shown if unicode else shown.encode("ascii", "backslashreplace").decode()


def _columns(document: Document, line: float, unicode: bool) -> list[Written]:
    """Write all columns: names, then headings, as long as leaves room for what is beside them."""
    tables = [part for part in document.parts if isinstance(part, Table)]
    room = line / TYPES[0].em
    most = [LENGTHS[0], LENGTHS[0]]
    for of_heads in (False, True):
        for most[of_heads] in LENGTHS:
            short = [table.shortened(*most) for table in tables]
            columns = [_column(k, head, short, unicode) for k, head in enumerate(short[0].columns)]
            labels = sum(each.widths[0] for each in columns if each.labels)
            others = [
                each.widths[1]
                for each in columns
                if not each.labels and (of_heads or each.aligned == "l")
            ]
            fits = max(others, default=0) <= (1 - LABELS_SHARE) * room
            if fits and (of_heads or labels <= LABELS_SHARE * room):
                break
    return columns


def _column(k: int, column: Column, tables: Sequence[Table], unicode: bool) -> Written:
    """Write a column of all tables."""
    cells = [cell for table in tables for cell in table.column(k)]
    head = "" if column.kind == "mark" else column.heading
    head = head.capitalize() if column.kind == "name" else head
    after = 0.0
    if column.kind == "number":
        aligned = "r"
        size = max((number_width(each.text) * _boldness(each) for each in cells), default=0)
        texts = [_number(each) for each in cells]
        if any(table.annotated(k) for table in tables):
            aligned = "r@{}l"
            after = max(map(_after_width, cells))
            texts = [f"{text} & {_after(cell)}" for text, cell in zip(texts, cells, strict=True)]
    else:
        aligned = "l"
        full = [f"{each.text} ({each.after})" if each.after else each.text for each in cells]
        size = max((text_width(each, unicode) for each in full), default=0)
        texts = [escape(each, unicode) for each in full]
    lines = _break(head, size, unicode)
    stacked = r"\\".join(escape(each, unicode) for each in lines)
    if len(lines) > 1:
        stacked = rf"\begin{{tabular}}[b]{{@{{}}{aligned[0]}@{{}}}}{stacked}\end{{tabular}}"
    heads = [f"{each} &" if len(aligned) > 1 else each for each in (escape(head, unicode), stacked)]
    wide = max(size, text_width(head, unicode))
    narrow = max([size, *(text_width(each, unicode) for each in lines)])
    return Written(aligned, column.labels, (heads[0], heads[1]), texts, (wide, narrow), after)


def _break(head: str, size: float, unicode: bool) -> list[str]:
    """Break a heading into lines that are no wider than what stands below, where that can be."""
    pieces = [each for each in BREAKS.split(head) if each]
    room = max([size, LEAST_HEAD, *(text_width(each.strip(), unicode) for each in pieces)])
    lines = [""]
    for each in pieces:
        if lines[-1] and text_width((lines[-1] + each).strip(), unicode) > room:
            lines.append("")
        lines[-1] += each
    return [each.strip() for each in lines]


def _lay_out(columns: Sequence[Written], line: float) -> Layout:
    """Choose the largest type, and headings on one line, of what takes the fewest parts."""
    labels = [each for each in columns if each.labels]
    others = [each for each in columns if not each.labels]
    found = []
    for each in TYPES:
        for broken in (False, True) if each is TYPES[0] else (True,):
            layout = Layout(each, broken, [])
            parts = split_columns(labels, others, layout.width, line)
            found.append(layout._replace(parts=parts))
    return min(found, key=lambda each: len(each.parts))


def _body(
    document: Document, part: Sequence[Written], layout: Layout, line: float, unicode: bool
) -> Iterator[str]:
    """Yield the rows of columns, a rule before those of each table."""
    rows = zip(*(each.cells for each in part), strict=True)
    above = ""
    for each in document.parts:
        if isinstance(each, Heading):
            above = each.text
        elif isinstance(each, Table):
            yield r"\midrule"
            if above:
                most = len(above)
                while text_width(short := shorten(above, most), unicode) > line / layout.type.em:
                    most -= 1
                count = sum(len(each.aligned.replace("@{}", "")) for each in part)
                heading = rf"\emph{{{escape(short, unicode)}}}"
                yield rf"\multicolumn{{{count}}}{{@{{}}l@{{}}}}{{{heading}}} \\"
            for _ in each.rows:
                yield rf"{' & '.join(next(rows))} \\"


def _fill_floats(
    bodies: Sequence[Sequence[str]], layout: Layout, height: float
) -> list[list[tuple[int, Sequence[str]]]]:
    """Put the rows of all parts into floats that are no higher than a page."""
    floats: list[list[tuple[int, Sequence[str]]]] = [[]]
    free = height
    for k, body in enumerate(bodies):
        left = body
        head = max(each.heads[layout.broken].count(r"\\") for each in layout.parts[k]) + 1
        while left:
            room = int((free - RULES) / layout.type.row) - head
            if room < min(len(left), LEAST_ROWS) and floats[-1]:
                floats.append([])
                free = height
                continue
            rows, left = left[: max(room, LEAST_ROWS)], left[max(room, LEAST_ROWS) :]
            floats[-1].append((k, rows))
            free -= (len(rows) + head) * layout.type.row + RULES
    return floats


def _tabular(
    part: Sequence[Written], rows: Sequence[str], layout: Layout, line: float
) -> Iterator[str]:
    """Yield a table of some columns and rows; what is too wide for any other way is shrunk."""
    shrunk = layout.width(part) > line
    yield from [r"\resizebox{\linewidth}{!}{%"] * shrunk
    yield rf"\begin{{tabular}}{{@{{}}{''.join(each.aligned for each in part)}@{{}}}}"
    yield r"  \toprule"
    yield rf"  {' & '.join(each.heads[layout.broken] for each in part)} \\"
    yield from [r"  \midrule"] * (rows[:1] != [r"\midrule"])
    yield from (f"  {each}" for each in rows)
    yield r"  \bottomrule"
    yield r"\end{tabular}" + "}" * shrunk


def _boldness(cell: Cell) -> float:
    return BOLD if cell.stands_out else 1.0


def _number(cell: Cell) -> str:
    number = write_number(cell.text)
    return rf"\textbf{{{number}}}" if cell.stands_out else number


def _after(cell: Cell) -> str:
    r"""Write marks and what else follows a number: ``\textsuperscript{ac}``."""
    if cell.marks in ([BETTER], [WORSE]):
        marks = rf"$^{{{escape(cell.marks[0], False).strip('$')}}}$"
    else:
        letters = "".join(escape(each, False) for each in join_letters(cell.marks))
        marks = rf"\textsuperscript{{{letters}}}" if letters else ""
    return marks + (rf"\ {{\scriptsize {write_number(cell.after)}}}" if cell.after else "")


def _after_width(cell: Cell) -> float:
    interval = number_width(f" {cell.after}") if cell.after else 0.0
    return text_width(join_letters(cell.marks), False) + interval
