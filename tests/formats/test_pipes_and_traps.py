"""Archives, pipes, standard input and giant lines: no traps, and the same refusals."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import os
import sys
import threading
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.file_readers import piped_input, refused_by_all, use_reader
from support.input_errors import input_error

from irbatch import InputError, evaluate, read_qrels, read_run
from irbatch.formats import streams

LINES = [b"q%d Q0 d%d %d %d t\n" % (i // 40, i, i % 40, -i * i) for i in range(280)]
RUN = {f"q{q}": {f"d{i}": float(-i * i) for i in range(40 * q, 40 * q + 40)} for q in range(7)}
GIANT = 5 << 20  # more than a piece
JUDGED = {"q0": {"d3": 1}, "q6": {"d279": 1}, "q3": {"none": 1}}
try:
    from backports import zstd
except ImportError:
    zstd = None
PACKERS = [gzip.compress, bz2.compress, lzma.compress, *([zstd.compress] if zstd else [])]
NAMES = ["gzip", "bzip2", "xz", "zstd"][: len(PACKERS)]
Pack = Callable[[bytes], bytes]
PIECE = 1 << 14  # bytes, for `reader`: of 64 there would be too many


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file"


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize("pack", PACKERS, ids=NAMES)
def test_120_bomb(path: Path, pack: Pack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "BOMB_BYTES", 1 << 20)
    path.write_bytes(pack(LINES[0] * (pack is not gzip.compress) + b"\n" * (4 << 20)))
    refused_by_all("run", path, "makes 200 bytes of one", "trap")


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize("pack", PACKERS, ids=NAMES)
def test_120_no_bomb(path: Path, pack: Pack, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither what becomes large of much, nor what is small, nor what is not packed."""
    monkeypatch.setattr(streams, "BOMB_BYTES", 100)
    path.write_bytes(pack(b"".join(LINES)))
    assert read_run(path).to_dict() == RUN
    monkeypatch.setattr(streams, "BOMB_BYTES", 1 << 18)
    path.write_bytes(pack(b"".join(LINES) + b"\n" * (1 << 17)))
    assert read_run(path).to_dict() == RUN
    monkeypatch.setattr(streams, "BOMB_BYTES", 100)
    path.write_bytes(b"".join(LINES) + b"\n" * (1 << 17))
    assert read_run(path).to_dict() == RUN


@pytest.mark.parametrize("pack", [bytes, *PACKERS], ids=["plain", *NAMES])
def test_116_archives_come_through_pipes(
    reader: str, monkeypatch: pytest.MonkeyPatch, pack: Pack
) -> None:
    use_reader(reader, monkeypatch)
    with piped_input(pack(b"".join(LINES)), monkeypatch):
        assert read_run("-").to_dict() == RUN
    expected = evaluate(JUDGED, RUN, "nDCG AP RR").values
    with piped_input(pack(b"".join(LINES)), monkeypatch):
        assert (evaluate(JUDGED, "-", "nDCG AP RR").values == expected).all()
    with piped_input(pack(b"q1 0 d1 1\nq2 0 d1 0\n"), monkeypatch):
        assert read_qrels("-").to_dict() == {"q1": {"d1": 1}, "q2": {"d1": 0}}


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_query_returns_on_standard_input(
    reader: str, monkeypatch: pytest.MonkeyPatch, pack: Pack
) -> None:
    """It is read a second time, from the copy."""
    use_reader(reader, monkeypatch)
    data = pack(b"".join(LINES) + b"q0 Q0 e1 40 -1e9 t\n")
    run = {**RUN, "q0": {**RUN["q0"], "e1": -1e9}}
    with piped_input(data, monkeypatch):
        found = evaluate(JUDGED, "-", "nDCG AP NumRet").values
    assert (found == evaluate(JUDGED, run, "nDCG AP NumRet").values).all()


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[Callable[[bytes], Path]]:
    """Make a named pipe through which bytes come."""
    threads = []

    def write(path: Path, data: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):
            path.write_bytes(data)

    def made(data: bytes) -> Path:
        path = tmp_path / f"pipe{len(threads)}"
        os.mkfifo(path)
        threads.append(threading.Thread(target=write, args=(path, data)))
        threads[-1].start()
        return path

    yield made
    for thread in threads:
        thread.join()


@pytest.mark.usefixtures("reader")
def test_named_pipes(pipe: Callable[[bytes], Path]) -> None:
    for pack in (bytes, gzip.compress):
        assert read_run(pipe(pack(b"".join(LINES)))).to_dict() == RUN
        judged, run = pipe(pack(b"q0 0 d1 1\n")), pipe(pack(b"".join(LINES)))
        assert evaluate(judged, run, "RR").mean() == {"RR": 0.5}
    path = pipe(b"".join([*LINES, LINES[3]]))
    input_error(lambda: read_run(path), "line 281", "before, in line 4", path=str(path), line=281)
    path = pipe(b"".join([*LINES, LINES[3]]))
    input_error(
        lambda: evaluate(JUDGED, path, "RR"), "line 281", "in line 4", path=str(path), line=281
    )
    input_error(lambda: read_qrels(pipe(b"")), "no data lines")


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize("name", ["-", "-x", "--", "-q.run"])
def test_122_only_a_lone_dash_is_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(b"".join(LINES))
    monkeypatch.setattr(sys, "stdin", None)
    if name == "-":
        input_error(lambda: read_run(name), "there is no standard input", path="-")
        assert read_run("./-").to_dict() == RUN
    else:
        assert read_run(name).to_dict() == RUN


def test_both_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    with piped_input(b"q1 0 d1 1\n", monkeypatch), pytest.raises(InputError) as caught:
        evaluate("-", "-", "RR")
    assert (caught.value.source, caught.value.path) == ("run", "-")


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("ended", [True, False], ids=["ended", "not ended"])
@pytest.mark.parametrize("place", [0, 2, 100, len(LINES)])
def test_119_giant_line(path: Path, place: int, ended: bool, pack: Pack) -> None:
    giant = b"q9 Q0 " + b"x" * GIANT + b" 1 1 t" + b"\n" * ended
    path.write_bytes(pack(b"".join([*LINES[:place], giant, *LINES[place:]])))
    refused_by_all("run", path, "1 MiB", line=place + 1)


@pytest.mark.usefixtures("reader")
def test_119_the_longest_line_there_can_be(path: Path) -> None:
    rest = b"q1 Q0  1 1 t\n"
    longest = streams.LONGEST_LINE - len(rest)
    path.write_bytes(b"q1 Q0 " + b"x" * longest + b" 1 1 t\n" + LINES[0])
    assert [len(each) for each in read_run(path).to_dict()["q1"]] == [longest]
    path.write_bytes(b"q1 Q0 x" + b"x" * longest + b" 1 1 t\n" + LINES[0])
    refused_by_all("run", path, "1 MiB", line=1)


@pytest.mark.usefixtures("reader")
def test_119_memory_is_bounded(path: Path) -> None:
    packer = zlib.compressobj(1, wbits=31)
    block = b"x" * (1 << 20)
    packed = [packer.compress(block) for _ in range(100)]
    path.write_bytes(b"".join(packed) + packer.flush())
    tracemalloc.start()
    try:
        input_error(lambda: read_run(path), "1 MiB", path=str(path))
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()
