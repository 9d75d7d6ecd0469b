"""`python -m benchmarks` runs, and finds irbatch's values equal to those of what is installed."""

from __future__ import annotations

import os
import subprocess
import sys

from support.paths import REPOSITORY


def run(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", "--quick", *options]
    kept = {name: value for name, value in os.environ.items() if name != "IRBATCH_TREC_EVAL"}
    return subprocess.run(command, cwd=REPOSITORY, env=kept, capture_output=True, text=True,
                          check=False)  # fmt: skip


def test_quick() -> None:
    done = run()
    assert done.returncode == 0, done.stderr[-2000:]
    titles = ("dicts of dicts", "TREC files", "frames", "matrices", "score matrix",
              "training-loop updates", "comparing systems", "cold start", "growth")  # fmt: skip
    for title in titles:
        assert title in done.stdout
    assert "29 equal" in done.stdout or "17 equal" in done.stdout
    assert "DIFFERENT" not in done.stdout
    assert "skipped: not named (set IRBATCH_TREC_EVAL" in done.stdout


def test_markdown_and_sections() -> None:
    done = run("--markdown", "--only", "ids")
    assert done.returncode == 0, done.stderr[-2000:]
    assert "|---|" in done.stdout.replace(" ", "")
    assert "TREC files" not in done.stdout
