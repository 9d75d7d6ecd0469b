"""What `irbatch trec_eval` refuses, with which words and status, and the files that it takes."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import pytest
from support.trec_eval_command import QRELS, RUN

from irbatch.cli import main


def test_measures_are_refused_before_files_are_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["trec_eval", "-m", "nope", str(tmp_path / "none"), str(tmp_path / "none")]) == 2
    assert "illegal measure 'nope'" in capsys.readouterr().err


def test_compressed_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    qrels, run, table = tmp_path / "qrels.gz", tmp_path / "run.gz", tmp_path / "z.gz"
    qrels.write_bytes(gzip.compress(QRELS.encode()))
    run.write_bytes(gzip.compress(RUN.encode()))
    table.write_bytes(gzip.compress(b"q1 map 0 1\nq2 map 0 1\n"))
    assert main(["trec_eval", "-m", "map", str(qrels), str(run)]) == 0
    assert main(["trec_eval", "-m", "map", "-Z", str(table), str(qrels), str(run)]) == 0
    assert capsys.readouterr().out == (
        "map                   \tall\t0.6667\nZmap                   \tall\t0.6667\n"
    )


def test_a_run_from_standard_input(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "qrels").write_text(QRELS)
    # As a pipe has it: a text stream over a buffered one.
    pipe = io.TextIOWrapper(io.BufferedReader(io.BytesIO(RUN.encode())))
    monkeypatch.setattr(sys, "stdin", pipe)
    assert main(["trec_eval", "-m", "map", "-m", "runid", str(tmp_path / "qrels"), "-"]) == 0
    assert capsys.readouterr().out == (
        "runid                 \tall\tlast\nmap                   \tall\t0.6667\n"
    )
