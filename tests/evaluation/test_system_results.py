"""What evaluate_runs returns: a dict of results, and a table of them in every form."""

from __future__ import annotations

import copy
import csv
import io
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.comparisons import no_constant

import irbatch
from irbatch import InputError, define_measure
from irbatch.evaluation import SystemResults

QRELS = {"q1": {"d1": 1, "d2": 2}, "q2": {"d3": 1}, "q3": {"d4": 0}}
RUNS = {
    "bm25": {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d5": 2.0, "d3": 1.0}, "q9": {"d1": 1.0}},
    "dense": {"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d3": 2.0}, "q3": {"d4": 1.0}},
}
PEOPLES: dict[str, Callable[..., str]] = {
    name: getattr(SystemResults, f"to_{name}") for name in ("text", "markdown", "latex", "html")
}
FORMATS = PEOPLES | {name: getattr(SystemResults, f"to_{name}") for name in ("csv", "json")}


@pytest.fixture
def two() -> SystemResults:
    return irbatch.evaluate_runs(QRELS, RUNS, "RR nDCG@10 NumRelRet")


def test_it_is_a_dict(two: SystemResults) -> None:
    assert isinstance(two, dict)
    assert list(two) == ["bm25", "dense"]
    assert (len(two), "bm25" in two, "x" in two, two.get("x")) == (2, True, False, None)
    assert [name for name, each in two.items() if each["RR"] > 0.6] == ["dense"]
    assert two == {"bm25": two["bm25"], "dense": two["dense"]}
    assert two != {"bm25": two["bm25"]}
    assert type({**two}) is dict
    two["third"] = two.pop("bm25")
    assert list(two) == ["dense", "third"]


def test_it_is_copied_and_pickled_with_what_it_holds(two: SystemResults) -> None:
    for again in (pickle.loads(pickle.dumps(two)), copy.deepcopy(two), copy.copy(two)):
        assert type(again) is SystemResults
        assert again.to_json(per_query=True) == two.to_json(per_query=True)
    assert copy.copy(two) == two


def test_systems_are_sorted_where_asked(two: SystemResults) -> None:
    for sort in ("MRR", irbatch.measure("nDCG@10")):
        lines = two.to_markdown(sort=sort).splitlines()
        rows = [line.split("|")[1].strip() for line in lines if "|" in line]
        assert [name for name in rows if name in two] == ["dense", "bm25"]
    assert list(two) == ["bm25", "dense"]
    with pytest.raises(InputError, match="AP was not evaluated"):
        two.to_latex(sort="AP")


def test_text(two: SystemResults) -> None:
    assert str(two) == (
        "2 systems, 3 queries. bm25: 1 query missing from the run. bm25: 1 query only in the run, "
        "ignored. 1 query without relevant documents.\n\n"
        "*: the best of its column.\n\n"
        "run         RR  nDCG@10  NumRelRet\n"
        "-----  -------  -------  ---------\n"
        "bm25    0.5000   0.4969          3\n"
        "dense  *0.6667  *0.6667          3\n\n"
        f"{two['dense'].signature}\n"
    )
    assert repr(two) + "\n" == str(two) == two.to_text()
    assert "\x1b[1m0.6667\x1b[0m" in two.to_text(ansi=True)
    assert max(map(len, two.to_text(width=20).split("\n\n")[3].splitlines())) <= 20


def test_latex(two: SystemResults) -> None:
    lines = [line.strip() for line in two.to_latex(label="tab:x").splitlines()]
    assert lines[4].startswith(r"\caption{2 systems, 3 queries. bm25: 1 query missing from the")
    assert lines[-7:-3] == [
        r"Run & RR & nDCG@10 & NumRelRet \\",
        r"\midrule",
        r"bm25 & 0.5000 & 0.4969 & 3 \\",
        r"dense & \textbf{0.6667} & \textbf{0.6667} & 3 \\",
    ]
    text = two.to_latex(caption="Ours.", digits=1, environment="table*")
    assert r"\caption{Ours. Bold: the best of its column." in text
    assert r"Run & RR & nDCG@10 &" in text
    assert text.count(r"{table*}") == 2
    assert r"dense & \textbf{0.7}" in text


