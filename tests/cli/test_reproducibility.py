"""`irbatch reproducibility`: what it prints, writes and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.commands import Cli, ranking

from irbatch.comparing.reproducibility import reproducibility


@pytest.fixture(autouse=True)
def _files(folder: Path) -> None:
    for rank in (1, 2, 3, 4):
        Path(f"run{rank}").write_text(ranking(rank))


PAIRS = ("reproducibility", "qrels.txt", "--baseline", "run3", "run4", "--advanced", "run1", "run2")


def test_it_prints_what_python_finds(cli: Cli) -> None:
    status, out, err = cli(*PAIRS, "-m", "RR", "--format", "json", "--csv", "all.csv")
    found = reproducibility("qrels.txt", ("run3", "run4"), ("run1", "run2"), "RR")
    assert (status, err) == (0, "")
    assert json.loads(out) == json.loads(found.to_json())
    assert Path("all.csv").read_text() == found.to_csv()
    assert found.effect_ratio.tolist() == [pytest.approx((1 / 2 - 1 / 4) / (1 - 1 / 3))]
    _, out, _ = cli(*PAIRS, "-m", "RR", "--names", "trec_eval", "--digits", "2")
    row = next(line.split() for line in out.splitlines() if "advanced" in line)
    assert row[:6] == ["recip_rank", "advanced", "1.00", "0.50", "0.50", "<0.001"]


def test_several_measures_follow_one_option(cli: Cli) -> None:
    status, out, err = cli(*PAIRS, "-m", "RR", "P@1", "--format", "json")
    assert (status, err) == (0, "")
    assert json.loads(out) == json.loads(cli(*PAIRS, "-m", "RR,P@1", "--format", "json")[1])
