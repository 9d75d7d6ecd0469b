"""What `irbatch trec_eval` refuses, with which words and status, and the files that it takes."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import pytest
from support.input_errors import input_error
from support.trec_eval_command import BOTH, QRELS, RUN, Command

from irbatch.cli import main
from irbatch.trec_eval import TrecEval


@BOTH
@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ("nope", "illegal measure 'nope'"),
        ("MAP", "illegal measure 'MAP'"),
        ("P_5", "illegal measure 'P_5'"),
        ("P.", "illegal measure 'P.'"),
        ("", "illegal measure ''"),
        ("P.5,5", "parameters '5,5' of trec_eval's P must be different numbers"),
        ("P.five", "parameters 'five' of trec_eval's P must be numbers"),
        ("P.5,,7", "parameters '5,,7' of trec_eval's P must be numbers"),
        ("P.0", "cutoff 0 must be"),
        ("recall.-5", "cutoff -5 must be"),
        ("iprec_at_recall..5,0.50", "trec_eval's iprec_at_recall must be different"),
        ("utility.1,2", "parameters '1,2' of trec_eval's utility must be 4 numbers"),
        ("set_F.0", "parameters '0' of trec_eval's set_F must be a number above 0"),
        ("set_F.-1", "parameters '-1' of trec_eval's set_F must be a number above 0"),
        ("ndcg.1", "parameters '1' of trec_eval's ndcg must be grade=gain"),
        ("ndcg.one=1", "parameters 'one=1' of trec_eval's ndcg must be grade=gain"),
        ("ndcg.1=x", "parameters '1=x' of trec_eval's ndcg must be grade=gain"),
    ],
)
def test_bad_measures_leave_with_2(trec_eval: Command, version: str, wish: str, said: str) -> None:
    printed = trec_eval("-m", "map", "-m", wish, version=version)
    assert (printed.status, printed.out) == (2, "")
    assert said in printed.err
    assert len(printed.err.splitlines()) == 1


@pytest.mark.parametrize("name", ["rbp", "rbp.p=0.5", "rbp_resid", "unj", "unj.5", "dcg",
                                  "ideal_dcg"])  # fmt: skip
def test_measures_that_came_with_version_10(trec_eval: Command, name: str) -> None:
    assert trec_eval("-m", name).status == 0
    printed = trec_eval("-m", name, version="9")
    assert (printed.status, printed.out) == (2, "")
    assert f"illegal measure '{name}'" in printed.err
    input_error(
        TrecEval([name], "9").values, f"illegal measure '{name}'", source="measures", value=name
    )


@pytest.mark.parametrize(
    "words",
    ["--as 8", "-l -1", "-l x", "-M 0", "-M -1", "-M x", "-x", "-N -5 -m utility"],
)
def test_bad_options_leave_with_2(trec_eval: Command, words: str) -> None:
    printed = trec_eval(*words.split())
    assert (printed.status, printed.out) == (2, "")
    assert "Traceback" not in printed.err
    assert "error" in printed.err


def test_measures_are_refused_before_files_are_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["trec_eval", "-m", "nope", str(tmp_path / "none"), str(tmp_path / "none")]) == 2
    assert "illegal measure 'nope'" in capsys.readouterr().err


@BOTH
def test_bad_files_leave_with_2(trec_eval: Command, version: str) -> None:
    printed = trec_eval("-q", run="q1 Q0 a 1 high t\n", version=version)
    assert (printed.status, printed.out) == (2, "")
    assert "line 1 (query 'q1', document 'a'): score 'high' is not a number" in printed.err


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
