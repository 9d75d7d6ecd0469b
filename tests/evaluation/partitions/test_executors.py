"""Runs in partitions, on threads and processes: one process' bits, however they are cut."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.commands import runner
from support.input_errors import input_error
from support.partitions import Fatal, assert_same_bits

import irbatch

MEASURES = "nDCG@10 AP GMAP NumRel GAUC Bpref NumRet"
RANDOM = Random(4)
QRELS = {f"q{i}": {f"d{j}": RANDOM.randrange(-1, 3) for j in range(9)} for i in range(60)}
RUN = {
    f"q{i}": {f"d{RANDOM.randrange(30)}": RANDOM.randrange(9) / 2 for _ in range(12)}
    for i in range(5, 66)
}
WANTED = irbatch.evaluate(QRELS, RUN, MEASURES)


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor]:
    """Two worker processes for all tests here; they were not forked, and know nothing."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, context) as executor:
        yield executor


@pytest.fixture(params=["here", "threads", "processes"])
def executor(request: pytest.FixtureRequest, processes: Executor) -> Iterator[Executor | None]:
    if request.param == "threads":
        with ThreadPoolExecutor(3) as threads:
            yield threads
    else:
        yield processes if request.param == "processes" else None


def cut(folder: Path, run: dict[str, dict[str, float]], kind: str) -> list[str]:
    """Write a run as files in a folder, and return them in order.

    Cut anywhere, every query but those at cuts is in one; dealt out line by line, none is.
    """
    irbatch.Run(run).to_trec(folder / "whole")
    lines = (folder / "whole").read_text().splitlines(keepends=True)
    (folder / "whole").unlink()
    if kind == "anywhere":
        places = [0, *sorted(RANDOM.sample(range(1, len(lines)), 5)), len(lines)]
        parts = [lines[first:last] for first, last in itertools.pairwise(places)]
    else:
        parts = [lines[place::4] for place in range(4)]
    paths = [folder / f"part-{place}.run" for place in range(len(parts))]
    for path, part in zip(paths, parts, strict=True):
        path.write_text("".join(part))
    return [str(path) for path in paths]


@pytest.mark.parametrize("kind", ["anywhere", "line by line"])
def test_files_however_they_are_cut(tmp_path: Path, executor: Executor | None, kind: str) -> None:
    paths = cut(tmp_path, RUN, kind)
    runs: list[Any] = [paths, tuple(map(Path, paths[::-1]))]
    if executor is not None:  # else they are read as one file
        runs += [tmp_path, str(tmp_path / "*.run")]
    for run in runs:
        found = irbatch.evaluate(QRELS, run, MEASURES, executor=executor)
        assert_same_bits(found, WANTED)
        assert found.name == (os.fspath(run) if isinstance(run, str | Path) else None)


def test_parquet_and_tables(tmp_path: Path, executor: Executor | None) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = irbatch.Run(RUN).to_arrow()
    parts = [table.take([row for row in range(len(table)) if row * 7 % 3 == i]) for i in range(3)]
    for place, part in enumerate(parts):
        parquet.write_table(part, tmp_path / f"{place}.parquet", row_group_size=50)
    runs: list[Any] = [parts, [*map(irbatch.Run.from_table, parts)]]
    runs += [] if executor is None else [tmp_path, table, RUN]
    for run in runs:
        assert_same_bits(irbatch.evaluate(QRELS, run, MEASURES, executor=executor), WANTED)


def test_a_list_of_one_partition(tmp_path: Path) -> None:
    path = tmp_path / "only.run"
    irbatch.Run(RUN).to_trec(path)
    for run in ([RUN], [irbatch.Run(RUN)], [path], [tmp_path], str(path)):
        assert_same_bits(irbatch.evaluate(QRELS, run, MEASURES, executor=2), WANTED)


