"""Where results go: every command that reports alike, to the screen, to files, and as pictures."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.commands import QUERIES, listed, ranking

from irbatch.cli import main

# Each command's words, the forms that it writes beside what it prints, and words to draw with.
WORDS: dict[str, list[str]] = {
    "eval": ["qrels.txt", "old.run", "new.run", "-m", "RR"],
    "compare": ["qrels.txt", "old.run", "new.run", "-m", "RR"],
    "explain": ["qrels.txt", "old.run", "new.run", "-m", "RR"],
    "reproducibility": ["qrels.txt", "--baseline", "old.run", "new.run", "-m", "RR"],
    "overlap": ["old.run", "new.run"],
    "leaderboard": ["systems.json"],
}
BESIDE = {
    "compare": ("html", "latex", "csv", "json"),
    "explain": ("html", "markdown", "json"),
    "reproducibility": ("html", "latex", "csv", "json"),
    "leaderboard": ("html", "latex", "csv", "json"),
}
DRAWING = {"compare": [], "leaderboard": ["--x", "latency"]}
FILES = [(command, form) for command, forms in BESIDE.items() for form in forms]
ENDINGS = {"latex": "tex", "markdown": "md", "text": "txt"}
SYSTEMS = [
    {"system": name, "accuracy": {"RR@10": value}, "latency": {"mean": 9 * value}}
    for name, value in (("old", 0.5), ("new", 1.0))
]
PICTURES = [
    ("png", b"\x89PNG\r\n"), ("svg", b"<?xml"), ("pdf", b"%PDF-"), ("PNG", b"\x89PNG\r\n"),
    ("eps", b"%!PS"), ("jpg", b"\xff\xd8"), ("webp", b"RIFF"),
]  # fmt: skip
NAMES = ["\x1b[31mred", "bell\x07", "\x9b31m", "turned\u202eback", "two\nlines", "\ud800"]

Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run a command in a folder with its inputs, beside an empty folder ``out``."""
    folder = tmp_path / "files"
    (folder / "out").mkdir(parents=True)
    (folder / "qrels.txt").write_text("".join(f"{query} 0 good 1\n" for query in QUERIES))
    (folder / "old.run").write_text(ranking(2))
    (folder / "new.run").write_text(ranking(1))
    (folder / "systems.json").write_text(json.dumps({"systems": SYSTEMS}))
    monkeypatch.chdir(folder)

    def run(*words: object) -> tuple[int, str, str]:
        try:
            status = main(list(map(str, words)))
        except SystemExit as leave:  # argparse
            status = int(leave.code or 0)
        return status, *capsys.readouterr()

    return run


@pytest.mark.parametrize("command", WORDS)
def test_a_report_has_one_end(cli: Cli, command: str) -> None:
    status, printed, _ = cli(command, *WORDS[command])
    assert status == 0
    assert printed.endswith("\n")
    assert not printed.endswith("\n\n")


@pytest.mark.parametrize(("command", "form"), FILES)
def test_files_beside_hold_what_would_be_printed(cli: Cli, command: str, form: str) -> None:
    path = Path("out") / f"report.{form}"
    path.write_text("old content")
    status, printed, _ = cli(command, *WORDS[command], f"--{form}", path)
    assert (status, printed) == cli(command, *WORDS[command])[:2], "the report is printed, too"
    named = Path("out") / f"named.{ENDINGS.get(form, form)}"
    assert cli(command, *WORDS[command], "-o", named)[:2] == (0, "")
    assert path.read_text(encoding="utf-8") == named.read_text(encoding="utf-8")
    assert cli(command, *WORDS[command], "--format", form)[1] == named.read_text(encoding="utf-8")
    assert listed(Path("out")) == sorted([path.name, named.name])


@pytest.mark.parametrize(("command", "option"), [*FILES, *((each, "plot") for each in DRAWING)])
def test_files_that_cannot_be_written_are_told_first(cli: Cli, command: str, option: str) -> None:
    if option == "plot":
        pytest.importorskip("matplotlib")
    words = [*WORDS[command], *DRAWING.get(command, [])]
    inputs = [word for word in words if Path(word).is_file()]
    Path("link.svg").symlink_to(inputs[0])
    before = {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()}
    own = f"--{option} needs a file of its own"
    for path, said in (
        *((each, own) for each in (*inputs, f"./{inputs[0]}", "link.svg", "-", "")),
        ("out", f"{own}; this is a folder"),
        ("out/none/report.svg", f"--{option}: its folder is not there"),
    ):
        status, printed, told = cli(command, *words, f"--{option}", path)
        assert (status, printed) == (2, "")
        assert told == f"irbatch: error: {path!r}: {said}\n"
    assert {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()} == before


