"""Parquet, read row group by row group, gives what the same rows in lines give."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.input_errors import input_error
from support.random_problems import nasty_problems

import irbatch
from irbatch.cli import main
from irbatch.data.columns import QueryTable
from irbatch.formats import parquet as parquet_files
from irbatch.formats.parquet import ParquetReader

pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")

MEASURES = "nDCG@10 AP RR P@5 Bpref NumRet"
NAMES = "query_id", "doc_id", "score"
BATCH = 7

Rows = list[tuple[Any, Any, float]]


@pytest.fixture(autouse=True)
def _batches_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_files, "BATCH", BATCH)


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each table had that was evaluated while a file was read."""
    sizes: list[int] = []
    genuine = ParquetReader.map_tables

    def spy(reader: ParquetReader, work: Callable[[QueryTable], Any]) -> Iterator[Any]:
        def noted(table: QueryTable) -> Any:
            sizes.append(table.numbers.size)
            return work(table)

        yield from genuine(reader, noted)

    monkeypatch.setattr(ParquetReader, "map_tables", spy)
    return sizes


def table(rows: Rows, kind: str = "text") -> Any:
    """Return rows as columns; `kind` says how ids are kept."""
    columns = dict(zip(NAMES, map(list, zip(*rows, strict=True)), strict=True))
    made = pa.table(columns)
    if kind == "dictionary":
        for at in (0, 1):
            made = made.set_column(at, NAMES[at], made.column(at).dictionary_encode())
    if kind in ("large_string", "string_view"):
        for at in (0, 1):
            made = made.set_column(at, NAMES[at], made.column(at).cast(getattr(pa, kind)()))
    return made


def rows_of(run: dict[Any, dict[Any, float]]) -> Rows:
    return [(q, d, float(s)) for q, ranking in run.items() for d, s in ranking.items()]


def write(path: Path, rows: Rows, kind: str = "text", group: int = 11, **options: Any) -> Path:
    pq.write_table(table(rows, kind), path, row_group_size=group, **options)
    return path


def all_of(qrels: Any, run: Any) -> tuple[dict[str, dict[str, float]], Any]:
    results = irbatch.evaluate(qrels, run, MEASURES)
    return results.to_dict(), results.counts


def problems(seed: int, count: int) -> Iterator[tuple[dict[Any, Any], dict[Any, Any]]]:
    for qrels, run in nasty_problems(seed, count):
        run = {
            q: {d: float(s) for d, s in ranking.items()} for q, ranking in run.items() if ranking
        }
        if qrels.keys() & run.keys():
            yield qrels, run


KINDS: list[tuple[str, dict[str, Any]]] = [
    ("text", {}),
    ("text", {"use_dictionary": False, "compression": "zstd"}),
    ("text", {"use_dictionary": True, "data_page_size": 8}),
    *((kind, {}) for kind in ("dictionary", "large_string", "string_view")),
]


@pytest.mark.parametrize(("kind", "options"), KINDS)
def test_same_bits_in_any_form(tmp_path: Path, kind: str, options: Any, tables: list[int]) -> None:
    for qrels, run in problems(5, 12):
        path = write(tmp_path / "run", rows_of(run), kind, **options)
        assert all_of(qrels, path) == all_of(qrels, run)
        assert irbatch.read_run(path).to_dict() == run
    assert len(tables) > 20


