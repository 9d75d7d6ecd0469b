"""Tables for a paper: they fit on its pages, however many columns, rows and letters there are."""

from __future__ import annotations

import re
import shutil
import string
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.commands import compile_latex
from support.documents import DOCUMENTS
from support.tex_widths import table_widths

from irbatch import InputError
from irbatch.report import latex
from irbatch.report.document import BEST, BETTER, Cell, Column, Document, Heading, Row, Table
from irbatch.report.tex_text import BOLD, WIDTHS

PLACES: list[tuple[dict[str, Any], float]] = [
    ({}, 345),
    ({"environment": "table*"}, 455),
    ({"line_width": 219}, 219),
]


def wide(columns: int, rows: int, heading: str = "mean latency (ms)", name: str = "s") -> Document:
    heads = [Column("system", "name"), *(Column(f"{heading}{k}") for k in range(columns))]
    cells = [Cell("1,234.5", stands_out=True) for _ in range(columns)]
    lines = [Row([Cell(f"{name}{i}"), *cells]) for i in range(rows)]
    table = Table("", heads, lines)
    return Document("", "How it came about.", [(BEST, "the best")], [table], "relevant: >= 1 | β\n")


def tabulars(text: str) -> list[str]:
    """Return each table's own lines."""
    return re.findall(r"\\begin\{tabular\}\{@\{\}.*?\n(.*?)\n *\\end\{tabular\}\}?\n", text, re.S)


def test_letters_are_as_wide_as_in_computer_modern() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    font = pytest.importorskip("matplotlib.ft2font").FT2Font
    path = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "cmr10.ttf"
    measured = font(str(path))
    measured.set_size(100, 72)
    for each in string.ascii_letters + string.digits + "!#%&'()+,-./:;=?@[]`":
        glyph = measured.load_char(ord(each))
        em = glyph.linearHoriAdvance / 65536 / 100
        assert em <= WIDTHS[each] / 36 + 0.001, each
        assert em > WIDTHS[each] / 36 - 0.08, f"{each} is not much wider"
    assert set(WIDTHS) == set(map(chr, range(32, 127)))
    assert BOLD >= 0.575 / 0.5, "a digit of cmbx10 and of cmr10"


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize(("options", "line"), PLACES)
def test_no_table_is_wider_than_a_line(options: dict[str, Any], line: float, name: str) -> None:
    text = latex.write_document(DOCUMENTS[name], "tab:x", **options)
    widths = table_widths(text)
    assert max(widths, default=0) <= line
    assert len(widths) + text.count("resizebox") == len(tabulars(text))
    assert ("graphicx" in text.splitlines()[0]) == ("resizebox" in text)


def test_a_table_stays_as_large_as_it_can() -> None:
    """Headings are broken first, then type becomes smaller, then columns go on below."""
    ways = []
    for columns in range(1, 16):
        text = latex.write_document(wide(columns, 2), "tab:x")
        size = [each for each in (r"\small", r"\footnotesize") if f"{each}\n" in text]
        ways.append((len(tabulars(text)), *size, "[b]" in text))
        assert max(table_widths(text)) <= 345
        assert "resizebox" not in text
    assert list(dict.fromkeys(ways)) == [
        (1, False),
        (1, True),
        (1, r"\small", True),
        (1, r"\footnotesize", True),
        (2, True),
        (2, r"\small", True),
        (2, r"\footnotesize", True),
    ]


def test_columns_go_on_beside_the_names_of_the_rows() -> None:
    text = latex.write_document(wide(30, 2), "tab:x")
    parts = tabulars(text)
    assert len(parts) > 2
    assert text.count(r"\begin{table}") == text.count(r"\label") == 1
    headings = [int(each) for part in parts for each in re.findall(r"\(ms\)(\d+)", part)]
    assert headings == list(range(30))
    assert all(part.count("s0 &") == part.count("s1 &") == 1 for part in parts)


@pytest.mark.parametrize(("rows", "columns"), [(40, 3), (100, 3), (20, 40), (100, 30)])
def test_no_float_is_higher_than_a_page(rows: int, columns: int) -> None:
    text = latex.write_document(wide(columns, rows), "tab:x")
    floats = text.split(r"\begin{table}")[1:]
    parts = len(tabulars(text)) if len(floats) == 1 else None
    for each in floats:
        lines = sum(each.count(ends) for ends in ("\\\\\n", r"\toprule", r"\bottomrule"))
        assert lines * 10 <= 550, "points of article's page, in the smallest type"
        assert each.count(r"\caption") == 1
    assert text.count(r"\label{tab:x}") == 1
    assert text.count(r"\addtocounter{table}{-1}") == len(floats) - 1
    assert text.count(r"\caption{Continued.}") == len(floats) - 1
    for i in range(rows):
        times = len(re.findall(rf"s{i} &", text))
        assert times >= 1
        assert times == (parts or times)
    assert len({len(re.findall(rf"s{i} &", text)) for i in range(rows)}) == 1


