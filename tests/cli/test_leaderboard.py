"""`irbatch leaderboard`: what is printed, written and said, and when it ends with which status."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from support.commands import QUERIES, Cli, listed, ranking, runner

from irbatch.leaderboard import Leaderboard

RANKS = {"bm25": 2, "dense": 1, "slow": 4}  # of the one relevant document, in every query
FORMATS = ("text", "markdown", "latex", "csv", "json")
WRITTEN = ("html", "latex", "csv", "json")
SYSTEMS: list[dict[str, Any]] = [
    {"system": "bm25", "accuracy": {"RR@10": 0.19, "R@100": 0.6}, "throughput": 100,
     "latency": {"mean": 8, "p95": 12, "intervals": {"mean": [7.5, 8.5]}}, "price_per_hour": 0.09},
    {"system": "slow", "accuracy": {"RR@10": 0.31, "R@100": 0.8}, "throughput": 10,
     "latency": {"mean": 90, "p95": 140}, "price_per_hour": 3},
    {"system": "dense", "accuracy": {"RR@10": 0.33, "R@100": 0.9}, "throughput": 30,
     "latency": {"mean": 30, "p95": 45}, "price_per_hour": 3},
]  # fmt: skip
MEANS = {"bm25": 0.5, "slow": 0.25, "dense": 1.0}  # of RR, by RANKS


def write(path: Path, systems: list[dict[str, Any]]) -> Path:
    path.write_text(json.dumps({"systems": systems}), encoding="utf-8")
    return path


def changed(**fields: Any) -> list[dict[str, Any]]:
    """The systems, the last one changed; None takes a field away."""
    last = {**SYSTEMS[-1], **fields}
    return [*SYSTEMS[:-1], {name: value for name, value in last.items() if value is not None}]


def told(cli: Cli, *words: object) -> dict[str, dict[str, Any]]:
    """What JSON says of each system."""
    status, printed, said = cli(*words, "--format", "json")
    assert (status, said) == (0, "")
    return {each["system"]: each for each in json.loads(printed)["systems"]}


def order(cli: Cli, *words: object) -> list[str]:
    return list(told(cli, *words))


def means(cli: Cli, *words: object) -> dict[str, dict[str, float]]:
    return {
        system: {
            name: value["mean"] if isinstance(value, dict) else value
            for name, value in each["accuracy"].items()
        }
        for system, each in told(cli, *words).items()
    }


def marked(printed: str) -> list[str]:
    """The systems that the first table marks."""
    table = printed.split("\n\n")[2]
    return [line.split()[1] for line in table.splitlines() if line.startswith("●")]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    return runner(capsys, "leaderboard")


@pytest.fixture
def systems(tmp_path: Path) -> Path:
    """Three systems, of which one is beaten by another."""
    return write(tmp_path / "systems.json", SYSTEMS)


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    """The same with runs in place of accuracy, and qrels."""
    folder = tmp_path / "runs"
    folder.mkdir()
    qrels = folder / "qrels.txt"
    qrels.write_text("".join(f"{query} 0 good 1\n" for query in QUERIES))
    named = []
    for each in SYSTEMS:
        path = folder / f"{each['system']}.run"
        path.write_text(ranking(RANKS[each["system"]]))
        known = {name: value for name, value in each.items() if name != "accuracy"}
        named.append({**known, "run": path.name})
    return write(folder / "runs.json", named), qrels


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """An empty folder to write to."""
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


# ---------------------------------------------------------------- what is printed


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ([], {}),
        (["--columns", "cost, hardware,R@100"], {"columns": ["cost", "hardware", "R@100"]}),
        (["--intervals", "--digits", "2"], {"intervals": True, "digits": 2}),
        (["--frontier", "latency_p95, RR@10"], {"frontier": ["latency_p95", "RR@10"]}),
        (["--x", "latency"], {"frontier": ["RR@10", "latency"]}),
    ],
)
def test_forms_are_the_leaderboards_own(
    cli: Cli, systems: Path, out: Path, words: list[str], options: dict[str, Any]
) -> None:
    board = Leaderboard.from_json(systems)
    for form in ("text", "markdown", "latex"):
        expected = getattr(board, f"to_{form}")(**options)
        assert cli(systems, *words, "--format", form) == (0, expected, "")
    for form in ("csv", "json"):
        expected = getattr(board, f"to_{form}")()
        if words and words[0] != "--x":
            assert cli(systems, *words, "--format", form)[0] == 2, "only tables have these"
        else:
            assert cli(systems, *words, "--format", form) == (0, expected, "")
    path = out / "a.tex"
    assert cli(systems, *words, "--latex", path)[0] == 0
    assert path.read_text(encoding="utf-8") == board.to_latex(**options)


@pytest.mark.parametrize(
    ("words", "systems_left"),
    [
        ([], ["bm25", "slow", "dense"]),
        (["--sort", "RR@10"], ["dense", "slow", "bm25"]),
        (["--sort", "latency", "--direction", "latency=higher"], ["slow", "dense", "bm25"]),
        (["--where", "latency_p95 < 100", "--where", "RR@10 >= .2"], ["dense"]),
        (["--where", "latency < 1"], []),
    ],
)
def test_rows(cli: Cli, systems: Path, words: list[str], systems_left: list[str]) -> None:
    assert order(cli, systems, *words) == systems_left


def test_runs_are_evaluated(cli: Cli, runs: tuple[Path, Path]) -> None:
    words = [runs[0], "--qrels", runs[1]]
    found = means(cli, *words, "-m", "RR", "-m", "P@{1,2}")
    assert {system: each["RR"] for system, each in found.items()} == MEANS
    assert list(found["bm25"].items()) == [("RR", 0.5), ("P@1", 0.0), ("P@2", 0.5)]
    assert list(means(cli, *words)["bm25"]) == ["nDCG@10", "AP", "RR", "P@10", "R@100"]


def test_standard_input_has_the_qrels(
    cli: Cli, runs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(runs[1].read_bytes())))
    found = means(cli, runs[0], "--qrels", "-", "-m", "RR")
    assert {system: each["RR"] for system, each in found.items()} == MEANS


def test_the_frontier_is_that_of_y_and_x(cli: Cli, systems: Path) -> None:
    board = Leaderboard.from_json(systems)
    for words, axes in (
        (["--x", "latency"], ["RR@10", "latency"]),
        (["--x", "cost", "--y", "R@100"], ["R@100", "cost"]),
        (["--frontier", "latency_p95, RR@10,qps"], ["latency_p95", "RR@10", "qps"]),
        (["--x", "latency", "--frontier", "RR@10,cost"], ["RR@10", "cost"]),
    ):
        status, printed, said = cli(systems, *words)
        assert (status, said) == (0, "")
        assert printed == board.to_text(frontier=axes), words
        assert marked(printed) == board.pareto(axes).frontier
        assert cli(systems, *words, "--format", "latex")[1] == board.to_latex(frontier=axes)


def test_constraints_leave_systems_out(cli: Cli, systems: Path) -> None:
    where = ["--where", "latency_p95 < 100", "--where", "RR@10 >= .2"]
    assert order(cli, systems, *where) == ["dense"]
    printed = cli(systems, *where)[1]
    assert printed == Leaderboard.from_json(systems).where(*where[1::2]).to_text()
    assert "Left out by them: slow, bm25." in printed


def test_machines_and_prices(cli: Cli, out: Path) -> None:
    several = [
        {**SYSTEMS[0], "hardware": instance, "latency": {"mean": mean}}
        for instance, mean in (("small", 40), ("large", 10))
    ]
    path = write(out / "systems.json", [*several, {**SYSTEMS[1], "hardware": "small"}])
    first = SYSTEMS[0]["system"]
    words = [path, "--price", "small=1", "--price", "large=8"]
    printed = cli(*words)[1]
    assert f"{first} on large" in printed


def test_tests_and_draws_are_those_of_python(cli: Cli, runs: tuple[Path, Path]) -> None:
    path, qrels = runs
    axes = ["RR@10", "latency_mean"]
    words = [path, "--qrels", qrels, "-m", "RR@10", "--x", "latency", "--draws", "50"]
    _, printed, _ = cli(*words, "--significance", "--level", "0.1")
    board = Leaderboard.from_json(path, qrels=qrels, measures="RR@10", level=0.1)
    expected = board.tested(level=0.1, draws=50)
    assert printed == expected.to_text(frontier=axes)
    assert "not significantly worse" in printed


def test_directions_turn_axes_round(cli: Cli, systems: Path) -> None:
    words = ["--direction", "latency_p95 = higher", "--direction", "R@100=lower"]
    status, printed, said = cli(systems, *words, "--frontier", "latency_p95,R@100")
    assert (status, said) == (0, "")
    directions = {"latency_p95": "higher", "R@100": "lower"}
    board = Leaderboard.from_json(systems, directions=directions)
    assert printed == board.to_text(frontier=["latency_p95", "R@100"])
    assert marked(printed) == ["bm25", "slow"]


def test_a_measure_with_commas_is_one_axis(cli: Cli, out: Path) -> None:
    name = "nDCG(gains=exp,rel=2)@10"
    rows = [{**each, "accuracy": {name: each["accuracy"]["RR@10"]}} for each in SYSTEMS]
    path = write(out / "systems.json", rows)
    board = Leaderboard.from_json(path)
    words = ["--frontier", f"{name},latency"]
    status, printed, said = cli(path, *words, "--direction", f"{name}=higher")
    assert (status, said) == (0, "")
    assert printed == board.to_text(frontier=[name, "latency"])


@pytest.mark.parametrize("form", WRITTEN)
def test_files_hold_the_report(cli: Cli, systems: Path, out: Path, form: str) -> None:
    words = [systems, "--x", "latency", "--y", "R@100", "--intervals", "--where", "cost < 1000"]
    path = out / f"report.{form}"
    path.write_text("old content")
    status, printed, said = cli(*words, f"--{form}", path)
    assert (status, said) == (0, "")
    assert printed == cli(*words)[1], "the report is printed, too"
    board = Leaderboard.from_json(systems).where("cost < 1000")
    shown: dict[str, Any] = {}
    if form in ("html", "latex"):
        shown = {"frontier": ["R@100", "latency"], "intervals": True}
    if form == "html":
        shown |= {"x": "latency", "y": "R@100"}
    assert path.read_text(encoding="utf-8") == getattr(board, f"to_{form}")(**shown)
    assert listed(out) == [path.name]


def test_what_is_written_is_read_again(cli: Cli, runs: tuple[Path, Path], out: Path) -> None:
    path = out / "board.json"
    words = [runs[0], "--qrels", runs[1], "-m", "RR", "--level", "0.1"]
    assert cli(*words, "--json", path)[0] == 0
    again = cli(path, "--intervals", "--x", "cost")
    assert again == cli(*words, "--intervals", "--x", "cost")


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--x", "nope"], "there is no axis 'nope'"),
        (["--x", "peak_memory"], "record of 'bm25': peak_memory is missing"),
        (["--columns", ""], "there is no axis ''"),
        (["--frontier", "RR@10,,latency"], "there is no axis ''"),
        (["--where", "latency"], "a constraint is AXIS < NUMBER"),
        (["--direction", "latency=faster"], "'higher' or 'lower' is better, not 'faster'"),
        (["--price", "c6g.large=1"], "no system was measured on 'c6g.large'"),
        (["-m", "AP"], "AP"),
    ],
)
def test_bad_words_are_one_line_and_write_nothing(
    cli: Cli, systems: Path, out: Path, words: list[str], said: str
) -> None:
    writing = [word for form in WRITTEN for word in (f"--{form}", out / form)]
    status, printed, complaint = cli(systems, *writing, *words)
    assert (status, printed, listed(out)) == (2, "", [])
    assert complaint.startswith("irbatch: error: ")
    assert said in complaint
    assert len(complaint.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--plot", "a.svg"], "--plot needs --x"),
        (["--y", "RR"], "--y needs --x"),
        (["--seed", "0"], "--seed needs --qrels"),
        (["--significance"], "--significance needs --qrels"),
        (["--direction", "latency"], "--direction is of the form latency_p95=lower, not 'latency'"),
        (["--direction", "qps=lower,qps=lower"], "--direction has qps twice"),
        (["--qrels", "q", "-m", "nope"], "unknown measure 'nope'"),
        (["--qrels", "q", "--level", "nan"], "level=nan must be above 0 and at most 0.5"),
        (["--qrels", "q", "--draws", "-1"], "--draws -1 must be a whole number of at least 0"),
        (["--format", "csv", "--columns", "cost"], "--columns is for text, markdown, latex and"),
        (["--label", "x"], "--label is for latex"),
        (["--fail-if", "slow"], "is not of a form such as"),
        (["--level", "five"], "usage: irbatch leaderboard"),
        (["more.json"], "usage: irbatch leaderboard"),
    ],
)
def test_words_are_rejected_before_anything_is_read(
    cli: Cli, out: Path, words: list[str], said: str
) -> None:
    status, printed, complaint = cli(out / "absent.json", *words)
    assert (status, printed) == (2, "")
    assert said in complaint


def test_files_that_are_not_there(cli: Cli, runs: tuple[Path, Path], out: Path) -> None:
    absent = out / "none.json"
    status, printed, said = cli(absent)
    assert (status, printed) == (2, "")
    assert said == f"irbatch: error: leaderboard {str(absent)!r}: No such file or directory\n"
    assert cli(out)[0] == 2, "a folder"
    status, printed, said = cli(runs[0], "--qrels", absent)
    assert (status, printed) == (2, "")
    assert "none.json" in said
    runs[0].with_name("slow.run").unlink()
    status, printed, said = cli(runs[0], "--qrels", runs[1])
    assert (status, printed) == (2, "")
    assert "slow" in said
    assert len(said.splitlines()) == 1


def test_a_path_is_never_taken_for_json(
    cli: Cli, systems: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = systems.with_name('{"systems": []}')
    path.write_bytes(systems.read_bytes())
    monkeypatch.chdir(systems.parent)
    assert cli(path.name) == cli(systems)


def test_the_helps_example_works(cli: Cli, out: Path) -> None:
    from irbatch.cli.leaderboard import EXAMPLE

    path = out / "systems.json"
    path.write_text(EXAMPLE.replace(", …", ""))
    assert means(cli, path) == {"bm25": {"RR@10": 0.187}}


# ---------------------------------------------------------------- as a gate


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["--fail-if", "latency_p95 > 150"], 0, "passed: latency_p95 > 150: of no system\n"),
        (["--require", "latency <= 900"], 0, "passed: latency <= 900 (latency_mean)\n"),
        (["--fail-if", "latency_p95 > 50"], 3, "failed: slow: latency_p95 is 140, > 50"),
        (["--fail-if", "latency_p95 > 50", "--where", "latency_p95 < 100"], 0, ""),
        (["--require", "RR@10 >= 0.2"], 3, "failed: bm25: RR@10 is 0.19, not >= 0.2"),
        (["--require", "of dense: not dominated on RR@10, latency"], 0, ""),
        (["--fail-if", "dominated on RR@10, latency"], 3, "failed: slow: dominated on RR@10 and"),
        (["--where", "latency_p95 < 1", "--require", "RR@10 >= 0.1"], 2, "no system is left"),
        (["--fail-if", "slow"], 2, "is not of a form such as"),
        (["--require", "dominated on RR@10"], 2, "is a condition to fail by"),
        (["--fail-if", "RR@10 > 0.2"], 2, "is a requirement"),
    ],
    ids=str,
)
def test_gates(cli: Cli, tmp_path: Path, words: list[str], status: int, said: str) -> None:
    board = write(tmp_path / "board.json", SYSTEMS)
    found = cli(board, *words)
    assert found[0] == status
    assert said in found[2]
    assert bool(found[1]) == (status != 2)
    if status == 3:
        page = tmp_path / "page.html"
        assert cli(board, *words, "--html", page)[0] == 3
        assert page.exists(), "written all the same"
