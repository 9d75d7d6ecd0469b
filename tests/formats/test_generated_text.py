"""TREC text, generated: any bytes are read or refused, and what was written is what is read."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.judgments import grades_of

from irbatch import InputError, read_qrels, read_run

Table = dict[str, dict[str, float]]

MARKS = [
    *(b"", b"\x1f\x8b\x08", b"BZh9", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"),
    *(b"\xff\xfe", b"\xef\xbb\xbf"),
]
PIECES = [
    *(b" ", b"\t", b"\n", b"\r", b"\r\n", b"\0", b"#", b"q1", b"d1", b"0", b"1", b"-1", b"1e999"),
    *(b"nan", b"inf", b"\x0b", b"\x0c", b"\xa0", b"\xc2\xa0", b"\xe9", b"x y", b"Q0", b"1.5", b"t"),
    *(b"q1 0 d1 1\n", b"q1 Q0 d1 1 0.5 t\n"),
]
anything = st.tuples(
    st.sampled_from(MARKS), st.binary(max_size=60) | st.lists(st.sampled_from(PIECES)).map(b"".join)
).map(b"".join)


def read(reader: Callable[[Any], Any], data: bytes) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data"
        path.write_bytes(data)
        return reader(path)


def read_or_refuse(reader: Callable[[Any], Any], data: bytes) -> Any:
    """Return what was read, or the refusal; any other exception is none of these."""
    try:
        return read(reader, data)
    except InputError as error:
        return error


# That refused files are closed is tested in test_formats_files.py.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@settings(max_examples=150, deadline=None)
@given(data=anything)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for reader, source in ((read_qrels, "qrels"), (read_run, "run")):
        found = read_or_refuse(reader, data)
        if isinstance(found, InputError):
            assert found.source == source
            assert found.path is not None
            assert found.path in str(found)
        else:
            assert len(found) > 0


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


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), table=tables(st.integers(0, 2**53) | st.floats(0, 2**53)))
def test_qrels_survive(data: st.DataObject, table: tuple[Table, Any]) -> None:
    expected, rows = table
    assert grades_of(read(read_qrels, written(data.draw, rows, run=False))) == expected


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), table=tables(st.integers() | st.floats(allow_nan=False)))
def test_runs_survive(data: st.DataObject, table: tuple[Table, Any]) -> None:
    expected, rows = table
    found = read(read_run, written(data.draw, rows, run=True)).rankings
    as_floats = {q: {d: float(v) for d, v in each.items()} for q, each in expected.items()}
    assert found == as_floats
