"""Files whose n-th read, write, flush, sync or renaming fails, or whose writer is killed."""

from __future__ import annotations

import errno
import gzip
import io
import json
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from support.file_readers import use_reader

import irbatch
from irbatch import InputError, Run
from irbatch.efficiency import EfficiencyRecord
from irbatch.formats import streams
from irbatch.leaderboard import Leaderboard
from irbatch.runtime import files
from irbatch.runtime.files import replacing

QUERIES = ["q1", "q2", "q3"]
RUN = {query: {f"d{i}": 1.0 / (i + 1 + len(query)) for i in range(4)} for query in QUERIES}
QRELS = {query: {"d1": 1, "d3": 0} for query in QUERIES}
OLD = b"what was there before"
RESULTS = irbatch.evaluate(QRELS, RUN, "RR AP")
COMPARISON = irbatch.compare(QRELS, {"a": RUN, "b": {"q1": {"d1": 1.0}}}, "RR", draws=20)
RECORD = EfficiencyRecord(system="a", throughput=3.0)
# All put their files in place by `replacing`; these are those that have a stream of their own.
WRITERS: dict[str, Callable[[Path], object]] = {
    **dict.fromkeys(["run", "run.gz", "run.zst"], Run(RUN).to_trec),
    "values.json": RESULTS.to_json,
    "page.html": lambda path: COMPARISON.to_html(path=path, plots=False),
    "record.yaml": lambda path: RECORD.to_ir_metadata(path),
}
NEEDED = {} if sys.version_info >= (3, 14) else {"run.zst": ["backports.zstd"]}


BUFFER = 64  # bytes that are written or read at once


