"""`irbatch compare`: what is printed, written and said, and when it ends with which status."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from support.commands import QUERIES, Cli, listed, ranking, runner

import irbatch

RANKS = {"old": 2, "new": 1, "worse": 4}  # of the one relevant document, in every query
P = 4 / 4096  # 2 of 2^12 assignments of signs, for two pairs
FORMATS = ("text", "markdown", "latex", "html", "csv", "json")
WRITTEN = ("html", "latex", "csv", "json")
GATE = "RR drops 1% p<0.05"


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    return runner(capsys, "compare")


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Judgments and three runs: old, new and worse."""
    folder = tmp_path / "files"
    folder.mkdir()
    paths = [folder / "qrels.txt"]
    paths[0].write_text("".join(f"{query} 0 good 1\n" for query in QUERIES))
    for name, rank in RANKS.items():
        paths.append(folder / f"{name}.run")
        paths[-1].write_text(ranking(rank))
    return paths


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """An empty folder to write to."""
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


def compared(files: list[Path], **options: Any) -> irbatch.Comparison:
    return irbatch.compare(files[0], files[1:], "RR P@2", **options)


# ---------------------------------------------------------------- what is printed


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("baseline", [None, "old"])
def test_every_format_is_the_comparisons_own(
    cli: Cli, files: list[Path], form: str, baseline: str | None
) -> None:
    words = [] if baseline is None else ["--baseline", baseline]
    status, printed, said = cli(*files, "-m", "RR", "-m", "P@2", "--format", form, *words)
    assert (status, said) == (0, "")
    expected = getattr(compared(files, baseline=baseline), f"to_{form}")()
    assert printed.rstrip("\n") == expected.rstrip("\n")


def test_text_is_the_default(cli: Cli, files: list[Path]) -> None:
    words = [*files, "-m", "RR", "--baseline", "old"]
    printed = cli(*words)[1]
    assert printed == cli(*words, "--format", "text")[1]
    assert printed.startswith("2 systems against old, 12 queries; paired randomisation test, Holm")
    table = {line.split()[0]: line.split()[1:] for line in printed.split("\n\n")[2].splitlines()}
    assert table["new"] == ["*1.0000", "↑"]
    assert table["old"] == ["(baseline)", "0.5000"]
    assert table["worse"] == ["0.2500", "↓"]


def test_json_and_csv_tell_the_pairs(cli: Cli, files: list[Path]) -> None:
    words = [*files, "-m", "RR", "--baseline", "old", "--format"]
    told = json.loads(cli(*words, "json")[1])
    assert [(each["system"], each["difference"]) for each in told["pairs"]] == [
        ("new", 0.5),
        ("worse", -0.25),
    ]
    rows = csv.DictReader(io.StringIO(cli(*words, "csv")[1].rstrip("\n")))
    assert [(row["system"], row["against"], float(row["difference"])) for row in rows] == [
        ("new", "old", 0.5),
        ("worse", "old", -0.25),
    ]


def test_default_measures_are_those_of_eval(cli: Cli, files: list[Path]) -> None:
    told = json.loads(cli(*files, "--format", "json")[1])
    assert told["measures"] == ["nDCG@10", "AP", "RR", "P@10", "R@100"]


def test_measures_in_any_spelling(cli: Cli, files: list[Path]) -> None:
    words = [*files, "-m", "ndcg_cut_10", "-m", "P@{1,5} map", "--format", "json"]
    assert json.loads(cli(*words)[1])["measures"] == ["nDCG@10", "P@1", "P@5", "AP"]


def test_options_reach_the_comparison(cli: Cli, files: list[Path]) -> None:
    options = {"test": "sign", "correction": "bh", "level": 0.1, "interval": "bca", "draws": 500,
               "seed": 3}  # fmt: skip
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    told = json.loads(cli(*files, "-m", "RR P@2", *words, "--format", "json")[1])
    assert {name: told[name] for name in options} == options
    assert told["means"] == json.loads(compared(files, **options).to_json())["means"]


def test_a_margin_tells_what_is_equivalent(cli: Cli, files: list[Path]) -> None:
    pytest.importorskip("scipy")
    words = [*files, "-m", "RR", "--baseline", "old", "--margin", "0.6", "--format", "json"]
    pairs = json.loads(cli(*words)[1])["pairs"]
    assert [(each["system"], each["equivalent"]) for each in pairs] == [
        ("new", False),
        ("worse", True),
    ]