def test_the_best_is_the_least_where_less_is_better() -> None:
    """Of counts there is none, nor where neither more nor less is better."""

    @define_measure("Length", definition="how many documents", better="neither", range=(0, 9))
    def length(stats: Any) -> Any:
        return stats.retrieved * 1.0

    qrels = {"q1": {"d1": 1}}
    runs = {"good": {"q1": {"d1": 2.0}}, "bad": {"q1": {"d2": 2.0, "d1": 1.0}}}
    found = irbatch.evaluate_runs(qrels, runs, ["FirstRank", "RR", "NumRet", "Length"])
    assert found.to_markdown().splitlines()[:4] == [
        "| run | FirstRank | RR | NumRet | Length |",
        "|---|--:|--:|--:|--:|",
        "| good | **1.0000** | **1.0000** | 1 | 1.0000 |",
        "| bad | 2.0000 | 0.5000 | 2 | 2.0000 |",
    ]


def test_of_equals_all_are_best_and_of_one_none() -> None:
    alike = irbatch.evaluate_runs(QRELS, {"a": RUNS["bm25"], "b": RUNS["bm25"]}, "RR")
    assert alike.to_markdown().count("**0.5000**") == 2
    one = irbatch.evaluate_runs(QRELS, {"a": RUNS["bm25"]}, "RR")
    for form in FORMATS.values():
        assert "best" not in form(one)
        assert "0.5" in form(one)


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html"])
def test_means_come_with_intervals_on_request(form: str, two: SystemResults) -> None:
    for results in (two, next(iter(two.values()))):
        bounds = next(iter(two.values())).intervals()
        shown = [f"[{low:.4f}, {high:.4f}]" for low, high in bounds.values() if low == low]
        with_bounds = getattr(results, f"to_{form}")(intervals=True)
        assert "In brackets: 95% intervals, which of fewer than 50" in with_bounds.replace(
            r"\%", "%"
        )
        for bound in [each.strip("[]") for each in shown]:
            assert bound in with_bounds, bound
            assert bound not in getattr(results, f"to_{form}")()


def test_what_is_relevant_is_told_under_any_caption() -> None:
    for results in (
        irbatch.evaluate_runs(QRELS, RUNS, "AP", rel=2),
        irbatch.evaluate(QRELS, RUNS["bm25"], "AP", rel=2),
    ):
        assert "Relevant from grade 2." in results.to_text()
        caption = r"\caption{Ours. Relevant from grade 2. In brackets: 95\% intervals, which"
        assert caption in results.to_latex(caption="Ours", intervals=True)


def test_intervals_for_programs(two: SystemResults) -> None:
    for name, results in two.items():
        bounds = {of: list(ends) for of, ends in results.intervals().items() if ends[0] == ends[0]}
        saved = json.loads(two.to_json(intervals=True))[name]["intervals"]
        assert {of: ends for of, ends in saved.items() if ends[0] is not None} == bounds
        rows = list(csv.DictReader(io.StringIO(two.to_csv(intervals=True, per_query=True))))
        told = {row["measure"]: [float(row["low"]), float(row["high"])] for row in rows
                if (row["run"], row["query"]) == (name, "all")}  # fmt: skip
        assert {of: ends for of, ends in told.items() if ends[0] == ends[0]} == bounds
        assert all(row["low"] == "" for row in rows if row["query"] != "all")
    again = SystemResults.from_json(two.to_json(intervals=True))
    assert again.to_json() == two.to_json()


def test_what_a_system_lacks_is_left_open(two: SystemResults) -> None:
    two["other"] = irbatch.evaluate(QRELS, RUNS["bm25"], "RR AP", judged_only=True)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]]
            for line in two.to_markdown().splitlines()[:5]]  # fmt: skip
    assert rows[0] == ["run", "RR", "nDCG@10", "NumRelRet", "AP"]
    assert rows[2][4] == rows[3][4] == rows[4][2] == "–"
    assert "unjudged documents" not in two.to_text().splitlines()[-1], "which differs"
    assert "relevant: grade" in two.to_text().splitlines()[-1]
    assert "| other | q1 | 1.0000 | – | – |" in two.to_markdown(per_query=True)


def test_nothing_is_a_table_too() -> None:
    empty = SystemResults()
    for form in FORMATS.values():
        assert form(empty)
    assert empty.to_csv() == "run,query,measure,value\n"
    assert json.loads(empty.to_json()) == {}


