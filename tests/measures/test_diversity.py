"""Measures of diversity: against their twins, ndeval's own outputs and pyndeval."""

from __future__ import annotations

import csv
import functools
import gzip
import itertools
import math
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from oracle import diversity as twin
from oracle.base import order
from support.input_errors import input_error
from support.measure_variants import builtin_names
from support.paths import REFERENCE_DATA

import irbatch
from irbatch.measures import CATALOGUE, measure

CUTOFFS = (1, 2, 5, 100, None)
ALPHAS: list[dict[str, Any]] = [{}, {"alpha": 0.0}, {"alpha": 1.0}, {"alpha": 0.3, "rel": 2}]
BETAS: list[dict[str, Any]] = [
    {}, {"alpha": 0.25, "beta": 0.75}, {"alpha": 1.0, "beta": 0.0}, {"beta": 1.0, "rel": 2},
]  # fmt: skip
RELS: list[dict[str, Any]] = [{}, {"rel": 2}]
VARIANTS = {
    **dict.fromkeys(("alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA"), ALPHAS),
    **dict.fromkeys(("NRBP", "nNRBP"), BETAS),
    **dict.fromkeys(("AP_IA", "P_IA", "StRecall"), RELS),
}
# A worked example: subtopics 1, 2, 3 of one query; d2 is not judged, d6 not retrieved.
EXAMPLE = {"q": {1: {"d1": 1, "d3": 1, "d4": 0}, 2: {"d3": 1, "d6": 1}, 3: {"d5": 1, "d6": 1}}}
RUN = {"q": {f"d{i}": 6.0 - i for i in range(1, 6)}}

Judgments = dict[str, dict[Any, dict[str, float]]]
Run = dict[str, dict[str, float]]


def test_worked_example() -> None:
    expected = {
        "ERR_IA@1": 1 / 3, "ERR_IA@2": 4 / 15, "ERR_IA@3": 0.375, "nERR_IA@1": 0.5,
        "nERR_IA@5": 0.558904109589041, "alpha_DCG@2": 0.25339584447729,
        "alpha_nDCG@1": 0.5, "alpha_nDCG@5": 0.626324763392504, "NRBP": 23 / 64,
        "nNRBP": 23 / 47, "AP_IA": 11 / 30, "P_IA@5": 4 / 15, "StRecall@1": 1 / 3, "StRecall@5": 1,
    }  # fmt: skip
    assert irbatch.evaluate(EXAMPLE, RUN, [*expected]).mean() == pytest.approx(expected, rel=1e-14)


def test_no_measure_is_forgotten() -> None:
    assert builtin_names("subtopics") == set(VARIANTS) == set(twin.MEASURES)


def problems(seed: int, count: int) -> Iterator[tuple[Judgments, Run]]:
    """Queries with few and many subtopics, of which some have no relevant document."""
    rng = Random(seed)
    for _ in range(count):
        judgments: Judgments = {}
        run: Run = {}
        for query in map(str, range(rng.randint(1, 6))):
            documents = [f"d{i}" for i in range(rng.choice((1, 3, 12)))]
            judgments[query] = {
                subtopic: {each: rng.choice((-1, 0, 0, 1, 2)) for each in documents
                           if rng.random() < 0.7}
                for subtopic in range(rng.choice((0, 1, 2, 6)))
            }  # fmt: skip
            scores = (0, 0.5, 1) if rng.random() < 0.3 else range(40)
            retrieved = rng.sample([*documents, "u1", "u2", "u3"], rng.randint(0, len(documents)))
            run[query] = {each: float(rng.choice(scores)) for each in retrieved}
        del run[rng.choice(list(run))]
        run["0"] = {"d0": 1.0}
        yield judgments, run


