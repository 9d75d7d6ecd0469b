"""Lines in memory to dictionaries: by the byte parser, and by the reader of lines."""

from __future__ import annotations

import pytest

from benchmarks.data import make_problem
from benchmarks.timing import machine, ratio
from irbatch.formats import reader as line_lists
from irbatch.formats.lines import RUN


@pytest.mark.parametrize("count", [20, 50, 100, 300, 1_000, 50_000])
def test_from_how_many_lines(
    count: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`MANY`, to which some tenths of a millisecond are to be added for loading machine code."""
    depth = min(count, 1_000)
    problem = make_problem(-(-count // depth), depth, 1)
    lines = [
        f"{query} Q0 {document} {rank} {score * 1e-5:.5f} r\n"
        for query, *row in zip(problem.queries, problem.documents, problem.scores, strict=True)
        for rank, (document, score) in enumerate(zip(*row, strict=True), 1)
    ]

    def read(many: int) -> dict[str, dict[str, float]]:
        monkeypatch.setattr(line_lists, "MANY", many)
        return line_lists.read_lines(lines, RUN)

    assert read(0) == read(1 << 40)
    ours, other, times = ratio(lambda: read(0), lambda: read(1 << 40))
    with capsys.disabled():
        print(f"\n{len(lines):,} lines: {ours * 1e6:.0f} µs, line by line {other * 1e6:.0f} µs: "
              f"{times:.1f} x; {machine('irbatch', 'numpy')}", end="")  # fmt: skip
