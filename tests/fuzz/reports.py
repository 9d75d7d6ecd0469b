"""Reports of any names: every form shows them as they are, and gives no character a meaning."""

from __future__ import annotations

import csv
import io
import json
import re
from random import Random

from support.comparisons import NASTY, PLAIN, TextOf
from support.documents import on_one_line

from fuzz.mutation import damage
from fuzz.target import Target
from irbatch.errors import printable
from irbatch.report import html, latex, reported
from irbatch.report.document import ISOLATED, Cell, Column, Document, Row, Table
from irbatch.report.reported import csv_cell
from irbatch.report.text import write_markdown, write_text

TOKENS = (
    *("<", ">", "&", '"', "'", "\\", "{", "}", "$", "#", "_", "%", "~", "^", "|", "`", "*", "["),
    *("=", "+", "-", "@", "\t", "\r", "\n", "\0", "\x1b[31m", "\u202e", "\ud800", "\U0001f600"),
    *("<script>", "</td>", "-->", "]]>", "&amp;", "&#60;", "&lt", "\\input{x}", "^^M", "{{", "--"),
    *("''", "``", ",,", "?`", "e\u0301", "\u0301", "\u00df", "\u0416", "\u65e5", "\x85", "\u2028"),
    *(",", ";", '""', " ", "$$", "%%", "{best}", "{marks}", "]", "{}", "{0}", "\ufeff", "\x7f"),
)  # fmt: skip
ELEMENTS = {
    *("style", "script", "div", "main", "section", "h1", "h2", "h3", "p", "table", "caption"),
    *("thead", "tbody", "tr", "th", "td", "bdi", "strong", "sup", "small", "span", "button"),
}
LIGATURES = re.compile(r"--|''|``|,,|\?`|!`")


class Reports(Target):
    """One document in every form."""

    name, share = "reports", 5

    def generate(self, rng: Random) -> tuple[str, str, str]:
        one, two, three = (damage(rng, rng.choice(NASTY), TOKENS) for _ in range(3))
        return one, two, three

    def check(self, given: tuple[str, str, str]) -> None:
        name, heading, remark = given
        columns = [Column("system", "name"), Column("where", "text"), Column(heading)]
        row = Row([Cell(name, after=remark), Cell(remark), Cell("0.25", 0.25)])
        document = Document(
            remark, heading, [(name, remark)], [Table(name, columns, [row])], heading
        )
        _check_page(document, name, heading)
        _check_latex(document)
        for text in (write_text(document), write_markdown(document)):
            assert all(each.isprintable() or each in "\n\u2007" for each in text)
        _check_csv(given)
        text = reported.write_json({name: [heading, {remark: float("nan")}]}, None)
        found = json.loads(text)
        assert [*found] == [name]


def _check_page(document: Document, name: str, heading: str) -> None:
    page = TextOf()
    page.feed(html.write_document(document, fragment=True))
    assert page.tags <= ELEMENTS, page.tags
    text = "".join(page.cells)
    for each in ISOLATED:
        text = text.replace(each, "")
    assert printable(name) in text, (printable(name), text)
    assert printable(heading) in text


def _check_latex(document: Document) -> None:
    text = latex.write_document(document, "tab:x")
    assert text.isascii()
    lines = [line.strip() for line in text.splitlines()]
    body = lines[lines.index(r"\toprule") + 1 : lines.index(r"\bottomrule")]
    for line in body:
        for cell in re.split(r"(?<!\\)&", line.removesuffix(r"\\")):
            cell = on_one_line(cell.strip())
            left = re.sub(
                r"\\midrule|\\textbf|\\small|\\textsuperscript|\\cmidrule|\\multicolumn", "", cell
            )
            assert PLAIN.sub("", left) in ("", "{}", "{}{}"), cell
            assert not LIGATURES.search(cell), cell


def _check_csv(given: tuple[str, ...]) -> None:
    text = reported.write_csv(given, [dict(enumerate(given))], None)
    read = list(csv.reader(io.StringIO(text, newline="")))
    wanted = [without_surrogates(csv_cell(each)) for each in given]
    assert read == [wanted, wanted], (read, wanted)


def without_surrogates(text: str) -> str:
    return reported.SURROGATE.sub(lambda each: f"\\u{ord(each[0]):04x}", text)