@pytest.mark.parametrize("seed", range(4))
def test_twin(seed: int) -> None:
    wanted = [
        (name, parameters, k)
        for name, settings in VARIANTS.items() for parameters in settings for k in CUTOFFS
    ]  # fmt: skip
    measures = [
        measure(name)(**parameters) if k is None else measure(name)(**parameters) @ k
        for name, parameters, k in wanted
    ]
    for judgments, run in problems(seed, 12):
        found = irbatch.evaluate(judgments, run, measures)
        for each, (name, parameters, k) in zip(measures, wanted, strict=True):
            for query, judged in judgments.items():
                ranking = order(run.get(query, {}))
                expected = twin.evaluate(name, ranking, judged, k, **parameters)
                value = found.per_query(each)[query]
                assert math.isclose(value, expected, rel_tol=1e-13, abs_tol=1e-15), (each, query)
        assert (found.values <= 1 + 1e-15).all()
        assert (found.values >= 0).all()


def test_expected_ties_are_the_mean_over_orders() -> None:
    judgments = {"q": {1: {"a": 1, "b": 1}, 2: {"b": 1, "c": 1}, 3: {"e": 1}}}
    run = {"q": {"a": 1.0, "b": 1.0, "c": 1.0, "u": 1.0, "e": 0.5}}
    names = ["alpha_nDCG@2", "ERR_IA@3", "nNRBP", "AP_IA", "P_IA@2", "StRecall@2"]
    expected = irbatch.evaluate(judgments, run, names, ties="expected").mean()
    orders = [[*each, "e"] for each in itertools.permutations("abcu")]
    for name in names:
        meant = measure(name)
        values = [twin.evaluate(meant.name, each, judgments["q"], meant.cutoff) for each in orders]
        assert math.isclose(expected[name], math.fsum(values) / len(values), rel_tol=1e-12)


def test_forms_of_judgments(tmp_path: Path) -> None:
    rows = [(q, s, d, g) for q, some in EXAMPLE.items() for s, those in some.items()
            for d, g in those.items()]  # fmt: skip
    columns = [list(each) for each in zip(*rows, strict=True)]
    names = "alpha_nDCG@5 NRBP StRecall@1"
    path = tmp_path / "q.txt.gz"
    with gzip.open(path, "wt") as file:
        file.writelines(f"{q} {s}\t{d}  {g}\n" for q, s, d, g in rows)
    run = tmp_path / "r.run"
    run.write_text("".join(f"q Q0 {d} 0 {score} t\n" for d, score in RUN["q"].items()))
    table = dict(zip(["qid", "iteration", "docno", "relevance"], columns, strict=True))
    renamed = dict(zip(["a", "b", "c", "d"], columns, strict=True))
    called = {"query": "a", "subtopic": "b", "document": "c", "grade": "d"}
    expected = irbatch.evaluate(EXAMPLE, RUN, names).mean()
    subtopics = functools.partial(irbatch.Qrels, marks="subtopics")
    queries, of_rows, documents, grades = columns
    for given in (
        subtopics(EXAMPLE),
        irbatch.Qrels.from_columns(queries, documents, grades, subtopics=of_rows),
        irbatch.Qrels.from_table(renamed, **called),
        irbatch.read_qrels(path, marks="subtopics"),
        table,
        str(path),
    ):
        assert irbatch.evaluate(given, RUN, names).mean() == expected
        assert irbatch.evaluate(given, run, names).mean() == expected
    assert repr(subtopics(EXAMPLE, "x")) == "<Qrels 'x': 1 query, 7 judgments of subtopics>"
    results = irbatch.evaluate_runs(EXAMPLE, {"one": RUN, "two": RUN}, names)
    assert results["two"].mean() == expected