def test_ties_and_missing_reach_the_evaluation(cli: Cli, files: list[Path]) -> None:
    files[3].write_text("".join(f"{query} Q0 {document} 1 1 tag\n" for query in QUERIES[1:]
                                for document in ("bad", "good")))  # fmt: skip
    words = [*files, "-m", "RR", "--format", "json"]
    for options, mean in (
        (["--ties", "optimistic"], 11 / 12),
        (["--ties", "pessimistic"], 0.5 * 11 / 12),
        (["--ties", "expected", "--missing", "skip"], 0.75),
        (["--ties", "optimistic", "--missing", "zero"], 11 / 12),
    ):
        means = json.loads(cli(*words, *options)[1])["means"]
        told = {each["system"]: each["mean"] for each in means}
        assert told["worse"] == pytest.approx(mean, rel=1e-15), options


def test_standard_input_is_a_run(
    cli: Cli, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(files[2].read_bytes())))
    told = json.loads(cli(files[0], files[1], "-", "-m", "RR", "--format", "json")[1])
    assert [each["mean"] for each in told["means"]] == [0.5, 1.0]


# ---------------------------------------------------------------- the gate


def test_a_condition_that_holds_leaves_with_3(cli: Cli, files: list[Path], out: Path) -> None:
    words = [*files, "-m", "RR", "--baseline", "old"]
    path = out / "report.json"
    status, printed, said = cli(*words, "--fail-if", GATE, "--json", path)
    assert status == 3
    assert said.splitlines() == [
        f"irbatch: passed: new: RR +0.5000 (+100.0%) against old, p <0.001; not so: {GATE}",
        "irbatch: failed: worse: RR -0.2500 (-50.0%) against old, p <0.001",
    ]
    assert printed == cli(*words)[1], "the report is printed all the same"
    told = json.loads(path.read_text())
    assert told["baseline"] == "old", "and written"
    assert [each["passed"] for each in told["gates"]] == [True, False]
    failed = {"system": "worse", "condition": GATE, "value": -0.5, "limit": 0.01}
    assert failed.items() <= told["gates"][1].items()


def test_several_conditions(cli: Cli, files: list[Path]) -> None:
    words = ["--fail-if", "RR rises 0.4", "--fail-if", "RR rises 0.6", "--fail-if", "P@2 drops"]
    status, _, said = cli(*files, "-m", "RR P@2", "--baseline", "old", *words)
    assert status == 3
    failed = [line.split()[2:4] for line in said.splitlines() if "failed" in line]
    assert failed == [["new:", "RR"], ["worse:", "P@2"]]


@pytest.mark.parametrize(
    "condition", [GATE, "RR drops", "P@2 changes 1%", "RR rises 101%", "RR rises 0.51 p<0.05"]
)
def test_a_condition_that_does_not_hold(cli: Cli, files: list[Path], condition: str) -> None:
    words = ["-m", "RR P@2", "--baseline", "old", "--fail-if", condition]
    status, _, said = cli(*files[:3], *words)
    assert (status, said.endswith(f"; not so: {condition}\n")) == (0, True)


def test_a_condition_takes_the_corrected_p_value(cli: Cli, files: list[Path]) -> None:
    words = [*files, "-m", "RR", "--baseline", "old", "--fail-if", f"RR drops p<{P * 0.99:.9f}"]
    status, _, said = cli(*words)
    assert status == 2
    assert "can never hold" in said
    assert cli(*words, "--correction", "none")[0] == 3


# ---------------------------------------------------------------- options of eval, and of tables


def test_options_of_evaluation(cli: Cli, files: list[Path]) -> None:
    words = ["--rel", 2, "--max-depth", 3, "--judged-only", "--no-relevant", "skip", "--order-by",
             "rank", "--score-dtype", "float32", "--missing", "skip"]  # fmt: skip
    files[0].write_text("".join(f"{query} 0 good 2\n" for query in QUERIES))
    told = json.loads(cli(*files, "-m", "RR", "--format", "json", *words)[1])
    expected = irbatch.compare(files[0], files[1:], "RR", rel=2, max_depth=3, judged_only=True,
                               no_relevant="skip", order_by="rank", score_dtype="float32",
                               missing="skip")  # fmt: skip
    assert told == json.loads(expected.to_json())


