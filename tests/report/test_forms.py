"""One document in every form: every name is text and nothing more, columns keep their places."""

from __future__ import annotations

import bisect
import re
import shutil
from pathlib import Path

import pytest
from support.commands import compile_latex
from support.comparisons import EVERY, NASTY, PLAIN, TextOf
from support.documents import DOCUMENTS, FORMS, made, on_one_line
from support.pages import Page

from irbatch import InputError
from irbatch.errors import printable
from irbatch.report import latex
from irbatch.report.document import BEST, MARKS, Cell, Column, Document, Table
from irbatch.report.text import text_width, write_markdown, write_table, write_text

ESCAPES = re.compile("\x1b\\[[01]m")


def one_name(name: str, heading: str = "P@1") -> Document:
    columns = [Column("system", "name"), Column(heading)]
    return Document("", "", [], [Table("", columns, [[Cell(name), Cell("0.25", 0.25)]])])


def tables(text: str) -> list[list[str]]:
    """Return the lines of every table of a terminal."""
    parts = [ESCAPES.sub("", part).splitlines() for part in text.split("\n\n")]
    return [part for part in parts if len(part) > 1 and set(part[1]) == {"-", " "}]


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("form", FORMS)
def test_no_control_character_is_written(form: str, name: str) -> None:
    text = ESCAPES.sub("", FORMS[form](DOCUMENTS[name]))
    assert all(each.isprintable() or each in "\n\u2007" for each in text)
    assert text.endswith("\n")


@pytest.mark.parametrize("form", FORMS)
def test_everything_is_said_in_every_form(form: str) -> None:
    """Every text once at least, whatever its characters are turned into."""
    columns = [Column("●", "mark"), Column("system", "name"), Column("where", "text")]
    best = Cell("0.5000", 0.5, True, "[0.4000, 0.6000]", ["a", "ab"])
    rows = [
        [Cell("●", 1), Cell("bm25", after="baseline"), Cell("cpu"), best],
        [Cell("", 0), Cell("splade"), Cell("gpu"), Cell("0.2500", 0.25)],
    ]
    legend = [(BEST, "the highest"), (MARKS, "what is beaten"), ("●", "on the frontier")]
    table = Table("caption", [*columns, Column("P@1")], rows)
    plain = Document("title", "How it came about.", legend, [table], "relevant: >= 1")
    text = ESCAPES.sub("", FORMS[form](plain))
    for said in ("How it came about.", "the highest; ", "what is beaten; ", "on the frontier.",
                 "bm25", "baseline", "splade", "cpu", "gpu", "P@1", "0.5000", "0.4000, 0.6000",
                 "a,ab", "0.2500", "relevant: "):  # fmt: skip
        assert said in text, said
    assert ("*0.5000" in text.replace("**", "")) == (form in ("terminal", "narrow"))
    assert "{best}" not in text
    assert "{marks}" not in text


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("form", ["terminal", "ansi", "narrow"])
def test_columns_stand_under_each_other_whatever_the_names(form: str, name: str) -> None:
    found = tables(FORMS[form](DOCUMENTS[name]))
    assert found
    for head, rule, *lines in found:
        starts = [text_width(rule[: match.start()]) for match in re.finditer("-+", rule)]
        assert len(starts) >= 2
        for line in [head, *lines]:
            for start in starts[1:]:
                if start < text_width(line):
                    places = range(len(line) + 1)
                    at = bisect.bisect_left(places, start, key=lambda at: text_width(line[:at]))
                    assert line[at - 1] == " ", line


def test_wide_tables_go_on_below() -> None:
    document = DOCUMENTS["many measures"]
    found = tables(write_text(document, width=80))
    assert len(found) > 5
    assert max(len(line) for table in found for line in table) <= 80
    measures = [name for table in found for name in re.findall(r"P@\d+", table[0])]
    assert measures == [f"P@{k + 1}" for k in range(40)]
    narrow = write_text(document, width=1)
    assert narrow.count("system ") == 40, "a measure at least"


def test_long_names_are_cut_where_they_agree() -> None:
    text = write_text(DOCUMENTS["baseline"])
    assert r"\x1b[31mred\x1b[0m" in text
    assert max(map(len, text.splitlines()[4:-2])) < 300
    names = ["a" * 60 + "1" + "b" * 60, "a" * 60 + "2" + "b" * 60]
    rows = [[Cell(name), Cell("0.25")] for name in names]
    table = Table("", [Column("system", "name"), Column("P@1")], rows)
    for k in "12":
        assert f"aaa…{k}bbb" in write_table(table)


def test_markdown_shows_every_name_as_it_is() -> None:
    reader = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable("table")
    source = write_markdown(made())
    page = TextOf()
    page.feed(reader.render(source))
    shown = [cell.strip().removesuffix(" (remark)") for cell in page.cells]
    for name in NASTY:
        assert shown.count(printable(name)) >= 6, name
    assert page.tags <= {"p", "h3", "table", "thead", "tbody", "tr", "th", "td", "strong", "sup",
                         "sub"}  # fmt: skip


@pytest.mark.parametrize("name", DOCUMENTS)
def test_markdown_tables_have_as_many_cells_as_their_heads(name: str) -> None:
    for block in write_markdown(DOCUMENTS[name]).split("\n\n"):
        if block.startswith("|"):
            assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1