def test_settings() -> None:
    judgments = {"a": {1: {"d": 1}}, "b": {1: {"d": 0}}, "c": {2: {"d": 2, "e": 1}}}
    run = {"a": {"u": 3.0, "d": 2.0}, "b": {"d": 1.0}}
    evaluate = functools.partial(irbatch.evaluate, judgments, run, "P_IA@1")
    assert evaluate().per_query("P_IA@1") == {"a": 0, "b": 0, "c": 0}
    assert evaluate().counts.no_relevant == 1
    assert evaluate(missing="skip").query_ids == ["a", "b"]
    assert evaluate(judged_only=True)["P_IA@1"] == 1 / 3
    assert evaluate(judged_only=True, no_relevant="skip")["P_IA@1"] == 0.5
    deep = irbatch.evaluate(judgments, run, "AP_IA", max_depth=1)
    assert deep["AP_IA"] == 0
    both = irbatch.evaluate(judgments, {"c": {"e": 1.0}}, "StRecall StRecall(rel=2)")
    assert both.per_query("StRecall")["c"] == 1
    assert both.per_query("StRecall(rel=2)")["c"] == 0
    assert irbatch.evaluate(judgments, {"c": {"e": 1.0}}, "StRecall", rel=2)["StRecall"] == 0


def test_measures_of_several_rels_share_a_join() -> None:
    """Values are those of measures one by one, bit for bit, and what is to be said is said once."""
    names = ["alpha_nDCG@3", "NRBP(rel=2)", "ERR_IA(rel=0)@2", "AP_IA(rel=2)", "P_IA(rel=3)@2"]
    for judgments, run in problems(7, 12):
        for ties in ("id", "expected"):
            together = irbatch.evaluate(judgments, run, names, ties=ties, no_relevant="skip")
            for name in names:
                alone = irbatch.evaluate(judgments, run, name, ties=ties, no_relevant="skip")
                assert repr(together.per_query(name)) == repr(alone.per_query(name))
    queries = {str(query): {"s": {"d": 2}} for query in range(20)}
    elsewhere = {query: {"u": 1.0} for query in queries}
    with pytest.warns(irbatch.InputWarning, match="none of its documents") as caught:
        irbatch.evaluate(queries, elsewhere, names)
    assert len(caught) == 1


def test_the_largest_cutoff_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("irbatch.engine.subtopics.LARGEST_CUTOFF", 5)
    qrels, run = {"q": {"s": {"d": 1}}}, {"q": {"d": 1.0}}
    assert irbatch.evaluate(qrels, run, "alpha_DCG@5")["alpha_DCG@5"] > 0
    input_error(lambda: irbatch.evaluate(qrels, run, "alpha_DCG@6"), "beyond 5")


def test_refusals(tmp_path: Path) -> None:
    qrels, run = {"q": {"s": {"d": 1}}}, {"q": {"d": 1.0}}
    subtopics = functools.partial(irbatch.Qrels, marks="subtopics")
    for judgments, facts, fields in [
        ([1], ["mapping"], {}),
        ({}, ["no queries"], {}),
        ({"q": 3}, ["subtopics"], {"query": "q"}),
        ({"q": {"s": 3}}, ["documents"], {"query": "q"}),
        ({"q": {"s": {"d": "1"}}}, ["'1' is not a number"], {"query": "q", "document": "d"}),
        ({"q": {"s": {"d": math.nan}}}, ["nan"], {"query": "q", "document": "d"}),
        ({"q": {"s": {"d": 1}, 2: {"d": 1}}}, ["subtopic ids", "two kinds"], {"query": "q"}),
        ({"q": {1.5: {"d": 1}}}, ["subtopic id 1.5"], {"query": "q"}),
        ({"q": {"s": {b"d": 1}}}, ["document id b'd'"], {"query": "q"}),
    ]:
        input_error(lambda each=judgments: subtopics(each), *facts, **fields)
    half = subtopics({"q": {"s": {"d": 0.5}}})
    input_error(lambda: irbatch.evaluate(half, run, "StRecall"), "0.5", "rel=", document="d")
    assert irbatch.evaluate(half, run, "StRecall", rel=0.5)["StRecall"] == 1
    lines = tmp_path / "q"
    read = functools.partial(irbatch.read_qrels, lines, marks="subtopics")
    lines.write_text("q s d 1\nq s d 1\n")
    input_error(read, "line 1", line=2, document="d")
    lines.write_text("q s d 1\nq t d\n")
    input_error(read, "3 columns", line=2)
    lines.write_text("# only\n")
    input_error(read, "no data lines")
    columns = functools.partial(irbatch.Qrels.from_columns, ["q"], ["d"], [1])
    input_error(lambda: columns(subtopics=["s", "t"]), "differ in length")
    evaluate = irbatch.evaluate
    input_error(lambda: evaluate(qrels, run, "StRecall P@5"), "StRecall", "P@5", "grades")
    plain = irbatch.Qrels({"q": {"d": 1}})
    input_error(lambda: evaluate(plain, run, "StRecall"), "subtopics", "grades")
    input_error(lambda: evaluate(subtopics(qrels), run, "P@5"), "subtopics")
    input_error(lambda: evaluate(qrels, run, "StRecall", ties="optimistic"), "grades")
    input_error(lambda: evaluate(qrels, run, "alpha_DCG@100000000"), "100000000", "10,000,000")
    input_error(lambda: irbatch.evaluate_matrix([[1]], "alpha_nDCG"), "subtopics", "irbatch.Qrels")
    input_error(lambda: irbatch.measure("alpha_nDCG(alpha=2)"), "alpha=2")


