r"""Reports as a table for a paper: LaTeX with booktabs.

Text is written in ASCII, so that it compiles with every engine and font encoding: letters with
their accents as commands, Greek ones as formulas, and what LaTeX has no letter for (emoji, Chinese)
as its code point, unless the characters themselves are asked for.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace

from irbatch.errors import InputError, printable
from irbatch.report.document import BETTER, WORSE, Cell, Column, Details, Document, Heading, Table
from irbatch.report.names import join_letters

LABEL = re.compile(r"[A-Za-z0-9:._/ +-]*")
EXPONENT = re.compile(r"e([+-]\d+)")
LIGATURE = re.compile("(?<=-)(?=-)|(?<=')(?=')|(?<=`)(?=`)|(?<=,)(?=,)|(?<=[?!])(?=`)")
SPECIAL = {
    **{each: f"\\{each}" for each in "{}&%$#_"},
    **{each: f"{{{each}}}" for each in "[]*"},  # which a line's end would take for its own
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",
    "↑": r"$\uparrow$", "↓": r"$\downarrow$",
    "–": r"\textendash{}", "—": r"\textemdash{}", "’": r"\textquoteright{}", "…": r"\ldots{}",
    "€": r"\texteuro{}", "£": r"\pounds{}", "¥": r"\textyen{}",
    "∞": r"$\infty$", "±": r"$\pm$", "●": r"$\bullet$",
    "×": r"$\times$", "·": r"$\cdot$", "ß": r"\ss{}", "æ": r"\ae{}", "Æ": r"\AE{}",
    "ø": r"\o{}", "Ø": r"\O{}", "œ": r"\oe{}", "Œ": r"\OE{}", "ł": r"\l{}", "Ł": r"\L{}",
}  # fmt: skip
ACCENTS = dict(zip("\u0300\u0301\u0302\u0303\u0308\u0327\u030c\u030a\u0304\u0306\u0307\u030b",
                   r"""`'^~"cvr=u.H""", strict=True))  # fmt: skip
CEDILLA = "\u0327"
GREEK = (
    " alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau "
    "upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega "
)


def write_document(document: Document, label: str, *, unicode: bool = False) -> str:
    r"""Write a report's tables as one, which needs ``\usepackage{booktabs}``.

    All have the same columns; headings stand above their rows; figures and what details open are
    left out, and so is the middle of very long names, if that leaves them all different. Options
    are those of `irbatch.Comparison.to_latex`.
    """
    if not LABEL.fullmatch(label):
        problem = f"a label is letters, digits and :._/+-, not {label!r}"
        raise InputError(problem, source="label", value=label)
    parts = [part.table if isinstance(part, Details) else part for part in document.parts]
    document = replace(document, parts=parts)
    tables = [part.shortened() for part in parts if isinstance(part, Table)]
    said = [document.caption, document.explained("Bold"), document.settings]
    caption = _escape(" ".join(filter(None, said)), unicode)
    columns = tables[0].columns
    # Numbers stand flush right, but for those that something stands after.
    aligned = "".join(
        "r" if each.kind == "number" and not any(table.annotated(k) for table in tables) else "l"
        for k, each in enumerate(columns)
    )
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{caption}}}",
        rf"  \label{{{label}}}",
        rf"  \begin{{tabular}}{{{aligned}}}",
        r"    \toprule",
        *(f"    {line}" for line in _body(document, columns, unicode)),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _body(document: Document, columns: Sequence[Column], unicode: bool) -> Iterator[str]:
    """Yield the head and the rows."""
    yield _line([_heading(column, unicode) for column in columns])
    above = ""
    for part in document.parts:
        if isinstance(part, Heading):
            heading = rf"\emph{{{_escape(part.text, unicode)}}}"
            above = rf"\multicolumn{{{len(columns)}}}{{l}}{{{heading}}}"
        elif isinstance(part, Table):
            yield r"\midrule"
            if above:
                yield _line([above])
            for row in part.shortened().rows:
                cells = zip(columns, row.cells, strict=True)
                yield _line([_cell(column, cell, unicode) for column, cell in cells])


def _line(cells: Sequence[str]) -> str:
    return rf"{' & '.join(cells)} \\"


def _heading(column: Column, unicode: bool) -> str:
    if column.kind == "mark":
        return ""
    heading = column.heading.capitalize() if column.kind == "name" else column.heading
    return _escape(heading, unicode)


def _cell(column: Column, cell: Cell, unicode: bool) -> str:
    r"""Write a cell; a number as ``\textbf{0.4833}\textsuperscript{ac}``."""
    if column.kind != "number":
        note = f" ({_escape(cell.after, unicode)})" if cell.after else ""
        return _escape(cell.text, unicode) + note
    number = write_number(cell.text)
    written = rf"\textbf{{{number}}}" if cell.stands_out else number
    if cell.marks in ([BETTER], [WORSE]):
        written += rf"$^{{{SPECIAL[cell.marks[0]].strip('$')}}}$"
    elif cell.marks:
        written += rf"\textsuperscript{{{join_letters(cell.marks)}}}"
    return rf"{written} {{\scriptsize {write_number(cell.after)}}}" if cell.after else written


def write_number(text: str) -> str:
    r"""Write a number, or an interval: ``1.5$\cdot10^{-7}$``, ``{[}$-$1, 2{]}``."""
    signs = {"-": "$-$", "–": "--", "∞": r"$\infty$", "[": "{[}", "]": "{]}"}
    parts = EXPONENT.split(text)
    for k in range(0, len(parts), 2):
        parts[k] = "".join(signs.get(each, each) for each in parts[k])
    for k in range(1, len(parts), 2):
        parts[k] = rf"$\cdot10^{{{int(parts[k])}}}$"
    return "".join(parts)


def _escape(text: str, unicode: bool) -> str:
    """Take from every character its meaning in LaTeX."""
    apart = LIGATURE.sub("\0", printable(text))  # which no printable text can hold
    return "".join("{}" if each == "\0" else _character(each, unicode) for each in apart)


def _character(each: str, unicode: bool) -> str:
    if each in SPECIAL:
        return SPECIAL[each]
    if unicode or each.isascii():
        return each
    return _accented(each) or _greek(each) or f"{{[}}U+{ord(each):04X}{{]}}"


def _accented(each: str) -> str | None:
    r"""Write a letter and its accent: ``\'{e}``."""
    decomposed = unicodedata.normalize("NFD", each)
    letter, accent = decomposed[0], decomposed[1:]
    if accent not in ACCENTS or not letter.isascii():
        return None
    dot = "\\" if letter in "ij" and accent != CEDILLA else ""  # which the accent stands in for
    return rf"\{ACCENTS[accent]}{{{dot}{letter}}}"


def _greek(each: str) -> str | None:
    r"""Write a Greek letter that is no Latin one by its looks: ``$\beta$``."""
    alphabet, _, letter = unicodedata.name(each, "").partition(" LETTER ")
    if alphabet not in ("GREEK SMALL", "GREEK CAPITAL"):
        return None
    name = letter.replace("LAMDA", "LAMBDA")
    name = name.capitalize() if alphabet == "GREEK CAPITAL" else name.lower()
    return rf"$\{name}$" if f" {name} " in GREEK else None