@pytest.mark.parametrize("form", ["text", "markdown", "latex"])
def test_tables_with_intervals_and_digits(cli: Cli, files: list[Path], form: str) -> None:
    words = ["-m", "RR", "-m", "P@2", "--format", form, "--digits", 2, "--intervals"]
    expected = getattr(compared(files), f"to_{form}")(digits=2, intervals=True)
    assert cli(*files, *words)[1].rstrip("\n") == expected.rstrip("\n")


@pytest.mark.parametrize("form", ["csv", "json", "text"])
def test_power(cli: Cli, files: list[Path], form: str) -> None:
    pytest.importorskip("scipy")
    words = ["-m", "RR", "-m", "P@2", "--format", form, "--power"]
    expected = getattr(compared(files), f"to_{form}")(power=True)
    assert cli(*files, *words)[1].rstrip("\n") == expected.rstrip("\n")


def test_names_of_measures(cli: Cli, files: list[Path], out: Path) -> None:
    words = [*files, "-m", "nDCG@10", "--names", "trec_eval", "--baseline", "old"]
    told = json.loads(cli(*words, "--format", "json")[1])
    assert told["measures"] == ["ndcg_cut_10"]
    status, printed, said = cli(*words, "--html", out / "page", "--plot", out / "a.svg",
                                "--fail-if", "nDCG@10 drops")  # fmt: skip
    assert "ndcg_cut_10" in printed
    assert (status, "worse" in said) == (3, True)
    assert "ndcg_cut_10" in (out / "page").read_text()


def test_groups(cli: Cli, files: list[Path], out: Path) -> None:
    groups = {query: "long ones" if i % 2 else "short" for i, query in enumerate(QUERIES)}
    path = out / "groups"
    path.write_text("\ufeff" + "\n\n".join(f"{query}\t{group}" for query, group in groups.items()))
    words = [*files, "-m", "RR", "-m", "P@2", "--groups", path]
    assert cli(*words)[1].rstrip("\n") == compared(files, groups=groups).to_text().rstrip("\n")
    table = path.with_suffix(".csv")
    lines = (f'{query},"{group}"' for query, group in groups.items())
    table.write_text("\n".join(["query_id,group", *lines]))
    assert cli(*words[:-1], table)[1] == cli(*words)[1]
    for text, said in (
        ("q1", "line 1 (query 'q1'): a line is of a query and its group, not 'q1'"),
        ("q1 a\nq1 b", "line 2 (query 'q1'): is in group 'a' already"),
        (f"{QUERIES[0]} a", "it has no group"),
    ):
        path.write_text(text)
        status, printed, problem = cli(*words)
        assert (status, printed) == (2, "")
        assert said in problem
    path.write_bytes(b"q1 \xff\n")
    assert "is not UTF-8 text" in cli(*words)[2]
    assert "No such file" in cli(*words[:-1], out / "none")[2]


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--fail-if", "RR falls 1%"], "condition 'RR falls 1%' is not of the form 'nDCG@10 drops"),
        (["--fail-if", ""], "condition '' is not of the form"),
        (["--fail-if", GATE, "--fail-if", "RR"], "condition 'RR' is not of the form"),
        (["--fail-if", "nope@3 drops 1%"], "unknown measure 'nope@3'"),
        (["--fail-if", "P@{1,2} drops 1%"], "'P@{1,2}' stands for 2 measures"),
        (["--baseline", "older"], "baseline 'older' is none of 'old', 'new', 'worse'"),
        (["--baseline", ""], "baseline '' is none of 'old', 'new', 'worse'"),
        (["--baseline", "old.run"], "baseline 'old.run' is none of 'old', 'new', 'worse'"),
        (["--measure", "nope"], "unknown measure 'nope'"),
        (["--level", "1.5"], "level=1.5 must be above 0 and at most 0.5"),
        (["--level", "nan"], "level=nan must be above 0 and at most 0.5"),
        (["--draws", "0"], "--draws 0 must be a whole number of at least 1"),
        (["--seed", "-1"], "--seed -1 must be a whole number of at least 0"),
        (["--margin", "0"], "--margin 0.0 must be a number above 0"),
    ],
)
def test_bad_words_are_one_line_and_write_nothing(
    cli: Cli, files: list[Path], out: Path, words: list[str], said: str
) -> None:
    writing = [word for form in WRITTEN for word in (f"--{form}", out / form)]
    given = ["--baseline", "old", "-m", "RR", *writing, *words]
    status, printed, told = cli(*files, *given)
    assert (status, printed) == (2, "")
    assert told.startswith("irbatch: error: ")
    assert said in told
    assert len(told.splitlines()) == 1
    assert not listed(out)


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["--require", "RR >= 0.2"], 0, "irbatch: passed: new: RR is 1, >= 0.2\n"),
        (["--require", "missing queries <= 5"], 0, "new: missing queries is 0, <= 5\n"),
        (["--fail-if", "RR < 30%"], 3, "worse: RR is 0.25, < 0.3"),
        (["--fail-if", "latency_p95 > 50"], 2, "`irbatch leaderboard` takes latency_p95"),
        (["--require", "RR >= 0.3"], 3, "worse: RR is 0.25, not >= 0.3"),
        (["--fail-if", "RR < 0.3"], 3, "worse: RR is 0.25, < 0.3"),
        (["--require", "RR not worse than baseline by 95%"], 0, ""),
        (["--require", "RR not worse than old by 1%"], 3, "worse: RR -0.2500 (-50.0%) against old"),
        (["--fail-if", "RR worsens 1%", "--require", "RR >= 0.9"], 3, "worse: RR is 0.25, not"),
        (["--require", "RR drops"], 2, "is a condition to fail by"),
        (["--fail-if", "RR > 0.5"], 2, "is a requirement"),
        (["--fail-if", "in every group: RR drops"], 2, "needs --groups"),
        (["--require", "AP >= 0.5"], 2, "AP is not compared: add -m AP"),
        (["--groups", "nope.txt"], 2, "error: groups 'nope.txt': No such file"),
        (["--margin", "x"], 2, "margin='x' must be a number, or a share"),
    ],
    ids=str,
)
def test_requirements(
    cli: Cli, files: list[Path], words: list[str], status: int, said: str
) -> None:
    pytest.importorskip("scipy")
    found = cli(*files, "-m", "RR", "--baseline", "old", *words)
    assert found[0] == status
    assert said in found[2]
    assert bool(found[1]) == (status != 2)