# ---------------------------------------------------------------- ndeval's own outputs

NDEVAL = REFERENCE_DATA.parent / "data_more" / "b_ndeval"
FILE = re.compile(
    r"(?P<set>web\d+)\.(?P<run>gen-\d|[a-z]+-cat[ab](-filtered)?)\.?(?P<options>.*?)\.?"
    r"15digits\.(csv|tsv)\.gz"
)
OURS = {
    "ERR-IA": "ERR_IA", "nERR-IA": "nERR_IA", "alpha-DCG": "alpha_DCG", "alpha-nDCG": "alpha_nDCG",
    "NRBP": "NRBP", "nNRBP": "nNRBP", "MAP-IA": "AP_IA", "P-IA": "P_IA", "strec": "StRecall",
}  # fmt: skip
UNDIVIDED = {"ERR-IA@1", "alpha-DCG@1"}  # ndeval does not divide them at all


@functools.cache
def judged(name: str) -> irbatch.Qrels:
    shared = REFERENCE_DATA / "web2012_ql" / "qrels-for-ndeval.2012.txt.gz"
    own = NDEVAL / "qrels" / f"qrels.ndeval.{name.removeprefix('web')}.txt.gz"
    return irbatch.read_qrels(own if own.exists() else shared, marks="subtopics")


def stored(path: Path) -> dict[str, dict[str, float]]:
    """Measure to query to value."""
    found: dict[str, dict[str, float]] = {}
    with gzip.open(path, "rt") as file:
        if path.name.endswith(".csv.gz"):
            for row in csv.DictReader(file):
                query = row.pop("topic")
                for name, value in itertools.islice(row.items(), 1, None):
                    found.setdefault(name, {})[query] = float(value)
        else:
            for line in file:
                name, query, value = line.split("\t")
                found.setdefault(name, {})[query] = float(value)
    return found


def spelled(name: str, alpha: float, beta: float) -> str:
    stem, _, k = name.partition("@")
    each = measure(OURS[stem])
    known = {"alpha": alpha, "beta": beta}
    parameters = {key: known[key] for key in known if key in each.declaration.parameters}
    each = each(**parameters)
    return str(each @ int(k)) if k else str(each)