def test_other_judgments_and_items(tmp_path: Path, processes: Executor) -> None:
    paths = cut(tmp_path, RUN, "line by line")
    subtopics = {query: {1: each, 2: {"d1": 1}} for query, each in QRELS.items()}
    items = irbatch.Items([f"d{i}" for i in range(30)], popularity=[*range(30)])
    cases: list[tuple[Any, str, dict[str, Any]]] = [
        (subtopics, "alpha_nDCG@5 NRBP", {}), (QRELS, "Gini@5 AvgPopularity RR", {"items": items}),
        (QRELS, "RR", {"order_by": "rank"}),
    ]  # fmt: skip
    for judgments, names, more in cases:
        whole = tmp_path / "whole.run"
        irbatch.Run(RUN).to_trec(whole)
        wanted = irbatch.evaluate(judgments, whole, names, **more)
        whole.unlink()
        found = irbatch.evaluate(judgments, paths, names, executor=processes, **more)
        assert_same_bits(found, wanted)


def test_a_document_in_two_partitions(executor: Executor | None) -> None:
    parts = [irbatch.Run({"q1": {"d1": 1.0}}, "a"), irbatch.Run({"q1": {"d1": 1.0}}, "b")]
    evaluate = lambda: irbatch.evaluate(QRELS, parts, "RR", executor=executor)  # noqa: E731
    input_error(evaluate, "another partition", query="q1", document="d1", path="b")


def test_errors_of_a_partition_are_its_own(tmp_path: Path, executor: Executor | None) -> None:
    paths = cut(tmp_path, RUN, "anywhere")
    with Path(paths[2]).open("a") as file:
        file.write("q9 Q0 d1 1 high x\n")
    evaluate = lambda: irbatch.evaluate(QRELS, paths, "RR", executor=executor)  # noqa: E731
    input_error(evaluate, "'high'", path=paths[2], source="run")
    few = [*paths[:2], "none"]
    input_error(lambda: irbatch.evaluate(QRELS, few, "RR", executor=executor), "none")


def test_warnings_come_once_and_progress_counts(tmp_path: Path, executor: Executor | None) -> None:
    run = {query: {"other": 1.0} for query in RUN}
    told: list[tuple[int, int]] = []
    with pytest.warns(irbatch.InputWarning) as heard:
        irbatch.evaluate(
            QRELS, [irbatch.Run({query: run[query]}) for query in run], "RR", executor=executor,
            progress=lambda done, total: told.append((done, total)),
        )  # fmt: skip
    assert ["none of its documents is judged" in str(w.message) for w in heard] == [True]
    assert told == [(i + 1, len(run)) for i in range(len(run))]


def test_several_systems(tmp_path: Path, executor: Executor | None) -> None:
    few = {query: RUN[query] for query in list(RUN)[:30]}
    irbatch.Run(few).to_trec(tmp_path / "few.run")
    runs = {"all": RUN, "some": tmp_path / "few.run"}
    found = irbatch.evaluate_runs(QRELS, runs, MEASURES, executor=executor)
    wanted = irbatch.evaluate_runs(QRELS, runs, MEASURES)
    assert list(found) == ["all", "some"] == [each.name for each in found.values()]
    for name, each in found.items():
        assert_same_bits(each, wanted[name])


def test_misuse(processes: Executor) -> None:
    both = [irbatch.Run(RUN), irbatch.Run({})]
    for wrong in ("2", 0, -1, 2.5, [processes]):
        options: dict[str, Any] = {"executor": wrong}
        input_error(lambda given=options: irbatch.evaluate(QRELS, both, "RR", **given), "executor")
    input_error(lambda: irbatch.evaluate(QRELS, "-", "RR", executor=processes), "standard input")
    input_error(lambda: irbatch.evaluate(QRELS, [], "RR", executor=processes), source="run")


def test_a_worker_that_was_killed_before() -> None:
    class Broken(Executor):
        def submit(self, *_: Any, **named: Any) -> Any:
            raise BrokenExecutor

    both = [irbatch.Run(RUN), irbatch.Run({})]
    with pytest.raises(ChildProcessError, match=r"a worker was killed, .* one of 'partition 0'"):
        irbatch.evaluate(QRELS, both, "RR", executor=Broken())


def test_a_script_that_its_own_workers_import(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import irbatch\n"
        "parts = [irbatch.Run({'q1': {'d1': 1.0}}), irbatch.Run({'q2': {'d1': 1.0}})]\n"
        "irbatch.evaluate({'q1': {'d1': 1}}, parts, 'RR', executor=2)\n"
    )
    words = [sys.executable, str(script)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stdout) == (1, "")
    told = [line for line in done.stderr.splitlines() if line.startswith("ChildProcessError: ")]
    assert len(told) == 1
    assert told[0].endswith('is to evaluate under if __name__ == "__main__":')


