"""`irbatch leaderboard`: what is printed, written and said, and when it ends with which status."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from support.commands import QUERIES, Cli, listed, ranking

from irbatch.cli.leaderboard import EXAMPLE
from irbatch.leaderboard import Leaderboard

BOARD = ("leaderboard", "systems.json")
MEANS = {"bm25": 0.5, "slow": 0.25, "dense": 1.0}  # of RR
pytestmark = pytest.mark.usefixtures("folder")


def board() -> Leaderboard:
    return Leaderboard.from_json(Path("systems.json"))


@pytest.fixture
def runs(folder: Path) -> tuple[str, ...]:
    """Words of a leaderboard with runs in place of accuracy, and qrels."""
    systems = json.loads(Path("systems.json").read_text())["systems"]
    for system, rank in zip(systems, (2, 4, 1), strict=True):
        Path(f"{system['system']}.run").write_text(ranking(rank))
        system |= {"run": f"{system['system']}.run"}
        del system["accuracy"]
    Path("runs.json").write_text(json.dumps({"systems": systems}))
    return "leaderboard", "runs.json", "--qrels", "qrels.txt"


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ([], {}),
        (["--columns", "cost, hardware,R@100"], {"columns": ["cost", "hardware", "R@100"]}),
        (["--intervals", "--digits", "2"], {"intervals": True, "digits": 2}),
        (["--sort", "MRR@10"], {"sort": "RR@10"}),
        (["--frontier", "latency_p95, RR@10"], {"frontier": ["latency_p95", "RR@10"]}),
        (["--x", "latency"], {"frontier": ["RR@10", "latency"]}),
        (["--x", "cost", "--y", "R@100"], {"frontier": ["R@100", "cost"]}),
        (["--x", "latency", "--frontier", "RR@10,cost"], {"frontier": ["RR@10", "cost"]}),
    ],
)
def test_forms_are_the_leaderboards_own(
    cli: Cli, words: list[str], options: dict[str, Any]
) -> None:
    for form in ("text", "markdown", "latex"):
        expected = getattr(board(), f"to_{form}")(**options)
        assert cli(*BOARD, *words, "--format", form) == (0, expected, "")
    for form in ("csv", "json"):
        if words and ("--x" not in words or "--frontier" in words):
            assert cli(*BOARD, *words, "--format", form)[0] == 2, "only tables have these"
        else:
            expected = getattr(board(), f"to_{form}")()
            assert cli(*BOARD, *words, "--format", form) == (0, expected, "")


def test_a_page_has_the_picture_of_both_axes(cli: Cli) -> None:
    words = ["--x", "latency", "--y", "R@100", "--where", "cost < 1000", "-o", "out/page.html"]
    assert cli(*BOARD, *words)[0] == 0
    shown = {"frontier": ["R@100", "latency"], "x": "latency", "y": "R@100"}
    assert Path("out/page.html").read_text() == board().where("cost < 1000").to_html(**shown)


def test_a_measure_with_commas_is_one_axis(cli: Cli) -> None:
    name = "nDCG(gains=exp,rel=2)@10"
    text = Path("systems.json").read_text().replace("RR@10", name)
    Path("systems.json").write_text(text)
    printed = cli(*BOARD, "--frontier", f"{name},latency")[1]
    assert printed == board().to_text(frontier=[name, "latency"])


@pytest.mark.parametrize(
    ("words", "systems"),
    [
        (["--where", "latency_p95 < 100", "--where", "RR@10 >= .2"], "dense"),
        (["--where", "latency < 1"], ""),
    ],
)
def test_rows(cli: Cli, words: list[str], systems: str) -> None:
    told = json.loads(cli(*BOARD, *words, "--format", "json")[1])
    assert [each["system"] for each in told["systems"]] == systems.split()


def test_prices(cli: Cli) -> None:
    systems = json.loads(Path("systems.json").read_text())["systems"][:2]
    systems[0]["hardware"] = systems[1]["hardware"] = "a=b"
    Path("systems.json").write_text(json.dumps({"systems": systems}))
    assert cli(*BOARD, "--price", "a=b = 8")[1] == board().priced({"a=b": 8.0}).to_text()


def test_runs_are_evaluated(cli: Cli, runs: tuple[str, ...]) -> None:
    words = [*runs, "-m", "RR P@{1,2}", "--x", "latency", "--significance", "--level", "0.1"]
    status, printed, _ = cli(*words, "-o", "out/board.json", "-o", "-")
    options: dict[str, Any] = {"qrels": "qrels.txt", "measures": "RR P@{1,2}", "level": 0.1}
    found = Leaderboard.from_json(Path("runs.json"), **options).tested(level=0.1)
    assert (status, printed) == (0, found.to_text(frontier=["RR", "latency"]))
    assert "not significantly worse" in printed
    told = json.loads(Path("out/board.json").read_text())["systems"]
    assert {each["system"]: each["accuracy"]["RR"]["mean"] for each in told} == MEANS
    again = cli("leaderboard", "out/board.json", "--x", "latency", "--intervals")
    assert again == cli(*words, "--intervals")
    assert list(json.loads(cli(*runs, "--format", "json")[1])["systems"][0]["accuracy"]) == [
        "nDCG@10", "AP", "RR", "P@10", "R@100",
    ]  # fmt: skip


def test_standard_input(cli: Cli, runs: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    def give(text: str) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    give("".join(f"{query} 0 good 1\n" for query in QUERIES))
    assert cli(*runs[:3], "-", "-m", "RR")[1] == cli(*runs, "-m", "RR")[1]
    give("\ufeff" + EXAMPLE.replace(", …", ""))
    assert cli("leaderboard", "-", "--format", "json")[0] == 0, "the example of the help"
    give("systems.json")
    assert "leaderboard '-': is no JSON object or list" in cli("leaderboard", "-")[2]


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["--fail-if", "latency_p95 > 150"], 0, "passed: slow: latency_p95 is 140, not > 150\n"),
        (["--require", "latency <= 900"], 0, "latency_mean is 90, <= 900\n"),
        (["--fail-if", "latency_p95 > 50"], 3, "failed: slow: latency_p95 is 140, > 50"),
        (["--fail-if", "dominated on RR@10, latency"], 3, "failed: slow: dominated on RR@10 and"),
        (["--where", "latency_p95 < 1", "--require", "RR@10 >= 0.1"], 2, "no system is left"),
        (["--x", "nope"], 2, "there is no axis 'nope'"),
        (["--x", "peak_memory"], 2, "record of 'bm25': peak_memory is missing"),
        (["--price", "c6g.large=1"], 2, "no system was measured on 'c6g.large'"),
    ],
    ids=str,
)
def test_gates_and_bad_words(cli: Cli, words: list[str], status: int, said: str) -> None:
    found = cli(*BOARD, "-o", "-", "-o", "out/a.html", "-o", "out/a.json", *words)
    assert (found[0], said in found[2], bool(found[1])) == (status, True, status != 2), found
    assert listed(Path("out")) == ([] if status == 2 else ["a.html", "a.json"])
    if status != 2:
        gates = json.loads(Path("out/a.json").read_text())["gates"]
        assert all(gate["passed"] for gate in gates) == (status == 0)
