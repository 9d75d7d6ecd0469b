"""Generated texts: names in every form of report, records as JSON and YAML, Arrow's streams."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.comparisons import NASTY, PLAIN, TextOf
from support.documents import on_one_line
from support.efficiency_records import AS_YAML
from support.generating import damaged, examples

import irbatch
from irbatch.efficiency import EfficiencyRecord, Latency
from irbatch.errors import InputError, printable
from irbatch.report import SURROGATE, csv_cell, html, latex, write_csv, write_json
from irbatch.report.document import Cell, Column, Document, Table
from irbatch.report.text import write_markdown, write_text

# ---------------------------------------------------------------- reports

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


NAMES = damaged(st.sampled_from(NASTY), TOKENS)


@examples(60)
@given(st.tuples(NAMES, NAMES, NAMES))
def test_reports(given: tuple[str, str, str]) -> None:
    """Every form shows names as they are, and gives no character a meaning."""
    name, heading, remark = given
    columns = [Column("system", "name"), Column("where", "text"), Column(heading)]
    row = [Cell(name, after=remark), Cell(remark), Cell("0.25", 0.25)]
    table = Table(name, columns, [row])
    document = Document(remark, heading, [(name, remark)], [table], heading)
    check_page(document, name, heading)
    check_latex(document)
    for text in (write_text(document), write_markdown(document)):
        assert all(each.isprintable() or each in "\n\u2007" for each in text)
    check_csv(given)
    text = write_json({name: [heading, {remark: float("nan")}]}, None)
    assert [*json.loads(text)] == [name]


def check_page(document: Document, name: str, heading: str) -> None:
    page = TextOf()
    page.feed(html.write_document(document, fragment=True))
    assert page.tags <= ELEMENTS, page.tags
    text = "".join(page.cells)
    assert printable(name) in text, (printable(name), text)
    assert printable(heading) in text


def check_latex(document: Document) -> None:
    text = latex.write_document(document, "tab:x")
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


def check_csv(given: tuple[str, ...]) -> None:
    text = write_csv(given, [dict(enumerate(given))], None)
    read = list(csv.reader(io.StringIO(text, newline="")))
    wanted = [without_surrogates(csv_cell(each)) for each in given]
    assert read == [wanted, wanted], (read, wanted)


def without_surrogates(text: str) -> str:
    return re.sub(SURROGATE, lambda each: f"\\u{ord(each[0]):04x}", text)


# ---------------------------------------------------------------- records

RECORD = EfficiencyRecord(system="bm25", latency=Latency(mean=9.0, p95=20.0), n_queries=50)
BOARD = irbatch.Leaderboard({"bm25": {"nDCG@10": 0.5, "AP": 0.25}}, [RECORD])
JSON_TOKENS = (
    *("{", "}", "[", "]", '"', ":", ",", "null", "true", "1e400", "-1", "0", "NaN", "Infinity"),
    *('""', "\\u0000", "\\ud800", "\\", "[" * 200, '{"a":' * 50, "9" * 5000, "\n", " ", "\0"),
    *('"system"', '"systems"', '"accuracy"', '"latency"', '"unit"', '"ms"', "\u2028", "é", "'"),
    *('"nDCG@10"', '"settings"', '"left_out"', "&a", "*a", "1.5"),
    *("null J", "ms", "10 ms", "1e999 ms", "ir_metadata.start", "ir_metadata.end", "# ", "---"),
    *("!!python/x", "? ", "%YAML 9", "-", "|", "\t"),
)


def _record(text: str) -> str:
    return EfficiencyRecord.from_json(text).to_json()


def _board(text: str) -> str:
    return irbatch.Leaderboard.from_json(text).to_json()


def _metadata(text: str) -> str:
    return EfficiencyRecord.from_ir_metadata(text + "\n\n", system="x").to_json()


READERS: dict[str, tuple[Callable[[str], str], str]] = {
    "record": (_record, RECORD.to_json()),
    "board": (_board, BOARD.to_json()),
    "metadata": (_metadata, AS_YAML),
}


@pytest.mark.parametrize("kind", READERS)
def test_records(kind: str) -> None:
    """What is read of JSON is written as what is read as the same; or it is rejected."""
    read, whole = READERS[kind]
    count = 20 if kind == "metadata" else 120  # YAML takes a hundred times as long

    @examples(count)
    @given(damaged(st.just(whole), JSON_TOKENS))
    def check(text: str) -> None:
        if not text.lstrip(" \t\r\n").startswith(("{", "[")) and kind != "metadata":
            text = "{" + text  # or it is a path
        try:
            written = read(text)
        except InputError as error:
            assert str(error)
            return
        again = _record(written) if kind == "metadata" else read(written)
        assert again == written

    check()


# ---------------------------------------------------------------- Arrow's streams

IDS = ["d1", "d2", "a text of more than twelve bytes", "", "é"]


def stream(kind: str, rows: int, chunk: int) -> bytes:
    import pyarrow as pa

    types = {"string": pa.string(), "large": pa.large_string(), "view": pa.string_view(),
             "dictionary": pa.dictionary(pa.int8(), pa.string()), "int64": pa.int64()}  # fmt: skip
    ids: list[Any] = list(range(5)) if kind == "int64" else IDS
    columns = {
        "query_id": pa.array(ids[:1] * rows, types[kind]),
        "doc_id": pa.array(ids[:rows], types[kind]),
        "score": pa.array([float(i) for i in range(rows)]),
    }
    table = pa.table(columns)
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=chunk)
    return sink.getvalue()


@examples(150)
@given(
    st.sampled_from(("string", "large", "view", "dictionary", "int64")), st.integers(1, 5),
    st.sampled_from((1, 2, 100)),
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.sampled_from((0, 1, 7, 127, 255)))),
)  # fmt: skip
def test_arrow_streams(kind: str, rows: int, chunk: int, flips: list[tuple[float, int]]) -> None:
    """A damaged stream that Arrow takes is rejected, or is a run."""
    pa = pytest.importorskip("pyarrow")
    data = bytearray(stream(kind, rows, chunk))
    for place, byte in flips[:2]:
        data[int(place * len(data))] = byte
    try:
        table = pa.ipc.open_stream(bytes(data)).read_all()
        table.validate(full=True)
    except Exception:  # it is for its own library to reject
        return
    try:
        found = irbatch.Run.from_table(table).to_dict()
    except InputError as error:
        assert str(error)
        return
    names = [name for name in ("query_id", "doc_id", "score") if name in table.column_names]
    if len(names) == 3:
        cells: Any = zip(*(table[name].to_pylist() for name in names), strict=True)
        expected: dict[Any, dict[Any, float]] = {}
        for query, document, score in cells:
            expected.setdefault(query, {})[document] = score
        assert found == expected