@pytest.mark.parametrize("name", [*NASTY, EVERY, EVERY[::-1], "^^M ^^5c %\n"])
def test_latex_gives_no_character_of_a_name_a_meaning(name: str) -> None:
    for document in (one_name(name), one_name("x", heading=name)):
        text = latex.write_document(document, "tab:x")
        head, row = (line.strip().removesuffix(r" \\") for line in text.splitlines()[9:12:2])
        written = row.rsplit(" & ", 1)[0] if "x &" not in row else head.split(" & ", 1)[1]
        written = on_one_line(written)
        assert PLAIN.sub("", written) == ""
        assert not re.search(r"--|''|``|,,|\?`|!`", written), "no ligatures"


def test_latex_of_letters() -> None:
    text = latex.write_document(one_name("é检_ β -- ●↑"), "tab:x")
    written = text.splitlines()[11].strip().rsplit(" & ", 1)[0]
    assert written == r"é检\_ β -{}- $\bullet$$\uparrow$"


def test_latex_of_numbers() -> None:
    assert latex.write_number("-1.5e-07") == r"$-$1.5$\cdot10^{-7}$"
    assert latex.write_number("[1e+09, ∞]") == r"{[}1$\cdot10^{9}$, $\infty${]}"
    assert latex.write_number("5 % & x_1") == r"5 \% \& x\_1", "or it would end the row"


@pytest.mark.parametrize("label", ["a}b", "a%", "a\\b", "a#", "a\n", "é"])
def test_latex_refuses_a_label_that_would_not_compile(label: str) -> None:
    with pytest.raises(InputError, match="label"):
        latex.write_document(one_name("x"), label)


@pytest.mark.skipif(shutil.which("lualatex") is None, reason="no lualatex here")
def test_latex_compiles(tmp_path: Path) -> None:
    documents = [*DOCUMENTS.values(), one_name(EVERY), one_name("^^M")]
    compile_latex(tmp_path, [latex.write_document(each, f"tab:{i}")
                             for i, each in enumerate(documents)])  # fmt: skip


@pytest.mark.parametrize("name", DOCUMENTS)
def test_pages_have_no_element_that_is_not_theirs(name: str) -> None:
    page = Page(FORMS["html"](DOCUMENTS[name]))
    allowed = (
        "html head meta link title style body main h1 h2 p div table caption thead tbody tr th td "
        "bdi strong sup small script details summary span ul li"
    )
    assert {tag for tag, _, _ in page.elements} <= set(allowed.split())
    assert len(page.of("script")) == len(page.of("style")) == 1


# ---------------------------------------------------------------- tables for a paper


def wide(columns: int, rows: int, heading: str = "mean latency (ms)", name: str = "s") -> Document:
    heads = [Column("system", "name"), *(Column(f"{heading}{k}") for k in range(columns))]
    cells = [Cell("1,234.5", stands_out=True) for _ in range(columns)]
    lines = [[Cell(f"{name}{i}"), *cells] for i in range(rows)]
    table = Table("", heads, lines)
    return Document("", "How it came about.", [(BEST, "the best")], [table], "relevant: >= 1 | β\n")


def test_what_shaped_the_numbers_is_a_comment() -> None:
    lines = latex.write_document(wide(1, 1), "tab:x").splitlines()
    assert lines[4] == r"  \caption{How it came about. Bold: the best.}"
    assert lines[1] == r"% relevant: >= 1 | β\n"
    lines = latex.write_document(wide(1, 1), "tab:x", caption="50% & more.").splitlines()
    assert lines[1:3] == ["% How it came about.", r"% relevant: >= 1 | β\n"]
    assert lines[5] == r"  \caption{50\% \& more. Bold: the best.}"
    text = latex.write_document(wide(1, 1), "tab:x", caption="Ours")
    assert r"\caption{Ours. Bold: the best.}" in text
    hidden = wide(1, 1)._replace(settings="\x1b\0a\n\\input{x}\r^^M\\input{y}\u2028z")
    text = latex.write_document(hidden, "tab:x")
    assert "\x1b" not in text
    plain = latex.write_document(wide(1, 1), "tab:x")
    assert len(re.split("[\n\r\u2028]", text)) == len(plain.splitlines()) + 1


@pytest.mark.skipif(shutil.which("lualatex") is None, reason="no lualatex here")
@pytest.mark.parametrize("size", ["", "[11pt]", "[12pt]"])
def test_latex_itself_finds_no_table_too_wide_or_too_high(size: str, tmp_path: Path) -> None:
    documents = [*DOCUMENTS.values(), wide(9, 4), wide(30, 60), wide(3, 4, name="W" * 90)]
    tables = [latex.write_document(each._replace(legend=[]), f"tab:{i}", caption="x")
              for i, each in enumerate(documents)]  # fmt: skip
    compile_latex(tmp_path, tables, size)
    assert "Overfull" not in (tmp_path / "x.log").read_text(errors="replace")


def test_other_environments_are_rejected() -> None:
    with pytest.raises(InputError, match="environment='figure' must be one of 'table', 'table\\*'"):
        latex.write_document(wide(1, 1), "tab:x", environment="figure")
