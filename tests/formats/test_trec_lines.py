"""TREC text: what separates, what is skipped, what a number is, and what every refusal says."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.input_errors import input_error
from support.judgments import grades_of

from irbatch import evaluate, read_qrels, read_run

TWO = b"q1 0 d1 1\nq1 0 d2 0\n"
RANKED = b"q1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 1.5 t\n"

Write = Callable[[bytes], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file and return its path."""

    def written(data: bytes) -> str:
        path = tmp_path / "data.txt"
        path.write_bytes(data)
        return str(path)

    return written


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        pytest.param(TWO, RANKED, id="plain"),
        pytest.param(TWO.replace(b" ", b"\t"), RANKED.replace(b" ", b"\t"), id="tabs"),
        pytest.param(TWO.replace(b" ", b" \t  "), RANKED.replace(b" ", b"\t "), id="several"),
        pytest.param(TWO.replace(b"\n", b"\r\n"), RANKED.replace(b"\n", b"\r\n"), id="CRLF"),
        pytest.param(b"\xef\xbb\xbf" + TWO, b"\xef\xbb\xbf" + RANKED, id="BOM"),
        pytest.param(
            b"\n \n\t\r\n" + TWO.replace(b"\n", b"\n\n") + b" ",
            b"\n" + RANKED + b"\r\n \n",
            id="blank lines",
        ),
        pytest.param(
            b"# a comment\n#q1 comments\n" + TWO,
            RANKED + b"  # and one of seven words ok\n",
            id="#",
        ),
        pytest.param(TWO[:-1], RANKED[:-1], id="no final newline"),
        pytest.param(b"  " + TWO.replace(b"\n", b"\n \t"), b"\t" + RANKED, id="leading spaces"),
        pytest.param(
            TWO.replace(b"\n", b" \t\r\n"), RANKED.replace(b"\n", b"  \n"), id="trailing spaces"
        ),
        pytest.param(TWO[:-1] + b"\r\r\n", RANKED[:-1] + b"\r", id="several CRs at the end"),
        pytest.param(
            TWO.replace(b" 0 d", b" \xe9\x00\x0b d", 1), RANKED.replace(b" Q0 ", b" \xff "), id="Q0"
        ),
        pytest.param(TWO, RANKED.replace(b" t\n", b" \xff\xfe\n"), id="tag"),
        pytest.param(TWO, RANKED.replace(b" 1 2.5", b" rank 2.5"), id="rank"),
    ],
)
def test_one_meaning(write: Write, qrels: bytes, run: bytes) -> None:
    assert grades_of(read_qrels(write(qrels))) == {"q1": {"d1": 1.0, "d2": 0.0}}
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
    assert grades_of(read_qrels(write(line.encode()))) == expected
    assert read_run(write(f"q{name}\tQ0 {name} 1 1 {name}".encode())).rankings == {
        f"q{name}": {name: 1.0}
    }


def test_carriage_return_before_the_last_byte_is_part_of_its_column(write: Write) -> None:
    input_error(lambda: read_qrels(write(b"q1 0 d1\r1")), "3 columns", line=1)


def test_queries_need_not_stand_together(write: Write) -> None:
    path = write(b"q1 0 a 1\nq2 0 a 2\nq1 0 b 3\n")
    assert grades_of(read_qrels(path)) == {"q1": {"a": 1.0, "b": 3.0}, "q2": {"a": 2.0}}


def test_a_query_id_may_begin_like_a_comment(write: Write) -> None:
    assert grades_of(read_qrels(write(b"#1 0 d1 1\n" + TWO))).keys() == {"#1", "q1"}
    assert grades_of(read_qrels(write(b"# 0 d1 1\n#1 0 d1 one\n" + TWO))).keys() == {"q1"}


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


