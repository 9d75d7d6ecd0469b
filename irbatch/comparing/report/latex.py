r"""A comparison as a table for a paper: LaTeX with booktabs.

Text is written in ASCII, so that it compiles with every engine and font encoding: letters with
their accents as commands, Greek ones as formulas, and what LaTeX has no letter for (emoji, Chinese)
as its code point, unless the characters themselves are asked for.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from os import PathLike
from typing import TYPE_CHECKING

from irbatch.comparing.report.names import join_letters, printable
from irbatch.comparing.report.table import (
    BETTER,
    WORSE,
    Block,
    Cell,
    blocks,
    check_digits,
    legend,
    rows,
)
from irbatch.errors import InputError
from irbatch.files import write_text

if TYPE_CHECKING:
    from irbatch.comparing.comparison import Comparison

__all__ = ["to_latex"]

LABEL = re.compile(r"[A-Za-z0-9:._/ +-]*")
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
    BETTER: r"$\uparrow$", WORSE: r"$\downarrow$",
    "–": r"\textendash{}", "—": r"\textemdash{}", "’": r"\textquoteright{}", "…": r"\ldots{}",
    "∞": r"$\infty$", "±": r"$\pm$",
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


def to_latex(
    comparison: Comparison,
    *,
    digits: int = 4,
    intervals: bool = False,
    label: str = "tab:comparison",
    unicode: bool = False,
    path: str | PathLike[str] | None = None,
) -> str:
    r"""Return, or also write, a table of systems; it needs ``\usepackage{booktabs}``.

    Args:
        digits: how many decimals of means.
        intervals: whether means come with their confidence intervals.
        label: what ``\ref`` calls the table.
        unicode: keep characters beyond ASCII as they are, for XeLaTeX or LuaLaTeX with a font
            that has them.
        path: where to write it; an existing file is replaced whole or not at all.

    Raises:
        InputError: for decimals that are none, or a label that ``\label`` doesn't take.
    """
    check_digits(digits)
    if not LABEL.fullmatch(label):
        raise InputError(f"a label is letters, digits and :._/+-, not {label!r}",
                         source="label", value=label)  # fmt: skip
    text = "\n".join(_table(comparison, digits, intervals, label, unicode)) + "\n"
    if path is not None:
        write_text(path, text)
    return text


def _table(
    comparison: Comparison, digits: int, intervals: bool, label: str, unicode: bool
) -> Iterator[str]:
    """Yield the lines of the table."""
    lettered = comparison.baseline is None
    columns = len(comparison.measures) + 1 + lettered
    explained = legend(comparison, "Bold", "superscripts")
    caption = f"{comparison.caption()} {explained} {comparison.signature}"
    head = [*([""] if lettered else []), "System",
            *(_escape(each, unicode) for each in comparison.measures)]  # fmt: skip
    yield r"% needs \usepackage{booktabs}"
    yield r"\begin{table}"
    yield r"  \centering"
    yield rf"  \caption{{{_escape(caption, unicode)}}}"
    yield rf"  \label{{{label}}}"
    yield rf"  \begin{{tabular}}{{{'l' * columns}}}"
    yield r"    \toprule"
    yield f"    {' & '.join(head)} \\\\"
    for block in blocks(comparison):
        yield from _block(block, columns, digits, intervals, unicode)
    yield r"    \bottomrule"
    yield r"  \end{tabular}"
    yield r"\end{table}"


def _block(
    block: Block, columns: int, digits: int, intervals: bool, unicode: bool
) -> Iterator[str]:
    """Yield the lines of a group of queries."""
    yield r"    \midrule"
    if block.heading:
        heading = _escape(block.heading, unicode)
        yield rf"    \multicolumn{{{columns}}}{{l}}{{\emph{{{heading}}}}} \\"
    for row in rows(block.comparison, digits, intervals):
        name = _escape(row.system, unicode) + " (baseline)" * row.is_baseline
        cells = [*([row.letter] if row.letter else []), name, *map(_cell, row.cells)]
        yield f"    {' & '.join(cells)} \\\\"


def _cell(cell: Cell) -> str:
    r"""Write a mean: ``\textbf{0.4833}\textsuperscript{ac}``."""
    mean = _number(cell.mean.text)
    written = rf"\textbf{{{mean}}}" if cell.mean.stands_out else mean
    if cell.marks in ([BETTER], [WORSE]):
        written += rf"$^{{{SPECIAL[cell.marks[0]].strip('$')}}}$"
    elif cell.marks:
        written += rf"\textsuperscript{{{join_letters(cell.marks)}}}"
    return f"{written} {{\\scriptsize {_number(cell.interval)}}}" if cell.interval else written


def _number(text: str) -> str:
    return "".join(
        {"-": "$-$", "–": "--", "∞": r"$\infty$", "[": "{[}", "]": "{]}"}.get(each, each)
        for each in text
    )


def _escape(text: str, unicode: bool) -> str:
    """Take from every character its meaning in LaTeX."""
    apart = LIGATURE.sub("\0", printable(text))  # which no printable text can hold
    return "".join("{}" if each == "\0" else _character(each, unicode) for each in apart)


def _character(each: str, unicode: bool) -> str:
    if each in SPECIAL:
        return SPECIAL[each]
    return each if unicode or each.isascii() else _accented(each) or _greek(each) or _point(each)


def _accented(each: str) -> str | None:
    r"""Write a letter and its accent: ``\'{e}``."""
    letter, accent = "", ""
    parts = unicodedata.normalize("NFD", each)
    if len(parts) == 2:
        letter, accent = parts[0], parts[1]
    if accent not in ACCENTS or not letter.isascii():
        return None
    dot = "\\" if letter in "ij" and accent != CEDILLA else ""  # which the accent stands in for
    return rf"\{ACCENTS[accent]}{{{dot}{letter}}}"


def _greek(each: str) -> str | None:
    r"""Write a Greek letter that is no Latin one by its looks: ``$\beta$``."""
    alphabet, _, letter = unicodedata.name(each, "").partition(" LETTER ")
    if alphabet not in ("GREEK SMALL", "GREEK CAPITAL"):
        return None
    name = letter.lower().replace("lamda", "lambda")
    if alphabet == "GREEK CAPITAL":
        name = name.capitalize()
    return rf"$\{name}$" if f" {name} " in GREEK else None


def _point(each: str) -> str:
    return f"{{[}}U+{ord(each):04X}{{]}}"