def test_floors_need_no_baseline(cli: Cli, files: list[Path]) -> None:
    assert cli(*files, "-m", "RR", "--require", "RR >= 0.2")[0] == 0
    assert cli(*files, "-m", "RR", "--require", "RR not worse by 1%")[0] == 2


def test_gates_of_groups(cli: Cli, files: list[Path], tmp_path: Path) -> None:
    groups = tmp_path / "groups.txt"
    groups.write_text("".join(f"{query} {'ab'[k % 2]}\n" for k, query in enumerate(QUERIES)))
    words = [*files, "-m", "RR", "--baseline", "old", "--groups", groups]
    status, _, said = cli(*words, "--fail-if", "in every group: RR worsens")
    assert status == 3
    failed = [line.split()[3] for line in said.splitlines() if "failed" in line]
    assert failed == ["a:", "b:"]
    assert cli(*words, "--fail-if", "in c: RR worsens")[0] == 2


def test_new_options_are_the_comparisons_own(cli: Cli, files: list[Path]) -> None:
    pytest.importorskip("scipy")
    words = ["--alternative", "less", "--family", "all", "--margin", "1%", "--margin-test",
             "randomisation", "--pairs", "--judged"]  # fmt: skip
    printed = cli(*files, "-m", "RR", "-m", "P@2", "--baseline", "old", *words)[1]
    found = compared(files, baseline="old", alternative="less", family="all", margin="1%",
                     margin_test="randomisation")  # fmt: skip
    assert printed == found.to_text(pairs=True, judged=True)
    assert cli(*files, "--pairs", "--format", "csv")[0] == 2


@pytest.mark.parametrize(
    "words",
    [
        ["--test", "f"], ["--correction", "sidak"], ["--interval", "z"], ["--format", "xml"],
        ["--ties", "coin"], ["--missing", "guess"], ["--draws", "1.5"], ["--level", "five"],
        ["--html"], ["--wrong"], ["--alternative", "more"], ["--family", "measures"],
        ["--margin-test", "sign"],
    ],
)  # fmt: skip
def test_unknown_words_leave_with_2(cli: Cli, files: list[Path], words: list[str]) -> None:
    status, printed, said = cli(*files, *words)
    assert (status, printed) == (2, "")
    assert said.startswith("usage: irbatch compare")
    assert words[0] in said.splitlines()[-1]


