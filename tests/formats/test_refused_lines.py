"""What is wrong with lines of a file: the same refusal from the reader of lines and the parser."""

from __future__ import annotations

import bz2
import collections
import gzip
import lzma
import sys
from collections.abc import Callable

import pytest
from support.file_readers import piped_input, refused_by_all
from support.input_errors import input_error

from irbatch import InputError, evaluate, read_qrels, read_run

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


BAD_LINES = [
    pytest.param("run", b"q1 Q0 d3 1 0.5\n", ("5 columns where 6", "'q1 Q0 d3 1 0.5'"), id="99"),
    pytest.param("qrels", b"q1 0 d3\n", ("3 columns where 4", "'q1 0 d3'"), id="99 qrels"),
    pytest.param("run", b"q1 Q0 my d 1 0.5 t\n", ("7 columns where 6", "a space?"), id="100"),
    pytest.param("qrels", b"q1 0 my d 1\n", ("5 columns where 4", "a space?"), id="100 qrels"),
    pytest.param("run", b"q1 Q0 doc 5 1 2.5 t\n", ("7 columns", "a space?"), id="100 number"),
    pytest.param("qrels", b"q1 Q0 d3 1 0.5 t\n", ("6 columns", "is this a run file?"), id="a run"),
    pytest.param("run", b"q1 0 d3 1\n", ("4 columns", "is this a qrels file?"), id="qrels"),
    pytest.param("qrels", b"q3 0 d3 1\rq4 0 d4 1\r", ("7 columns", "a space?"), id="104 qrels"),
    pytest.param("run", b"q1\xa0Q0\xa0d3 1 2 t\n", ("4 columns where 6",), id="107 NBSP"),
    pytest.param("run", b"q1 Q0 d3\xe2\x80\xa81 2 t\n", ("5 columns where 6",), id="107 U+2028"),
    pytest.param("run", b"q1 Q0 d3\x1c1 2 t\n", ("5 columns where 6",), id="107 FS"),
    pytest.param("run", b"q1 Q0 d\x003 1 2 t\n", ("NUL byte", "not text"), id="112 NUL"),
    pytest.param("qrels", b"q1 0 d\x003 1\n", ("NUL byte", "not text"), id="112 NUL qrels"),
    pytest.param("run", b"q\0 Q0 d3 1 2 t\n", ("NUL byte", "not text"), id="112 NUL query"),
    pytest.param("run", b"q1 Q0 d3 1 2\0 t\n", ("not a number", "2\\x00"), id="112 NUL score"),
    pytest.param("run", b"q1 Q0 d3 1", ("4 columns", "'q1 Q0 d3 1'"), id="113 cut rank"),
    pytest.param("run", b"q1 Q0 d3 1 0.", ("5 columns",), id="113"),
    pytest.param("run", b"q1 Q0 d3", ("3 columns",), id="113 three"),
    pytest.param("run", b"q1 Q0 d3 1", ("qrels file?",), id="113 four"),
    pytest.param("qrels", b"q1 0", ("2 columns",), id="113 qrels"),
    pytest.param("run", bytes(range(128, 200)), ("1 column where 6", "\\x80"), id="117 random"),
    pytest.param("run", b"q1 Q0 d\xe9 1 2 t\n", ("b'd\\xe9' is not UTF-8",), id="118 Latin-1"),
    pytest.param("qrels", b"q\xe9 0 d3 1\n", ("b'q\\xe9' is not UTF-8",), id="118 qrels"),
    pytest.param("run", b"q1 Q0 d3 1 nan t\n", ("score 'nan' is not a number",), id="NaN"),
    pytest.param("run", b"q1 Q0 d3 1 1,5 t\n", ("'1,5' is not",), id="comma"),
    pytest.param("run", b"q1 Q0 d3 1 1e999 t\n", ("1e999 overflows float64",), id="overflow"),
    pytest.param("qrels", b"q1 0 d3 1_0\n", ("grade '1_0' is not a number",), id="underscore"),
    pytest.param("qrels", b"q1 0 d3 9007199254740993\n", ("beyond 2^53",), id="2^53 + 1"),
    pytest.param("qrels", b"q1 0 d3 -inf\n", ("beyond 2^53",), id="-inf"),
    pytest.param("run", b"#q Q0 d3 1 x t\n" + b"q1 x\n", ("2 columns",), id="109 comment before"),
]  # fmt: skip


@pytest.mark.parametrize("place", ["first", "after some", "after many pieces"])
@pytest.mark.parametrize(("source", "line", "facts"), BAD_LINES)
def test_bad_line(
    write: Write, source: str, line: bytes, facts: tuple[str, ...], place: str
) -> None:
    before = {"first": [], "after some": [GOOD[source]], "after many pieces": MORE[source]}[place]
    data = b"".join(before)
    number = (data + line).rstrip(b"\n").count(b"\n") + 1
    behind = GOOD[source].replace(b"q1", b"z1") if line.endswith(b"\n") else b""
    path = write(data + line + behind)
    refused_by_all(source, path, f"line {number}", *facts, line=number)