class Calls:
    """Counts the calls to the system, and lets one of them, or all from there on, fail."""

    def __init__(self, number: int = errno.EIO, at: int = 0, *, for_ever: bool = False) -> None:
        self._number, self._at, self._for_ever = number, at, for_ever
        self.names: list[str] = []

    def __call__(self, name: str) -> None:
        self.names.append(name)
        count = len(self.names)
        if count == self._at or (self._for_ever and 0 < self._at < count):
            raise OSError(self._number, os.strerror(self._number))

    def of(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that is counted before it is called."""

        def counted(*given: Any, **named: Any) -> Any:
            self(call.__name__)
            return call(*given, **named)

        return counted


class Source(io.FileIO):
    """A file to read of which each call is counted."""

    calls: Calls

    def readinto(self, room: Any) -> int:
        self.calls("read")
        return super().readinto(room) or 0

    def seek(self, *given: Any) -> int:
        self.calls("seek")
        return super().seek(*given)


class Target(io.FileIO):
    """A file to write of which each call is counted; it takes half of what it is given at once."""

    calls: Calls

    def write(self, data: Any) -> int:
        self.calls("write")
        with memoryview(data) as view, view[: max(BUFFER, len(view) // 2)] as half:
            return super().write(half) or 0

    def close(self) -> None:
        was_open = not self.closed
        super().close()
        if was_open:
            self.calls("close")


def fail_writing(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the files that irbatch writes fail."""

    class Output(Target):
        pass

    Output.calls = calls

    class Place(type(Path())):  # type: ignore[misc]
        chmod = calls.of(Path.chmod)
        replace = calls.of(Path.replace)

    def fdopen(handle: int, mode: str) -> BinaryIO:
        return io.BufferedWriter(Output(handle, mode), BUFFER)

    system = types.SimpleNamespace(**vars(os))
    system.open, system.fsync = calls.of(os.open), calls.of(os.fsync)
    system.fdopen = fdopen
    monkeypatch.setattr(files, "os", system)
    monkeypatch.setattr(files, "Path", Place)


def fail_reading(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the files that irbatch reads fail."""

    class Input(Source):
        pass

    Input.calls = calls

    def opened(path: str, mode: str) -> BinaryIO:
        calls("open")
        return io.BufferedReader(Input(path, mode), BUFFER)

    monkeypatch.setattr(streams, "open", opened, raising=False)


def written(write: Callable[[Path], object], path: Path, calls: Calls) -> OSError | None:
    """Write in place of an old file; return the error that there is."""
    path.write_bytes(OLD)
    with pytest.MonkeyPatch.context() as patches:
        fail_writing(calls, patches)
        try:
            write(path)
        except OSError as problem:
            return problem
    return None


@pytest.mark.parametrize("name", WRITERS)
def test_what_cannot_be_written_leaves_the_old_file(name: str, tmp_path: Path) -> None:
    for module in NEEDED.get(name, ()):
        pytest.importorskip(module)
    path, write = tmp_path / name, WRITERS[name]
    calls = Calls()
    assert written(write, path, calls) is None
    whole, count = path.read_bytes(), len(calls.names)
    assert set(calls.names) == {"open", "write", "close", "fsync", "chmod", "replace"}
    for at in sorted({1, 2, 3, count // 2, *range(count - 4, count + 1)}):
        for number, for_ever in ((errno.ENOSPC, False), (errno.EIO, True)):
            calls = Calls(number, at, for_ever=for_ever)
            problem = written(write, path, calls)
            assert problem is not None, calls.names
            assert (problem.errno, problem.filename) == (number, str(path)), calls.names
            assert path.read_bytes() == OLD
            assert list(tmp_path.iterdir()) == [path]
        if calls.names[at - 1] == "write":  # a signal came
            assert written(write, path, Calls(errno.EINTR, at)) is None
            assert path.read_bytes() == whole


@pytest.mark.parametrize("meanwhile", ["removed", "a folder in its place", "read-only"])
def test_a_folder_that_changes_meanwhile(
    meanwhile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "folder" / "file"
    path.parent.mkdir()

    def write() -> None:
        with replacing(path) as file:
            file.write(b"new")
            if meanwhile == "removed":
                shutil.rmtree(path.parent)
            elif meanwhile == "a folder in its place":
                path.mkdir()
            else:
                monkeypatch.setattr(Path, "replace", refuse)
                monkeypatch.setattr(Path, "unlink", refuse)

    def refuse(place: Path, *_: Any, **__: Any) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))

    with pytest.raises(OSError, match="file") as caught:
        write()
    assert (caught.value.filename, caught.value.filename2) == (str(path), None)
    if meanwhile == "a folder in its place":
        assert list(path.parent.iterdir()) == [path]


KILLS = """
import json, os, random, signal, sys, time
from pathlib import Path
import irbatch

random.seed(1)
folder = Path(sys.argv[1])
run = {f"q{i}": {f"d{j}": (i + j) / 7 for j in range(40)} for i in range(60)}
runs = [irbatch.Run(run), irbatch.Run({query: {**run[query], "new": 1.0} for query in run})]
results = [irbatch.evaluate({"q1": {"d1": 1}}, each, "RR AP") for each in runs]
writers = {"run": [each.to_trec for each in runs], "run.gz": [each.to_trec for each in runs],
           "values.json": [each.to_json for each in results]}
wholes = {}
for name, writes in writers.items():
    for write in writes:
        write(folder / name)
        wholes.setdefault(name, []).append((folder / name).read_bytes())
seen = []
for number in range(24):
    name = random.choice(list(writers))
    path = folder / name
    if number % 2:
        path.unlink(missing_ok=True)
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.write(writer, b"begun")
        for write in writers[name] * 1000:
            write(path)
    os.read(reader, 5)
    os.close(reader)
    os.close(writer)
    time.sleep(random.uniform(0, 0.012))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    seen.append(wholes[name].index(path.read_bytes()) if path.exists() else None)
    for each in set(folder.iterdir()) - {folder / name for name in writers}:
        assert each.name.startswith(".irbatch-"), each
        each.unlink()
print(json.dumps(seen))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_process_that_is_killed_leaves_whole_files(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", KILLS, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert len(seen) == 24
    assert {0, 1} & {*seen}  # a busy machine may leave no more to chance


# ---------------------------------------------------------------- reading

LINES = [
    b"%s Q0 %s 1 %r t\n" % (query.encode(), document.encode(), score)
    for query, documents in RUN.items()
    for document, score in documents.items()
]
RETURNING = [*LINES, *(line.replace(b" d", b" e") for line in LINES[::3])]  # queries go on later


def evaluated(path: Path) -> object:
    return irbatch.evaluate(QRELS, path, "RR AP nDCG NumRet").to_dict()


READINGS: dict[str, tuple[Callable[[bytes], bytes], list[bytes], Callable[[Path], object]]] = {
    "run": (bytes, LINES, lambda path: irbatch.read_run(path).to_dict()),
    "evaluation": (bytes, LINES, evaluated),
    "gzip": (gzip.compress, LINES, evaluated),
    "queries that return, in xz": (lzma.compress, RETURNING, evaluated),
    "JSON": (bytes, [b'{"query_id": "q%d", "doc_id": "d%d", "score": 1}\n' % (i // 9, i)
                     for i in range(20)], evaluated),
    "header": (bytes, [b"# ir_metadata.start\n", b"# tag: x\n", b"# ir_metadata.end\n", *LINES],
               EfficiencyRecord.from_ir_metadata),
}  # fmt: skip


def outcome(read: Callable[[Path], object], path: Path, calls: Calls) -> object:
    """Read, and return what was read or the error that there is."""
    with pytest.MonkeyPatch.context() as patches:
        fail_reading(calls, patches)
        try:
            return read(path)
        except (InputError, OSError) as problem:
            return problem


@pytest.mark.parametrize("reader", ["lines", "pieces"])
@pytest.mark.parametrize("name", READINGS)
def test_what_cannot_be_read_is_said(
    name: str, reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_reader(reader, monkeypatch, 128)
    pack, lines, read = READINGS[name]
    path = tmp_path / "file"
    path.write_bytes(pack(b"".join(lines)))
    expected = outcome(read, path, calls := Calls())
    for at, call in enumerate(calls.names, 1):
        found = outcome(read, path, Calls(errno.EIO, at))
        if str(found) == str(expected):
            continue
        assert isinstance(found, InputError), calls.names[:at]
        assert found.path == str(path), calls.names[:at]
        assert "Input/output error" in str(found), calls.names[:at]
        if call == "read":  # a signal came
            assert str(outcome(read, path, Calls(errno.EINTR, at))) == str(expected)


def test_json_that_cannot_be_read_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> str:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(Path, "read_text", fail)
    with pytest.raises(OSError, match=r"error: '.*board.json'"):
        Leaderboard.from_json(tmp_path / "board.json")


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="no memory is a folder")
def test_a_file_in_memory_is_replaced() -> None:
    """Of what stands in /dev, only what is no file is written to as it is."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        path = Path(folder, "a.json")
        path.write_bytes(OLD)
        RESULTS.to_json(path)
        assert path.read_text().startswith("{")
