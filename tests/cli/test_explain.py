"""`irbatch explain`: what is printed and written, and what it refuses before it reads."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from support.commands import QUERIES, Cli, listed, ranking, runner

import irbatch
from irbatch.formats import reader as file_reader
from irbatch.formats import streams


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    return runner(capsys, "explain")


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Judgments, and runs in which the relevant document is at ranks 2 and 4."""
    folder = tmp_path / "files"
    folder.mkdir()
    paths = [folder / "qrels.txt", folder / "old.run", folder / "new.run"]
    paths[0].write_text("".join(f"{query} 0 good 1\n" for query in QUERIES))
    for path, rank in zip(paths[1:], (2, 4), strict=True):
        path.write_text(ranking(rank))
    return paths


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """An empty folder to write to."""
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


def explained(files: list[Path], **options: Any) -> irbatch.comparing.Explanation:
    return irbatch.explain(*files, **{"measure": "RR@3", **options})


@pytest.mark.parametrize("form", ["text", "markdown", "html", "json"])
def test_what_is_printed_is_the_explanations_own(cli: Cli, files: list[Path], form: str) -> None:
    words = ["-m", "RR@3", "-n", "2", "--format", form]
    status, printed, err = cli(*files, *words)
    assert (status, err) == (0, "")
    assert printed == getattr(explained(files, most=2), f"to_{form}")()


def test_choices(cli: Cli, files: list[Path], out: Path) -> None:
    words = ["-m", "RR@3", "--query", "q3", "--query", "q1", "--depth", "2", "--digits", "2"]
    words += ["--max-depth", "4", "--names", "trec_eval"]
    _, printed, _ = cli(*files, *words, "--html", out / "x.html", "--markdown", out / "x.md",
                        "--json", out / "x.json")  # fmt: skip
    assert printed.startswith("RR@3 from old (0.50) to new (0.00). Of 12 queries 12 worse")
    found = json.loads((out / "x.json").read_text())
    assert [each["query"] for each in found["queries"]] == ["q3", "q1"]
    shown = {each["document"]: each["ranks"][1] for each in found["queries"][0]["documents"]}
    assert (shown["bad1"], shown["bad2"], shown["good"]) == (1, 2, 4)
    given = explained(files, queries=["q3", "q1"], depth=2, max_depth=4)
    assert (out / "x.html").read_text() == given.to_html(digits=2)
    assert (out / "x.md").read_text() == given.to_markdown(digits=2)
    assert listed(out) == ["x.html", "x.json", "x.md"]
    _, printed, _ = cli(*files, "--only", "better")
    assert "shown: none" in printed
    _, printed, _ = cli(*files, "-m", "map", "--names", "trec_eval", "-n", "1")
    assert printed.startswith("map from old")


def test_values_are_those_of_eval(
    cli: Cli, files: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """With an order that is not the scores'."""
    settings = ["--order-by", "rank", "--ties", "id_ascending", "--score-dtype", "float32"]
    _, printed, _ = cli(*files, *settings, "-m", "nDCG@3", "--format", "json")
    evaluate = runner(capsys, "eval")
    words = ["-m", "nDCG@3", "--format", "json", "-q"]
    results = json.loads(evaluate(*files, *settings, *words)[1])
    for each in json.loads(printed)["queries"]:
        values = [results[name]["per_query"][each["query"]]["nDCG@3"] for name in ("old", "new")]
        assert each["values"] == values
    assert json.loads(printed)["settings"] == results["new"]["settings"]


@pytest.mark.parametrize("order", ["score", "rank"])
def test_a_large_file_and_standard_input_are_read_alike(
    cli: Cli, files: list[Path], monkeypatch: pytest.MonkeyPatch, order: str
) -> None:
    """Queries whose lines return after others' are whole."""
    lines = files[2].read_text().splitlines(keepends=True)
    files[2].write_text("".join(lines[::2] + lines[1::2]))
    words = ["-m", "AP", "--order-by", order, "--format", "json"]
    expected = cli(*files, *words)[1]
    monkeypatch.setattr(file_reader, "LARGE", 0)
    monkeypatch.setattr(streams, "PIECE", 200)
    assert cli(*files, *words)[1] == expected
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(files[2].read_bytes())))
    assert cli(*files[:2], "-", *words)[1] == expected.replace('"new"', '"-"', 1)


def test_texts(cli: Cli, files: list[Path], tmp_path: Path) -> None:
    topics, documents = tmp_path / "topics.tsv", tmp_path / "corpus.jsonl"
    topics.write_text("".join(f"{query}\tquestion {query}\x1b[1m\n" for query in QUERIES))
    documents.write_text('{"_id": "good", "title": "T", "text": "<b>the \\u001b answer"}\n')
    words = ["-n", "1", "--topics", topics, "--documents", documents, "--format", "markdown"]
    status, printed, _ = cli(*files, *words)
    assert status == 0
    assert r"question q0\\x1b\[1m" in printed
    assert r"T: &lt;b&gt;the \\x1b answer" in printed
    documents.write_text("good no tab\n")
    status, printed, err = cli(*files, *words)
    assert (status, printed) == (2, "")
    assert "corpus.jsonl' line 1: a line is of an id, a tab and a text" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-m", "alpha_nDCG"], "reads subtopics"),
        (["-m", "P@{5,10}"], "stands for 2 measures"),
        (["--only", "worst"], "invalid choice"),
        (["-n", "0"], "--most 0 must be"),
        (["--depth", "0"], "--depth 0 must be"),
        (["--query", "q99"], "(query 'q99'): this query has no values"),
        (["--ties", "expected"], "no ranks to be shown"),
        (["--digits", "99"], "decimals are a whole number"),
        (["--html", "-"], "--html needs a file of its own"),
        (["--documents", "-", "--topics", "-"], "standard input cannot be two of them"),
    ],
)
def test_refused(cli: Cli, files: list[Path], words: list[str], said: str) -> None:
    status, out, err = cli(*files, *words)
    assert (status, out) == (2, "")
    assert said in err


def test_no_file_that_is_read_is_written(cli: Cli, files: list[Path], tmp_path: Path) -> None:
    topics = tmp_path / "topics.tsv"
    topics.write_text("q0\ttext\n")
    for words in (["--html", files[1]], ["--topics", topics, "--json", topics],
                  ["--html", tmp_path / "a", "--json", tmp_path / "a"]):  # fmt: skip
        status, _, err = cli(*files, *words)
        assert (status, "needs a file of its own" in err) == (2, True)
    assert topics.read_text() == "q0\ttext\n"
