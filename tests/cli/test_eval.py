"""The command line as a person and as a script meets it."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from support.paths import REPOSITORY

import irbatch
from irbatch.cli import main
from irbatch.cli.measures import markdown_table
from irbatch.measures import CATALOGUE

Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run a command in this process: exit status, standard output, standard error."""

    def run(*words: str | Path) -> tuple[int, str, str]:
        try:
            status = main([str(word) for word in words])
        except SystemExit as leave:
            status = int(leave.code or 0)
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


@pytest.fixture
def files(digits: Path) -> list[Path]:
    return [digits / "qrels.txt", digits / "pca10.run", digits / "pixels-cosine.run"]


def test_a_pipe_gets_lines_with_every_digit(cli: Cli, files: list[Path]) -> None:
    status, out, err = cli("eval", *files, "-m", "nDCG@10", "-m", "P@{5,10}", "-m", "num_rel_ret")
    expected = irbatch.evaluate_runs(files[0], files[1:], "nDCG@10 P@{5,10} NumRelRet")
    lines = [line.split("\t") for line in out.splitlines()]
    assert lines[0] == ["run", "query", "measure", "value"]
    assert [(run, name, float(value)) for run, _, name, value in lines[1:]] == [
        (run, name, value) for run, each in expected.items() for name, value in each.mean().items()
    ]
    assert err.splitlines() == [
        "note: pca10: 4 queries missing from the run",
        "note: 1 query without relevant documents",
    ]
    assert status == 0


def test_per_query_lines(cli: Cli, files: list[Path]) -> None:
    _, out, _ = cli("eval", *files[:2], "-m", "AP", "-q")
    lines = [line.split("\t") for line in out.splitlines()[1:]]
    assert len(lines) == 121
    expected = irbatch.evaluate(*files[:2], "AP")
    assert {q: float(v) for _, q, _, v in lines[:-1]} == expected.per_query("AP")
    assert lines[-1][:2] == ["pca10", "all"]


def test_other_formats(cli: Cli, files: list[Path]) -> None:
    words = ["eval", *files, "-m", "AP", "-m", "P@5"]
    loaded = json.loads(cli(*words, "--format", "json")[1])
    assert set(loaded) == {"pca10", "pixels-cosine"}
    assert "per_query" not in loaded["pca10"]
    assert loaded["pca10"]["counts"]["missing"] == 4
    assert len(json.loads(cli(*words, "-q", "--format", "json")[1])["pca10"]["per_query"]) == 120
    rows = list(csv.reader(io.StringIO(cli(*words, "--format", "csv")[1])))
    assert rows[1][:3] == ["pca10", "all", "AP"]
    assert cli(*words, "--format", "markdown")[1].split("\n\n")[:2] == [
        "| run | AP | P@5 |\n|---|--:|--:|\n"
        "| pca10 | 0.7541 | 0.9133 |\n| pixels-cosine | **0.8197** | **0.9600** |",
        "2 systems, 120 queries. pca10: 4 queries missing from the run. "
        "1 query without relevant documents. Bold: the best of its column.",
    ]
    lines = cli(*words, "-q", "--format", "markdown")[1].splitlines()
    assert len(lines) == 2 + 2 * 121 + 4


def test_every_format_is_that_of_evaluate_runs(cli: Cli, files: list[Path]) -> None:
    found = irbatch.evaluate_runs(files[0], files[1:], "AP P@5")
    words = ["eval", *files, "-m", "AP", "-m", "P@5", "--format"]
    for form in ("markdown", "latex", "csv", "json"):
        for more, options in (([], {}), (["-q"], {"per_query": True})):
            written = getattr(found, f"to_{form}")(**options)
            assert cli(*words, form, *more)[1] == written
    style = [*words, "latex", "--names", "trec_eval", "--digits", "2", "--caption", "50 % of & it"]
    place = ["--label", "tab:mine", "--environment", "table*"]
    assert cli(*style, *place)[1] == found.to_latex(
        names="trec_eval", digits=2, caption="50 % of & it", label="tab:mine",
        environment="table*",
    )  # fmt: skip
    lines = cli(*words, "text", "--digits", "1")[1].splitlines()
    assert [line.split()[1] for line in lines if "---" not in line] == ["AP", "0.8", "*0.8"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--format", "csv", "--digits", "2"], "--digits is for text, markdown, latex and html"),
        (["--format", "latex", "--digits", "18"], "a whole number from 0 to 17"),
        (["--format", "markdown", "--label", "x"], "--label is for latex"),
        (["--format", "tsv", "--label", "9"], "--label is for latex"),
        (["--format", "latex", "--environment", "figure"], "invalid choice: 'figure'"),
    ],
)
def test_options_of_paper_are_checked_before_anything_is_read(
    cli: Cli, words: list[str], said: str
) -> None:
    status, out, err = cli("eval", "absent", "absent.run", *words)
    assert (status, out) == (2, "")
    assert said in err