@pytest.mark.parametrize(
    "path", sorted((NDEVAL / "expected").glob("*15digits*")), ids=lambda each: each.name
)
def test_ndeval_outputs(path: Path) -> None:
    parts = FILE.fullmatch(path.name)
    assert parts is not None
    options = parts["options"]
    alpha, beta = (
        float(found[1]) if (found := re.search(rf"{name}(\d+(\.\d+)?)", options)) else 0.5
        for name in ("alpha", "beta")
    )
    run = NDEVAL / "runs" / f"{parts['set']}.{parts['run']}.run.gz"
    if not run.exists():
        run = REFERENCE_DATA / "web2012_ql" / "runs" / f"{parts['run']}.run.gz"
    expected = stored(path)
    names = {name: spelled(name, alpha, beta) for name in expected}
    results = irbatch.evaluate(
        judged(parts["set"]), run, list(names.values()),
        order_by="score" if "traditional" in options else "rank",
        max_depth=10 if "M10" in options else None,
        missing="zero" if options.startswith("c_") else "skip",
    )  # fmt: skip
    compared = 0
    for name, values in expected.items():
        found = results.per_query(names[name]) | {"amean": results[names[name]]}
        for query in found.keys() & values.keys():
            if name not in UNDIVIDED and not math.isnan(values[query]):
                assert math.isclose(found[query], values[query], rel_tol=1e-12), (name, query)
                compared += 1
    assert compared > 900


def test_reference_outputs_are_there() -> None:
    if not NDEVAL.exists():
        pytest.skip("no reference data: agreement with ndeval is not tested")
    assert len(list((NDEVAL / "expected").glob("*15digits*"))) == 48


# ---------------------------------------------------------------- pyndeval

PYNDEVAL = ["ERR-IA@5", "nERR-IA@10", "alpha-nDCG@20", "alpha-DCG@10", "NRBP", "nNRBP", "MAP-IA",
            "P-IA@5", "strec@10"]  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_pyndeval(seed: int) -> None:
    """It breaks ties the other way round: runs have none here, and ideals are of other ids."""
    pyndeval = pytest.importorskip("pyndeval")
    for judgments, run in problems(seed + 50, 6):
        untied = {
            query: {each: float(i) for i, each in enumerate(some)} for query, some in run.items()
        }
        rows = [
            pyndeval.SubtopicQrel(query, str(subtopic), document, max(int(grade), 0))
            for query, subtopics in judgments.items()
            for subtopic, those in subtopics.items() for document, grade in those.items()
        ]  # fmt: skip
        scored = [
            pyndeval.ScoredDoc(query, document, score)
            for query, some in untied.items() for document, score in some.items()
        ]  # fmt: skip
        if not rows or not scored:
            continue
        theirs = pyndeval.ndeval(rows, scored, measures=PYNDEVAL)
        ours = irbatch.evaluate(judgments, untied, [spelled(each, 0.5, 0.5) for each in PYNDEVAL])
        for query, values in theirs.items():
            for name, value in values.items():
                if not math.isnan(value):
                    found = ours.per_query(spelled(name, 0.5, 0.5))[query]
                    assert math.isclose(found, value, rel_tol=1e-12, abs_tol=1e-15), (name, query)


def test_catalogue_says_what_is_read() -> None:
    assert {CATALOGUE[name].reads for name in VARIANTS} == {"subtopics"}


def test_ad_hoc_judgments_and_those_of_subtopics(tmp_path: Path) -> None:
    """What a file's second column holds decides which measures it is for."""
    path, run = tmp_path / "qrels.txt", {"q": {"a": 2.0, "b": 1.0}}
    for constant in ("0", "Q0"):
        path.write_text(f"q {constant} a 1\nq {constant} b 1\n")
        with pytest.warns(irbatch.InputWarning, match="are these judgments of subtopics?"):
            irbatch.evaluate(path, run, "alpha_nDCG@2")
    path.write_text("q 1 a 1\nq 2 a 1\nq 2 b 1\n")
    assert irbatch.evaluate(path, run, "alpha_nDCG@2")["alpha_nDCG@2"] > 0
    with pytest.raises(irbatch.InputError, match=r"given before, in line 1$"):
        irbatch.evaluate(path, run, "nDCG@2")
    grades: Any = {"q": {"a": 1}}
    told = "documents to grades, not an int; the measures read subtopics, see irbatch"
    input_error(lambda: irbatch.evaluate(grades, run, "alpha_nDCG@2"), told)
