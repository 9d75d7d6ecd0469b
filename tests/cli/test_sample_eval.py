"""`irbatch sample_eval`: byte for byte what sample_eval.pl prints."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from support.commands import Cli, runner
from support.paths import MORE_REFERENCE_DATA, REFERENCE_DATA

FOLDER = MORE_REFERENCE_DATA / "f_sample_eval"
EXPECTED = sorted(
    each for each in (FOLDER / "expected").glob("*.txt.gz") if "15digits" not in each.name
)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    return lambda command, *words: runner(capsys, command)(*words)


@pytest.mark.parametrize("path", EXPECTED, ids=lambda each: each.name)
def test_stored_outputs(cli: Cli, path: Path) -> None:
    name, *_, system, version, _, _ = path.name.split(".")
    qrels = {"avs21": "avs.qrels.main.tv21.gz", "dl19": "dl19.sampled7.qrels.gz"}[name]
    run = FOLDER / "runs" / "avs_test_run.run.gz"
    if name == "dl19":
        run = REFERENCE_DATA / "dl19_passage" / "runs" / f"{system}.run.gz"
    words = ["--version", {"NIST": "nist", "TV": "trecvid"}[version]]
    status, out, err = cli("sample_eval", "-q", *words, FOLDER / "qrels" / qrels, run)
    with gzip.open(path, "rt") as file:
        assert (status, out, err) == (0, file.read(), "")


def test_topics_and_means(cli: Cli, tmp_path: Path) -> None:
    """Estimated relevant documents are those of all topics judged, all else is of the run's."""
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("1 0 a 1 1\n1 0 b 2 -1\n2 0 a 1 2\n10 0 a 1 0\n")
    run.write_text("10 Q0 a 1 3 me\n1 Q0 a 1 3 me\n1 Q0 b 2 2 me\n9 Q0 a 1 1 me\n")
    status, out, _ = cli("sample_eval", "-q", qrels, run)
    rows = [line.split() for line in out.splitlines()]
    assert status == 0
    assert [row[1] for row in rows if row[0] == "infAP"] == ["1", "10", "all"]
    assert {row[1]: row[2] for row in rows if row[0] == "inum_rel"} == {
        "1": "1.0000", "10": "0.0000", "all": "2.0000",
    }  # fmt: skip
    assert ["num_ret", "all", "3"] in rows
    assert ["infAP", "all", "0.5000"] in rows
    assert "1\t" not in cli("sample_eval", qrels, run)[1]
    run.write_text("7 Q0 a 1 3 me\n")
    status, out, err = cli("sample_eval", qrels, run)
    assert status != 0
    assert out == ""
    assert "no query of it is judged" in err


def test_measures_of_samples_in_eval(cli: Cli, tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    run.write_text("1 Q0 a 1 3 me\n1 Q0 b 2 2 me\n")
    qrels.write_text("1 0 a 1 1\n1 0 b 1 0\n")
    status, out, _ = cli("eval", qrels, run, "-m", "xInfAP", "-m", "InfP@2", "--format", "tsv")
    assert status == 0
    assert out.splitlines()[1].split("\t")[2:] == ["xInfAP", "1.0"]
    qrels.write_text("1 a 1 1 0.5\n1 b 0 1 1\n")
    status, out, _ = cli("eval", qrels, run, "-m", "StatP@1", "--format", "tsv")
    assert out.splitlines()[1].split("\t")[2:] == ["StatP@1", "2.0"]
    qrels.write_text("1 0 a 1 1\n1 0 b 2 -1\n")
    status, _, err = cli("eval", qrels, run, "-m", "xInfAP")
    assert status == 0
    assert "stratum '2'" in err