NOT_NUMBERS = [
    pytest.param("abc", "", id="garbage"),
    pytest.param("yes", "", id="yes"),
    pytest.param("None", "", id="None"),
    pytest.param("nan", "", id="nan"),
    pytest.param("-NaN", "", id="-NaN"),
    pytest.param("1,5", "", id="decimal comma"),
    pytest.param("1,000.5", "", id="thousands"),
    pytest.param("0x10", "", id="hexadecimal"),
    pytest.param("1_0.5", "", id="underscore"),
    pytest.param("1e400", "overflows", id="1e400"),
    pytest.param("-1e400", "overflows", id="-1e400"),
    pytest.param("1" * 5000, "overflows", id="5000 digits"),
    pytest.param("١٢", "", id="Arabic digits"),
    pytest.param("１", "", id="full-width digit"),
    pytest.param("1\xa0", "", id="NBSP"),
    pytest.param("1\x0b", "", id="vertical tab"),
    pytest.param("1e", "", id="1e"),
    pytest.param(".", "", id="point"),
    pytest.param("-", "", id="sign"),
    pytest.param("--1", "", id="two signs"),
    pytest.param("1d5", "", id="Fortran exponent"),
    pytest.param("infinite", "", id="infinite"),
    pytest.param("1\0", "", id="NUL"),
]


@pytest.mark.parametrize(("text", "hint"), NOT_NUMBERS)
def test_text_is_no_number(write: Write, text: str, hint: str) -> None:
    path = write(f"q1 0 d1 1\n\nq1 0 d2 {text}\n".encode())
    shown = repr(text)[1:-1][:80]
    fields = {"path": path, "line": 3, "value": text}
    facts = (repr(path), "line 3", shown, hint)
    input_error(lambda: read_qrels(path), "qrels", "grade", *facts, source="qrels", **fields)
    path = write(f"q1 Q0 d1 1 0.5 t\n\nq1 Q0 d2 2 {text} t\n".encode())
    input_error(lambda: read_run(path), "run", "score", *facts, source="run", **fields)


def test_bad_number_names_query_and_document(write: Write) -> None:
    path = write(b"301 Q0 d7 1 abc t\n")
    fact = f"run {path!r} line 1 (query '301'"
    input_error(lambda: read_run(path), fact, query="301", document="d7")
    path = write(b"301 0 d7 abc\n")
    input_error(lambda: read_qrels(path), "line 1 (query '301'", query="301", document="d7")


@pytest.mark.parametrize("grade", [b"inf", b"-inf", b"9007199254740993", b"9007199254740994"])
def test_grade_beyond_exactness(write: Write, grade: bytes) -> None:
    path = write(TWO + b"q2 0 d3 " + grade + b"\n")
    facts = (repr(path), "query 'q2'", "document 'd3'", grade.decode())
    input_error(lambda: read_qrels(path), *facts, path=path, query="q2", document="d3")


def test_grade_beyond_exactness_names_the_line(write: Write) -> None:
    path = write(TWO + b"q2 0 d3 1e300\n")
    input_error(lambda: read_qrels(path), "line 3", path=path, line=3)


@pytest.mark.parametrize(
    ("data", "line", "facts"),
    [
        pytest.param(TWO + b"q1 0 d3\n", 3, ("3 columns where 4", "'q1 0 d3'"), id="3"),
        pytest.param(b"\n\nq1 0 my doc 1\n", 3, ("5 columns where 4", "contain a space"), id="5"),
        pytest.param(RANKED[:17], 1, ("6 columns where 4",), id="a run"),
        pytest.param(TWO + b"q2 0", 3, ("2 columns where 4", "'q2 0'"), id="truncated"),
        pytest.param(b"q1,0,d1,1\n", 1, ("1 column where 4",), id="commas"),
        pytest.param(b'{"q1": {"d1": 1}', 1, ("3 columns where 4",), id="JSON"),
        pytest.param(TWO.replace(b"\n", b"\r"), 1, ("7 columns where 4",), id="CR only"),
        pytest.param(TWO + b"\x1a", 3, ("1 column where 4", "\\x1a"), id="control Z"),
        pytest.param(TWO + b"\0\0\0", 3, ("1 column where 4", "\\x00"), id="NULs at the end"),
        pytest.param(TWO + b"q2 0 a\0 1\n", 3, ("NUL",), id="NUL in a document id"),
        pytest.param(TWO + b"q\0 0 a 1\n", 3, ("NUL",), id="NUL in a query id"),
        pytest.param(TWO + b"q2 0 d\xe9 1\n", 3, ("b'd\\xe9'", "UTF-8"), id="Latin-1 document"),
        pytest.param(TWO + b"q\xe9 0 d 1\n", 3, ("b'q\\xe9'", "UTF-8"), id="Latin-1 query"),
        pytest.param(TWO + b"q2 0 \xed\xa0\x80 1\n", 3, ("UTF-8",), id="encoded surrogate"),
        pytest.param(TWO + b"\xff\xfe 0 \xc0\x80 1\n", 3, ("UTF-8",), id="no UTF-8"),
    ],
)
def test_line_of_qrels(write: Write, data: bytes, line: int, facts: tuple[str, ...]) -> None:
    path = write(data)
    fields = {"source": "qrels", "path": path, "line": line}
    input_error(lambda: read_qrels(path), f"qrels {path!r} line {line}", *facts, **fields)