def test_table(cli: Cli, files: list[Path]) -> None:
    words = ["eval", *files, "-m", "AP", "-m", "P@5", "--format", "text"]
    assert [line.split() for line in cli(*words)[1].splitlines() if "---" not in line] == [
        ["run", "AP", "P@5"],
        ["pca10", "0.7541", "0.9133"],
        ["pixels-cosine", "*0.8197", "*0.9600"],
    ]


def test_a_terminal_s_table_is_as_wide_as_it(files: list[Path]) -> None:
    measures = "AP P@5 nDCG@{1,2,3,4,5,6,7,8,9,10,20,30,50,100}"
    shown = on_a_terminal("eval", *files, "-m", measures, columns=60)
    parts = re.sub(r"\x1b\[\d*m", "", shown).replace("\r", "").strip("\n").split("\n\n")
    assert {part.split()[0] for part in parts} == {"run"}
    assert 50 < max(len(line) for part in parts for line in part.splitlines()) <= 60
    heads = [each for part in parts for each in part.splitlines()[0].split()[1:]]
    assert (heads[:3], len(heads)) == (["AP", "P@5", "nDCG@1"], 16)
    words = ["compare", *files, "-m", "AP", "--draws", "9", "--baseline", "pca10"]
    lines = on_a_terminal(*words, columns=70).replace("\r", "").splitlines()
    assert max(map(len, lines[:4])) <= 70, "captions are broken between words"
    assert "\x1b[1m0.8197" in "".join(lines)


