"""Files: compressed, damaged, missing, standard input, and the kinds of paths."""

import bz2
import gc
import gzip
import io
import lzma
import os
import subprocess
import sys
import types
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.input_errors import input_error

from irbatch import InputError, evaluate, evaluate_runs, read_qrels, read_run

LINES = b"".join(b"q%d Q0 d%d 1 %d.5 t\n" % (i % 7, i, i) for i in range(2000))
RUN = {f"q{q}": {f"d{i}": i + 0.5 for i in range(q, 2000, 7)} for q in range(7)}
PACKERS = [gzip.compress, bz2.compress, lzma.compress]


@pytest.mark.parametrize("name", ["a.run", "a.gz", "a.bz2", "a.xz", "a.zst", "a"])
@pytest.mark.parametrize("pack", [bytes, *PACKERS], ids=["plain", "gzip", "bzip2", "xz"])
def test_magic_bytes_decide_whatever_the_name(
    tmp_path: Path, pack: Callable[[bytes], bytes], name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(pack(LINES))
    assert read_run(path).rankings == RUN


def test_members_of_an_archive_follow_each_other(tmp_path: Path) -> None:
    half = LINES.index(b"\n", len(LINES) // 2)
    for pack in PACKERS:
        path = tmp_path / "a"
        path.write_bytes(pack(LINES[:half]) + pack(LINES[half:]))
        assert read_run(path).rankings == RUN


def test_bom_in_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + LINES))
    assert read_run(path).rankings == RUN


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: data[:-4], id="end missing"),
        pytest.param(lambda data: data[: len(data) // 2], id="half"),
        pytest.param(lambda data: data[:12], id="start only"),
        pytest.param(lambda data: data[:40] + b"\xff" * 40 + data[80:], id="overwritten"),
    ],
)
@pytest.mark.parametrize("pack", PACKERS, ids=["gzip", "bzip2", "xz"])
def test_damaged_archive(
    tmp_path: Path, pack: Callable[[bytes], bytes], damage: Callable[[bytes], bytes]
) -> None:
    path = str(tmp_path / "a.trec")
    Path(path).write_bytes(damage(pack(LINES)))
    input_error(
        lambda: read_run(path), f"run {path!r}", "cannot be read on", source="run", path=path
    )
    input_error(lambda: evaluate({"q1": {"d1": 1}}, path, "RR"), repr(path), source="run")


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + b"\x07" * 40, id="no deflate block"),
        pytest.param(b"\x1f\x8b\x09" + b"\0" * 20, id="unknown method"),
        pytest.param(b"\x1f\x8b", id="two bytes"),
        pytest.param(gzip.compress(LINES)[:-8] + b"\0" * 8, id="wrong checksum"),
        pytest.param(gzip.compress(LINES) + b"garbage", id="garbage behind"),
        pytest.param(b"BZh9" + b"\0" * 40, id="no bzip2 block"),
        pytest.param(b"\xfd7zXZ\x00" + b"\xff" * 40, id="no xz block"),
    ],
)
def test_no_archive_behind_the_magic(tmp_path: Path, data: bytes) -> None:
    path = str(tmp_path / "a")
    Path(path).write_bytes(data)
    input_error(lambda: read_qrels(path), f"qrels {path!r}", source="qrels", path=path)
    input_error(lambda: read_run(path), f"run {path!r}", source="run", path=path)


def test_errors_of_zlib_are_not_errors_of_the_system() -> None:
    assert not issubclass(zlib.error, OSError | EOFError)  # why the test above is there


def test_query_id_that_starts_like_bzip2(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"BZhang-7 Q0 d1 1 0.5 t\n")
    assert read_run(path).rankings == {"BZhang-7": {"d1": 0.5}}


@pytest.mark.parametrize(
    ("data", "fact"),
    [
        pytest.param(b"\x28\xb5\x2f\xfd" + b"\0" * 20, "cannot be read on", id="zstd"),
        pytest.param(LINES.decode().encode("utf-16"), "UTF-16", id="UTF-16"),
        pytest.param(b"\xfe\xff" + LINES.decode().encode("utf-16-be"), "UTF-16", id="UTF-16 BE"),
    ],
)
def test_format_that_is_not_read(tmp_path: Path, data: bytes, fact: str) -> None:
    path = str(tmp_path / "a.gz")
    Path(path).write_bytes(data)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        message = ""
        try:
            read_run(path)
        except InputError as error:
            message = str(error)
        gc.collect()
    assert fact in message
    assert path in message
    assert [str(each.message) for each in caught] == []  # no file was left open


