r"""Text and numbers in LaTeX, and how wide they become.

Text is written in ASCII, so that it compiles with every engine and font encoding: letters with
their accents as commands, Greek ones as formulas, and what LaTeX has no letter for (emoji, Chinese)
as its code point, unless the characters themselves are asked for.
"""

from __future__ import annotations

import re
import unicodedata

from irbatch.errors import printable

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
# Of Computer Modern Roman in 36ths of an em (Knuth, Computer Modern Typefaces, 1986), rounded up.
WIDTHS = {
    each: size
    for size, letters in {
        10: " !'|,.:;[]`il", 11: "fj", 12: "-", 13: "I", 15: "()_rst", 16: "cez",
        18: '"$*/0123456789\\^{}~?ago', 19: "Jkqvxy", 20: "Sbdhnpu", 23: "LZ", 24: "F", 25: "EP",
        26: "BCTw", 27: "AHNRUVXY", 28: "DKOQ&+=@<>", 29: "G", 30: "#%m", 33: "M", 38: "W",
    }.items()
    for each in letters
}  # fmt: skip
EM, HALF = 36, 18
MINUS = 28
BOLD = 1.16  # how much wider than others
GREEK = (
    " alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau "
    "upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega "
)


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
    r"""Write a Greek letter that is no Latin one by its looks: ``$\beta$``."""
    alphabet, _, letter = unicodedata.name(each, "").partition(" LETTER ")
    if alphabet not in ("GREEK SMALL", "GREEK CAPITAL"):
        return None
    name = letter.replace("LAMDA", "LAMBDA")
    name = name.capitalize() if alphabet == "GREEK CAPITAL" else name.lower()
    return rf"$\{name}$" if f" {name} " in GREEK else None


def text_width(text: str, unicode: bool) -> float:
    """Return how many em a text takes at most."""
    return sum(_width(each, unicode) for each in printable(text)) / EM


def number_width(text: str) -> float:
    """Return how many em a number or an interval takes at most."""
    signs = {"-": MINUS, "–": HALF, "e": WIDTHS["."] + 2 * HALF}
    return sum(signs.get(each) or _width(each, unicode=False) for each in text) / EM


def _width(each: str, unicode: bool) -> int:
    if each in WIDTHS:
        return WIDTHS[each]
    if unicode or _accented(each):
        return WIDTHS.get(unicodedata.normalize("NFD", each)[0], EM)
    if each in SPECIAL or _greek(each):
        return EM
    return sum(WIDTHS[one] for one in f"[U+{ord(each):04X}]")
