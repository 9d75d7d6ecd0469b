"""Where results go: every command that reports alike, to the screen, to files, and as pictures."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from support.commands import Cli, listed, ranking

from irbatch.cli.writing import ENDINGS

REPORT = ("text", "markdown", "latex", "html", "csv", "json")
RUNS = ["qrels.txt", "old.run", "new.run", "-m", "RR"]
# Each command's words, and the forms of its result.
COMMANDS: dict[str, tuple[list[str], tuple[str, ...]]] = {
    "eval": (RUNS, (*REPORT, "tsv")),
    "compare": (RUNS, REPORT),
    "explain": (RUNS, ("text", "markdown", "html", "json")),
    "reproducibility": (["qrels.txt", "--baseline", "old.run", "new.run", "-m", "RR"], REPORT),
    "overlap": (["old.run", "new.run", "-q"], ("tsv", "csv", "json")),
    "leaderboard": (["systems.json"], REPORT),
}
DRAWING = {"compare": [], "leaderboard": ["--x", "latency"]}
pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_form_goes_to_a_file(cli: Cli, command: str) -> None:
    """In the form of the name's ending, or of --format; several, and printed, in one go."""
    words, forms = COMMANDS[command]
    status, usual, _ = cli(command, *words)
    assert status == 0
    assert usual.endswith("\n")
    assert not usual.endswith("\n\n")
    for ending, form in ENDINGS.items():
        out = Path(f"out/x.{ending.upper()}")
        if form not in forms:
            said = cli(command, *words, "-o", out)[2]
            assert f"'{out}': --output: the name ends in none of ." in said
            continue
        status, printed, _ = cli(command, *words, "--format", form)
        assert status == 0
        assert cli(command, *words, "--output", out)[:2] == (0, "")
        assert cli(command, *words, "-o", "out/other", "--format", form)[:2] == (0, "")
        assert Path(out).read_text() == Path("out/other").read_text() == printed
        more = Path("out/more.json")
        more.write_text("old content")
        assert cli(command, *words, "-o", out, "-o", more, "-o", "-")[:2] == (0, usual)
        assert json.loads(more.read_text())
        assert out.read_text() == printed
    assert cli(command, *words, "-o", os.devnull)[:2] == (0, ""), "a device needs no ending"
    said = "--format is for what is printed, and for files of other endings"
    assert said in cli(command, *words, "-o", "out/x.json", "--format", forms[0])[2]


@pytest.mark.parametrize("option", ["output", "plot"])
def test_files_that_cannot_be_written_are_told_first(cli: Cli, option: str) -> None:
    pytest.importorskip("matplotlib")
    Path("link.svg").symlink_to("old.run")
    before = {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()}
    own = f"--{option} needs a file of its own"
    for path, said in (
        *((each, own) for each in ("qrels.txt", "./old.run", "link.svg", "", "out")),
        ("out/none/report.svg", f"--{option}: its folder is not there"),
    ):
        told = f"irbatch: error: {path!r}: {said}\n"
        assert cli("compare", *RUNS, f"--{option}", path) == (2, "", told)
    assert {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()} == before
    for words in (["--topics", "a.json", "-o", "a.json"], ["-o", "a.json", "-o", "./a.json"]):
        assert "needs a file of its own" in cli("explain", *RUNS, *words)[2]


@pytest.mark.parametrize("option", ["output", "plot"])
def test_a_failing_write_leaves_the_old_file(
    cli: Cli, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    path = Path("out") / f"report.{'svg' if option == 'plot' else 'html'}"
    path.write_text("old content")
    monkeypatch.setattr("irbatch.runtime.files.os.fsync", full)
    status, _, said = cli("compare", *RUNS, f"--{option}", path)
    assert (status, said.count("\n")) == (1, 1)
    assert said.startswith(f"irbatch: error: {path}: No space left on device")
    assert path.read_text() == "old content"
    assert listed(Path("out")) == [path.name]


@pytest.mark.parametrize(
    ("command", "words", "forms"),
    [
        ("eval", "--digits 2 --format tsv", "text, markdown, latex and html"),
        ("eval", "--caption x", "latex"),
        ("compare", "--intervals --format csv", "text, markdown, latex and html"),
        ("compare", "--environment table*", "latex"),
        ("leaderboard", "--label x", "latex"),
        ("leaderboard", "--columns cost --format csv", "text, markdown, latex and html"),
        ("leaderboard", "--frontier RR@10,latency --format json", "text, markdown, latex and html"),
    ],
)
def test_options_of_other_forms(cli: Cli, command: str, words: str, forms: str) -> None:
    given = [command, *COMMANDS[command][0], *words.split()]
    said = f"irbatch: error: {words.split()[0]} is for {forms}\n"
    assert cli(*given) == (2, "", said)
    if "--format" not in given:
        assert cli(*given, "-o", "out/a.tex", "-o", "-")[0] == 0, "which is written, too"


@pytest.mark.parametrize("command", DRAWING)
def test_pictures(cli: Cli, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    words = [command, *COMMANDS[command][0], *DRAWING[command], "--plot"]
    for ending, start in (
        ("png", b"\x89PNG\r\n"), ("svg", b"<?xml"), ("PDF", b"%PDF-"), ("jpg", b"\xff\xd8"),
    ):  # fmt: skip
        written = []
        for year in range(2 if ending != "jpg" else 1):
            monkeypatch.setenv("SOURCE_DATE_EPOCH", str(year * 10**8))
            assert cli(*words, f"out/a.b.{ending}")[::2] == (0, "")
            written.append(Path(f"out/a.b.{ending}").read_bytes())
        assert written[0].startswith(start)
        assert len(set(written)) == 1, "the same each time"
    for name in ("out/a.foo", "out/noending"):
        status, printed, said = cli(*words, name)
        assert (status, printed, said.count("\n")) == (2, "", 1)
        assert "a picture's name ends in one of svg, png" in said
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    said = "irbatch: error: for plots: pip install 'irbatch[plot]'\n"
    assert cli(*words, "out/z.svg", "-o", "out/z.html") == (2, "", said)
    assert not Path("out/z.html").exists()
    assert cli(*words[:-1], "-o", "out/z.html")[0] == 0, "a page draws without it"


def test_a_name_that_is_no_text(cli: Cli) -> None:
    path = Path(os.fsdecode(b"\xff.run"))
    path.write_text(ranking(1))
    words = ["qrels.txt", "old.run", path, "-m", "RR", "-o", "out/a.csv"]
    assert cli("compare", *words)[0] == 0
