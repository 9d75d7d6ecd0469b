"""Reading a large run file: the byte parser against the reader of lines, same content first."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import irbatch
from benchmarks.timing import machine, ratio
from irbatch.data.columns import QueryTable
from irbatch.data.lookup import find_repeated
from irbatch.formats.lines import RUN, ParsedLines
from irbatch.formats.reader import Piece, Reader
from irbatch.formats.streams import numbered_lines, open_input

QUERIES, DEPTH = 1_000, 1_000
MEASURES = "AP RR nDCG@{5,10,100,1000} P@{5,10,100} R@{100,1000}"


def write_run(path: Path) -> None:
    """Write lines as a retrieval toolkit does, scores with all their digits."""
    rng = np.random.default_rng(1)
    with path.open("w") as file:
        for query in range(QUERIES):
            documents = rng.choice(8_841_823, DEPTH, replace=False).tolist()
            scores = np.sort(rng.gamma(2.0, 5.0, DEPTH))[::-1].tolist()
            for rank, (document, score) in enumerate(zip(documents, scores, strict=True), 1):
                file.write(f"{query} Q0 msmarco_{document:08} {rank} {score!r} bm25\n")


def test_run_file(
    benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "large.run"
    write_run(path)

    def columns() -> QueryTable:
        with open_input(path, RUN.source) as file:
            return Reader(file, [str(path)], str(path), lambda _: (RUN, 0)).table()

    def lines() -> ParsedLines:
        rows = ParsedLines(RUN, str(path))
        rows.read(numbered_lines(path, RUN.source))
        return rows

    assert columns().numbers.tolist() == lines().values

    benchmark(columns)
    seconds, other, times = ratio(columns, lines, rounds=3)
    benchmark.extra_info["times faster"] = times
    with capsys.disabled():
        rate = QUERIES * DEPTH / seconds / 1e6
        print(f"\n{path.stat().st_size >> 20} MB, {QUERIES * DEPTH:,} lines: {seconds:.2f} s, "
              f"{rate:.1f} M lines/s; reader of lines {other:.2f} s: {times:.1f} x faster; "
              f"{machine('irbatch', 'numpy', 'numba')}")  # fmt: skip


def test_evaluate_file(
    benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A file evaluated as it is read, against reading it whole and then evaluating."""
    path = tmp_path / "large.run"
    write_run(path)
    run = irbatch.read_run(path)
    qrels = {query: dict.fromkeys(list(run.rankings[query])[::50], 1) for query in run.rankings}

    def streamed() -> irbatch.Results:
        return irbatch.evaluate(qrels, path, MEASURES)

    def whole() -> irbatch.Results:
        return irbatch.evaluate(qrels, irbatch.read_run(path), MEASURES)

    assert streamed().values.tobytes() == whole().values.tobytes()
    benchmark(streamed)
    seconds, other, times = ratio(streamed, whole, rounds=3)
    benchmark.extra_info["times faster"] = times
    with capsys.disabled():
        print(f"\n{path.stat().st_size >> 20} MB, {QUERIES * DEPTH:,} lines, read and evaluated: "
              f"{seconds:.2f} s; read whole, then evaluated {other:.2f} s: {times:.1f} x faster; "
              f"{machine('irbatch', 'numpy', 'numba')}")  # fmt: skip


def test_lines_alike(
    benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Lines like the one before, against lines that are gone through byte by byte."""
    path = tmp_path / "large.run"
    write_run(path)
    with path.open("rb") as file:
        alike = file.read(4 << 20).rpartition(b"\n")[0] + b"\n"
    lines = alike.splitlines(keepends=True)
    others = b"".join(line.replace(b" ", b"\t" if i % 2 else b"  ") for i, line in enumerate(lines))

    def parse(text: bytes) -> Piece:
        return Piece.parse(bytearray(text), RUN, "run")

    assert parse(alike).documents.tolist() == parse(others).documents.tolist()
    assert parse(alike).values.tobytes() == parse(others).values.tobytes()
    benchmark(parse, alike)
    seconds, other, times = ratio(lambda: parse(alike), lambda: parse(others), rounds=5)
    benchmark.extra_info["times faster"] = times
    with capsys.disabled():
        print(f"\n{len(lines):,} lines alike: {1e9 * seconds / len(lines):.0f} ns a line; "
              f"others {1e9 * other / len(lines):.0f} ns: {times:.1f} x faster; "
              f"{machine('irbatch', 'numpy', 'numba')}")  # fmt: skip


def test_find_repeated(
    benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Hashing the documents of a piece and looking for any that comes twice."""
    path = tmp_path / "large.run"
    write_run(path)
    with path.open("rb") as file:
        text = bytearray(file.read(4 << 20).rpartition(b"\n")[0])
    keyed = Piece.parse(text, RUN, "run").table.keyed
    assert find_repeated(keyed, 1) == -1
    benchmark(find_repeated, keyed, 1)
    with capsys.disabled():
        seconds = benchmark.stats.stats.min
        print(f"\n{keyed.keys.size:,} documents: {1e9 * seconds / keyed.keys.size:.1f} ns each")
