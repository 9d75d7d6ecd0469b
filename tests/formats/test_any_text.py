"""Any text comes to the same in both readers, and what was written is what is read."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.file_readers import use_reader
from support.judgments import grades_of

from irbatch import InputError, evaluate, read_qrels, read_run
from irbatch.formats import reader as file_reader
from irbatch.formats import streams

pytestmark = pytest.mark.portable

ODD = [b" ", b"\t", b"\n", b"\r\n", b"\r", b"\0", b"#", b"q1", b"1", b"-1", b"x", b"\xe9", b"\x0b"]
TREC = [
    *(b"q1 Q0 d1 1 0.5 t\n", b"q2 Q0 d1 1 .25 t\r\n", b"q1\tQ0\td2 1 5e-1 t\n", b"q1 Q0 d3 1 "),
    *(b"# c\n", b"#1 Q0 d4 1 1 t\n", b"#1 d\n", b"q1 Q0 d5 2 7 t x y\n", b"q1 Q0 d6 1 1\n", b"nan"),
    *(b"q3 Q0 \xc2\xa0 1 0.12345678901234567890 u\n", b"q3 Q0 d7 1 -inf t\n"),
    b"q1 Q0 d8 0 1e999 t\n",
]
QRELS = [
    *(b"q1 0 d1 1\n", b"q2 0 d1 1\n", b"q1\t0 d2 2\r\n", b"q1 0 d3 ", b"# c\n", b"#1 0 d4 1\n"),
    *(b"#1 d\n", b"q1 Q0 d5 2 7 t\n", b"9007199254740992", b"9007199254740993", b"q3 0 d6 -.5\n"),
]
MARCO = [
    *(b"q1 d1 1\n", b"q2\td1\t1\n", b"q1 d2 2\r\n", b"q1 d3 ", b"# c\n", b"#1 d4 1\n", b"#1 d\n"),
    *(b"q1 d5 1.0\n", b"q2 d6 1e1\n", b"q2 d7 1.5\n", b"q1 Q0 d8 1 1 t\n", b"q1 d9 -1\n"),
]
HEADER = [
    *(b"q1\td1\t1\n", b"q2\td1\t1\n", b"q1\td2\t2\r\n", b"q1\td3\t", b"q 1\td 1\t3\n"),
    b"#\t#\t1\n",
    *(b"#c\n", b"q1\t\t2\n", b"q2\td2\t2\t2\n", b"q2 d3 1\n", b"q3\td4\t-.5\n"),
]
JSON = [
    *(b"{}\n", b"[]\n", b'{"query-id": 1, "corpus-id": 2, "score": 2.5}\n'),
    b'{"query-id": "q1", "corpus-id": "d8", "score": null}\n',
    *(
        b'{"query-id": "q%d", "corpus-id": "%s", "score": %s}\n' % (query, document, score)
        for query, document, score in [
            (1, b"d1", b"1"), (1, b"d2", b"2"), (2, b"d1", b'"1"'), (2, b"d 2", b"1"),
            (2, b"", b"1"), (1, b"d3", b"true"), (1, b"d4", b'"x"'), (3, b"d#", b"-1e-3"),
        ]
    ),
]  # fmt: skip
# A first line of each form, which says what form it is, and then anything.
FORMS = {
    "TREC": (b"", TREC, "run"),
    "qrels": (b"", QRELS, "qrels"),
    "MARCO": (b"q0 d0 0\n", MARCO, "run"),
    "header": (b"query-id\tcorpus-id\tscore\nq0\td0\t1\n", HEADER, "run"),
    "header of qrels": (b"query-id\tcorpus-id\tscore\nq0\td0\t1\n", HEADER, "qrels"),
    "JSON": (b'{"query-id": "q0", "corpus-id": "d0", "score": 1}\n', JSON, "run"),
    "JSON qrels": (b'{"query-id": "q0", "corpus-id": "d0", "score": 1}\n', JSON, "qrels"),
}
JUDGED = {"q1": {"d1": 1, "d2": 2}, "q2": {"d1": 1}, "q0": {"d0": 1}, "1": {"2": 1}}
Table = dict[str, dict[str, float]]
Outcome = tuple[object, list[tuple[object, ...]]]


def outcome(call: Callable[[], object]) -> Outcome:
    """What comes of reading: the result, or all that is wrong, each with its place."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # see test_file_warnings
            return call(), []
    except InputError as error:
        return None, [
            (each.line, each.query, each.document, each.value, each.message)
            for each in error.problems
        ]


def entry_points(path: Path, source: str) -> list[Callable[[], object]]:
    if source == "qrels":
        return [lambda: read_qrels(path).to_dict()]
    return [
        lambda: (read_run(path).to_dict(), read_run(path).tag),
        lambda: evaluate(JUDGED, path, "nDCG AP RR NumRet").values.tolist(),
    ]


