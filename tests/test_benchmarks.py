"""`python -m benchmarks` runs, and finds irbatch's values equal to those of what is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import REPOSITORY

from benchmarks import scale
from benchmarks.__main__ import GUIDE, HEADER, README, SHORT_HEADER, main, update
from benchmarks.harness import Settings, Table, Timed
from benchmarks.rows import AIMS, ROWS, SHORT, Aim


def run(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", "--quick", *options]
    kept = {**os.environ, "IRBATCH_TREC_EVAL": ""}
    return subprocess.run(command, cwd=REPOSITORY, env=kept, capture_output=True, text=True,
                          check=False)  # fmt: skip


@pytest.mark.slow
def test_quick() -> None:
    done = run()
    assert done.returncode == 0, done.stderr[-2000:]
    titles = ("dicts of dicts", "TREC files", "frames", "matrices", "score matrix",
              "training-loop updates", "comparing systems", "new process", "embeddings",
              "pytrec_eval's interface", "recommendations", "users")  # fmt: skip
    for title in titles:
        assert title in done.stdout
    assert "29 equal" in done.stdout or "17 equal" in done.stdout
    assert "DIFFERENT" not in done.stdout


@pytest.mark.slow
def test_trec_eval_is_compared_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                    capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    """A program with its options and output: our own."""
    program = tmp_path / "trec_eval"
    command = f'PYTHONPATH="{REPOSITORY}" exec "{sys.executable}" -m irbatch trec_eval "$@"'
    program.write_text(f"#!/bin/sh\n{command}\n")
    program.chmod(0o755)
    monkeypatch.setenv("IRBATCH_TREC_EVAL", str(program))
    assert main(["--quick", "--only", "files"]) == 0
    compared = [line for line in capsys.readouterr().out.splitlines() if "  trec_eval  " in line]
    assert sum(" equal, within " in line for line in compared) == 1


def test_aims_need_rows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--quick", "--only", "ids"]) == 0
    monkeypatch.setitem(AIMS, "ids, sorted", Aim(1, "s"))
    assert main(["--quick", "--only", "ids"]) == 1
    assert "no row 'ids, sorted'" in capsys.readouterr().err


def test_aims_are_judged_at_whole_sizes() -> None:
    key = "dicts, 20 judged, pytrec_eval"
    faster, slower = (Timed({"AP": 0.5}, (each,)) for each in (0.1, 10.0))
    folder = Path()
    table, small = (Table("sizes", Settings(folder, quick=each)) for each in (False, True))
    table.compare("work", faster, "peer", slower, key=key)
    table.compare("work", slower, "peer", faster, key=key)
    small.compare("work", slower, "peer", faster, key=key)
    assert [row[-2] for row in table.rows] == ["≥ 15 ×: reached", "≥ 15 ×: MISSED"]
    assert table.missed == [f"{key}: 0.01, aim ≥ 15 ×"]
    assert small.rows[0][-2] == "≥ 15 ×"
    assert not small.missed


def test_different_values_show_no_ratio() -> None:
    table = Table("different", Settings(Path()))
    ours, theirs = Timed({"AP": 0.5}, (1.0,)), Timed({"AP": 0.4}, (99.0,))
    table.compare("work", ours, "peer", theirs, key="files, polars")
    assert table.rows[0][4:6] == ("none", "≥ 3 ×")
    assert "DIFFERENT" in table.problems[0]


@pytest.mark.parametrize(
    ("path", "shown", "header"), [(GUIDE, ROWS, HEADER), (README, SHORT, SHORT_HEADER)]
)
def test_tables_are_as_made(path: Path, shown: dict[str, tuple[str, str]],
                            header: tuple[str, ...]) -> None:  # fmt: skip
    """Whatever its figures are, its rows are those of the tool, in order, and without gaps."""
    text = path.read_text()
    assert update(text, {}, shown, header) == text
    assert "|  |" not in text
    found = {key: ("", f"{place} ms", "", f"{place} s", f"{place}.0 ×")
             for place, key in enumerate(shown)}  # fmt: skip
    rows = update(text, found, shown, header).partition(" | ".join(header))[2].splitlines()[2:]
    for place, (work, peer) in enumerate(shown.values()):
        cells = work, f"{place} ms", peer, f"{place} s", f"{place}.0 ×"
        made = dict(zip(HEADER, cells, strict=True))
        assert rows[place] == f"| {' | '.join(made[name] for name in header)} |"


@pytest.mark.slow
def test_scale(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyarrow")
    scale.main(["--queries", "2"])
    printed = capsys.readouterr().out
    assert "two processes, one core each: " in printed
    assert "bytes in Parquet" in printed
