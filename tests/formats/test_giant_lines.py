"""Giant lines and input without an end: no endless memory, and the same refusals."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from support.file_readers import refused_by_all
from support.input_errors import input_error

from irbatch import read_run
from irbatch.formats import streams

LINES = [b"q%d Q0 d%d %d %d t\n" % (i // 40, i, i % 40, -i * i) for i in range(280)]
GIANT = 5 << 20  # more than a piece
Pack = Callable[[bytes], bytes]
PIECE = 1 << 14  # bytes, for `reader`: of 64 there would be too many


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file"


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