@pytest.mark.parametrize("form", FORMS)
@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_any_bytes(tmp_path: Path, form: str, data: st.DataObject) -> None:
    head, fragments, source = FORMS[form]
    parts = data.draw(st.lists(st.sampled_from(fragments + ODD + fragments), max_size=16))
    path = tmp_path / "file"
    path.write_bytes(head + b"".join(parts))
    for entry_point in entry_points(path, source):
        with pytest.MonkeyPatch.context() as patched:
            use_reader("lines", patched)
            expected = outcome(entry_point)
            for reader, piece in (("parser", 4 << 20), ("pieces", 64), ("pieces", 150)):
                use_reader(reader, patched)
                patched.setattr(streams, "PIECE", piece)
                assert outcome(entry_point) == expected


@pytest.mark.parametrize("line", [b"\x0c", b"\r\x0c", b"\x0b#", b" \x0c# remark", b"\r "])
def test_other_space_is_not_left_out(
    tmp_path: Path, line: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were it taken for blank, the first piece would be left out."""
    path = tmp_path / "run"
    path.write_bytes(line + b"\nq1 Q0 d1 1 1 t\n")
    for entry_point in entry_points(path, "run"):
        use_reader("lines", monkeypatch)
        expected = outcome(entry_point)
        assert expected[1][0][0] == 1, "the problem is in line 1"
        use_reader("pieces", monkeypatch)
        monkeypatch.setattr(streams, "PIECE", len(line) + 1)
        assert outcome(entry_point) == expected


@pytest.mark.parametrize("reader", ["parser", "pieces"])
def test_more_documents_twice_than_are_looked_for(
    tmp_path: Path, reader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other lines may be listed then than the first, but of such as give a document again."""
    count = file_reader.MOST_REPEATS + 500
    rows = [b"q%d Q0 d 1 1 t\n" % i for i in range(count)]
    path = tmp_path / "run"
    path.write_bytes(b"".join(rows + rows[::-1]))
    use_reader(reader, monkeypatch)
    monkeypatch.setattr(streams, "PIECE", 1 << 12)
    for entry_point in entry_points(path, "run"):
        _, problems = outcome(entry_point)
        assert len(problems) == 20
        for line, query, document, _, message in problems:
            assert (query, document) == (f"q{2 * count - line}", "d")
            assert message == f"this document was given before, in line {2 * count + 1 - line}"


# ---------------------------------------------------------------- what was written is read

# An id is any text without what separates or what no text holds.
SEPARATORS = " \t\n\0"
ids = st.text(
    st.characters(exclude_characters=SEPARATORS, exclude_categories=["Cs"]), min_size=1
).filter(lambda text: not text.endswith("\r") and not text.startswith(("#", "\ufeff", "BZh")))
spaces = st.sampled_from([" ", "\t", "  ", " \t "])
ends = st.sampled_from(["\n", "\r\n", " \n", "\n\n", "\n# a comment\n", "\n \t\r\n"])


@st.composite
def tables(draw: st.DrawFn, numbers: st.SearchStrategy[float]) -> tuple[Table, str]:
    """A table, and its lines as they might stand in a file: columns 1, 3 and 4."""
    table = draw(
        st.dictionaries(ids, st.dictionaries(ids, numbers, min_size=1, max_size=4), min_size=1)
    )
    rows = [(query, each, table[query][each]) for query in table for each in table[query]]
    return table, draw(st.permutations(rows))


def written(draw: Callable[[Any], str], rows: Any, *, run: bool) -> bytes:
    lines = [draw(st.sampled_from(["", "\ufeff", "# c\n", "\n"]))]
    for query, document, value in rows:
        columns = [query, "0", document, repr(value)]
        if run:
            columns = [query, "Q0", document, "1", repr(value), "t"]
        line = draw(st.sampled_from(["", " "])) if lines[0] != "\ufeff" else ""
        for column in columns:
            line += column + draw(spaces)
        lines.append(line.rstrip(" \t") + draw(ends))
    text = "".join(lines)
    return (text.rstrip("\n") if draw(st.booleans()) else text).encode()


@pytest.mark.parametrize("source", ["qrels", "run"])
@settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(data=st.data())
def test_what_was_written_is_read(tmp_path: Path, source: str, data: st.DataObject) -> None:
    numbers = st.integers(0, 2**53) | st.floats(0, 2**53)
    if source == "run":
        numbers = st.integers() | st.floats(allow_nan=False)
    table, rows = data.draw(tables(numbers))
    expected = {query: {d: float(v) for d, v in row.items()} for query, row in table.items()}
    path = tmp_path / "file"
    path.write_bytes(written(data.draw, rows, run=source == "run"))
    found = read_run(path).rankings if source == "run" else grades_of(read_qrels(path))
    assert found == expected
