"""Why systems differ: ranks and values are those of the evaluation, and additions add up."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle.explaining import moved, ranking_of, terms, where
from support.pages import Page
from support.random_problems import nasty_problems

import irbatch
from irbatch import InputError, Qrels, Run, explain
from irbatch.comparing.explain import SUMS, rank_documents
from irbatch.evaluation.settings import Settings
from irbatch.pack.join import pack_run

QRELS = {
    "same": {"a": 1},
    "worse": {"a": 2, "b": 1, "c": 0, "d": 1},
    "better": {"a": 1},
    "gone": {"a": 1},
}
OLD = {
    "same": {"a": 1.0},
    "worse": {"a": 4.0, "x": 3.0, "b": 2.0},
    "better": {"x": 2.0, "a": 1.0},
    "gone": {"a": 1.0},
}
NEW = {"same": {"a": 1.0}, "worse": {"x": 4.0, "a": 3.0, "c": 2.0}, "better": {"a": 2.0}}


def problems(count: int = 10) -> list[tuple[Any, Any, Any]]:
    """Judgments of small grades, and two runs that share some documents, with ties."""
    draw = random.Random(11)
    found = []
    for _ in range(count):
        queries = [f"q{i}" for i in range(draw.randint(1, 4))]
        qrels = {q: {f"d{i}": draw.choice((-1, 0, 0, 1, 2, 3)) for i in draw.sample(range(30), 12)}
                 for q in queries}  # fmt: skip
        runs = [
            {q: {f"d{i}": draw.choice((0.5, 0.5 + 1e-9, draw.random()))
                 for i in draw.sample(range(30), draw.randint(1, 20))}
             for q in queries if q == "q0" or draw.random() < 0.9}
            for _ in range(2)
        ]  # fmt: skip
        found.append((qrels, *runs))
    return found


SETTINGS: list[dict[str, Any]] = [
    {},
    {"score_dtype": "float32"},
    {"max_depth": 7},
    {"judged_only": True, "max_depth": 12},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("measure", ["nDCG@5", "AP(rel=2)", "RR@3"])
def test_ranks_and_values_are_those_of_the_evaluation(
    measure: str, settings: dict[str, Any]
) -> None:
    k = irbatch.measure(measure).cutoff
    least = 2 if "rel" in measure else 1
    for qrels, *runs in problems():
        found = explain(qrels, *runs, measure, queries=list(qrels), depth=6, **settings)
        results = [irbatch.evaluate(qrels, run, measure, **settings) for run in runs]
        assert found.means == tuple(each[measure] for each in results)
        for each in found.queries:
            grades = qrels[each.query]
            assert each.values == tuple(r.per_query(measure)[each.query] for r in results)
            assert each.difference == each.values[1] - each.values[0]
            rankings = [ranking_of(run.get(each.query, {}), grades, **settings) for run in runs]
            assert each.relevant == sum(grade >= least for grade in grades.values())
            for side, ranking in enumerate(rankings):
                ranked = {row.ranks[side]: row.document for row in each.documents}
                assert [ranked[k] for k in range(1, min(len(ranking), 6) + 1)] == ranking[:6]
                holes = sum(d not in grades for d in ranking[: k or 6])
                assert each.unjudged[side] == holes
            wanted = {d for d, grade in grades.items() if grade >= least}
            wanted |= {d for ranking in rankings for d in ranking[:6]}
            assert sorted(row.document for row in each.documents) == sorted(wanted)
            for row in each.documents:
                ranks = [where(row.document, ranking) for ranking in rankings]
                assert row.grade == grades.get(row.document)
                assert row.ranks == tuple(ranks)
                assert row.moved == moved(*ranks, k)


@pytest.mark.parametrize("name", sorted(SUMS))
@pytest.mark.parametrize("cutoff", [5, None])
def test_what_documents_add_is_the_definitions_terms(name: str, cutoff: int | None) -> None:
    wanted = irbatch.measure(name)
    if cutoff is not None:
        if not wanted.declaration.takes_cutoff:
            pytest.skip("it takes no cutoff")
        wanted = wanted @ cutoff
    for qrels, *runs in problems(6):
        found = explain(qrels, *runs, wanted, queries=list(qrels), depth=30)
        assert found.adds
        for each in found.queries:
            grades = qrels[each.query]
            for side, run in enumerate(runs):
                ranking = ranking_of(run.get(each.query, {}), grades)
                labels = [grades.get(d) for d in ranking]
                steps = terms(name, labels, list(grades.values()), cutoff)
                expected = dict(zip(ranking, steps, strict=True))
                added = {row.document: row.adds[side] for row in each.documents if row.adds}
                for document, value in added.items():
                    assert value == pytest.approx(expected.get(document, 0.0), abs=1e-12)
                assert sum(added.values()) == pytest.approx(each.values[side], abs=1e-12)


@pytest.mark.parametrize(
    "name",
    ["nDCG(gain=exp,discount=jk2)@7", "nDCG(gain={1:3,3:9})", "DCG(gain=binary)",
     "AP(rel=2,norm=min)@4", "RBP(p=0.5,max_grade=4)", "ERR(max_grade=3,gain=linear)@5",
     "P(norm=retrieved)@8"],
)  # fmt: skip
def test_additions_add_up_whatever_the_parameters(name: str) -> None:
    for qrels, *runs in problems(5):
        for each in explain(qrels, *runs, name, queries=list(qrels), depth=30).queries:
            for side in (0, 1):
                added = sum(row.adds[side] for row in each.documents if row.adds)
                assert added == pytest.approx(each.values[side], abs=1e-12)


@pytest.mark.parametrize("name", ["AP(norm=found)", "YAAP", "IPrec@0.2", "F@5", "AUC"])
def test_no_additions_are_said_of_what_is_no_sum(name: str) -> None:
    found = explain(QRELS, OLD, NEW, name, missing="skip")
    assert not found.adds
    assert all(row.adds is None for each in found.queries for row in each.documents)
    assert "grows by" not in str(found)


@pytest.mark.parametrize("ties", ["id", "id_ascending", "index", "pessimistic", "optimistic"])
def test_orders_are_those_of_the_join(ties: str) -> None:
    settings = Settings.choose(ties=ties)
    for judgments, scored in nasty_problems(3, 20):
        qrels, run = Qrels(judgments), Run(scored)
        rows = np.arange(len(qrels))
        for block in pack_run(qrels, run, rows, settings.ordering):
            for row, codes in zip(block.rows.tolist(), block.matrix.codes, strict=True):
                documents, found = rank_documents(qrels, row, run, settings)
                levels = np.append(qrels.levels, [-2.0, -1.0])  # negative, unjudged
                joined = np.append(block.matrix.levels, [-2.0, -1.0])
                size = len(documents)
                assert levels[found].tolist() == joined[codes[:size]].tolist()


def test_queries_that_changed_the_most_stand_worst_first() -> None:
    found = explain(QRELS, OLD, NEW, "AP")
    assert (found.systems, found.worse, found.better, found.same) == (("A", "B"), 2, 1, 1)
    assert [each.query for each in found.queries] == ["gone", "worse", "better"]
    assert [each.query for each in explain(QRELS, OLD, NEW, "AP", most=1).queries] == ["gone"]
    asked = explain(QRELS, OLD, NEW, "AP", queries=["same", "better"])
    assert [each.query for each in asked.queries] == ["same", "better"]
    worse = found.queries[1]
    assert [(row.document, row.ranks, row.moved) for row in worse.documents] == [
        ("b", (3, None), "lost"), ("a", (1, 2), "down"), ("d", (None, None), "missed"),
        ("x", (2, 1), "up"), ("c", (None, 3), "new"),
    ]  # fmt: skip


def test_what_is_printed() -> None:
    text = explain(QRELS, Run(OLD, "old"), Run(NEW, "new"), "AP", queries=["worse"]).to_text()
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "worse 0.5556 0.1667 -0.3889 3 1/1" in lines
    assert lines[-7:-2] == [
        "b *1 3 +0.2222 – lost -0.2222",
        "a *2 1 +0.3333 2 +0.1667 ↓ down -0.1667",
        "d *1 – – missed 0.0000",
        "x – 2 1 ↑ up –",
        "c 0 – 3 new 0.0000",
    ]


def test_a_query_without_a_ranking_is_missing() -> None:
    found = explain(QRELS, OLD, NEW, "AP", queries=["gone"])
    assert found.queries[0].missing == (False, True)
    lines = [line.split() for line in str(found).splitlines()]
    (line,) = [line for line in lines if line[:1] == ["gone"] and len(line) > 1]
    assert line[2:4] == ["missing", f"{-found.queries[0].values[0]:+.4f}"]
    assert found.to_csv().splitlines()[1].split(",")[2] == "0.0"


def test_lower_may_be_better() -> None:
    found = explain(QRELS, OLD, NEW, "FirstRank")
    assert (found.sign, found.worse, found.better) == (-1, 1, 1)
    assert "lower is better" in str(found)
    assert [each.query for each in found.queries] == ["worse", "better"]


def test_rounding_is_no_change() -> None:
    """The same gains in another order of sums."""
    qrels = {"q": {f"d{i}": i for i in (1, 2, 3)}}
    first, second = ({"q": {f"d{i}": sign * i for i in (1, 2, 3)}} for sign in (1.0, -1.0))
    found = explain(qrels, first, second, "CG(gain={1:0.1,2:0.2,3:0.3})")
    assert found.means[0] != found.means[1]
    assert (found.worse, found.better, found.same, found.queries) == (0, 0, 1, ())
    assert "shown: none" in str(found)
    assert found.to_html()


def test_what_documents_add_is_not_changed_by_rounding() -> None:
    """A document that stays where it is adds the same, whatever the sum above it."""
    qrels = {"q": {f"d{i}": 1 + i % 3 for i in range(12)}}
    old = {"q": {f"d{i}": 12.0 - i for i in range(12)}}
    new = {"q": {**old["q"], "d0": 11.0, "d1": 12.0}}
    (query,) = explain(qrels, old, new, "nDCG(gain=exp)").queries
    assert [each.document for each in query.documents if each.change] == ["d0", "d1"]
    assert [each.document for each in query.documents][:2] == ["d0", "d1"]


def test_queries_of_one_system_only() -> None:
    found = explain(QRELS, OLD, NEW, "AP", missing="skip")
    assert found.worse + found.better + found.same == 3
    with pytest.raises(InputError, match=r"query 'gone'\): this query has no values with both"):
        explain(QRELS, OLD, NEW, "AP", missing="skip", queries=["gone"])
    with pytest.raises(InputError, match="no query has a value with both systems"):
        explain({"q": {"a": 0}}, {"q": {"a": 1}}, {"q": {"a": 1}}, "AP", no_relevant="skip")
    # Of relevant documents alone there is no AUC.
    qrels, old = {"q": {"a": 1}, "p": {"a": 1}}, {"q": {"a": 2, "b": 1}, "p": {"a": 1}}
    found = explain(qrels, old, {"q": {"b": 2, "a": 1}, "p": {"b": 2, "a": 1}}, "AUC",
                    no_relevant="skip")  # fmt: skip
    assert [each.query for each in found.queries] == ["q"]


def test_ids_that_are_numbers(tmp_path: Path) -> None:
    topics = tmp_path / "topics.tsv"
    topics.write_text("1\tone\n")
    found = explain({1: {7: 1}}, {1: {7: 1.0, 8: 0.5}}, {1: {8: 1.0, 7: 0.5}}, "RR",
                    documents={7: {"text": "seven"}}, topics=topics)  # fmt: skip
    (query,) = found.queries
    assert (query.query, query.text, query.documents[0].text) == (1, "one", "seven")
    assert [each.ranks for each in query.documents] == [(1, 2), (2, 1)]


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"measure": "alpha_nDCG@10"}, "alpha_nDCG@10 reads subtopics: measures that read grades"),
        ({"measure": "xInfAP"}, "xInfAP reads strata"),
        ({"measure": "ILD@10"}, "ILD@10 reads items"),
        ({"measure": "Gini@10"}, "Gini@10 reads items"),
        ({"measure": "P@5 AP"}, "one measure is explained, not 2"),
        ({"measure": "nDGC@10"}, "unknown measure"),
        ({"ties": "expected"}, "no ranks to be shown"),
        ({"ties": "error"}, "share the score"),
        ({"most": 0}, "most=0 must be a whole number"),
        ({"most": 2.5}, "most=2.5 must be"),
        ({"queries": "q1"}, "queries are a list of ids, not 'q1'"),
        ({"queries": 5}, "queries are a list of ids, not 5"),
        ({"queries": [["q1"]]}, "queries are a list of ids, not "),
        ({"queries": ["q1"]}, r"\(query 'q1'\): this query has no values"),
        ({"depth": 0}, "depth=0 must be"),
        ({"depth": 2.5}, "depth=2.5 must be"),
        ({"order_by": "rank"}, "order_by= is for files"),
        ({"topics": ["q1"]}, "topics are a mapping of ids to texts, or a file, not a list"),
        ({"topics": {"gone": 7}}, "topics: 'text' is 7, not text"),
        ({"documents": {"a": {"title": "x"}}}, "documents: 'text' is None, not text"),
        ({"rel": -1}, "rel=-1 must be"),
    ],
    ids=str,
)  # fmt: skip
def test_refused(arguments: dict[str, Any], what: str) -> None:
    tied = {**OLD, "worse": {"a": 1.0, "c": 1.0}}
    run = tied if arguments.get("ties") == "error" else OLD
    with pytest.raises(InputError, match=what):
        explain(QRELS, run, NEW, **{"measure": "AP", **arguments})


def test_texts_that_nothing_has_are_a_warning() -> None:
    with pytest.warns(irbatch.InputWarning, match="topics: none of 3 has a text.*'gone'"):
        explain(QRELS, OLD, NEW, "AP", topics={"q1": "text"})


def test_long_lists_are_cut() -> None:
    """Text of many queries has those documents of each that changed the value most."""
    qrels = {f"q{i}": {f"d{k:03}": 1 for k in range(80)} for i in range(4)}
    old = {query: {f"d{k:03}": 80.0 - k for k in range(80)} for query in qrels}
    found = explain(qrels, old, {query: {"d079": 1.0} for query in qrels}, "DCG")
    assert all(len(query.documents) == 80 for query in found.queries)
    listed = [line.split()[0] for line in str(found).splitlines() if line.startswith("d0")]
    assert listed == ["d000", "d001", "d002", "d003", "d079"] * 4
    assert "no more than 5 documents; HTML shows more" in str(found)
    assert found.to_markdown().count("| **1** |") == 4 * 50


def test_json_has_everything() -> None:
    found = json.loads(explain(QRELS, OLD, NEW, "AP").to_json())
    assert found["systems"] == ["A", "B"]
    assert found["queries"][1]["documents"][0] == {
        "document": "b", "grade": 1.0, "ranks": [3, None], "moved": "lost",
        "adds": [pytest.approx(2 / 9), 0.0], "text": None,
    }  # fmt: skip


# The page, in a browser: a click opens a query, with its documents, without the script, too.

PAGE_QRELS = {f"q{i}": {f"d{k}": k % 5 for k in range(8)} for i in range(3)}
PAGE_OLD = {query: {f"d{k}": 9.0 - k for k in range(12)} for query in PAGE_QRELS}
PAGE_NEW = {
    query: {f"d{(k * 5 + i) % 12}": 9.0 - k for k in range(12)}
    for i, query in enumerate(PAGE_QRELS)
}
TEXTS = {f"d{k}": f"the text of document {k} " * 20 for k in range(12)}

# Clicks on the second query, and tells what of the page is seen.
CLICK = """
const every = [...document.querySelectorAll("details")];
const seen = (each) => each.checkVisibility();
const before = every.map((each) => seen(each.querySelector("table")));
const summary = every[1].querySelector("summary");
summary.click();
summary.focus();
const cells = [...every[1].querySelector("table").tBodies[0].rows[0].cells];
const boxes = cells.map((each) => each.getBoundingClientRect());
return {
  before, after: every.map((each) => seen(each.querySelector("table"))),
  focus: document.activeElement === summary,
  row: cells.map((each) => each.innerText),
  beside: boxes[2].right <= boxes[3].left + 1 && boxes[2].top === boxes[3].top,
  inside: boxes[3].right <= innerWidth,
  overflow: document.documentElement.scrollWidth - innerWidth,
};
"""


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def load(page: Path, *options: str) -> tuple[str, str]:
    """Return a page's elements as HTML after it was loaded, and what the browser complained of."""
    if CHROMIUM is None:
        pytest.skip("no chromium here")
    words = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0"]
    words += [f"--user-data-dir={page.parent / 'profile'}", "--dump-dom", *options, page.as_uri()]
    done = subprocess.run([CHROMIUM, *words], capture_output=True, text=True, timeout=300)
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, "\n".join(said)