@pytest.mark.parametrize("option", ["output", "html", "plot"])
def test_a_failing_write_leaves_the_old_file(
    cli: Cli, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if option == "plot":
        pytest.importorskip("matplotlib")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    path = Path("out") / f"report.{'svg' if option == 'plot' else 'html'}"
    path.write_text("old content")
    monkeypatch.setattr("irbatch.runtime.files.os.fsync", full)
    status, _, said = cli("compare", *WORDS["compare"], f"--{option}", path)
    assert (status, len(said.splitlines())) == (1, 1)
    assert said.startswith(f"irbatch: error: {path}: No space left on device")
    assert path.read_text() == "old content"
    assert listed(Path("out")) == [path.name]


@pytest.mark.parametrize(
    ("command", "words", "forms"),
    [
        ("eval", ["--digits", "2", "--format", "tsv"], "text, markdown, latex and html"),
        ("eval", ["--caption", "x"], "latex"),
        ("compare", ["--power", "--format", "latex"], "text, markdown, html, csv and json"),
        ("compare", ["--intervals", "--format", "csv"], "text, markdown, latex and html"),
        ("compare", ["--daggers"], "latex"),
        ("leaderboard", ["--label", "x"], "latex"),
        *(("leaderboard", [*words, "--format", form], "text, markdown, latex and html")
          for words in (["--columns", "latency"], ["--frontier", "RR@10,latency"], ["--intervals"])
          for form in ("csv", "json")),
    ],
)  # fmt: skip
def test_options_of_other_forms(cli: Cli, command: str, words: list[str], forms: str) -> None:
    said = f"irbatch: error: {words[0]} is for {forms}\n"
    assert cli(command, *WORDS[command], *words) == (2, "", said)
    if command in BESIDE and "latex" in forms:
        beside = cli(command, *WORDS[command], *words, "--latex", "out/a.tex")
        assert beside[0] == 0, "which is written, too"


@pytest.mark.parametrize(("ending", "start"), PICTURES)
@pytest.mark.parametrize("command", DRAWING)
def test_pictures(cli: Cli, command: str, ending: str, start: bytes) -> None:
    pytest.importorskip("matplotlib")
    path = Path("out") / f"a.b.{ending}"
    status, _, said = cli(command, *WORDS[command], *DRAWING[command], "--plot", path)
    assert (status, said) == (0, "")
    assert path.read_bytes().startswith(start)
    assert listed(Path("out")) == [path.name]


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
@pytest.mark.parametrize("command", DRAWING)
def test_a_picture_is_the_same_each_time(
    cli: Cli, command: str, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    paths = [Path("out") / f"{i}.{ending}" for i in range(2)]
    for year, path in enumerate(paths):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", str(year * 10**8))
        assert cli(command, *WORDS[command], *DRAWING[command], "--plot", path)[0] == 0
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize("command", DRAWING)
def test_pictures_that_cannot_be_drawn(
    cli: Cli, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    words = [command, *WORDS[command], *DRAWING[command], "--plot"]
    for name in ("a.foo", "noending"):
        status, printed, said = cli(*words, f"out/{name}")
        assert (status, printed, len(said.splitlines())) == (2, "", 1)
        assert "a picture's name ends in one of svg, png" in said
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    said = "irbatch: error: for plots: pip install 'irbatch[plot]'\n"
    assert cli(*words, "out/a.svg", "--html", "out/a.html") == (2, "", said)
    assert not listed(Path("out"))
    assert cli(*words[:-1], "--html", "out/a.html")[0] == 0, "a page draws without it"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", ["compare", "leaderboard"])
def test_control_characters_are_shown_not_sent(cli: Cli, command: str, name: str) -> None:
    words = ["qrels.txt", "old.run", f"{name}=new.run", "-m", "RR"]
    if command == "leaderboard":
        words = WORDS[command]
        systems = [SYSTEMS[0], {**SYSTEMS[1], "system": name}]
        Path("systems.json").write_text(json.dumps({"systems": systems}))
    shown = repr(name)[1:-1]
    gate = ["--require", "RR@10 >= 2" if command == "leaderboard" else "RR >= 0.9"]
    page = Path("out") / "page.html"
    for form in ("text", "markdown", "latex"):
        status, printed, said = cli(command, *words, "--format", form, "--html", page)
        assert (status, said) == (0, "")
        assert all(each.isprintable() or each == "\n" for each in printed)
    assert shown in cli(command, *words)[1]
    said = cli(command, *words, *gate)[2]
    assert all(each.isprintable() or each == "\n" for each in said)
    assert name not in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("form", ["csv", "plot"])
def test_a_name_that_is_no_text(cli: Cli, form: str) -> None:
    if form == "plot":
        pytest.importorskip("matplotlib")
    path = Path(os.fsdecode(b"\xff.run"))
    path.write_text(ranking(1))
    words = [f"--{form}", f"out/a.{'png' if form == 'plot' else form}"]
    assert cli("compare", "qrels.txt", "old.run", path, "-m", "RR", *words)[0] == 0


@pytest.mark.parametrize("command", WORDS)
def test_help(cli: Cli, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    status, printed, said = cli(command, "--help")
    assert (status, said) == (0, "")
    assert printed.startswith(f"usage: irbatch {command}")
    for form in (*BESIDE.get(command, ()), *(["plot"] if command in DRAWING else [])):
        assert f"--{form} FILE" in printed
    assert "%%" not in printed
    assert command in cli("--help")[1]
