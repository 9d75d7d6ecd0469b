"""Ctrl-C while processes evaluate: no traceback, and none of them is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PATIENCE = 60.0  # seconds

pytestmark = pytest.mark.skipif(
    not hasattr(os, "mkfifo") or not hasattr(os, "killpg"), reason="without pipes and signals"
)


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