def test_a_condition_is_refused_before_anything_is_read(cli: Cli, out: Path) -> None:
    absent = [out / "qrels", out / "a.run", out / "b.run"]
    assert "is not of the form" in cli(*absent, "--baseline", "a", "--fail-if", "RR")[2]
    status, _, said = cli(*absent, "--fail-if", GATE)
    assert (status, said) == (2, "irbatch: error: baseline: --fail-if needs --baseline\n")


def test_bad_files_leave_with_2(cli: Cli, files: list[Path], out: Path) -> None:
    bad = out / "bad.run"
    bad.write_text("q0 Q0 good 1 abc x\n")
    for given, said in (
        ([files[0], files[1]], "a comparison is of two systems or more, not 1"),
        ([files[0], files[1], files[1]], "this file is given twice"),
        ([files[0], files[1], bad], "score 'abc' is not a number"),
        ([files[0], files[1], out / "none.run"], "none.run"),
        ([files[1], files[2], files[3]], "is this a run file?"),
        ([files[0], files[1], files[0]], "is this a qrels file?"),
    ):
        status, printed, told = cli(*given, "-m", "RR")
        assert (status, printed) == (2, "")
        assert said in told
        assert "Traceback" not in told


def test_latex_as_a_paper_wants_it(cli: Cli, files: list[Path], out: Path) -> None:
    words = [*files[:3], "-m", "AP", "--baseline", files[1].stem, "--draws", 100]
    paper = ["--caption", "Ours & theirs.", "--label", "tab:mine", "--environment", "table*",
             "--daggers"]  # fmt: skip
    found = irbatch.compare(files[0], files[1:3], "AP", baseline=files[1].stem, draws=100)
    wanted = found.to_latex(caption="Ours & theirs.", label="tab:mine", environment="table*",
                            daggers=True)  # fmt: skip
    assert cli(*words, *paper, "--format", "latex")[1] == wanted
    cli(*words, *paper, "--latex", out / "x.tex")
    assert (out / "x.tex").read_text(encoding="utf-8") == wanted
    status, printed, said = cli(*words, *paper)
    assert (status, printed) == (2, "")
    assert "--caption is for latex" in said


# ---------------------------------------------------------------- notes, names, help


def test_missing_queries_are_noted(cli: Cli, files: list[Path]) -> None:
    files[2].write_text(ranking(1, QUERIES[2:]))
    words = [*files, "-m", "RR", "--baseline", "old"]
    status, printed, said = cli(*words, "--missing", "skip")
    assert (status, said) == (0, "note: new: 2 queries missing, left out of all\n")
    assert printed.startswith("2 systems against old, 10 queries;")
    assert cli(*words)[1].startswith("2 systems against old, 12 queries;"), "0 unless skipped"
    status, printed, said = cli(*words, "--missing", "error")
    assert (status, printed) == (2, "")
    assert "2 of 12 judged queries are missing" in said


def test_standard_input_cannot_be_both(cli: Cli, files: list[Path]) -> None:
    status, out, err = cli("-", "-", files[1])
    assert (status, out) == (2, "")
    assert "standard input cannot be both qrels and run" in err


def test_notes_do_not_fail_a_gate(cli: Cli, files: list[Path]) -> None:
    files[2].write_text(ranking(1, QUERIES[2:]))
    words = ["-m", "RR", "--baseline", "old", "--missing", "skip", "--fail-if", GATE]
    assert cli(*files[:3], *words)[0] == 0
    assert cli(*files[:3], "-m", "RR", "--baseline", "old", "--fail-if", "RR rises")[0] == 3


def test_names_of_files_in_different_folders(cli: Cli, files: list[Path], out: Path) -> None:
    other = out / "old.run"
    other.write_text(ranking(4))
    words = [files[0], files[1], other, "-m", "RR", "--format", "json"]
    assert json.loads(cli(*words)[1])["systems"] == [str(files[1]), str(other)]
    assert cli(*words, "--baseline", files[1], "--fail-if", GATE)[0] == 3
    assert cli(*words, "--baseline", "old")[0] == 2


def test_missing_queries_that_count_zero_are_noted(cli: Cli, files: list[Path]) -> None:
    files[2].write_text(ranking(1, QUERIES[2:]))
    said = cli(*files, "-m", "RR")[2]
    assert "new: 2 queries missing" in said
