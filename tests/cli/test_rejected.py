"""Words and files that commands reject: status 2, one short reason, and nothing printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.commands import Cli, ranking

pytestmark = pytest.mark.usefixtures("folder")
EVAL = "eval absent absent.run"
COMPARE = "compare qrels.txt old.run new.run worse.run -m RR"
EXPLAIN = "explain qrels.txt old.run worse.run"
REPRODUCE = "reproducibility qrels.txt --baseline old.run"
LEADERBOARD = "leaderboard absent.json"
IS_RUN, IS_QRELS = "6 columns where 4", "4 columns where 6"
TWICE = "standard input cannot be two files"

# A command, a word more (or several, as a list), and what is said.
REJECTED: list[tuple[str, str | list[str], str]] = [
    # Before anything is read
    (EVAL, "-m nDG@10 -m qqq", "did you mean nDCG@10?"),
    (EVAL, "-m AP nDCQ@10", "'nDCQ@10' (did you mean nDCG@10?)"),
    (EVAL, "-m P@0", "cutoff '0' in 'P@0' must be a whole number of at least 1"),
    (EVAL, "--format xml", "invalid choice: 'xml'"),
    ("eval qrels.txt old.run", "--format latex --digits 18", "a whole number from 0 to 17"),
    (EVAL, ["--fail-if", "AP drops 5% p<0.05"], "`irbatch compare --baseline`"),
    (EVAL, ["--require", "AP not worse than baseline by 1%"], "needs a baseline"),
    (EVAL, "--require AP", "is not of the form"),
    (EVAL, ["--require", "latency_p95 >= 0.5"], "unknown measure 'latency_p95'"),
    (LEADERBOARD, "--plot a.svg", "--plot needs --x"),
    (LEADERBOARD, "--y RR", "--y needs --x"),
    (LEADERBOARD, "--level 0.1", "--level needs --qrels"),
    (LEADERBOARD, "--significance", "--significance needs --qrels"),
    (LEADERBOARD, "--price small", "'small' is not of the form c6g.xlarge=0.136"),
    (LEADERBOARD, "--qrels q -m nope", "unknown measure 'nope'"),
    ("leaderboard old.json --qrels qrels.txt", "--level nan", "level=nan must be above 0"),
    (LEADERBOARD, "--fail-if slow", "is not of a form such as"),
    (LEADERBOARD, "more.json", "usage: irbatch leaderboard"),
    *((COMPARE, words, f"irbatch compare: error: argument {words.split()[0]}") for words in (
        "--test f", "--correction sidak", "--interval z", "--format xml", "--ties coin",
        "--draws 1.5")),
    (COMPARE, "--wrong", "unrecognized arguments: --wrong"),
    (EXPLAIN, "-m alpha_nDCG", "reads subtopics"),
    (EXPLAIN, "-m P@{5,10}", "stands for 2 measures"),
    (EXPLAIN, "-n 0", "--most 0 must be"),
    (EXPLAIN, "--depth 0", "--depth 0 must be"),
    (EXPLAIN, "--query q99", "(query 'q99'): this query has no values"),
    (EXPLAIN, "--ties expected", "no ranks to be shown"),
    (EXPLAIN, "--digits 99", "decimals are a whole number"),
    (EXPLAIN, "--documents - --topics -", TWICE),
    (REPRODUCE, "", "expected 2 arguments"),
    (REPRODUCE, "- --advanced - new.run", "cannot be two files"),
    (REPRODUCE, "new.run -o new.run", "--output needs a file of its own"),
    (REPRODUCE, "new.run --digits 18", "from 0 to 17"),
    (REPRODUCE, "new.run -m NumRet", "is not a mean over queries"),
    ("overlap old.run new.run", "-p 1", "-p 1.0 must be a number below 1"),
    ("overlap old.run new.run", "--depth 0", "--depth 0 must be a whole number of at least 1"),
    ("judges", "qrels.txt", "two or more"),
    # Files
    *((command, "- -", TWICE) for command in ("eval", "overlap")),
    ("judges", "- -", "qrels '-': two files are called '-'"),
    ("eval", "qrels.txt bad.run",
     "run 'bad.run' line 2 (query 'q0', document 'bad'): score 'abc' is not a number"),
    ("eval", "old.run old.run", IS_RUN),
    ("eval", "qrels.txt qrels.txt", IS_QRELS),
    ("compare", "old.run new.run worse.run", IS_RUN),
    ("compare", "qrels.txt old.run qrels.txt", IS_QRELS),
    ("compare", "qrels.txt old.run", "a comparison is of two systems or more, not 1"),
    ("compare", "qrels.txt old.run old.run", "two files are called 'old'"),
    ("overlap", "old.run other.run",
     "the runs have no query in common: one has 'q0', 'q1', 'q2', the other 'q99'"),
    ("eval", "none.qrels none.run", "qrels 'none.qrels': No such file or directory"),
    ("eval", "qrels.txt old.run P@1",
     "run 'P@1': No such file or directory"),
    ("eval", "qrels.txt old.run -m RR nDGC",
     "neither a file nor a measure: unknown measure 'nDGC' (did you mean nDCG?)"),
    ("eval", "qrels.txt old.run -m RR none.run",
     "neither a file nor a measure: unknown measure 'none.run'"),
    ("eval", "qrels.txt -m RR x=none.run", "run 'none.run': No such file or directory"),
    ("eval", "qrels.txt -m RR runs/none.run", "run 'runs/none.run': No such file or directory"),
    ("eval", "qrels.txt -m RR none*.run", "run 'none*.run': there are no files here"),
    (COMPARE, "none.run", "none.run"),
    ("explain", "qrels.txt old.run none.run", "run 'none.run': No such file or directory"),
    (REPRODUCE, "none.run", "none.run"),
    ("judges", "qrels.txt none.qrels", "none.qrels"),
    (LEADERBOARD, "", "leaderboard 'absent.json': No such file or directory"),
    ("leaderboard", "old.json --qrels none", "none"),
    ("leaderboard", "gone.json --qrels qrels.txt", "gone.run"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "more", "said"), REJECTED, ids=str)
def test_rejected(cli: Cli, command: str, more: str | list[str], said: str) -> None:
    Path("bad.run").write_text("q0 Q0 good 1 0.9 x\nq0 Q0 bad 2 abc x\n")
    Path("other.run").write_text(ranking(1, ["q99"]))
    for name in ("old", "gone"):
        Path(f"{name}.json").write_text(json.dumps([{"system": "a", "run": f"{name}.run"}]))
    words = command.split() + (more.split() if isinstance(more, str) else more)
    status, printed, told = cli(*words)
    assert (status, printed, said in told, "Traceback" in told) == (2, "", True, False), told
    assert told.count("\n") == 1 or "No such file" not in said
