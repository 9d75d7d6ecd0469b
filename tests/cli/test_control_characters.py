"""Ids and names with control characters: they forge no lines, and none reaches a terminal."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.commands import Cli

import irbatch
from irbatch import InputError, Leaderboard, compare
from irbatch.cli import main
from irbatch.errors import InputWarning, on_one_line, warn

NAMES = [
    *("q\nall\tRR\t1", "tab\tbed", "\x1b[31mred", "\r=1+1", "\n=1+1", "a\r@x", "\x85next"),
    *("\x9b31m", "two\u2028lines", "turned\u202eback", "\x7f", "plain", "back\\slash"),
]  # fmt: skip


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Judgments and a run whose queries are `NAMES`, and whose path has such characters, too."""
    judged, run = tmp_path / "qrels.jsonl", tmp_path / "r\x1b[1m\nun.jsonl"
    rows = [{"qid": name, "docid": "d", "score": 1} for name in NAMES]
    judged.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run.write_text(judged.read_text())
    return [judged, run]


def without_controls(text: str) -> bool:
    """Tell whether lines of text have no control character, and no end of a line but ``\\n``."""
    lines = text.removesuffix("\n").split("\n")
    seen = set("".join(lines)) - {"\t"}
    return lines == text.splitlines() and not any(
        each < " " or "\x7f" <= each < "\xa0" for each in seen
    )


def test_one_line_of_tsv_is_one_value(cli: Cli, files: list[Path]) -> None:
    _, out, _ = cli("eval", *files, "-q", "-m", "RR", "--format", "tsv")
    assert without_controls(out)
    rows = [line.split("\t") for line in out.splitlines()[1:]]
    assert [row[1:] for row in rows] == [
        *([on_one_line(name), "RR", "1.0"] for name in NAMES), ["all", "RR", "1.0"]
    ]  # fmt: skip
    assert on_one_line("q\nall\tRR\t1\x1b") == r"q\nall\tRR\t1\x1b"
    assert on_one_line("turned\u202eback\u200d\xa0") == "turned\u202eback\u200d\xa0", "no controls"


def test_one_line_of_trec_eval_is_one_value(cli: Cli, files: list[Path]) -> None:
    _, out, _ = cli("trec_eval", "-q", "-n", "-m", "recip_rank", *files)
    assert without_controls(out)
    rows = [line.split("\t") for line in out.splitlines()]
    assert [row[1:] for row in rows] == [[on_one_line(name), "1.0000"] for name in sorted(NAMES)]


@pytest.mark.parametrize("form", ["tsv", "csv", "json"])
def test_what_is_said_to_a_person(cli: Cli, files: list[Path], form: str) -> None:
    """Notes, errors, and what the words of the command are refused with."""
    with files[0].open("a") as file:
        file.write('{"qid": "missing", "docid": "d", "score": 1}\n')
    other = files[0].with_name("\x1b[2mother")
    other.write_text('{"qid": "plain", "docid": "\\u001b", "score": 1}\n')
    *_, err = cli("eval", *files, other, "-m", "RR", "--format", form)
    assert err.count("\n") == len(err.splitlines()) == 2
    assert err.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    "words",
    [
        ["eval", "q", "r", "--\x1b[31m", "a\nb"], ["\x1b[31m"], ["eval", "--ties", "\x1b"],
        ["eval", "q\x1b", "r\n"], ["measures", "\x1b[31m"], ["measures", "\nnDCG@10\n"],
        ["trec_eval", "-l", "\x1b", "q", "r"], ["eval", "q", "r", "-m", "\x1b"],
        ["compare", "q", "r", "--fail-if", "\x1b"], ["leaderboard", "\x1b"],
        ["leaderboard", "s", "--weights", "\x1b=\n=1,\x1b=\n=1"], ["eval", "q", "r", "--f\x1b"],
    ],
    ids=repr,
)  # fmt: skip
def test_words_of_the_command_line(cli: Cli, words: list[str]) -> None:
    assert without_controls("".join(cli(*words)[1:]).replace("\t", "?"))


def test_standard_error_that_is_closed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], files: list[Path]
) -> None:
    with files[0].open("a") as file:
        file.write('{"qid": "missing", "docid": "d", "score": 1}\n')
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["eval", *map(str, files), "-m", "RR", "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out).values()
    assert found["counts"]["missing"] == 1


def odd_objects() -> Iterator[tuple[str, Any]]:
    judged, run = ({"q\x1b": {"d\u202e": 1}, "p\n": {"d": 1}} for _ in range(2))
    results = irbatch.evaluate(judged, irbatch.Run(run, "n\x1b[31m\n"), "RR")
    yield "results", results
    yield "qrels", irbatch.Qrels(judged, "n\x1b[31m\n")
    yield "run", irbatch.Run(run, "n\x1b[31m\n")
    yield "explanation", irbatch.explain(judged, run, {**run, "p\n": {"\x1b": 2, "d": 1}}, "RR")
    yield "comparison", compare(judged, {"a\x1b[31m": run, "b\n": run}, "RR")
    systems = [{"system": "a\x1b\n", "accuracy": {"\x1b[31m": 1.0}, "hardware": {"cpu": "\x1b"}}]
    board = Leaderboard.from_json(json.dumps({"systems": systems}))
    yield "leaderboard", board
    yield "hardware", board.records[0].hardware


@pytest.mark.parametrize(("name", "odd"), list(odd_objects()))
def test_what_objects_say_of_themselves(name: str, odd: Any) -> None:
    said = [repr(odd), str(odd), odd._repr_html_() if hasattr(odd, "_repr_html_") else ""]
    for text in said:
        controls = [each for each in text if not each.isprintable() and each not in "\n\u2007"]
        assert controls == [], name


def test_errors_and_warnings() -> None:
    error = InputError("not \x1b[31m\nof \u202e", source="s\x1b", query="q\n", value="\x1b")
    assert str(error) == r"s\x1b (query 'q\n'): not \x1b[31m\nof \u202e"
    assert (error.query, error.value) == ("q\n", "\x1b"), "fields are as they are"
    listed = InputError("2 problems:\n  a\n  b", problems=[error, error])
    assert "\n  a\n  b" in str(listed.with_fields(path="x"))
    assert [each.path for each in listed.with_fields(path="x").problems] == ["x", "x"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", InputWarning)
        warn("a\x1b\nb")
    assert [str(each.message) for each in caught] == [r"a\x1b\nb"]
