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
