"""`irbatch ndeval` and `sample_eval`: byte for byte what these programs print."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from support.commands import Cli
from support.paths import MORE_REFERENCE_DATA, REFERENCE_DATA

NDEVAL = REFERENCE_DATA.parent / "data_more" / "b_ndeval"
QRELS = "1 1 a 1\n1 2 b 1\n2 1 a 0\n3 1 c 2\n"
RUN = "1 Q0 a 1 3 me\nwt-1 Q0 x 2 2 me\n2 Q0 a 1 3 me\n9 Q0 a 1 1 me\n"
FOLDER = MORE_REFERENCE_DATA / "f_sample_eval"


def stored(program: str, folder: Path) -> list[Path]:
    listed = sorted((folder / "expected").glob("*.gz"))
    return [pytest.param(program, path, id=path.name) for path in listed if "15" not in path.name]


@pytest.mark.parametrize(
    ("program", "path"), [*stored("ndeval", NDEVAL), *stored("sample_eval", FOLDER)]
)
def test_stored_outputs(cli: Cli, program: str, path: Path) -> None:
    if program == "ndeval":
        web2012 = REFERENCE_DATA / "web2012_ql"
        name, _, run = path.name.removesuffix(".csv.gz").partition(".")
        qrels = NDEVAL / "qrels" / f"qrels.ndeval.{name.removeprefix('web')}.txt.gz"
        runs = NDEVAL / "runs" / f"{name}.{run}.run.gz", web2012 / "runs" / f"{run}.run.gz"
        both = (qrels, web2012 / "qrels-for-ndeval.2012.txt.gz"), runs
        words: list[object] = [next(each for each in some if each.exists()) for some in both]
    else:
        name, *_, system, version, _, _ = path.name.split(".")
        names = {"avs21": "avs.qrels.main.tv21.gz", "dl19": "dl19.sampled7.qrels.gz"}
        ranked = FOLDER / "runs" / "avs_test_run.run.gz"
        if name == "dl19":
            ranked = REFERENCE_DATA / "dl19_passage" / "runs" / f"{system}.run.gz"
        words = ["-q", "--version", {"NIST": "nist", "TV": "trecvid"}[version]]
        words += [FOLDER / "qrels" / names[name], ranked]
    status, out, err = cli(program, *words)
    with gzip.open(path, "rt") as file:
        assert (status, out, err) == (0, file.read(), "")


def files(folder: Path, qrels: str = QRELS, run: str = RUN) -> list[Path]:
    paths = [folder / "qrels", folder / "run"]
    for path, text in zip(paths, (qrels, run), strict=True):
        path.write_text(text)
    return paths


def test_topics_and_means(cli: Cli, tmp_path: Path) -> None:
    """A topic without relevant documents has 0/0, as in C; one that is not judged counts not."""
    run = RUN.replace("wt-1", "1")
    status, out, _ = cli("ndeval", *files(tmp_path, run=run))
    head, *rows = [line.split(",") for line in out.splitlines()]
    assert status == 0
    assert head[:3] == ["runid", "topic", "ERR-IA@5"]
    assert [row[:2] for row in rows] == [["me", name] for name in ("1", "2", "9", "amean")]
    strec, nnrbp = head.index("strec@5"), head.index("nNRBP")
    assert [row[strec] for row in rows] == ["0.500000", "0.000000", "0.000000", "0.250000"]
    assert [row[nnrbp] for row in rows][1:] == ["-nan", "0.000000", "-nan"]
    _, out, _ = cli("ndeval", "-c", *files(tmp_path, run=run))
    assert out.splitlines()[-1].split(",")[strec] == "0.166667"


def test_prefixes_of_topics(cli: Cli, tmp_path: Path) -> None:
    run = "wt09-1 Q0 a 1 3 me\nwt09-1 Q0 b 2 2 me\n"
    _, out, _ = cli("ndeval", *files(tmp_path, run=run))
    assert out.splitlines()[1].startswith("me,1,0.")
    status, _, err = cli("ndeval", *files(tmp_path))
    assert status != 0
    assert "two names" in err


def test_ranks_or_scores(cli: Cli, tmp_path: Path) -> None:
    run = "1 Q0 b 2 9 me\n1 Q0 x 1 3 me\n"
    by_rank, by_score = (
        cli("ndeval", *words, *files(tmp_path, run=run))[1].splitlines()[1].split(",")
        for words in ([], ["-traditional"])
    )
    assert by_rank[-3:] == by_score[-3:] == ["0.500000"] * 3
    assert float(by_rank[2]) < float(by_score[2])
    _, out, _ = cli("ndeval", "-M", "1", *files(tmp_path, run=run))
    assert out.splitlines()[1].split(",")[2] == "0.000000"


def test_refusals(cli: Cli, tmp_path: Path) -> None:
    for words, run, fact in [
        ([], "1 Q0 a 1 3 me\n1 Q0 b 1 2 me\n", "a rank occurs twice"),
        ([], "1 Q0 a 1 3 me\n1 Q0 a 2 2 me\n", "line 1"),
        ([], "7 Q0 a 1 3 me\n", "no topic of the run is judged"),
        (["-M", "0"], RUN, "--max-depth 0"),
        (["-alpha", "2"], RUN, "alpha=2.0 must be"),
    ]:
        status, out, err = cli("ndeval", *words, *files(tmp_path, run=run.replace("wt-1", "1")))
        assert status != 0
        assert out == ""
        assert fact in err


def test_topics_and_means_of_samples(cli: Cli, tmp_path: Path) -> None:
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
