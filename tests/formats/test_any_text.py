"""Text that is odd comes to the same in both readers, and what was written is what is read."""

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


def entry_points(path: Path) -> list[Callable[[], object]]:
    return [
        lambda: (read_run(path).to_dict(), read_run(path).tag),
        lambda: evaluate(JUDGED, path, "nDCG AP RR NumRet").values.tolist(),
    ]


@pytest.mark.parametrize("line", [b"\x0c", b"\r\x0c", b"\x0b#", b" \x0c# remark", b"\r "])
def test_other_space_is_not_left_out(
    tmp_path: Path, line: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were it taken for blank, the first piece would be left out."""
    path = tmp_path / "run"
    path.write_bytes(line + b"\nq1 Q0 d1 1 1 t\n")
    for entry_point in entry_points(path):
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
    for entry_point in entry_points(path):
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
@settings(max_examples=80, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
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
