r"""Reports as tables for a paper: LaTeX with booktabs, which TeX itself shrinks where it has to.

Text is written in ASCII, so that it compiles with every engine and font encoding: letters with
their accents as commands, Greek ones as formulas, and what LaTeX has no letter for (emoji, Chinese)
as its code point, unless the characters themselves are asked for.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import replace

from irbatch.errors import InputError, printable
from irbatch.report.document import BETTER, WORSE, Cell, Column, Details, Document, Heading, Table
from irbatch.report.text import join_letters, shorten_table
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
    "†": r"\textdagger{}", "‡": r"\textdaggerdbl{}",
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


def write_document(
    document: Document,
    label: str = "tab:results",
    *,
    caption: str | None = None,
    environment: str = "table",
    headings: Mapping[str, str] | None = None,
    unicode: bool = False,
) -> str:
    r"""Write a report's tables as one, which needs booktabs and graphicx.

    All have the same columns; headings stand above their rows; figures and what details open are
    left out, and so is the middle of very long names. Options are those of `Reported.to_latex`.
    """
    if not isinstance(label, str) or not LABEL.fullmatch(label):
        problem = f"a label is letters, digits and :._/+-, not {label!r}"
        raise InputError(problem, source="label", value=label)
    check_choice("environment", environment, ENVIRONMENTS)
    parts = [part.table if isinstance(part, Details) else part for part in document.parts]
    parts = [shorten_table(part) if isinstance(part, Table) else part for part in parts]
    document = replace(document, parts=parts).renamed(headings or {}, {})
    comments = [r"needs \usepackage{booktabs} and \usepackage{graphicx}"]
    comments += [document.caption] if caption is not None else []
    lines = [f"% {_comment(each, unicode)}" for each in [*comments, document.settings] if each]
    inside = [r"\centering", rf"\caption{{{escape(_caption(document, caption), unicode)}}}"]
    inside += [rf"\label{{{label}}}", *SHRUNK, *_tabular(document, unicode)]
    lines += [rf"\begin{{{environment}}}", *(f"  {line}" for line in inside)]
    return "\n".join([*lines, rf"\end{{{environment}}}"]) + "\n"


def _comment(text: str, unicode: bool) -> str:
    shown = printable(text)  # on one line
    return shown if unicode else shown.encode("ascii", "backslashreplace").decode()


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


def _tabular(document: Document, unicode: bool) -> Iterator[str]:
    """Yield all tables as one, a rule before the rows of each."""
    tables = [part for part in document.parts if isinstance(part, Table)]
    columns = tables[0].columns
    annotated = [any(table.annotated(k) for table in tables) for k in range(len(columns))]
    aligned = [
        "l" if column.kind != "number" else "r@{}l" if beside else "r"
        for column, beside in zip(columns, annotated, strict=True)
    ]
    heads = (_head(*each, unicode) for each in zip(columns, annotated, strict=True))
    yield rf"\begin{{tabular}}{{@{{}}{''.join(aligned)}@{{}}}}"
    yield from (r"  \toprule", rf"  {' & '.join(heads)} \\")
    above, width = "", len("".join(aligned).replace("@{}", ""))
    for part in document.parts:
        if isinstance(part, Heading):
            above = rf"\emph{{{escape(part.text, unicode)}}}"
        elif isinstance(part, Table):
            yield r"  \midrule"
            if above:
                yield rf"  \multicolumn{{{width}}}{{@{{}}l@{{}}}}{{{above}}} \\"
            for row in part.rows:
                cells = zip(columns, row.cells, annotated, strict=True)
                yield rf"  {' & '.join(_cell(*each, unicode) for each in cells)} \\"
    yield from (r"  \bottomrule", r"\end{tabular}}}")


def _head(column: Column, annotated: bool, unicode: bool) -> str:
    """Write a heading, a number's word by word under each other, but arrows beside theirs."""
    head = "" if column.kind == "mark" else column.heading
    if column.kind != "number":
        return escape(head.capitalize() if column.kind == "name" else head, unicode)
    words = [escape(word, unicode) for word in re.split(rf" (?![{BETTER}{WORSE}])", head)]
    stacked = r"\\".join(words)
    return (rf"\shortstack[r]{{{stacked}}}" if len(words) > 1 else stacked) + " &" * annotated


def _cell(column: Column, cell: Cell, annotated: bool, unicode: bool) -> str:
    if column.kind != "number":
        return escape(f"{cell.text} ({cell.after})" if cell.after else cell.text, unicode)
    number = write_number(cell.text)
    number = rf"\textbf{{{number}}}" if cell.stands_out else number
    return f"{number} & {_after(cell)}" if annotated else number


def _after(cell: Cell) -> str:
    r"""Write marks and what else follows a number: ``\textsuperscript{ac}``."""
    if cell.marks in ([BETTER], [WORSE]):
        marks = rf"$^{{{escape(cell.marks[0], False).strip('$')}}}$"
    else:
        letters = "".join(escape(mark, False) for mark in join_letters(cell.marks))
        marks = rf"\textsuperscript{{{letters}}}" if letters else ""
    return marks + (rf"\ {{\scriptsize {write_number(cell.after)}}}" if cell.after else "")


def write_number(text: str) -> str:
    r"""Write a number, or an interval: ``1.5$\cdot10^{-7}$``, ``{[}$-$1, 2{]}``."""
    signs = {"-": "$-$", "–": "--"}
    parts = EXPONENT.split(text)
    for k in range(0, len(parts), 2):
        parts[k] = "".join(signs.get(each) or escape(each, unicode=False) for each in parts[k])
    for k in range(1, len(parts), 2):
        parts[k] = rf"$\cdot10^{{{int(parts[k])}}}$"
    return "".join(parts)


def escape(text: str, unicode: bool) -> str:
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
    r"""Write a Greek letter that does not look like a Latin one: ``$\beta$``."""
    alphabet, _, letter = unicodedata.name(each, "").partition(" LETTER ")
    if alphabet not in ("GREEK SMALL", "GREEK CAPITAL"):
        return None
    name = letter.replace("LAMDA", "LAMBDA")
    name = name.capitalize() if alphabet == "GREEK CAPITAL" else name.lower()
    return rf"$\{name}$" if f" {name} " in GREEK else None