@pytest.mark.parametrize("kind", ["run", "qrels"])
def test_query_document_and_value_are_named(write: Write, kind: str) -> None:
    line = b"301 Q0 d7 1 abc t\n" if kind == "run" else b"301 0 d7 abc\n"
    path = write(b"".join(MORE[kind]) + line)
    fields = {"query": "301", "document": "d7", "value": "abc", "line": 61}
    refused_by_all(kind, path, "(query '301', document 'd7')", **fields)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="111 empty"),
        pytest.param(b"\n" * 200, id="110 newlines"),
        pytest.param(b" \t\r\n" * 100, id="110 blank"),
        pytest.param(b"# a comment\n" * 100, id="110 comments"),
        pytest.param(b"#one\n\n#two words\n" * 20 + b"#", id="110 mixed"),
        pytest.param(b"\xef\xbb\xbf", id="BOM"),
        pytest.param(gzip.compress(b""), id="empty gzip"),
        pytest.param(bz2.compress(b"\n# x\n"), id="bzip2 of comments"),
    ],
)
def test_no_data(write: Write, data: bytes) -> None:
    for source in ("run", "qrels"):
        refused_by_all(source, write(data), "no data lines")


@pytest.mark.parametrize(
    ("data", "fact"),
    [
        pytest.param(RANKED.decode().encode("utf-16"), "UTF-16", id="UTF-16"),
        pytest.param(b"\xfe\xff" + RANKED.decode().encode("utf-16-be"), "UTF-16", id="UTF-16 BE"),
        pytest.param(RANKED.decode().encode("utf-32"), "UTF-32", id="UTF-32"),
        pytest.param(b"\0\0\xfe\xff" + RANKED.decode().encode("utf-32-be"), "UTF-32", id="32 BE"),
    ],
)
def test_105_other_encodings(write: Write, data: bytes, fact: str) -> None:
    for source in ("run", "qrels"):
        refused_by_all(source, write(data), fact, line=None)


def test_first_twenty_problems_over_many_pieces(write: Write) -> None:
    rows = [b"q%d 0 d %s\n" % (i, b"1" if i % 3 else b"x") for i in range(100)]
    path = write(b"".join(rows))
    error = refused_by_all(
        "qrels", path, "at least 20 problems", "line 1 (", "19 more lines: 4, 7, …, 58"
    )
    assert [each.line for each in error.problems] == list(range(1, 59, 3))
    assert {each.path for each in error.problems} == {path}
    assert [each.query for each in error.problems] == [f"q{i}" for i in range(0, 58, 3)]
    assert "line 61" not in str(error)


def test_nineteen_problems_are_all_there_are(write: Write) -> None:
    path = write(b"".join(MORE["run"]) + b"q1 Q0 d3 1 x t\n" * 19)
    error = refused_by_all("run", path, ": 19 problems:\n")
    assert [each.line for each in error.problems] == list(range(61, 80))


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


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress, "pipe"])
@pytest.mark.parametrize("between", [0, 3, 40])
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


def test_document_three_times(write: Write) -> None:
    path = write(b"".join(MORE["run"]) + b"q1 Q0 m9 1 1 t\nq1 Q0 m9 1 2 t\n")
    with pytest.raises(InputError) as caught:
        read_run(path)
    first = caught.value.problems[0]
    assert (first.line, first.query, first.document) == (61, "q1", "m9")
    assert "in line 10" in str(first)


def test_document_twice_of_a_query_that_returns(write: Write) -> None:
    path = write(b"".join(MORE["run"]) + b"q0 Q0 m0 1 1 t\n")
    known = {"line": 61, "query": "q0", "document": "m0"}
    refused_by_all("run", path, "before, in line 1", **known)


def test_all_documents_given_twice_are_listed_by_line(write: Write) -> None:
    path = write(b"".join(b"%s 0 d1 1\n" % query for query in (b"a", b"b", b"b", b"a")))
    error = refused_by_all("qrels", path)
    assert [each.line for each in error.problems] == [3, 4]


def test_a_file_twice_is_refused_without_looking_at_pairs(write: Write) -> None:
    """The work grows with the lines, not with their pairs; counted in calls, as clocks vary."""
    calls = []
    for lines in (4000, 1000, 4000):  # the first compiles, perhaps
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


def test_nothing_is_returned(write: Write) -> None:
    """Neither by the entry points nor to what reports progress."""
    path = write(b"".join(MORE["run"]) + b"q9 Q0 d3 1 x t\n")
    run = None
    with pytest.raises(InputError):
        run = read_run(path)
    with pytest.raises(InputError):
        run = evaluate({"q0": {"m0": 1}, "q1": {"m9": 1}}, path, "RR", missing="skip")
    assert run is None