def test_latex_need_not_hold_more_floats_than_it_can() -> None:
    text = latex.write_document(wide(3, 700), "tab:x")
    assert text.count(r"\begin{table}") > 15
    assert max(each.count(r"\begin{table}") for each in text.split(r"\clearpage")) <= 15


def test_groups_have_their_headings_where_a_table_goes_on() -> None:
    table = wide(2, 3).parts[0]
    parts = [Heading("W" * 300), table, Heading("tail"), table]
    text = latex.write_document(replace(wide(2, 3), parts=parts), "tab:x", line_width=200)
    (only,) = tabulars(text)
    assert only.count(r"\midrule") == 2
    assert r"\multicolumn{3}{@{}l@{}}{\emph{tail}} \\" in only
    assert len(re.findall("W", only)) * 10.28 <= 200


def test_a_number_alone_too_wide_is_shrunk() -> None:
    text = latex.write_document(DOCUMENTS["many systems"], "tab:x", line_width=150)
    assert r"\resizebox{\linewidth}{!}{%" in text
    assert text.splitlines()[0].endswith(r"\usepackage{booktabs} and \usepackage{graphicx}")


def test_what_shaped_the_numbers_is_a_comment() -> None:
    lines = latex.write_document(wide(1, 1), "tab:x").splitlines()
    assert lines[1] == r"% relevant: >= 1 | \u03b2\n"
    assert lines[4] == r"  \caption{How it came about. Bold: the best.}"
    lines = latex.write_document(wide(1, 1), "tab:x", unicode=True).splitlines()
    assert lines[1] == r"% relevant: >= 1 | β\n"
    lines = latex.write_document(wide(1, 1), "tab:x", caption="50% & more.").splitlines()
    assert lines[1:3] == ["% How it came about.", r"% relevant: >= 1 | \u03b2\n"]
    assert lines[5] == r"  \caption{50\% \& more. Bold: the best.}"
    text = latex.write_document(wide(1, 1), "tab:x", caption="Ours")
    assert r"\caption{Ours. Bold: the best.}" in text
    hidden = replace(wide(1, 1), settings="\x1b\0a\n\\input{x}\r^^M\\input{y}\u2028z")
    for unicode in (False, True):
        text = latex.write_document(hidden, "tab:x", unicode=unicode)
        assert "\x1b" not in text
        assert len(re.split("[\n\r\u2028]", text)) == len(
            re.split("[\n\r\u2028]", latex.write_document(wide(1, 1), "tab:x"))
        )


def test_columns_are_called_as_one_likes() -> None:
    headings = {"system": "the model", "P@1": "$k$"}
    columns = [Column("system", "name"), Column("P@1")]
    table = Table("", columns, [Row([Cell("a"), Cell("0.5", marks=[BETTER])])])
    text = latex.write_document(Document("", "", [], [table]), "tab:x", headings=headings)
    assert r"The model & \$k\$ & \\" in text
    assert table.columns[1].heading == "P@1"


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex here")
@pytest.mark.parametrize("size", ["", "[11pt]", "[12pt]"])
def test_latex_itself_finds_no_table_too_wide_or_too_high(size: str, tmp_path: Path) -> None:
    documents = [*DOCUMENTS.values(), wide(9, 4), wide(30, 60), wide(3, 4, name="W" * 90)]
    tables = [latex.write_document(replace(each, legend=[]), f"tab:{i}", caption="x")
              for i, each in enumerate(documents)]  # fmt: skip
    compile_latex(tmp_path, tables, size)
    assert "Overfull" not in (tmp_path / "x.log").read_text(errors="replace")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"environment": "figure"}, "environment='figure' must be one of 'table', 'table*'"),
        ({"line_width": 49}, "line_width=49 must be"),
        ({"line_width": "wide"}, "line_width='wide' must be a number"),
        ({"headings": {"system": "a", "nDCG@1": "b"}}, "there is no column 'nDCG@1'"),
    ],
)
def test_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        latex.write_document(wide(1, 1), "tab:x", **options)