def answer(page: Path, source: str, script: str, width: int) -> Any:
    """Return what a function's body returns in a page, whose policy would not let it run."""
    code = f"document.title = JSON.stringify((() => {{{script}}})());"
    allowed = re.sub('<meta http-equiv="Content-Security-Policy"[^>]*>', "", source)
    page.write_text(allowed.replace("</body>", f"<script>{code}</script></body>"))
    elements, said = load(page, f"--window-size={width},900")
    assert not said
    (title,) = re.findall("<title>(.*?)</title>", elements, re.S)
    return json.loads(unescape(title))


@pytest.fixture(scope="module")
def source() -> str:
    runs = Run(PAGE_OLD, "old"), Run(PAGE_NEW, "new")
    return explain(
        PAGE_QRELS, *runs, depth=12, topics={"q1": "a question"}, documents=TEXTS
    ).to_html()


def test_what_the_page_holds(source: str) -> None:
    page = Page(source)
    assert [text.split()[0] for _, text in page.of("summary")] == ["q0", "q1", "q2"]
    assert all(not attrs for attrs, _ in page.of("details")), "closed"
    assert "a question" in page.of("summary")[1][1]
    assert {text for _, text in page.of("strong")} >= {"1", "2", "3", "4"}, "relevant grades"


def test_the_page_and_its_script_run_under_its_policy(source: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(source)
    elements, said = load(page)
    assert not said
    assert elements.count("<button") == len(Page(source).of("th")), "what sorts"


@pytest.mark.parametrize("width", [1200, 500])
def test_a_click_opens_a_query(source: str, tmp_path: Path, width: int) -> None:
    found = answer(tmp_path / "page.html", source, CLICK, width)
    assert found["before"] == [False, False, False]
    assert found["after"] == [False, True, False]
    assert found["focus"], "summaries are reached by the keyboard"
    assert (found["row"][0].split()[0], found["row"][1]) == ("d3", "3")
    assert found["beside"]
    assert found["inside"]
    assert found["overflow"] <= 0