def test_whole_numbers_and_narrow_scores(tmp_path: Path, tables: list[int]) -> None:
    draw = random.Random(3)
    qrels = {q: {draw.randrange(99): draw.randrange(3) for _ in range(9)} for q in range(20)}
    run = {q: {d: draw.randrange(8) / 4 for d in range(q, 99, 3)} for q in range(25)}
    columns = table(rows_of(run)).cast(pa.schema(zip(NAMES, (pa.int32(), pa.uint64(), pa.float32()),
                                                     strict=True)))  # fmt: skip
    pq.write_table(columns, tmp_path / "run", row_group_size=100)
    assert all_of(qrels, tmp_path / "run") == all_of(qrels, run)
    assert len(tables) > 20
    text = {str(q): {str(d): g for d, g in judged.items()} for q, judged in qrels.items()}
    said = "document id 0 is a whole number, but the qrels' ids are text"
    both = {q: text[str(q)] for q in qrels}
    input_error(lambda: irbatch.evaluate(both, tmp_path / "run", "RR"), said, query=0, document=0)
    said = "qrels have '0', '1', '2', …, the run has 0, 1, 2, …; ids are text in the qrels"
    input_error(lambda: irbatch.evaluate(text, tmp_path / "run", "RR"), said)


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_queries_across_files(tmp_path: Path, cut: int, tables: list[int]) -> None:
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "deep").mkdir()
    for qrels, run in problems(8, 6):
        rows = rows_of(run)
        for i in range(0, len(rows), max(cut, len(rows) // 9)):
            write(tmp_path / "deep" / f"part-{i:05}", rows[i : i + max(cut, len(rows) // 9)])
        expected = all_of(qrels, run)
        assert all_of(qrels, tmp_path) == expected
        assert all_of(qrels, tmp_path / "d*" / "part-*") == expected
        for each in (tmp_path / "deep").iterdir():
            each.unlink()
    assert tables


def test_query_longer_than_batches(tmp_path: Path, tables: list[int]) -> None:
    run = {q: {f"{q}d{i}": float(i) for i in range(n)} for q, n in (("a", 3), ("b", 90), ("c", 4))}
    qrels = {q: {f"{q}d1": 1} for q in run}
    assert all_of(qrels, write(tmp_path / "run", rows_of(run))) == all_of(qrels, run)
    assert tables == [93, 4]


def test_queries_that_return(tmp_path: Path, tables: list[int]) -> None:
    """They are evaluated whole; a run of which most do is read whole."""
    for seed, (qrels, run) in enumerate(problems(9, 8)):
        rows = rows_of(run)
        moved = rows[3:] + rows[:3]
        assert all_of(qrels, write(tmp_path / "run", moved)) == all_of(qrels, run)
        random.Random(seed).shuffle(rows)
        assert all_of(qrels, write(tmp_path / "run", rows)) == all_of(qrels, run)
    assert tables


def test_problems_name_file_column_and_row(tmp_path: Path) -> None:
    run = {f"q{i}": {f"d{j}": float(j) for j in range(5)} for i in range(9)}
    qrels, rows = {"q0": {"d0": 1}}, rows_of(run)
    places = [tmp_path / "0", tmp_path / "1"]
    write(places[0], rows[:20])
    path = str(places[1])

    def refused(bad: Any, *facts: str, **fields: Any) -> None:
        pq.write_table(bad, path, row_group_size=4)
        for read in (lambda: irbatch.evaluate(qrels, tmp_path, "RR"),
                     lambda: irbatch.read_run(tmp_path)):  # fmt: skip
            input_error(read, *facts, source="run", **({"path": path} | fields))

    refused(
        table([*rows[20:40], ("q8", "d9", float("nan"))]),
        "column 'score', row 20: score nan is not a number",
    )
    refused(
        table([*rows[20:40], ("q8", None, 1.0)]),
        "column 'doc_id', row 20: the document id is missing",
    )
    refused(table(rows[20:]).drop_columns("doc_id"), "no column is the document")
    ids = {"query_id": range(25), "doc_id": ["d"] * 25, "score": [1.0] * 25}
    refused(pa.table(ids), "ids are whole numbers and text; in", "ids are text and text")
    refused(table(rows[20:]).rename_columns(["qid", *NAMES[1:]]), "['qid', 'doc_id', 'score']")
    bad = table(rows[20:]).set_column(0, "query_id", pa.array([1.5] * 25))
    refused(bad, "column 'query_id', query ids are text or whole numbers, not float64")
    twice = table([*rows[20:], rows[19], rows[43]])
    said = f"row 25: this document was given before, in row 19 of {str(places[0])!r}", "in row 23"
    refused(twice, "2 problems", *said, "(query 'q3', document 'd4')", path=path)


# ---------------------------------------------------------------- damage and traps


def test_damaged_pages(tmp_path: Path) -> None:
    """Of any writer a page that cannot be unpacked; of one with checksums any other byte."""
    run = {f"q{i}": {f"d{i}-{j}": float(j) for j in range(5)} for i in range(40)}
    path = write(tmp_path / "run", rows_of(run), group=50, compression="zstd")
    read = lambda: irbatch.evaluate({"q0": {"d0-1": 1}}, path, "RR")  # noqa: E731
    column = pq.ParquetFile(path).metadata.row_group(2).column(1)
    data = bytearray(path.read_bytes())
    begin = column.dictionary_page_offset
    data[begin : begin + column.total_compressed_size] = bytes(column.total_compressed_size)
    path.write_bytes(data)
    input_error(read, "row group 2: ", source="run", path=str(path))
    pq.write_table(irbatch.Run(run).to_arrow(), path, write_page_checksum=True)
    data = path.read_bytes()
    at = data.index(b"d0-4")
    path.write_bytes(data[:at] + b"d0-0" + data[at + 4 :])
    input_error(read, "CRC", source="run", path=str(path))


DAMAGES = """
import sys
from pathlib import Path
import irbatch
path = Path(sys.argv[1])
data = path.read_bytes()
for at in range(len(data) - 8 - int.from_bytes(data[-8:-4], "little"), len(data), 3):
    path.write_bytes(data[:at] + bytes(1) + data[at + 1 :])
    try:
        irbatch.read_run(path)
    except irbatch.InputError:
        pass
"""


def test_damaged_metadata(tmp_path: Path) -> None:
    """Nothing but InputError, where looking at metadata alone would end the process."""
    path = write(tmp_path / "run", [("q", f"d{i}", float(i)) for i in range(20)])
    done = subprocess.run([sys.executable, "-c", DAMAGES, str(path)], check=False,
                          capture_output=True, text=True, timeout=300)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    data = write(path, [("q", "d", 1.0)]).read_bytes()
    path.write_bytes(data.replace(b"doc_id", b"doc_\xff\xff"))
    input_error(lambda: irbatch.read_run(path), "can't decode", path=str(path))


@pytest.mark.parametrize("call", [0, 1])  # of the first row, and of all
def test_memory_that_pyarrow_does_not_get(
    call: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It ends a command as it does while text is read."""
    path = write(tmp_path / "run.parquet", [("q", "d", 1.0)])
    (tmp_path / "qrels").write_text("q 0 d 1\n")
    genuine, calls = pq.ParquetFile.iter_batches, itertools.count()

    def fail(*arguments: Any, **options: Any) -> Any:
        if next(calls) == call:
            raise pa.ArrowMemoryError("malloc of size 64 failed")
        return genuine(*arguments, **options)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", fail)
    assert main(["eval", str(tmp_path / "qrels"), str(path), "-m", "AP"]) == 1
    assert capsys.readouterr() == ("", "irbatch: error: out of memory\n")


def test_folders_and_patterns_of_nothing(tmp_path: Path) -> None:
    (tmp_path / "_SUCCESS").touch()
    input_error(lambda: irbatch.read_run(tmp_path), "no files here", path=str(tmp_path))
    pattern = str(tmp_path / "*.parquet")
    input_error(lambda: irbatch.read_qrels(pattern), "no files here", path=pattern)
    write(tmp_path / "a.parquet", [("q", "d", 1.0)])
    (tmp_path / "b.run").write_text("q Q0 d 1 1 t\n")
    said = "cannot be read as Parquet"
    input_error(lambda: irbatch.read_run(tmp_path), said, path=str(tmp_path / "b.run"))


def test_progress_in_bytes(tmp_path: Path) -> None:
    run = {f"q{i}": {f"d{j}": float(j) for j in range(5)} for i in range(40)}
    path = write(tmp_path / "run", rows_of(run))
    said: list[tuple[int, int]] = []
    irbatch.evaluate({"q0": {"d0": 1}}, path, "RR", progress=lambda *each: said.append(each))
    size = path.stat().st_size
    assert said[-1] == (size, size)
    assert sorted(said) == said


def test_judgments_that_say_more_than_the_grade(tmp_path: Path) -> None:
    rows = {"qid": ["q", "q"], "docno": ["a", "b"], "relevance": [1, 0]}
    pq.write_table(pa.table(rows | {"subtopic": ["1", "2"], "text": ["x", "y"]}), tmp_path / "a")
    run = {"q": {"a": 1.0, "b": 2.0}}
    expected = irbatch.Qrels({"q": {"1": {"a": 1}, "2": {"b": 0}}}, marks="subtopics")
    for given in (tmp_path, tmp_path / "a"):
        assert (irbatch.evaluate(given, run, "alpha_nDCG@5").to_dict()
                == irbatch.evaluate(expected, run, "alpha_nDCG@5").to_dict())  # fmt: skip
    pq.write_table(pa.table(rows | {"stratum": ["s", "s"]}), tmp_path / "a")
    assert len(irbatch.read_qrels(tmp_path / "a", marks="strata")) == 1
    pq.write_table(pa.table(rows | {"probability": [0.5, 1.0]}), tmp_path / "a")
    assert len(irbatch.read_qrels(tmp_path / "a", marks="probabilities")) == 1
    said = "no column is the subtopic"
    input_error(lambda: irbatch.evaluate(tmp_path, run, "alpha_nDCG@5"), said, source="qrels")
    pq.write_table(pa.table(rows | {"probability": [0.5, 1.5]}), tmp_path / "a")
    path = str(tmp_path / "a")
    read = lambda: irbatch.read_qrels(path, marks="probabilities")  # noqa: E731
    input_error(read, "1.5", source="qrels", path=path)
