"""`irbatch explain`: what is printed and written, and what it refuses before it reads."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from support.commands import QUERIES, Cli, listed
from support.file_readers import use_reader

import irbatch

FILES = ("qrels.txt", "old.run", "worse.run")
pytestmark = pytest.mark.usefixtures("folder")


def explained(**options: Any) -> irbatch.comparing.Explanation:
    return irbatch.explain(*FILES, **{"measure": "RR@3", **options})


def test_choices(cli: Cli) -> None:
    words = ["-m", "RR@3", "--query", "q3", "--query", "q1", "--depth", "2", "--digits", "2"]
    words += ["--max-depth", "4", "--names", "trec_eval"]
    _, printed, _ = cli("explain", *FILES, *words, "--html", "out/x.html", "--markdown", "out/x.md",
                        "--json", "out/x.json")  # fmt: skip
    assert printed.startswith("RR@3 from old (0.50) to worse (0.00). Of 12 queries 12 worse")
    found = json.loads(Path("out/x.json").read_text())
    assert [each["query"] for each in found["queries"]] == ["q3", "q1"]
    shown = {each["document"]: each["ranks"][1] for each in found["queries"][0]["documents"]}
    assert (shown["bad1"], shown["bad2"], shown["good"]) == (1, 2, 4)
    given = explained(queries=["q3", "q1"], depth=2, max_depth=4)
    assert Path("out/x.html").read_text() == given.to_html(digits=2)
    assert Path("out/x.md").read_text() == given.to_markdown(digits=2)
    assert listed(Path("out")) == ["x.html", "x.json", "x.md"]
    _, printed, _ = cli("explain", *FILES, "--only", "better")
    assert "shown: none" in printed
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
