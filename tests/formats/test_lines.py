"""Lines of files: what separates, what is skipped, what a number is, and what is rejected.

The same from the reader of lines and the byte parser, in one piece or in many.
"""

from __future__ import annotations

import bz2
import collections
import gzip
import lzma
import math
import sys
from collections.abc import Callable

import pytest
from support.file_readers import piped_input, refused_by_all
from support.input_errors import input_error

from irbatch import evaluate, read_qrels, read_run

RANKED = b"q1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 1.5 t\n"
JUDGED = b"q1 0 d1 1\nq1 0 d2 0\n"
GOOD = {"run": RANKED, "qrels": JUDGED}
# Other lines of the same kind, for files of many pieces.
MORE = {
    "run": [b"q%d Q0 m%d %d -%d t\n" % (i // 9, i, i, i) for i in range(60)],
    "qrels": [b"q%d 0 m%d 1\n" % (i // 9, i) for i in range(60)],
}
Write = Callable[[bytes], str]
pytestmark = pytest.mark.usefixtures("reader")

# ---------------------------------------------------------------- what is read


FORMS = {
    "plain": (JUDGED, RANKED),
    "several": (JUDGED.replace(b" ", b" \t  "), RANKED.replace(b" ", b"\t ")),
    "#": (b"# a comment\n#q1 comments\n" + JUDGED, RANKED + b"  # and one of seven words ok\n"),
    "leading spaces": (b"  " + JUDGED.replace(b"\n", b"\n \t"), b"\t" + RANKED),
    "trailing spaces": (JUDGED.replace(b"\n", b" \t\r\n"), RANKED.replace(b"\n", b"  \n")),
    "several CRs at the end": (JUDGED[:-1] + b"\r\r\n", RANKED[:-1] + b"\r"),
    "Q0": (JUDGED.replace(b" 0 d", b" \xe9\x00\x0b d", 1), RANKED.replace(b" Q0 ", b" \xff ")),
    "tag": (JUDGED, RANKED.replace(b" t\n", b" \xff\xfe\n")),
    "rank": (JUDGED, RANKED.replace(b" 1 2.5", b" rank 2.5")),
}


@pytest.mark.parametrize(("qrels", "run"), FORMS.values(), ids=FORMS)
def test_one_meaning(write: Write, qrels: bytes, run: bytes) -> None:
    assert read_qrels(write(qrels)).to_dict() == {"q1": {"d1": 1.0, "d2": 0.0}}
    assert read_run(write(run)).rankings == {"q1": {"d1": 2.5, "d2": 1.5}}


@pytest.mark.parametrize(
    "name",
    [
        *("d\u00a0x", "d\x0bx", "\x0cd", "d\x1c\x1d\x1e\x1f", "d\x85x", "d\u2028x", "\u3000"),
        *("d\rx", "é", "e\u0301", "\U0001f600", "\ufeffd", "#d", "d#", "1,5", "\x1b[31m"),
        *("-", "'", '"', "\\", "None", "NaN", "007", "1e5", "x" * 5000),
    ],
    ids=lambda name: ascii(name)[:20],
)
def test_only_space_and_tab_separate(write: Write, name: str) -> None:
    line = f"q{name} 0 {name} 1\r\nz 0 {name} 1"
    expected = {f"q{name}": {name: 1.0}, "z": {name: 1.0}}
    assert read_qrels(write(line.encode())).to_dict() == expected
    assert read_run(write(f"q{name}\tQ0 {name} 1 1 {name}".encode())).rankings == {
        f"q{name}": {name: 1.0}
    }


def test_queries_need_not_stand_together_and_may_begin_like_a_comment(write: Write) -> None:
    path = write(b"q1 0 a 1\nq2 0 a 2\nq1 0 b 3\n")
    assert read_qrels(path).to_dict() == {"q1": {"a": 1.0, "b": 3.0}, "q2": {"a": 2.0}}
    assert read_qrels(write(b"#1 0 d1 1\n" + JUDGED)).to_dict().keys() == {"#1", "q1"}
    assert read_qrels(write(b"# 0 d1 1\n#1 0 d1 one\n" + JUDGED)).to_dict().keys() == {"q1"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("1", 1.0), ("+1", 1.0), ("-0", 0.0), ("1.", 1.0), (".5", 0.5), ("0007", 7.0)),
        *(("1e3", 1000.0), ("1E+3", 1000.0), ("25e-1", 2.5), ("1e-400", 0.0), ("-1.5", -1.5)),
        *(("inf", math.inf), ("-INF", -math.inf), ("+Infinity", math.inf), ("5e-324", 5e-324)),
    ],
)
def test_numbers(write: Write, text: str, value: float) -> None:
    assert read_run(write(f"q Q0 d 1 {text} t".encode())).rankings == {"q": {"d": value}}


# ---------------------------------------------------------------- what is rejected

NOT_NUMBERS = [
    *("abc", "yes", "None", "nan", "-NaN", "1,5", "1,000.5", "0x10", "1_0.5", "1e400", "-1e400"),
    *("1" * 5000, "١٢", "１", "1\xa0", "1\x0b", "1e", ".", "-", "--1", "1d5", "infinite", "1\0"),
]


@pytest.mark.parametrize("text", NOT_NUMBERS, ids=lambda text: ascii(text)[:20])
def test_text_is_not_a_number(write: Write, text: str) -> None:
    shown = repr(text)[1:-1][:80]
    fields = {"line": 3, "value": text, "query": "q1", "document": "d2"}
    path = write(f"q1 0 d1 1\n\nq1 0 d2 {text}\n".encode())
    refused_by_all("qrels", path, "grade", "line 3 (query 'q1', document 'd2')", shown, **fields)
    path = write(f"q1 Q0 d1 1 0.5 t\n\nq1 Q0 d2 2 {text} t\n".encode())
    refused_by_all("run", path, "score", "line 3 (query 'q1', document 'd2')", shown, **fields)


BAD_LINES: list[tuple[str, bytes, str]] = [
    ("run", b"q1 Q0 doc 5 1 2.5 t\n", "7 columns"),
    ("qrels", b"q1 Q0 d3 1 0.5 t\n", "6 columns where 4"),
    ("run", b"q1 0 d3 1\n", "4 columns where 6"),
    ("qrels", b"q3 0 d3 1\rq4 0 d4 1\r", "7 columns"),
    ("qrels", b"q1 0 d1\r1\n", "3 columns"),
    ("qrels", b"q1 d1 1\n", "3 columns"),
    ("run", b"q\0 Q0 d3 1 2 t\n", "NUL byte"),
    ("run", b"q1 Q0 d3 1 2\0 t\n", "2\\x00' is not a number"),
    ("run", b"q1 Q0 d3 1", "4 columns"),
    ("qrels", b"q1 0", "2 columns"),
    ("qrels", b"\x1a", "1 column where 4 are expected: '\\x1a'"),
    ("qrels", b"q1,0,d1,1\n", "1 column"),
    ("run", bytes(range(128, 200)), "1 column"),
    ("run", b"q1 Q0 d\xe9 1 2 t\n", "b'd\\xe9' is not UTF-8"),
    ("qrels", b"q\xe9 0 d3 1\n", "b'q\\xe9' is not UTF-8"),
    ("qrels", b"q2 0 \xed\xa0\x80 1\n", "is not UTF-8"),
    ("qrels", b"\xff\xfe 0 \xc0\x80 1\n", "is not UTF-8"),
    ("run", b"#q Q0 d3 1 x t\n" + b"q1 x\n", "2 columns"),
]


@pytest.mark.parametrize("place", ["first", "after some", "after many pieces"])
@pytest.mark.parametrize(("source", "line", "fact"), BAD_LINES, ids=repr)
def test_bad_line(write: Write, source: str, line: bytes, fact: str, place: str) -> None:
    before = {"first": [], "after some": [GOOD[source]], "after many pieces": MORE[source]}[place]
    if place == "first" and line.startswith(b"\xff\xfe"):
        return  # which says that a file is UTF-16
    data = b"".join(before)
    number = (data + line).rstrip(b"\n").count(b"\n") + 1
    behind = GOOD[source].replace(b"q1", b"z1") if line.endswith(b"\n") else b""
    path = write(data + line + behind)
    refused_by_all(source, path, f"line {number}", fact, line=number)


NO_DATA = [
    b"", b"\n" * 200, b" \t\r\n" * 100, b"# a comment\n" * 100, b"\xef\xbb\xbf",
    b"#one\n\n#two words\n" * 20 + b"#", gzip.compress(b"", mtime=0), bz2.compress(b"\n# x\n"),
]  # fmt: skip


@pytest.mark.parametrize("data", NO_DATA, ids=lambda data: repr(data)[:20])
def test_no_data(write: Write, data: bytes) -> None:
    for source in ("run", "qrels"):
        refused_by_all(source, write(data), "no data lines")


def test_first_twenty_problems_over_many_pieces(write: Write) -> None:
    rows = [b"q%d 0 d %s\n" % (i, b"1" if i % 3 else b"x") for i in range(100)]
    path = write(b"".join(rows))
    error = refused_by_all("qrels", path, "at least 20 problems", "line 1 (", "line 58 (")
    assert [each.line for each in error.problems] == list(range(1, 59, 3))
    assert {each.path for each in error.problems} == {path}
    assert [each.query for each in error.problems] == [f"q{i}" for i in range(0, 58, 3)]
    assert "line 61" not in str(error)


TWICE = [
    pytest.param(
        b"", b"q1 Q0 d%d 1 %d t\n", {"source": "run"}, id="run"
    ),
    pytest.param(b"", b"q1 0 d%d %d\n", {"source": "qrels"}, id="qrels"),
    pytest.param(b"", b"q1 d%d %d\n", {"source": "run"}, id="MS MARCO"),
    pytest.param(b"query-id\tcorpus-id\tscore\n", b"q1\td%d\t%d\n", {"source": "qrels"}, id="BEIR"),
    pytest.param(b"qid\tdocno\tscore\n", b"q1\td%d\t%d\n", {"source": "run"}, id="header"),
    pytest.param(
        b"", b'{"query-id": "q1", "corpus-id": "d%d", "score": %d}\n', {"source": "run"}, id="JSON"
    ),
]  # fmt: skip


@pytest.mark.parametrize("pack", [bytes, gzip.compress, "pipe"])
@pytest.mark.parametrize("between", [0, 40])
@pytest.mark.parametrize(("header", "form", "fields"), TWICE)
def test_document_twice_names_both_lines(
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
    header: bytes,
    form: bytes,
    fields: dict[str, str],
    between: int,
    pack: Callable[[bytes], bytes] | str,
) -> None:
    rows = [form % (i + 10, i) for i in range(between)]
    data = header + form % (5, 9) + form % (1, 7) + b"".join(rows) + form % (1, 7)
    first = 2 + header.count(b"\n")
    second = first + between + 1
    facts = f"line {second} (query 'q1', document 'd1')", f"before, in line {first}"
    known = {**fields, "line": second, "query": "q1", "document": "d1"}
    if not isinstance(pack, str):
        refused_by_all(known.pop("source"), write(pack(data)), *facts, **known)
        return
    read = read_run if fields["source"] == "run" else read_qrels
    with piped_input(data, monkeypatch):
        input_error(lambda: read("-"), *facts, path="-", **known)
    if read is read_run:
        with piped_input(data, monkeypatch):
            input_error(lambda: evaluate({"q1": {"d1": 1}}, "-", "RR"), *facts, path="-", **known)


def test_all_documents_given_twice_are_listed_by_line(write: Write) -> None:
    path = write(b"".join(b"%s 0 d1 1\n" % query for query in (b"a", b"b", b"b", b"a")))
    error = refused_by_all("qrels", path)
    assert [each.line for each in error.problems] == [3, 4]


def test_a_file_twice_is_refused_without_looking_at_pairs(write: Write) -> None:
    """The work grows with the lines, not with their pairs; counted in calls, as clocks vary."""
    calls = []
    for lines in (2000, 500, 2000):  # the first compiles, perhaps
        data = b"".join(b"q%d Q0 d%d 1 %d.5 t\n" % (i % 7, i, -i) for i in range(lines))
        path = write(data * 2)
        counted = collections.Counter[str]()
        sys.setprofile(lambda frame, event, argument, counted=counted: counted.update([event]))
        try:
            input_error(lambda path=path: read_run(path), f"line {lines + 1}", "before, in line 1")
        finally:
            sys.setprofile(None)
        calls.append(counted.total())
    assert calls[2] < 5 * calls[1]


def test_a_problem_and_a_truncated_archive(write: Write, reader: str) -> None:
    """What can still be read is looked at, so that all problems are said at once."""
    rows = [b"q%d Q0 d%d 1 %d.5 t\n" % (i % 7, i, i * 7919 % 1000) for i in range(2000)]
    rows[2] = b"q2 Q0 d2 1 x t\n"
    for pack in (gzip.compress, bz2.compress, lzma.compress):
        error = refused_by_all("run", write(pack(b"".join(rows))[:-2000]), "cannot be read on")
        lines = [each.line for each in error.problems]
        if reader == "pieces" and pack is not bz2.compress:  # of which a block is all or nothing
            assert lines[0] == 3
            assert len(lines) == 2
