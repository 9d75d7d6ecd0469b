"""`irbatch overlap`: what is printed of two runs, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.commands import Cli

from irbatch.cli.overlap import NAMES
from irbatch.comparing.rankings import overlap, ranking_correlation

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
    for value, name in NAMES.items():
        assert printed["q1", name] == found.per_query(value)["q1"]
        assert printed["all", name] == found.mean(value)
    if ties == "w":
        assert ("q1", "tau") not in printed
    else:
        assert printed["all", "tau"] == ranking_correlation(*paths, 3, ties).mean()
        assert str(printed["q2", "tau_ap"]) == "nan", "no document is in both"


def test_means_alone(cli: Cli, paths: list[Path]) -> None:
    _, out, _ = cli("overlap", *paths)
    assert [line.split("\t")[0] for line in out.splitlines()] == ["query", *["all"] * 9]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-p", "1"], "-p 1.0 must be a number below 1"),
        (["--depth", "0"], "--depth 0 must be a whole number of at least 1"),
    ],
)
def test_refused(cli: Cli, paths: list[Path], words: list[str], said: str) -> None:
    status, out, err = cli("overlap", *paths, *words)
    assert (status, out) == (2, "")
    assert said in err


def test_standard_input_is_one_of_them_at_most(cli: Cli) -> None:
    status, _, err = cli("overlap", "-", "-")
    assert (status, err) == (2, "irbatch: error: '-': standard input cannot be two files\n")


def test_runs_without_a_query_in_common(cli: Cli, paths: list[Path]) -> None:
    paths[1].write_text("q9 Q0 a 1 1 x\n")
    status, _, err = cli("overlap", *paths)
    assert status == 2
    assert "the runs have no query in common: one has 'q1', 'q2', 'q3', the other 'q9'" in err
