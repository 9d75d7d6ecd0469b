r"""Text for LaTeX.

It is written in ASCII, so that it compiles with every engine and font encoding: letters with
their accents as commands, Greek ones as formulas, and what LaTeX has no letter for (emoji, Chinese)
as its code point, unless the characters themselves are asked for.
"""

from __future__ import annotations

import re
import unicodedata

from irbatch.errors import InputError, printable

__all__ = ["check_label", "escape", "write_number"]

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
    "↑": r"$\uparrow$", "↓": r"$\downarrow$",
    "–": r"\textendash{}", "—": r"\textemdash{}", "’": r"\textquoteright{}", "…": r"\ldots{}",
    "€": r"\texteuro{}", "£": r"\pounds{}", "¥": r"\textyen{}",
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


def check_label(label: str) -> None:
    r"""Check what `\ref` calls a table.

    Raises:
        InputError: for what `\label` doesn't take.
    """
    if not LABEL.fullmatch(label):
        raise InputError(f"a label is letters, digits and :._/+-, not {label!r}",
                         source="label", value=label)  # fmt: skip


def write_number(text: str) -> str:
    """Write a number, or an interval: minus signs and brackets are set as such."""
    return "".join(
        {"-": "$-$", "–": "--", "∞": r"$\infty$", "[": "{[}", "]": "{]}"}.get(each, each)
        for each in text
    )


def escape(text: str, unicode: bool) -> str:
    """Take from every character its meaning in LaTeX.

    Args:
        text: what is to be read.
        unicode: keep characters beyond ASCII as they are.
    """
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
