"""How wide LaTeX sets a table, worked out from what was written: Computer Modern in 10 points."""

from __future__ import annotations

import re

from irbatch.report.tex_text import WIDTHS

# Points of an em at each size: as cmr10, cmr9, cmr8 and cmr7 have them against cmr10.
SIZES = {"": 10.0, r"\small": 9.26, r"\footnotesize": 8.5}
SCRIPT = 8.15
BOLD = 1.15
GAP = {"": 6.0}
SMALL_TYPE = re.compile(r"\\textsuperscript\{((?:[^{}]|\{\})*)\}|\\ \{\\scriptsize (.*)\}")
ARROW = re.compile(r"\$\^\{\\(?:up|down)arrow\}\$")
HALF_EM = r"\\(?:textbackslash|textasciitilde|textasciicircum|textendash|char34)\{\}"
STACKED = re.compile(r"\\begin\{tabular\}\[b\]\{@\{\}[rl]@\{\}\}(.*?)\\end\{tabular\}")


def plain(latex: str) -> str:
    """Replace what stands for one character by a character as wide at least."""
    text = re.sub(r"\$[^$]*\$", lambda found: "m" * (1 + len(re.findall(r"\d", found[0]))), latex)
    text = re.sub(r"\\textbar\{\}", "|", re.sub(HALF_EM, "0", text))
    text = re.sub(r"\\text(?:less|greater)\{\}", "<", text)
    text = re.sub(r"\\[a-zA-Z]+\{\}", "m", text)
    text = re.sub(r"\\[`'^~\"cvr=u.H]\{\\?(.)\}", r"\1", text)
    return re.sub(r"\\([&%$#_{}])", r"\1", text.replace("{[}", "[").replace("{]}", "]"))


def points(latex: str, em: float) -> float:
    """Measure a cell in points."""
    latex = ARROW.sub(lambda _: r"\textsuperscript{m}", latex)
    if stacked := STACKED.search(latex):
        return max(points(line, em) for line in stacked[1].split(r"\\"))
    small = "".join("".join(filter(None, found)) for found in SMALL_TYPE.findall(latex))
    bold = re.search(r"\\textbf\{(.*)\}", latex)
    rest = bold[1] if bold else SMALL_TYPE.sub("", latex)
    shares = sum(WIDTHS.get(each, 36) for each in plain(rest)) / 36 * (BOLD if bold else 1)
    return shares * em + sum(WIDTHS.get(each, 36) for each in plain(small)) / 36 * SCRIPT


def table_widths(latex: str) -> list[float]:
    """Measure every table in points, but for those that are shrunk to a line."""
    em, gap, found, shrunk = SIZES[""], GAP[""], [], False
    columns: list[float] = []
    gaps: list[float] = []
    for line in map(str.strip, latex.splitlines()):
        if line in SIZES:
            em = SIZES[line]
        elif set_gap := re.fullmatch(r"\\setlength\{\\tabcolsep\}\{(.*)pt\}", line):
            gap = float(set_gap[1])
        elif line.startswith(r"\resizebox"):
            shrunk = True
        elif begun := re.fullmatch(r"\\begin\{tabular\}\{@\{\}(.*)@\{\}\}", line):
            aligned = begun[1].replace("r@{}l", "R")
            columns = [0.0] * len(aligned.replace("R", "rl"))
            gaps = [2 * gap] * (len(aligned) - 1)
        elif line.startswith(r"\end{tabular}"):
            found += [] if shrunk else [sum(columns) + sum(gaps)]
            shrunk = False
        elif line.endswith(r" \\") and not line.startswith(r"\multicolumn"):
            cells = re.split(r"(?<!\\)&", line.removesuffix(r" \\"))
            assert len(cells) == len(columns), line
            sizes = [points(cell.strip(), em) for cell in cells]
            columns = list(map(max, columns, sizes))
    return found
