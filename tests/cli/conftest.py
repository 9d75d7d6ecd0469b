"""A folder of small files, and commands that are run in it, in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.commands import QUERIES, Cli, ranking

from irbatch.cli import main

RANKS = {"old": 2, "new": 1, "worse": 4}  # of the one relevant document, in every query
SYSTEMS: list[dict[str, Any]] = [
    {"system": "bm25", "accuracy": {"RR@10": 0.19, "R@100": 0.6}, "throughput": 100,
     "latency": {"mean": 8, "p95": 12, "intervals": {"mean": [7.5, 8.5]}}, "price_per_hour": 0.09},
    {"system": "slow", "accuracy": {"RR@10": 0.31, "R@100": 0.8}, "throughput": 10,
     "latency": {"mean": 90, "p95": 140}, "price_per_hour": 3},
    {"system": "dense", "accuracy": {"RR@10": 0.33, "R@100": 0.9}, "throughput": 30,
     "latency": {"mean": 30, "p95": 45}, "price_per_hour": 3},
]  # fmt: skip


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run a command: exit status, standard output, standard error."""

    def run(*words: object) -> tuple[int, str, str]:
        try:
            status = main([*map(str, words)])
        except SystemExit as leave:  # argparse
            status = int(leave.code or 0)
        return status, *capsys.readouterr()

    return run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with judgments, three runs, a leaderboard, and an empty folder."""
    monkeypatch.chdir(tmp_path)
    Path("out").mkdir()
    Path("qrels.txt").write_text("".join(f"{query} 0 good 1\n" for query in QUERIES))
    for name, rank in RANKS.items():
        Path(f"{name}.run").write_text(ranking(rank))
    Path("systems.json").write_text(json.dumps({"systems": SYSTEMS}))
    return tmp_path