@pytest.mark.parametrize("times", [1, 2])
def test_a_killed_worker(tmp_path: Path, times: int) -> None:
    """What it had is evaluated once more; if that is killed, too, there is one clear error."""
    pytest.importorskip("pyarrow")
    before = set(multiprocessing.active_children())
    parts = [irbatch.Run({"q5": RUN["q5"]}), Fatal({"q6": {"d1": 2.5}}, tmp_path / "times", times)]
    if times == 1:
        found = irbatch.evaluate(QRELS, parts, "RR NumRet", executor=2)
        wanted = irbatch.evaluate(QRELS, {"q5": RUN["q5"], "q6": {"d1": 2.5}}, "RR NumRet")
        assert_same_bits(found, wanted)
    else:
        with pytest.raises(ChildProcessError, match="a worker was killed"):
            irbatch.evaluate(QRELS, parts, "RR NumRet", executor=2)
    end = time.monotonic() + 100  # the pool's own thread waits for them, too, and may be the later
    while set(multiprocessing.active_children()) != before and time.monotonic() < end:
        time.sleep(0.01)
    assert set(multiprocessing.active_children()) == before


def test_the_command_prints_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli = runner(capsys, "eval")
    qrels, parts = tmp_path / "qrels", tmp_path / "parts"
    parts.mkdir()
    irbatch.Qrels(QRELS).to_trec(qrels)
    paths = cut(parts, RUN, "anywhere")
    options = "-m", MEASURES, "-q"
    for runs in (paths[:3], paths[:1]):
        assert cli(qrels, *runs, *options, "-j", 2) == cli(qrels, *runs, *options)
    irbatch.Run(RUN).to_trec(tmp_path / "parts.run")
    assert cli(qrels, parts, *options, "-j", 2) == cli(qrels, tmp_path / "parts.run", *options)
    assert cli(qrels, paths[0], "-j", 0)[0] == 2


def test_partitions_are_mappings() -> None:
    queries = list(RUN)
    parts = [{q: RUN[q] for q in queries[start::3]} for start in range(3)]
    assert_same_bits(irbatch.evaluate(QRELS, [*parts, {}], MEASURES), WANTED)
    query, document = next((query, next(iter(row))) for query, row in RUN.items() if row)
    records = [{"query_id": query, "doc_id": document, "score": 1.0}]
    table = {query: {document: 1.0}}
    assert_same_bits(
        irbatch.evaluate(QRELS, records, MEASURES), irbatch.evaluate(QRELS, table, MEASURES)
    )


# ---------------------------------------------------------------- Ctrl-C


PATIENCE = 60.0  # seconds


def opened_for_writing(pipe: Path) -> int:
    """Open a pipe as soon as a process reads it."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # nobody does
            if time.monotonic() > end:
                raise
            time.sleep(0.01)


def is_there(group: int) -> bool:
    """Tell whether a group has a process."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(
    not hasattr(os, "mkfifo") or not hasattr(os, "killpg"), reason="without pipes and signals"
)
def test_an_interrupt_ends_all_processes(tmp_path: Path) -> None:
    qrels, runs = tmp_path / "qrels", [tmp_path / "a.run", tmp_path / "b.run"]
    qrels.write_text("q1 0 d1 1\n")
    for each in runs:
        os.mkfifo(each)  # who reads it waits
    command = [sys.executable, "-m", "irbatch", "eval", str(qrels), *map(str, runs), "-j", "2"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, text=True, start_new_session=True, **pipes)
    try:
        writers = [opened_for_writing(each) for each in runs]
        os.killpg(process.pid, signal.SIGINT)  # as a terminal sends it to all of them
        out, problem = process.communicate(timeout=PATIENCE)
        for writer in writers:
            os.close(writer)
        assert (process.returncode, out) == (130, "")
        # Python's tracker may tell of a semaphore that was being made just then.
        assert problem.startswith("irbatch: error: interrupted\n")
        assert "Traceback" not in problem
        end = time.monotonic() + PATIENCE
        while is_there(process.pid):
            assert time.monotonic() < end, "a process is left"
            time.sleep(0.01)
    finally:
        if is_there(process.pid):
            os.killpg(process.pid, signal.SIGKILL)
