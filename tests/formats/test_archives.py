"""Archives: told by their first bytes, never read in part; and the kinds of paths."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.input_errors import input_error

import irbatch
from irbatch import InputError, read_qrels, read_run

try:
    from backports import zstd
except ImportError:
    zstd = None

Pack = Callable[[bytes], bytes]
RANDOM = random.Random(1)
LINES = [b"q%d Q0 d%d 1 %d t\n" % (i // 9, RANDOM.randrange(10**6), i) for i in range(12)]
TEXT = b"".join(LINES)


def twice(pack: Pack) -> Pack:
    """Pack as parallel packers do, in streams one behind the other."""
    return lambda data: pack(data[: len(data) // 2]) + pack(data[len(data) // 2 :])


PACKERS: dict[str, Pack] = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}
PACKERS |= {f"{name} twice": twice(pack) for name, pack in PACKERS.items()}


# ---------------------------------------------------------------- what is an archive, and where


@pytest.mark.parametrize("name", ["a.run", "a.gz", "a.zst", "a"])
@pytest.mark.parametrize("pack", [bytes, *PACKERS.values()])
def test_first_bytes_decide_whatever_the_name(tmp_path: Path, pack: Pack, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(TEXT)
    expected = read_run(path).to_dict()
    path.write_bytes(pack(TEXT))
    assert read_run(path).to_dict() == expected


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + b"\x07" * 40, id="no deflate block"),
        pytest.param(b"\x1f\x8b\x09" + b"\0" * 20, id="unknown method"),
        pytest.param(b"\x1f\x8b", id="two bytes"),
        pytest.param(gzip.compress(TEXT)[:-8] + b"\0" * 8, id="wrong checksum"),
        pytest.param(gzip.compress(TEXT) + b"garbage", id="garbage behind"),
        pytest.param(b"BZh9" + b"\0" * 40, id="no bzip2 block"),
        pytest.param(b"\xfd7zXZ\x00" + b"\xff" * 40, id="no xz block"),
        pytest.param(b"\x28\xb5\x2f\xfd" + b"\0" * 20, id="no zstd block"),
    ],
)
def test_no_archive_behind_the_magic(tmp_path: Path, data: bytes) -> None:
    path = str(tmp_path / "a")
    Path(path).write_bytes(data)
    input_error(lambda: read_qrels(path), f"qrels {path!r}", source="qrels", path=path)
    input_error(lambda: read_run(path), f"run {path!r}", source="run", path=path)


NOT_FILES = {
    "missing": "'missing': No such file", "folder": "'folder': there are no files here",
    "file/below": "Not a directory", "": "''", "a\0b": "'a\\x00b'", "x" * 5000: "too long",
}  # fmt: skip


@pytest.mark.parametrize("read", [read_qrels, read_run])
@pytest.mark.parametrize("name", NOT_FILES, ids=lambda name: ascii(name)[:20])
def test_paths_of_no_file(
    read: Callable[[Any], object], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("file").touch()
    input_error(lambda: read(name), NOT_FILES[name])
    if name == "missing":
        input_error(lambda: read(Path(name)), NOT_FILES[name], path=name)


# ---------------------------------------------------------------- what is damaged


@pytest.fixture
def read(tmp_path: Path) -> Callable[[bytes], object]:
    path = tmp_path / "file"

    def run(data: bytes) -> object:
        path.write_bytes(data)
        try:
            return irbatch.read_run(path).to_dict()
        except InputError:
            return None

    return run


def test_damage_is_noticed_by_gzip_of_python(
    read: Callable[[bytes], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each byte it is cut and flipped: what is read is the whole or nothing."""
    monkeypatch.setitem(sys.modules, "isal.igzip", None)
    data = gzip.compress(TEXT)
    whole = read(data)
    assert isinstance(whole, dict)
    assert sum(map(len, whole.values())) == len(LINES)
    results = [read(data[:i]) for i in range(len(data))]
    for i in range(len(data)):
        flipped = bytearray(data)
        flipped[i] ^= 1 << RANDOM.randrange(8)
        results.append(read(bytes(flipped)))
    assert all(each is None or each == whole for each in results)
    assert results.count(None) >= 2 * len(data) - 20


@pytest.mark.skipif(zstd is None, reason="needs zstd")
def test_zstd_without_a_checksum_is_never_read_in_part(read: Callable[[bytes], object]) -> None:
    """What is damaged within may be read as something else, which nothing tells."""
    data = zstd.compress(TEXT)
    assert all(read(data[:i]) is None for i in range(len(data)))