def on_a_terminal(*words: str | Path, columns: int = 100) -> str:
    """Run a command whose output is a terminal of so many columns."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns)}
    command = [sys.executable, "-m", "irbatch", *map(str, words)]
    pieces = []
    with subprocess.Popen(
        command, stdout=follower, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        os.close(follower)
        with suppress(OSError):  # the end, on Linux
            while piece := os.read(leader, 1 << 16):  # or the command waits with a full terminal
                pieces.append(piece)
        process.wait(60)
    os.close(leader)
    return b"".join(pieces).decode()


def test_counts_are_whole_numbers(cli: Cli, files: list[Path]) -> None:
    for form in ("tsv", "csv", "text", "markdown"):
        _, out, _ = cli("eval", files[0], files[2], "-q", "-m", "NumRet", "--format", form)
        assert "100.0" not in out


def test_cutoffs_apply_to_the_default_measures(cli: Cli, files: list[Path]) -> None:
    _, out, _ = cli("eval", *files[:2], "-k", "3", "-k", "7")
    names = [line.split("\t")[2] for line in out.splitlines()[1:]]
    assert names == [f"{name}@{k}" for name in ("nDCG", "AP", "RR", "P", "R") for k in (3, 7)]


def test_files_of_the_other_form_are_recognised(cli: Cli, files: list[Path]) -> None:
    assert "is this a run file?" in cli("eval", files[1], files[1])[2]
    assert "is this a qrels file?" in cli("eval", files[0], files[0])[2]


def test_a_full_disk_is_one_line(files: list[Path]) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    command = f"'{sys.executable}' -m irbatch eval '{files[0]}' '{files[1]}' > /dev/full"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "error: standard output: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_names_of_other_tools(cli: Cli, files: list[Path]) -> None:
    _, out, _ = cli("eval", *files[:2], "-m", "nDCG@10", "-m", "AP", "--names", "trec_eval")
    assert [line.split("\t")[2] for line in out.splitlines()[1:]] == ["ndcg_cut_10", "map"]


def test_settings_reach_the_evaluation(cli: Cli, files: list[Path]) -> None:
    words = ("-k", "5,10", "-m", "P", "--missing", "skip", "--no-relevant", "skip",
             "--judged-only", "--score-dtype", "float32")  # fmt: skip
    _, out, _ = cli("eval", *files[:2], *words)
    expected = irbatch.evaluate(*files[:2], "P", [5, 10], missing="skip", no_relevant="skip",
                                judged_only=True, score_dtype="float32")  # fmt: skip
    assert [float(line.split("\t")[3]) for line in out.splitlines()[1:]] == list(
        expected.mean().values()
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-m", "nDG@10", "-m", "qqq"], ["did you mean nDCG@10?", "'qqq'"]),
        (["-m", "P@0"], ["cutoff '0' in 'P@0' must be a whole number of at least 1"]),
        (["-k", "five"], ["cutoffs 'five' are not whole numbers, such as 1,5,10"]),
        (["-k", "0"], ["cutoff 0 must be a whole number of at least 1"]),
        (["--format", "xml"], ["invalid choice: 'xml'"]),
    ],
)
def test_bad_words_leave_with_2(cli: Cli, files: list[Path], words: list[str],
                                said: list[str]) -> None:  # fmt: skip
    status, out, err = cli("eval", *files[:2], *words)
    assert status == 2
    assert not out
    assert "Traceback" not in err
    for part in said:
        assert part in err


def test_bad_files_leave_with_2(cli: Cli, digits: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.run"
    bad.write_text("q000 Q0 digit-0042 1 0.9 x\nq000 Q0 digit-0043 2 abc x\n")
    status, out, err = cli("eval", digits / "qrels.txt", bad)
    assert (status, out) == (2, "")
    assert err == (
        f"irbatch: error: run '{bad}' line 2 (query 'q000', document 'digit-0043'): "
        "score 'abc' is not a number\n"
    )
    (tmp_path / "empty").mkdir()
    for words in ([digits / "qrels.txt", tmp_path / "none"], [tmp_path / "empty", bad]):
        status, _, err = cli("eval", *words)
        assert status == 2
        assert len(err.splitlines()) == 1


def test_control_characters_are_shown_not_sent(cli: Cli, tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels", tmp_path / "x.run"
    qrels.write_text("\x1b[31mq 0 d 1\n")
    run.write_text("\x1b[31mq Q0 d 1 1 t\n")
    for form in ("text", "markdown"):
        _, out, _ = cli("eval", qrels, run, "-q", "-m", "RR", "--format", form)
        assert "\x1b" not in out
        assert "\\x1b[31mq" in out.replace("\\\\", "\\").replace("\\[", "[")


def test_measures_lists_and_defines(cli: Cli) -> None:
    _, listing, _ = cli("measures")
    for name in CATALOGUE:
        assert re.search(rf"^{name} ", listing, re.M)
    _, entry, _ = cli("measures", "map_cut")
    for part in ("AP\n", "norm: all, min, found (default all)", "trec_eval map, map_cut_k"):
        assert part in entry
    assert cli("measures", "nope")[0] == 2


def test_the_guide_shows_the_catalogue() -> None:
    builtin = [name for name, each in CATALOGUE.items() if each.builtin]
    text = (REPOSITORY / "examples" / "measures.md").read_text()
    table = re.search(r"<!-- measures -->\n(.*)\n<!-- /measures -->", text, re.S)
    assert table is not None
    assert table[1] == markdown_table(), "run: irbatch measures --format markdown"
    assert len(table[1].splitlines()) == 2 + len(builtin)


def test_version(cli: Cli) -> None:
    assert cli("--version")[:2] == (0, f"irbatch {irbatch.__version__}\n")


def test_a_reader_that_stops_early_is_no_error(files: list[Path]) -> None:
    command = f"'{sys.executable}' -m irbatch eval '{files[0]}' '{files[1]}' -q | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=True, text=True)
    assert done.stdout == "run\tquery\tmeasure\tvalue\n"
    assert "Error" not in done.stderr


def test_long_work_shows_its_progress(
    cli: Cli, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    shown = Terminal()
    monkeypatch.setattr("irbatch.cli.progress.SHOWN_AFTER", 0.0)
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setenv("TERM", "xterm-256color")
    assert cli("eval", *files, "-m", "AP", "--format", "tsv")[0] == 0
    assert "pixels-cosine" in shown.getvalue()
    assert "100%" in shown.getvalue()


def test_standard_input_cannot_be_both(cli: Cli) -> None:
    status, out, err = cli("eval", "-", "-")
    assert (status != 0, out) == (True, "")
    assert "standard input cannot be both" in err


def test_a_terminal_gets_a_table(files: list[Path]) -> None:
    shown = on_a_terminal("eval", *files, "-m", "P@5")
    assert "\x1b[1m0.9600" in shown, "the best is in bold"
    plain = re.sub(r"\x1b\[\d*m|---+", "", shown).split()
    assert plain == ["run", "P@5", "pca10", "0.9133", "pixels-cosine", "0.9600"]


def test_a_gate_of_one_run(cli: Cli, files: list[Path], tmp_path: Path) -> None:
    words = ["eval", *files[:2], "-m", "AP", "--require", "nDCG@10 >= 0.75"]
    status, out, err = cli(
        *words, "--require", "nDCG@10 lower bound >= 0.7", "--fail-if", "P@5 < .9"
    )
    assert (status, "failed" in err) == (0, False)
    assert "irbatch: passed: pca10: the lower bound of nDCG@10 is 0.7084, >= 0.7\n" in err
    assert [line.split("\t")[2] for line in out.splitlines()[1:]] == ["AP", "P@5", "nDCG@10"]
    words += ["--require", "nDCG@10 lower bound >= 0.75", "-o", tmp_path / "x.json"]
    status, out, err = cli(*words, "--fail-if", "map < 0.76")
    assert (status, out) == (3, "")
    assert err.splitlines()[-2:] == [
        "irbatch: failed: pca10: AP is 0.7541, < 0.76",
        "irbatch: failed: pca10: the lower bound of nDCG@10 is 0.7084, not >= 0.75",
    ]
    told = json.loads((tmp_path / "x.json").read_text())["pca10"]
    assert told["mean"]["nDCG@10"] > 0.75
    assert [each["passed"] for each in told["gates"]] == [False, True, False]
    assert irbatch.Results.from_json(tmp_path / "x.json")["AP"] == told["mean"]["AP"]
    missing = ["--require", "missing queries <= 3", "--require", "judged@10 >= 90%"]
    _, _, err = cli("eval", *files[:2], *missing)
    assert "failed: pca10: missing queries is 4, not <= 3" in err
    assert "pca10: Judged@10 is 0." in err
    for option, condition, said in (
        ("--fail-if", "AP drops 5% p<0.05", "`irbatch compare --baseline`"),
        ("--require", "AP not worse than baseline by 1%", "needs a baseline"),
        ("--require", "in web: AP >= 0.5", "needs groups"),
        ("--require", "AP", "is not of the form"),
        ("--require", "nope >= 0.5", "unknown measure 'nope'"),
    ):
        status, out, err = cli("eval", "absent", "absent.run", option, condition)
        assert (status, out, said in err) == (2, "", True), err


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (MemoryError(), "out of memory"),
        (RuntimeError("can't start new thread"), "the system starts no more threads"),
    ],
    ids=str,
)
def test_what_the_system_lacks_is_said_in_one_line(
    cli: Cli,
    files: list[Path],
    problem: Exception,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise problem

    monkeypatch.setattr("irbatch.evaluation.pipeline.Computed.compute", fail)
    assert cli("eval", *files, "-m", "AP") == (1, "", f"irbatch: error: {said}\n")


def test_means_over_different_queries_are_told(cli: Cli, tmp_path: Path) -> None:
    (qrels := tmp_path / "qrels").write_text("q1 0 d 1\nq2 0 d 1\n")
    (first := tmp_path / "a.run").write_text("q1 Q0 d 1 1 x\n")
    (second := tmp_path / "b.run").write_text("q2 Q0 d 1 1 x\n")
    words = ["eval", qrels, first, second, "-m", "AP", "--missing", "skip", "--format", "text"]
    _, out, err = cli(*words)
    said = (
        "note: means over different queries, 1 a system, 0 in all of them: none is marked as best"
    )
    assert said in err.splitlines()
    assert "*" not in out
