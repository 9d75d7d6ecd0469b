"""Text that is odd comes to the same in both readers, and what was written is what is read."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from support.file_readers import use_reader

from irbatch import InputError, evaluate, read_run
from irbatch.formats import reader as file_reader
from irbatch.formats import streams

pytestmark = pytest.mark.portable

JUDGED = {"q1": {"d1": 1, "d2": 2}, "q2": {"d1": 1}, "q0": {"d0": 1}, "1": {"2": 1}}
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
