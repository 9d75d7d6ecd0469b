"""`irbatch explain`, `overlap`, `judges` and `reproducibility`: files in, a report out."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from support.commands import QUERIES, Cli, listed, ranking
from support.file_readers import use_reader

import irbatch
from irbatch.cli.overlap import NAMES
from irbatch.comparing.rankings import overlap, ranking_correlation
from irbatch.comparing.reproducibility import reproducibility

FILES = ("qrels.txt", "old.run", "worse.run")
pytestmark = pytest.mark.usefixtures("folder")


def explained(**options: Any) -> irbatch.comparing.Explanation:
    return irbatch.explain(*FILES, **{"measure": "RR@3", **options})


def test_choices(cli: Cli) -> None:
    words = ["-m", "RR@3", "--query", "q3", "--query", "q1", "--depth", "2", "--digits", "2"]
    words += ["--max-depth", "4", "--names", "trec_eval"]
    _, printed, _ = cli("explain", *FILES, *words, "-o", "out/x.html", "-o", "out/x.md",
                        "-o", "out/x.json", "-o", "-")  # fmt: skip
    assert printed.startswith("RR@3 from old (0.50) to worse (0.00). Of 12 queries 12 worse")
    found = json.loads(Path("out/x.json").read_text())
    assert [each["query"] for each in found["queries"]] == ["q3", "q1"]
    shown = {each["document"]: each["ranks"][1] for each in found["queries"][0]["documents"]}
    assert (shown["bad1"], shown["bad2"], shown["good"]) == (1, 2, 4)
    given = explained(queries=["q3", "q1"], depth=2, max_depth=4)
    assert Path("out/x.html").read_text() == given.to_html(digits=2)
    assert Path("out/x.md").read_text() == given.to_markdown(digits=2)
    assert listed(Path("out")) == ["x.html", "x.json", "x.md"]
    _, printed, _ = cli("explain", *FILES, "-m", "map", "--names", "trec_eval", "-n", "1")
    assert printed.startswith("map from old")


def test_values_are_those_of_eval(cli: Cli) -> None:
    """With an order that is not the scores'."""
    settings = ["--order-by", "rank", "--ties", "id_ascending", "--score-dtype", "float32"]
    _, printed, _ = cli("explain", *FILES, *settings, "-m", "nDCG@3", "--format", "json")
    words = ["-m", "nDCG@3", "--format", "json", "-q"]
    results = json.loads(cli("eval", *FILES, *settings, *words)[1])
    for each in json.loads(printed)["queries"]:
        values = [results[name]["per_query"][each["query"]]["nDCG@3"] for name in ("old", "worse")]
        assert each["values"] == values
    assert json.loads(printed)["settings"] == results["worse"]["settings"]


@pytest.mark.parametrize("order", ["score", "rank"])
def test_a_large_file_is_read_once_more_and_standard_input_is_not(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, order: str
) -> None:
    """Queries whose lines return after others' are whole."""
    files = (*FILES[:2], "third.run")
    path = Path("third.run")
    lines = Path("new.run").read_text().splitlines(keepends=True)
    path.write_text("".join(lines[::2] + lines[1::2]))
    words = ["-m", "AP", "--order-by", order, "--format", "json"]
    expected = cli("explain", *files, *words)[1]
    use_reader("pieces", monkeypatch, 200)
    assert cli("explain", *files, *words)[1] == expected
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    assert cli("explain", *files[:2], "-", *words)[1] == expected.replace('"third"', '"-"')


def test_texts(cli: Cli) -> None:
    topics, documents = Path("topics.tsv"), Path("corpus.jsonl")
    topics.write_text("".join(f"{query}\tquestion {query}\x1b[1m\n" for query in QUERIES))
    documents.write_text('{"_id": "good", "title": "T", "text": "<b>the \\u001b answer"}\n')
    words = ["-n", "1", "--topics", topics, "--documents", documents, "--format", "markdown"]
    status, printed, _ = cli("explain", *FILES, *words)
    assert status == 0
    assert r"question q0\\x1b\[1m" in printed
    assert r"T: &lt;b&gt;the \\x1b answer" in printed
    documents.write_text("good no tab\n")
    status, printed, err = cli("explain", *FILES, *words)
    assert (status, printed) == (2, "")
    assert "corpus.jsonl' line 1: a line is of an id, a tab and a text" in err


