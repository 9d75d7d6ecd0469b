"""What the system refuses or ends: full disks, folders that can't be written to, killed processes.

One process forks a child for each case: limits hold for a process for ever.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

BEGIN = """
import errno, json, os, random, resource, shutil, signal, sys, tempfile, time
from pathlib import Path
import irbatch
from irbatch import Run

RUN = {f"q{i}": {f"d{j}": (i + j) / 7 for j in range(40)} for i in range(60)}
RUN_OF = [Run(RUN), Run({query: {**each, "new": 1.0} for query, each in RUN.items()})]
RESULTS = [irbatch.evaluate({"q1": {"d1": 1}}, each, "RR AP") for each in RUN_OF]
WRITERS = {
    "run": Run.to_trec, "run.gz": Run.to_trec, "values.json": irbatch.Results.to_json,
}
try:
    import pyarrow.parquet
    WRITERS["run.parquet"] = Run.to_parquet
except ImportError:
    pass

def write(path, which=0):
    made = RESULTS if path.name.startswith("values") else RUN_OF
    WRITERS[path.name](made[which], path)

folder = Path(tempfile.mkdtemp(dir=sys.argv[1]))
folder.chmod(0o755)
for name in WRITERS:  # once before: what is imported is there then
    write(folder / name)
"""

REFUSALS = """
def told(prepare):
    for name in WRITERS:
        (folder / name).write_bytes(b"old")
        (folder / name).chmod(0o666)
    reader, writer = os.pipe()
    if not os.fork():
        prepare()
        said = {}
        for name in WRITERS:
            try:
                write(folder / name)
            except OSError as problem:
                said[name] = [errno.errorcode[problem.errno], problem.filename]
            except BaseException as problem:
                said[name] = repr(problem)
        os.write(writer, json.dumps(said).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        said = json.load(stream)
    os.wait()
    left = {each.name: each.read_bytes() == b"old" for each in folder.iterdir()}
    return said, left

def limit(what, size):
    resource.setrlimit(what, (size, size))

def read_only():
    folder.chmod(0o555)
    if os.geteuid() == 0:
        os.setgid(65534)
        os.setuid(65534)

found = {}
for size in (0, 30):
    found[f"full disk {size}"] = told(lambda: limit(resource.RLIMIT_FSIZE, size))
found["open files"] = told(lambda: limit(resource.RLIMIT_NOFILE, 3))
found["read-only"] = told(read_only)
folder.chmod(0o755)
os.rename(folder, folder.with_name("elsewhere"))
said = {}
for name in WRITERS:
    try:
        write(folder / name)
    except OSError as problem:
        said[name] = [errno.errorcode[problem.errno], problem.filename]
found["no folder"] = said, {}
print(json.dumps([str(folder), list(WRITERS), found]))
"""

KILLS = """
random.seed(int(sys.argv[2]))
wholes = {}
for name in WRITERS:
    for which in (0, 1):
        write(folder / name, which)
        wholes[name, which] = (folder / name).read_bytes()
found = {"absent": 0, "first": 0, "second": 0}
for number in range(int(sys.argv[3])):
    name = random.choice(list(WRITERS))
    path = folder / name
    if number % 2:
        path.unlink(missing_ok=True)
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.write(writer, b"begun")
        for which in (0, 1) * 1000:
            write(path, which)
    os.read(reader, 5)
    os.close(reader)
    os.close(writer)
    time.sleep(random.uniform(0, 0.012))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    content = path.read_bytes() if path.exists() else None
    if content is None:
        found["absent"] += 1
    else:
        found[["first", "second"][[wholes[name, 0], wholes[name, 1]].index(content)]] += 1
    for each in folder.iterdir():
        if each.name not in WRITERS:
            assert each.name.startswith(".irbatch-"), each
            each.unlink()
print(json.dumps(found))
"""


def printed(code: str, *words: object) -> Any:
    command = [sys.executable, "-W", "ignore", "-c", BEGIN + code, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user finds."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_what_the_system_refuses_leaves_what_was_there(folder: Path) -> None:
    place, names, found = printed(REFUSALS, folder)
    errors = {
        "full disk 0": "EFBIG",
        "full disk 30": "EFBIG",
        "open files": "EMFILE",
        "read-only": "EACCES",
        "no folder": "ENOENT",
    }
    for case, (said, left) in found.items():
        assert said == {name: [errors[case], f"{place}/{name}"] for name in names}, case
        assert left == ({} if case == "no folder" else dict.fromkeys(names, True)), case
    assert found.keys() == errors.keys()


def test_a_process_that_is_killed_leaves_whole_files(folder: Path) -> None:
    found = printed(KILLS, folder, 1, 24)
    assert found["first"] + found["second"] + found["absent"] == 24
    assert found["first"] + found["second"] > 0  # a busy machine may leave no more to chance