def test_utf16_without_a_mark_and_random_bytes(tmp_path: Path) -> None:
    path = str(tmp_path / "a")
    for data in (LINES.decode().encode("utf-16-le"), bytes(range(128, 256)) * 9):
        Path(path).write_bytes(data)
        input_error(lambda: read_run(path), repr(path), "line 1", path=path)


@pytest.mark.parametrize("read", [read_qrels, read_run])
class TestPaths:
    def test_missing(self, read: Callable[[Any], object], tmp_path: Path) -> None:
        path = tmp_path / "no such file"
        fact = f"{str(path)!r}: No such file"
        input_error(lambda: read(path), fact, path=str(path))
        input_error(lambda: read(str(path)), fact, path=str(path))

    def test_directory(self, read: Callable[[Any], object], tmp_path: Path) -> None:
        said = "there are no files here"
        input_error(lambda: read(tmp_path), f"{str(tmp_path)!r}: {said}", path=str(tmp_path))

    def test_below_a_file(self, read: Callable[[Any], object], tmp_path: Path) -> None:
        (tmp_path / "a").touch()
        input_error(lambda: read(tmp_path / "a" / "b"), "Not a directory")

    def test_empty_name(self, read: Callable[[Any], object]) -> None:
        input_error(lambda: read(""), "''")

    def test_nul_in_the_name(self, read: Callable[[Any], object]) -> None:
        input_error(lambda: read("a\0b"), "'a\\x00b'")

    def test_too_long_a_name(self, read: Callable[[Any], object]) -> None:
        input_error(lambda: read("x" * 5000), "too long")


class OwnPath:
    """A path of some other library."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __fspath__(self) -> str:
        return str(self.path)


def directory_entry(path: Path) -> os.DirEntry[str]:
    with os.scandir(path.parent) as entries:
        return next(entries)


@pytest.mark.parametrize(
    "kind",
    [Path, str, OwnPath, directory_entry],
    ids=["Path", "str", "PathLike", "DirEntry"],
)
def test_any_kind_of_path(tmp_path: Path, kind: Callable[[Path], Any]) -> None:
    path = tmp_path / "-starts like an option.run"
    path.write_bytes(LINES)
    run = read_run(kind(path))
    assert (run.rankings, run.name) == (RUN, str(path))
    assert evaluate({"q1": {"d1": 1}}, kind(path), "RR").name == str(path)


def test_names_of_runs_come_from_paths(tmp_path: Path) -> None:
    for name in ("a.run.gz", "b.txt"):
        (tmp_path / name).write_bytes(LINES)
    paths = [tmp_path / "a.run.gz", str(tmp_path / "b.txt")]
    assert list(evaluate_runs({"q1": {"d1": 1}}, paths, "RR")) == ["a", "b"]
    input_error(lambda: evaluate_runs({"q1": {"d1": 1}}, [paths[0], "nowhere"], "RR"), "'nowhere'")


@pytest.mark.parametrize("pack", [bytes, *PACKERS], ids=["plain", "gzip", "bzip2", "xz"])
def test_standard_input(monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]) -> None:
    stream = io.BufferedReader(io.BytesIO(pack(LINES)))
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=stream))
    assert read_run("-").rankings == RUN
    assert not stream.closed


@pytest.mark.parametrize(
    ("data", "fact"),
    [(b"", "no data"), (b"q1 0 d1\n", "line 1"), (gzip.compress(LINES)[:-9], "cannot be read on")],
    ids=["empty", "wrong line", "truncated"],
)
def test_bad_standard_input(monkeypatch: pytest.MonkeyPatch, data: bytes, fact: str) -> None:
    stream = io.BufferedReader(io.BytesIO(data))
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=stream))
    input_error(lambda: read_qrels("-"), "qrels '-'", fact, path="-")


def test_standard_input_of_a_process() -> None:
    script = "import irbatch; print(len(irbatch.read_run('-').rankings['q1']))"
    command = [sys.executable, "-W", "error", "-c", script]
    done = subprocess.run(command, input=LINES, capture_output=True, check=False)
    assert (done.stdout.strip(), done.stderr) == (b"286", b"")
