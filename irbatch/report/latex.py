r"""Reports as tables for a paper: LaTeX with booktabs, which TeX itself shrinks where it has to.

Letters stand as they are, in UTF-8: those that pdfLaTeX lacks (emoji, Chinese) take XeLaTeX or
LuaLaTeX, and a font that has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from irbatch.errors import InputError, printable
from irbatch.report.document import BETTER, WORSE, Cell, Column, Details, Document, Heading, Table
from irbatch.report.text import join_letters
from irbatch.runtime.numbers import check_choice

LABEL = re.compile(r"[A-Za-z0-9:._/ +-]*")
ENVIRONMENTS = ("table", "table*")
# No wider than a line, nor higher than leaves room for the caption.
SHRUNK = (
    r"\resizebox*{!}{\ifdim\totalheight>0.75\textheight 0.75\textheight\else\totalheight\fi}{%",
    r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
)
EXPONENT = re.compile(r"e([+-]\d+)")
LIGATURE = re.compile("(?<=-)(?=-)|(?<=')(?=')|(?<=`)(?=`)|(?<=,)(?=,)|(?<=[?!])(?=`)")
SPECIAL = {
    **{sign: f"\\{sign}" for sign in "{}&%$#_"},
    **{sign: f"{{{sign}}}" for sign in "[]*"},  # which a line's end would take for its own
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
    "†": r"\textdagger{}", "‡": r"\textdaggerdbl{}",
    "∞": r"$\infty$", "±": r"$\pm$", "●": r"$\bullet$",
    "×": r"$\times$", "·": r"$\cdot$", "τ": r"$\tau$", "Δ": r"$\Delta$", "\0": "{}",
}  # fmt: skip


def write_document(
    document: Document, label: str, caption: str | None = None, environment: str = "table"
) -> str:
    """Write a report's tables as one, which needs booktabs and graphicx.

    All have the same columns; headings stand above their rows; figures and what details open are
    left out. Options are those of `Reported.to_latex`.
    """
    if not isinstance(label, str) or not LABEL.fullmatch(label):
        problem = f"a label is letters, digits and :._/+-, not {label!r}"
        raise InputError(problem, source="label", value=label)
    check_choice("environment", environment, ENVIRONMENTS)
    parts = [part.table if isinstance(part, Details) else part for part in document.parts]
    document = document._replace(parts=parts)
    comments = [r"needs \usepackage{booktabs} and \usepackage{graphicx}"]
    comments += [document.caption] if caption is not None else []
    lines = [f"% {printable(comment)}" for comment in [*comments, document.settings] if comment]
    inside = [r"\centering", rf"\caption{{{escape(_caption(document, caption))}}}"]
    inside += [rf"\label{{{label}}}", *SHRUNK, *_tabular(document)]
    lines += [rf"\begin{{{environment}}}", *(f"  {line}" for line in inside)]
    return "\n".join([*lines, rf"\end{{{environment}}}"]) + "\n"


def _caption(document: Document, caption: str | None) -> str:
    """Say what the caller says or the report is of, then what signs and columns mean."""
    legend = document.explained("Bold")
    above = document.caption
    if caption is not None:
        above, legend = caption, f"{document.note} {legend}".strip()
    if above and legend and not above.rstrip().endswith((".", "!", "?", ":", ";")):
        above += "."
    meanings = next((part.meanings for part in document.parts if isinstance(part, Table)), "")
    return " ".join(filter(None, (above, legend, meanings)))


def _tabular(document: Document) -> Iterator[str]:
    """Yield all tables as one, a rule before the rows of each."""
    tables = [part for part in document.parts if isinstance(part, Table)]
    columns = tables[0].columns
    annotated = [any(table.annotated(k) for table in tables) for k in range(len(columns))]
    aligned = [
        "l" if column.kind != "number" else "r@{}l" if beside else "r"
        for column, beside in zip(columns, annotated, strict=True)
    ]
    heads = map(_head, columns, annotated)
    yield rf"\begin{{tabular}}{{@{{}}{''.join(aligned)}@{{}}}}"
    yield from (r"  \toprule", rf"  {' & '.join(heads)} \\")
    above, width = "", len("".join(aligned).replace("@{}", ""))
    for part in document.parts:
        if isinstance(part, Heading):
            above = rf"\emph{{{escape(part.text)}}}"
        elif isinstance(part, Table):
            yield r"  \midrule"
            if above:
                yield rf"  \multicolumn{{{width}}}{{@{{}}l@{{}}}}{{{above}}} \\"
            for row in part.rows:
                yield rf"  {' & '.join(map(_cell, columns, row, annotated))} \\"
    yield from (r"  \bottomrule", r"\end{tabular}}}")


def _head(column: Column, annotated: bool) -> str:
    """Write a heading, a number's word by word under each other."""
    head = column.heading
    if column.kind == "mark":
        return ""
    if column.kind != "number":
        return escape(head.capitalize() if column.kind == "name" else head)
    stacked = r"\\".join(map(escape, head.split(" ")))
    return (rf"\shortstack[r]{{{stacked}}}" if " " in head else stacked) + " &" * annotated


def _cell(column: Column, cell: Cell, annotated: bool) -> str:
    if column.kind != "number":
        return escape(f"{cell.text} ({cell.after})" if cell.after else cell.text)
    number = write_number(cell.text)
    number = rf"\textbf{{{number}}}" if cell.stands_out else number
    return f"{number} & {_after(cell)}" if annotated else number


def _after(cell: Cell) -> str:
    r"""Write marks and what else follows a number: ``\textsuperscript{ac}``."""
    if cell.marks in ([BETTER], [WORSE]):
        marks = rf"$^{{{escape(cell.marks[0]).strip('$')}}}$"
    else:
        letters = "".join(escape(mark) for mark in join_letters(cell.marks))
        marks = rf"\textsuperscript{{{letters}}}" if letters else ""
    return marks + (rf"\ {{\scriptsize {write_number(cell.after)}}}" if cell.after else "")


def write_number(text: str) -> str:
    r"""Write a number, or an interval: ``1.5$\cdot10^{-7}$``, ``{[}$-$1, 2{]}``."""
    signs = {"-": "$-$", "–": "--"}
    parts = EXPONENT.split(text)
    for k in range(0, len(parts), 2):
        parts[k] = "".join(signs.get(sign) or escape(sign) for sign in parts[k])
    for k in range(1, len(parts), 2):
        parts[k] = rf"$\cdot10^{{{int(parts[k])}}}$"
    return "".join(parts)


def escape(text: str) -> str:
    """Take from every character its meaning in LaTeX."""
    apart = LIGATURE.sub("\0", printable(text))  # which no printable text can hold
    return "".join(SPECIAL.get(character, character) for character in apart)
