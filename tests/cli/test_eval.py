"""`irbatch eval` and the command as a whole, as a person and as a script meet them."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from support.commands import QUERIES, Cli, ranking

import irbatch
from irbatch.measures import CATALOGUE

FILES = ("qrels.txt", "old.run", "new.run")
pytestmark = pytest.mark.usefixtures("folder")


def test_a_pipe_gets_lines_with_every_digit(cli: Cli) -> None:
    Path("new.run").write_text(ranking(3, QUERIES[1:]))
    status, out, err = cli("eval", *FILES, "-m", "nDCG@10", "-m", "P@{5,10}", "-q")
    found = irbatch.evaluate_runs(FILES[0], FILES[1:], "nDCG@10 P@{5,10}")
    lines = [line.split("\t") for line in out.splitlines()]
    assert lines[0] == ["run", "query", "measure", "value"]
    told = {(run, query, name): float(value) for run, query, name, value in lines[1:]}
    assert told == {
        (run, query, name): value
        for run, each in found.items()
        for query, values in [*each.to_dict().items(), ("all", each.mean())]
        for name, value in values.items()
    }
    assert (status, err) == (0, "note: new: 1 query missing from the run\n")


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html", "csv", "json"])
@pytest.mark.parametrize("per_query", [False, True])
def test_every_form_is_that_of_evaluate_runs(cli: Cli, form: str, per_query: bool) -> None:
    found = irbatch.evaluate_runs(FILES[0], FILES[1:], "AP P@5 NumRet")
    words = ["eval", *FILES, "-m", "AP P@5 NumRet", "--format", form, *["-q"] * per_query]
    assert cli(*words)[1] == getattr(found, f"to_{form}")(per_query=per_query)
    words.append("--intervals")
    assert cli(*words)[1] == getattr(found, f"to_{form}")(per_query=per_query, intervals=True)


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["-m", "P@{5,10}", "--missing", "skip", "--no-relevant", "skip", "--judged-only",
          "--score-dtype", "float32"],
         {"measures": "P@{5,10}", "missing": "skip", "no_relevant": "skip", "judged_only": True,
          "score_dtype": "float32"}),
        (["-m", "AP,nDCG@10", "--rel", "2", "--max-depth", "3", "--ties", "optimistic"],
         {"measures": "AP nDCG@10", "rel": 2, "max_depth": 3, "ties": "optimistic"}),
        (["-m", "RR", "--trec-eval", "9"], {"measures": "RR", "trec_eval": "9"}),
    ],
)  # fmt: skip
def test_settings_reach_the_evaluation(cli: Cli, words: list[str], options: dict[str, str]) -> None:
    found = irbatch.evaluate(*FILES[:2], **options)
    told = json.loads(cli("eval", *FILES[:2], *words, "--format", "json")[1])["old"]
    assert told["mean"] == found.mean()
    assert told["settings"] == json.loads(found.to_json())["settings"]


def test_systems_are_sorted(cli: Cli) -> None:
    results = irbatch.evaluate_runs(FILES[0], FILES[1:], "AP")
    for form in ("text", "latex"):
        printed = cli("eval", *FILES, "-m", "AP", "--sort", "map", "--format", form)[1]
        assert printed == getattr(results, f"to_{form}")(sort="AP")
        assert printed.rindex("new") < printed.rindex("old")
    assert "add -m RR" in cli("eval", *FILES, "-m", "AP", "--sort", "RR")[2]


def test_names_and_words_of_a_paper(cli: Cli) -> None:
    words = ["eval", *FILES, "-m", "AP", "--format", "latex", "--names", "trec_eval", "--digits"]
    paper = ["2", "--caption", "50 % of & it", "--label", "tab:mine", "--environment", "table*"]
    found = irbatch.evaluate_runs(FILES[0], FILES[1:], "AP")
    assert cli(*words, *paper)[1] == found.to_latex(
        names="trec_eval", digits=2, caption="50 % of & it", label="tab:mine",
        environment="table*",
    )  # fmt: skip


def test_a_gate(cli: Cli) -> None:
    words = ["eval", FILES[0], "-m", "AP", "--require", "RR >= 0.5"]
    status, out, err = cli(*words, "--fail-if", "P@5 < .1", FILES[1])
    assert status == 0
    assert err.splitlines() == [
        "irbatch: passed: old: RR is 0.5, >= 0.5",
        "irbatch: passed: old: P@5 is 0.2, not < 0.1",
    ]
    assert [line.split("\t")[2] for line in out.splitlines()[1:]] == ["AP", "RR", "P@5"]
    words += ["--require", "RR >= 0.6"]
    status, out, err = cli(*words, FILES[1], "--fail-if", "map < 0.6", "-o", "x.json")
    told = json.loads(Path("x.json").read_text())["old"]["gates"]
    assert (status, out, [each["passed"] for each in told]) == (3, "", [True, False, False])
    assert irbatch.Results.from_json("x.json")["AP"] == 0.5
    assert err.splitlines()[1:] == [
        "irbatch: failed: old: RR is 0.5, not >= 0.6",
        "irbatch: failed: old: AP is 0.5, < 0.6",
    ]


def test_means_over_different_queries_are_told(cli: Cli) -> None:
    for name, queries in (("old", QUERIES[1:]), ("new", QUERIES[:-1])):
        Path(f"{name}.run").write_text(ranking(1, queries))
    words = ["eval", *FILES, "-m", "AP", "--missing", "skip", "--format"]
    assert "note: means over different queries" in cli(*words, "csv")[2]
    _, out, err = cli(*words, "text")
    assert ("Means over different queries" in out, "*" in out, err) == (True, False, "")


def test_parts_of_a_run_given_as_systems_are_asked_about(cli: Cli) -> None:
    for name, queries in (("part-1", QUERIES[:5]), ("part-2", QUERIES[5:])):
        Path(f"{name}.run").write_text(ranking(1, queries))
    question = "each system answers other queries: is it one run in parts?"
    assert question in cli("eval", "qrels.txt", "part-1.run", "part-2.run", "-m", "RR")[2]
    assert question not in cli("eval", "qrels.txt", "part-1.run", "old.run", "-m", "RR")[2]
    status, printed, said = cli("eval", "qrels.txt", "whole=part-*.run", "-m", "RR")
    assert (status, printed.splitlines()[1:], said) == (0, ["whole\tall\tRR\t1.0"], "")


def on_a_terminal(*words: str, columns: int = 100) -> str:
    """Run a command whose output is a terminal of so many columns."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns)}
    command = [sys.executable, "-m", "irbatch", *words]
    pieces = []
    with subprocess.Popen(
        command, stdout=follower, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        os.close(follower)
        with suppress(OSError):  # the end, on Linux
            while piece := os.read(leader, 1 << 16):  # or the command waits with a full terminal
                pieces.append(piece)
        process.wait(300)
    os.close(leader)
    return b"".join(pieces).decode().replace("\r", "")


def test_a_terminal_gets_a_table_as_wide_as_it() -> None:
    measures = "AP P@5 nDCG@{1,2,3,4,5,6,7,8,9,10,20,30,50,100}"
    shown = on_a_terminal("eval", *FILES, "-m", measures, columns=60)
    assert "\x1b[1m1.0000" in shown, "the best is in bold"
    parts = re.sub(r"\x1b\[\d*m", "", shown).strip("\n").split("\n\n")
    caption, legend, *parts, footer = parts
    assert caption.startswith("2 systems, 12 queries")
    assert legend.startswith("Bold: the best")
    assert footer.startswith("irbatch: ")
    assert {part.split()[0] for part in parts} == {"run"}
    assert 50 < max(len(line) for part in parts for line in part.splitlines()) <= 60
    heads = [each for part in parts for each in part.splitlines()[0].split()[1:]]
    assert (heads[:3], len(heads)) == (["AP", "P@5", "nDCG@1"], 16)


def test_long_work_shows_its_progress(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    shown = Terminal()
    for name in ("SHOWN_AFTER", "REDRAWN_AFTER"):
        monkeypatch.setattr(f"irbatch.runtime.progress.{name}", 0.0)
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setenv("TERM", "xterm-256color")
    assert cli("eval", *FILES, "-m", "AP")[0] == 0
    assert "new.run" in shown.getvalue()
    assert "100%" in shown.getvalue()


@pytest.mark.parametrize(
    ("behind", "status", "said"),
    [
        ("> /dev/full", 1, "irbatch: error: standard output: No space left on device"),
        ("-q | head -1", 0, ""),
    ],
)
def test_where_output_ends(behind: str, status: int, said: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    command = f"'{sys.executable}' -m irbatch eval qrels.txt old.run {behind}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (status, said)


@pytest.mark.parametrize("module", ["irbatch.cli", "numpy.linalg", "irbatch.cli.eval"])
def test_an_interrupt_while_the_command_is_imported(module: str) -> None:
    program = f"""
import os, signal, sys
class Interrupting:
    def find_spec(self, name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
sys.argv[1:] = ["eval", "qrels.txt", "old.run"]
from irbatch.__main__ import run
run()
"""
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "irbatch: error: interrupted\n")


@pytest.mark.parametrize(
    ("problem", "status", "said"),
    [(MemoryError(), 1, "out of memory"), (KeyboardInterrupt(), 130, "interrupted")],
    ids=repr,
)
def test_what_ends_a_command_is_said_in_one_line(
    cli: Cli, problem: BaseException, status: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise problem

    monkeypatch.setattr("irbatch.evaluation.pipeline.Computed.put", fail)
    assert cli("eval", *FILES, "-m", "AP") == (status, "", f"irbatch: error: {said}\n")


def test_measures_lists_and_defines(cli: Cli) -> None:
    _, listing, _ = cli("measures")
    for name in CATALOGUE:
        assert re.search(rf"^{name} ", listing, re.M)
    _, entry, _ = cli("measures", "map_cut")
    for part in ("AP\n", "norm: all, min, found (default all)", "trec_eval map, map_cut_k"):
        assert part in entry
    assert cli("measures", "nope")[0] == 2
    assert cli("--version")[:2] == (0, f"irbatch {irbatch.__version__}\n")