@pytest.mark.parametrize(
    ("data", "line", "facts"),
    [
        pytest.param(b"q1 Q0 d1 1 2.5\n", 1, ("5 columns where 6", "'q1 Q0 d1 1 2.5'"), id="5"),
        pytest.param(RANKED + b"q1 Q0 my d 3 1 t\n", 3, ("7 columns where 6", "space"), id="7"),
        pytest.param(TWO, 1, ("4 columns where 6",), id="qrels"),
        pytest.param(RANKED[:-4], 2, ("5 columns where 6",), id="truncated"),
        pytest.param(RANKED + b"q2 Q0 a\0 3 1 t\n", 3, ("NUL",), id="NUL"),
        pytest.param(RANKED + b"q2 Q0 \xe9 3 1 t\n", 3, ("b'\\xe9'", "UTF-8"), id="Latin-1"),
    ],
)
def test_line_of_run(write: Write, data: bytes, line: int, facts: tuple[str, ...]) -> None:
    path = write(data)
    fields: dict[str, Any] = {"source": "run", "path": path}
    if data == TWO:  # every line is wrong
        input_error(lambda: read_run(path), "2 problems", "line 1", "line 2", *facts, **fields)
    else:
        input_error(lambda: read_run(path), f"line {line}", *facts, line=line, **fields)


@pytest.mark.parametrize("grade", [b"1", b"2"], ids=["same grade", "another grade"])
def test_document_twice(write: Write, grade: bytes) -> None:
    path = write(TWO + b"q2 0 d1 1\nq1 0 d1 " + grade + b"\n")
    fields = {"query": "q1", "document": "d1", "line": 4, "path": path}
    input_error(lambda: read_qrels(path), "line 4 (query 'q1', document 'd1')", **fields)
    path = write(RANKED + b"q2 Q0 d1 1 1 t\nq1 Q0 d1 3 " + grade + b" t\n")
    input_error(lambda: read_run(path), "line 4 (query 'q1', document 'd1')", **fields)


@pytest.mark.parametrize(
    "data", [b"", b"\n", b" \t\r\n\n", b"# one\n#two\n", b"\xef\xbb\xbf"],
    ids=["empty", "newline", "blank", "comments", "BOM"],
)  # fmt: skip
def test_no_data(write: Write, data: bytes) -> None:
    path = write(data)
    input_error(lambda: read_qrels(path), repr(path), "no data", source="qrels", path=path)
    input_error(lambda: read_run(path), repr(path), "no data", source="run", path=path)


def test_first_twenty_problems_are_listed(write: Write) -> None:
    path = write(b"".join(b"q%d 0 d x\n" % i for i in range(30)))
    error = input_error(lambda: read_qrels(path), "20 problems", "line 1 (", "…, 20", path=path)
    assert [problem.line for problem in error.problems] == list(range(1, 21))
    assert "line 21" not in str(error)
    input_error(lambda: evaluate(path, {"q": {"d": 1.0}}, "RR"), "20 problems", path=path)