RUNS = (
    "q1 Q0 a 1 3 x\nq1 Q0 b 2 2 x\nq1 Q0 c 3 2 x\nq2 Q0 a 1 1 x\nq3 Q0 a 1 1 x\n",
    "q2 Q0 b 1 3 y\nq1 Q0 b 1 3 y\nq1 Q0 a 2 2 y\nq1 Q0 d 3 2 y\n",
)


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    found = [tmp_path / "first.run", tmp_path / "second.run"]
    for path, text in zip(found, RUNS, strict=True):
        path.write_text(text)
    return found


@pytest.mark.parametrize("ties", ["id", "w", "a", "b"])
def test_values_of_queries_and_means(cli: Cli, paths: list[Path], ties: str) -> None:
    status, out, err = cli("overlap", *paths, "-p", "0.8", "--depth", "3", "--ties", ties, "-q")
    head, *rows = [line.split("\t") for line in out.splitlines()]
    assert (status, head) == (0, ["query", "measure", "value"])
    assert err == f"note: 1 query only in {paths[0]}\n"
    printed = {(query, name): float(value) for query, name, value in rows}
    found = overlap(*paths, 0.8, 3, ties)
    assert {query for query, _ in printed} == {"q1", "q2", "all"}
    assert {"rbo_extrapolated", "rbo_minimum", "average_overlap"} < {name for _, name in printed}
    for value in found.values:
        assert printed["q1", NAMES[value]] == found.per_query(value)["q1"]
        assert printed["all", NAMES[value]] == found.mean(value)
    if ties == "w":
        assert ("q1", "tau") not in printed
    else:
        assert printed["all", "tau"] == ranking_correlation(*paths, 3, ties).mean()
        assert str(printed["q2", "tau_ap"]) == "nan", "no document is in both"


def test_means_alone(cli: Cli, paths: list[Path]) -> None:
    _, out, _ = cli("overlap", *paths)
    assert [line.split("\t")[0] for line in out.splitlines()] == ["query", *["all"] * 9]


def test_judges(cli: Cli, tmp_path: Path) -> None:
    texts = {
        "people": "".join(f"q{i} 0 d{k} {(i + k) % 2}\n" for i in range(25) for k in range(4)),
        "model": "".join(f"q{i} 0 d{k} {(i * k) % 2}\n" for i in range(40) for k in range(4)),
        "run": "".join(f"q{i} Q0 d{k} 0 {9 - k} x\n" for i in range(40) for k in range(4)),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    people, model, run = (tmp_path / name for name in texts)
    status, out, _ = cli("judges", people, model, "--runs", run, "-m", "P@2")
    assert (status, "kappa" in out) == (0, True)
    told = json.loads(cli("judges", people, model, "--format", "json")[1])
    assert told["tables"]["agreement"][0]["both_judged"] == 100


def test_reproducibility_is_that_of_python(cli: Cli, folder: Path) -> None:
    for rank in (1, 2, 3, 4):
        Path(f"run{rank}").write_text(ranking(rank))
    pairs = [
        "reproducibility",
        "qrels.txt",
        "--baseline",
        "run3",
        "run4",
        "--advanced",
        "run1",
        "run2",
    ]
    status, out, err = cli(*pairs, "-m", "RR", "--format", "json", "-o", "-", "-o", "all.csv")
    found = reproducibility("qrels.txt", ("run3", "run4"), ("run1", "run2"), "RR")
    assert (status, err) == (0, "")
    assert json.loads(out) == json.loads(found.to_json())
    assert Path("all.csv").read_text() == found.to_csv()
    assert found.effect_ratio.tolist() == [pytest.approx((1 / 2 - 1 / 4) / (1 - 1 / 3))]
    _, out, _ = cli(*pairs, "-m", "RR", "--names", "trec_eval", "--digits", "2")
    row = next(line.split() for line in out.splitlines() if "advanced" in line)
    assert row[:6] == ["recip_rank", "advanced", "1.00", "0.50", "0.50", "<0.001"]