def test_values_of_queries_stand_before_their_mean(two: SystemResults) -> None:
    lines = [line.split() for line in two.to_text(per_query=True, digits=2).splitlines()]
    assert [line for line in lines if line[:1] == ["bm25"]] == [
        ["bm25", "q1", "1.00", "0.86", "2"],
        ["bm25", "q2", "0.50", "0.63", "1"],
        ["bm25", "q3", "0.00", "0.00", "0"],
        ["bm25", "all", "0.50", "0.50", "3"],
    ]


def test_csv_has_every_digit(two: SystemResults) -> None:
    rows = list(csv.DictReader(io.StringIO(two.to_csv())))
    assert list(rows[0]) == ["run", "query", "measure", "value"]
    assert {(row["run"], row["measure"]): float(row["value"]) for row in rows} == {
        (name, measure): value for name, each in two.items() for measure, value in each.items()
    }
    rows = list(csv.DictReader(io.StringIO(two.to_csv(per_query=True, names="trec_eval"))))
    assert len(rows) == 2 * 4 * 3
    assert {row["measure"] for row in rows} == {"recip_rank", "ndcg_cut_10", "num_rel_ret"}


def test_json_has_everything(two: SystemResults) -> None:
    read = json.loads(two.to_json(), parse_constant=no_constant)
    assert read["dense"] == {
        "name": "dense",
        "settings": two["dense"].settings,
        "counts": two["dense"].counts._asdict(),
        "mean": two["dense"].mean(),
    }
    assert json.loads(two.to_json(per_query=True))["bm25"]["per_query"] == two["bm25"].to_dict()
    assert two.to_dict() == {name: each.to_dict() for name, each in two.items()}


def test_json_comes_back(two: SystemResults, tmp_path: Path) -> None:
    again = SystemResults.from_json(two.to_json(per_query=True))
    assert again.to_text() == two.to_text()
    assert again.to_json(per_query=True) == two.to_json(per_query=True)
    means = SystemResults.from_json(two.to_json())
    assert means["dense"].mean() == two["dense"].mean()
    with pytest.raises(InputError, match="means alone"):
        means["dense"].per_query("RR")
    with pytest.raises(InputError, match="of 2 systems, not of one"):
        irbatch.Results.from_json(two.to_json())
    two["dense"].to_json(tmp_path / "dense.json")
    found = irbatch.compare(QRELS, {"old": tmp_path / "dense.json", "new": RUNS["bm25"]}, "RR")
    assert found.difference("new", "old", "RR").difference == two["bm25"]["RR"] - two["dense"]["RR"]


def test_frames(two: SystemResults) -> None:
    pytest.importorskip("pandas")
    frame = two.to_pandas()
    assert list(frame.index) == list(two)
    assert frame.index.name == "run"
    assert frame.loc["dense"].to_dict() == two["dense"].mean()
    frame = two.to_pandas(per_query=True, names="trec_eval")
    assert frame.loc[("bm25", "q2"), "recip_rank"] == 0.5
    assert len(frame) == 6
    assert frame.index.names == ["run", "query"]


@pytest.mark.parametrize("form", PEOPLES)
def test_options_of_people(form: str, two: SystemResults) -> None:
    assert "0.66666667" in FORMATS[form](two, digits=8)
    assert "recip" in FORMATS[form](two, names="trec_eval")
    with pytest.raises(InputError, match="names='nobody'"):
        FORMATS[form](two, names="nobody")


@pytest.mark.parametrize("form", PEOPLES)
def test_means_over_different_queries_have_no_best(form: str) -> None:
    run = {"d1": 1.0}
    apart = {"a": {"q1": run, "q2": run}, "b": {"q2": run, "q3": run}}
    results = irbatch.evaluate_runs(QRELS, apart, "RR", missing="skip")
    caption = {"caption": "Ours"} if form == "latex" else {}
    text = " ".join(PEOPLES[form](results, **caption).split())
    assert "Means over different queries, 2 a system, 1 in all of them: none is marked" in text
    assert "best of its column" not in text
    turned = {"a": apart["a"], "b": dict(reversed(apart["a"].items()))}
    same = irbatch.evaluate_runs(QRELS, turned, "RR", missing="skip")
    same["b"] = irbatch.evaluate(dict(reversed(QRELS.items())), turned["b"], "RR", missing="skip")
    assert "different queries" not in PEOPLES[form](same)
    assert "best of its column" in PEOPLES[form](same)
