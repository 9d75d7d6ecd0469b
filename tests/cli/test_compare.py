"""`irbatch compare`: what is printed, written and said, and when it ends with which status."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from support.commands import QUERIES, Cli, listed, ranking

import irbatch

P = 4 / 4096  # 2 of 2^12 assignments of signs, for two pairs
GATE = "RR drops 1% p<0.05"
FILES = ("qrels.txt", "old.run", "new.run", "worse.run")
ALL = ("compare", *FILES, "-m", "RR", "-m", "P@2")
AGAINST = ("compare", *FILES, "-m", "RR", "--baseline", "old")
pytestmark = pytest.mark.usefixtures("folder")


def compared(**options: Any) -> irbatch.Comparison:
    return irbatch.compare(FILES[0], FILES[1:], "RR P@2", **options)


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html", "csv", "json"])
@pytest.mark.parametrize("baseline", [None, "old"])
def test_every_form_is_the_comparisons_own(cli: Cli, form: str, baseline: str | None) -> None:
    words = [] if baseline is None else ["--baseline", baseline]
    status, printed, said = cli(*ALL, "--format", form, *words)
    assert (status, said) == (0, "")
    assert printed == getattr(compared(baseline=baseline), f"to_{form}")()


def test_systems_are_sorted(cli: Cli) -> None:
    words = [*AGAINST, "-m", "P@1", "--names", "trec_eval"]
    tables = cli(*words, "--sort", "map")[1], cli(*words, "--sort", "recip_rank")[1].split("\n\n")
    assert not tables[0], "it is not compared"
    assert [line.split()[0] for line in tables[1][2].splitlines()[2:]] == ["new", "old", "worse"]
    assert [line.split()[1] for line in tables[1][3].splitlines()[2:]] == ["new", "worse"] * 2
    assert "--sort: AP is not among the measures: add -m AP" in cli(*ALL, "--sort", "AP")[2]
    assert "--sort is for" in cli(*ALL, "--sort", "RR", "--format", "csv")[2]


@pytest.mark.parametrize(
    ("words", "options", "shaped"),
    [
        ("--test sign --correction bh --level 0.1 --interval bca --draws 500 --seed 3",
         {"test": "sign", "correction": "bh", "level": 0.1, "interval": "bca", "draws": 500,
          "seed": 3}, {}),
        ("--baseline old --alternative less --family all --margin 1% --margin-test randomisation "
         "--pairs",
         {"baseline": "old", "alternative": "less", "family": "all", "margin": "1%",
          "margin_test": "randomisation"}, {"pairs": True}),
        ("--no-simultaneous --digits 2 --intervals", {"simultaneous": False},
         {"digits": 2, "intervals": True}),
        ("--power", {}, {"power": True}),
        ("--rel 2 --max-depth 3 --judged-only --no-relevant skip --order-by rank --score-dtype "
         "float32 --missing skip",
         {"rel": 2, "max_depth": 3, "judged_only": True, "no_relevant": "skip",
          "order_by": "rank", "score_dtype": "float32", "missing": "skip"}, {}),
    ],
)  # fmt: skip
def test_options_reach_the_comparison(
    cli: Cli, words: str, options: dict[str, Any], shaped: dict[str, Any]
) -> None:
    pytest.importorskip("scipy")
    Path("qrels.txt").write_text("".join(f"{query} 0 good 2\n" for query in QUERIES))
    status, printed, _ = cli(*ALL, *words.split())
    assert (status, printed) == (0, compared(**options).to_text(**shaped))


def test_measures_and_their_names(cli: Cli) -> None:
    told = json.loads(cli("compare", *FILES, "--format", "json")[1])
    assert told["measures"] == ["nDCG@10", "AP", "RR", "P@10", "R@100"], "those of eval"
    words = ["compare", *FILES, "-m", "nDCG@10", "--names", "trec_eval", "--baseline", "old"]
    status, printed, said = cli(
        *words, "-o", "out/page.html", "-o", "-", "--fail-if", "nDCG@10 drops"
    )
    assert (status, "worse" in said) == (3, True)
    for text in (printed, Path("out/page.html").read_text()):
        assert "ndcg_cut_10" in text


def test_standard_input_is_a_run(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(Path("new.run").read_bytes()))
    monkeypatch.setattr("sys.stdin", stream)
    told = json.loads(cli("compare", *FILES[:2], "-", "-m", "RR", "--format", "json")[1])
    assert [each["mean"] for each in told["means"]] == [0.5, 1.0]


def test_groups(cli: Cli) -> None:
    groups = {query: "long ones" if i % 2 else "short" for i, query in enumerate(QUERIES)}
    path = Path("groups")
    path.write_text("\ufeff" + "\n\n".join(f"{query}\t{group}" for query, group in groups.items()))
    printed = cli(*ALL, "--groups", path)[1]
    assert printed == compared(groups=groups).to_text()
    lines = (f'{query}, "{group}"' for query, group in groups.items())
    Path("groups.csv").write_text("\n".join(["query_id,group", *lines]))
    assert cli(*ALL, "--groups", "groups.csv")[1] == printed
    status, _, said = cli(*AGAINST, "--groups", path, "--fail-if", "in every group: RR worsens")
    assert status == 3
    failed = [line.split()[3] for line in said.splitlines() if "failed" in line]
    assert failed == ["short:", "long"]
    assert cli(*AGAINST, "--groups", path, "--fail-if", "in c: RR worsens")[0] == 2
    for text, said in (
        (b"q1", "line 1 (query 'q1'): a line is of a query and its group, not 'q1'"),
        (b"q1 a\nq1 b", "line 2 (query 'q1'): is in group 'a' already"),
        (b"q0 a", "it has no group"),
        (b"q1 \xff\n", "is not UTF-8 text"),
    ):
        path.write_bytes(text)
        status, printed, problem = cli(*ALL, "--groups", path)
        assert (status, printed, said in problem) == (2, "", True), problem


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["--fail-if", GATE], 3, "failed: worse: RR -0.2500 (-50.0%) against old, p <0.001\n"),
        (["--fail-if", "RR rises 0.6 p<0.05"], 0, "; not so: RR rises 0.6 p<0.05\n"),
        (["--require", "RR >= 0.2"], 0, "irbatch: passed: new: RR is 1, >= 0.2\n"),
        (["--require", "RR >= 0.3"], 3, "worse: RR is 0.25, not >= 0.3"),
        (["--require", "RR not worse than old by 1%"], 3, "worse: RR -0.2500 (-50.0%) against old"),
        (["--fail-if", "RR falls 1%"], 2, "is not of the form 'nDCG@10 drops"),
        (["--fail-if", "in every group: RR drops"], 2, "there is no group 'every group'"),
        (["--require", "AP >= 0.5"], 3, "worse: AP is 0.25, not >= 0.5"),  # without -m AP
        (["--groups", "nope.txt"], 2, "error: groups 'nope.txt': No such file"),
        (["--margin", "0"], 2, "--margin 0.0 must be a number above 0"),
        (["--baseline", "older"], 2, "baseline 'older' is none of 'old', 'new', 'worse'"),
        (["--level", "1.5"], 2, "level=1.5 must be above 0 and at most 0.5"),
        (["--draws", "0"], 2, "--draws 0 must be a whole number of at least 1"),
    ],
    ids=str,
)
def test_gates_and_bad_words(cli: Cli, words: list[str], status: int, said: str) -> None:
    pytest.importorskip("scipy")
    found = cli(*AGAINST, "-o", "-", "-o", "out/a.html", "-o", "out/a.json", *words)
    assert found[0] == status
    assert said in found[2]
    assert "Traceback" not in found[2]
    assert bool(found[1]) == (status != 2), "the report is printed all the same"
    assert listed(Path("out")) == ([] if status == 2 else ["a.html", "a.json"]), "and written"
    if status != 2:
        gates = json.loads(Path("out/a.json").read_text())["gates"]
        assert all(each["passed"] for each in gates) == (status == 0)


def test_gates_without_a_baseline(cli: Cli) -> None:
    assert cli(*ALL, "--require", "RR >= 0.2")[0] == 0
    assert cli(*ALL, "--require", "RR not worse by 1%")[0] == 2
    absent = ["compare", "absent", "a.run", "b.run", "--fail-if"]
    assert "needs a baseline" in cli(*AGAINST[:-2], "--fail-if", GATE)[2]
    assert "is not of the form" in cli(*absent, "RR", "--baseline", "a")[2]


def test_missing_queries_are_noted(cli: Cli) -> None:
    Path("new.run").write_text(ranking(1, QUERIES[2:]))
    words = [*AGAINST, "--fail-if", "RR drops 60%"]
    for missing, said in (
        ("skip", "Left out, as not all systems have them: 2 queries."),
        ("zero", "Queries without a ranking, counting 0: 2 of new."),
    ):
        status, printed, told = cli(*words, "--missing", missing)
        assert (status, said in printed, said in told) == (0, True, False)
        told = cli(*words, "--missing", missing, "--format", "csv")[2]
        assert f"note: {said}\n" in told
    assert "2 of 12 judged queries are missing" in cli(*words, "--missing", "error")[2]


def test_names_of_files_in_different_folders(cli: Cli) -> None:
    Path("out/old.run").write_text(ranking(4))
    words = ["compare", "qrels.txt", "old.run", "out/old.run", "-m", "RR"]
    assert json.loads(cli(*words, "--format", "json")[1])["systems"] == ["old.run", "out/old.run"]
    assert cli(*words, "--baseline", "old.run", "--fail-if", GATE)[0] == 3
    assert cli(*words, "--baseline", "old")[0] == 2


def test_saved_means_are_not_compared(cli: Cli) -> None:
    """What was saved without -q has no values of queries; with it, it takes the place of a run."""
    for word, said in (("", "'was' has means alone"), ("-q", "")):
        assert cli(*filter(None, ("eval", *FILES[:2], "-m", "RR", "-o", "was.json", word)))[0] == 0
        status, _, err = cli("compare", FILES[0], "was=was.json", FILES[2], "-m", "RR")
        assert (status, said in err) == (2 if said else 0, True)
