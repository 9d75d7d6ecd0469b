"""Measures of diversity and of sampled judgments: against twins and other tools' outputs.

What they read of judgments besides grades is subtopics, strata of a pool, or probabilities.
"""

from __future__ import annotations

import csv
import functools
import gzip
import itertools
import math
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from oracle import diversity, sampled
from oracle.base import order
from support.input_errors import input_error
from support.paths import MORE_REFERENCE_DATA, REFERENCE_DATA

import irbatch
from irbatch.measures import Measure, measure

RELS: list[dict[str, Any]] = [{}, {"rel": 2}]
ALPHAS: list[dict[str, Any]] = [{}, {"alpha": 0.0}, {"alpha": 1.0}, {"alpha": 0.3, "rel": 2}]
BETAS: list[dict[str, Any]] = [
    {}, {"alpha": 0.25, "beta": 0.75}, {"alpha": 1.0, "beta": 0.0}, {"beta": 1.0, "rel": 2},
]  # fmt: skip
VERSIONS: list[dict[str, Any]] = [{}, {"version": "trecvid"}, {"rel": 2}]
VARIANTS: dict[str, dict[str, list[dict[str, Any]]]] = {
    "subtopics": {
        **dict.fromkeys(("alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA"), ALPHAS),
        **dict.fromkeys(("NRBP", "nNRBP"), BETAS),
        **dict.fromkeys(("AP_IA", "P_IA", "StRecall"), RELS),
    },
    "strata": {
        **dict.fromkeys(("xInfAP", "InfNDCG"), VERSIONS),
        **dict.fromkeys(("InfP", "InfNumRel", "InfNumRelRet"), RELS),
        "InfIPrec": [{"recall": each} for each in (0.0, 0.1, 0.35, 0.5, 1.0)],
    },
    "probabilities": dict.fromkeys(("StatAP", "StatP", "StatRprec"), RELS),
}
TWINS = {"subtopics": diversity, "strata": sampled, "probabilities": sampled}
CUTOFFS = (1, 3, 10, 100, None)

# Worked examples, of which d1 … d5 are retrieved. Subtopics: d2 is not judged, d6 not retrieved.
# Strata: d1, d3 of 1 and d4, d5 of 2 are judged, d2 is not pooled, d6 and d7 are not sampled.
RUN = {"q": {f"d{i}": 6.0 - i for i in range(1, 6)}}
EXAMPLES: dict[str, dict[str, Any]] = {
    "subtopics": {"q": {1: {"d1": 1, "d3": 1, "d4": 0}, 2: {"d3": 1, "d6": 1},
                        3: {"d5": 1, "d6": 1}}},
    "strata": {"q": {1: {"d1": 1, "d3": 3}, 2: {"d4": 0, "d5": 2, "d6": -1, "d7": -1}}},
    "probabilities": {"q": {"d1": (1, 1.0), "d3": (3, 0.5), "d4": (0, 0.1), "d5": (2, 0.25),
                            "d6": (1, 1.0)}},
}  # fmt: skip
# By hand, and of strata sample_eval's numbers.
EXPECTED: dict[str, dict[str, float]] = {
    "subtopics": {
        "ERR_IA@1": 1 / 3, "ERR_IA@2": 4 / 15, "ERR_IA@3": 0.375, "nERR_IA@1": 0.5,
        "nERR_IA@5": 0.558904109589041, "alpha_DCG@2": 0.25339584447729,
        "alpha_nDCG@1": 0.5, "alpha_nDCG@5": 0.626324763392504, "NRBP": 23 / 64,
        "nNRBP": 23 / 47, "AP_IA": 11 / 30, "P_IA@5": 4 / 15, "StRecall@1": 1 / 3, "StRecall@5": 1,
    },
    "strata": {
        "xInfAP@1000": 0.716664000049999, "InfNDCG@1000": 0.575087373529831,
        "xInfAP(version=trecvid)@1000": 0.716664000049999,
        "InfNDCG(version=trecvid)@1000": 0.575087373529831,
        "InfP@5": 0.599995000074999, "InfP@10": 0.299997500037499, "InfP@50": 0.0599995000074999,
        "InfNumRelRet": 2.99997500037499, "InfNumRel": 4, "InfIPrec(recall=0.8)": 0,
        "InfIPrec(recall=0.4)@1000": 0.999980000599982, "InfIPrec(recall=0.5)": 0.666660000099998,
        "InfIPrec(recall=0.7)": 0.599995000074999,
    },
    "probabilities": {
        "StatAP": (1 + 2 * 2 / 3 + 4 * 4 / 5) / 8, "StatAP@3": (1 + 2 * 2 / 3) / 8,
        "StatP@5": 7 / 5, "StatP@10": 0.7, "StatP": 7 / 5, "StatRprec": 7 / 8,
        "StatRprec(rel=3)": 0.0, "StatAP(rel=2)": (2 / 3 + 4 * 3 / 5) / 6,
    },
}  # fmt: skip
of_kinds = pytest.mark.parametrize("kind", VARIANTS)

Problem = tuple[dict[str, Any], dict[str, dict[str, float]]]


@of_kinds
def test_worked_examples(kind: str) -> None:
    found = irbatch.evaluate(EXAMPLES[kind], RUN, [*EXPECTED[kind]])
    assert found.mean() == pytest.approx(EXPECTED[kind], rel=1e-13)


@of_kinds
def test_cutoffs_beyond_any_ranking(kind: str) -> None:
    """As at full depth, but where k stands in a divisor or is summed to."""
    for each in map(measure, VARIANTS[kind]):
        if each.name in ("alpha_DCG", "ERR_IA"):
            far = functools.partial(irbatch.evaluate, EXAMPLES[kind], RUN, each @ 10**30)
            input_error(far, "beyond 10,000,000")
        elif each.declaration.takes_cutoff:
            value = irbatch.evaluate(EXAMPLES[kind], RUN, each @ 10**30)[each @ 10**30]
            if each.name in ("P_IA", "InfP", "StatP"):
                assert 0 < value < 1e-29
            else:
                assert value == irbatch.evaluate(EXAMPLES[kind], RUN, each)[each]


def problems(kind: str, seed: int, count: int) -> Iterator[Problem]:
    """Queries with few and many marks, some without a relevant document; runs with ties or not."""
    rng = Random(seed)
    for _ in range(count):
        judgments: dict[str, Any] = {}
        run: dict[str, dict[str, float]] = {}
        for query in map(str, range(rng.randint(1, 5))):
            documents = [f"d{i}" for i in range(rng.choice((1, 4, 15)))]
            if kind == "subtopics":
                judgments[query] = {
                    subtopic: {each: rng.choice((-1, 0, 0, 1, 2)) for each in documents
                               if rng.random() < 0.7}
                    for subtopic in range(rng.choice((0, 1, 2, 6)))
                }  # fmt: skip
            elif kind == "strata":
                stratum = {each: rng.randrange(rng.choice((1, 3, 5))) for each in documents}
                judgments[query] = {
                    name: {each: rng.choice((-1, -2, 0, 1, 1, 2, 3)) for each in documents
                           if stratum[each] == name}
                    for name in sorted(set(stratum.values()))
                }  # fmt: skip
            else:
                judgments[query] = {
                    each: (rng.choice((-1, 0, 1, 1, 2)), rng.choice((1, 0.5, 0.125, rng.random())))
                    for each in documents
                }
            scores = (0, 0.5, 1) if rng.random() < 0.3 else range(40)
            retrieved = rng.sample([*documents, "u1", "u2", "u3"], rng.randint(0, len(documents)))
            run[query] = {each: float(rng.choice(scores)) for each in retrieved}
        del run[rng.choice(list(run))]
        run["0"] = {"d0": 1.0}
        yield judgments, run


def variants(kind: str) -> Iterator[tuple[Measure, Callable[..., float]]]:
    """Each measure with its settings, and its twin."""
    for name, settings in VARIANTS[kind].items():
        each = measure(name)
        cutoffs = CUTOFFS if each.declaration.takes_cutoff else (None,)
        for parameters, k in itertools.product(settings, cutoffs):
            twin = functools.partial(TWINS[kind].evaluate, name, k=k, **parameters)
            yield each(**parameters) if k is None else each(**parameters) @ k, twin


@pytest.mark.parametrize("seed", range(3))
@of_kinds
def test_twin(kind: str, seed: int) -> None:
    wanted = dict(variants(kind))
    for judgments, run in problems(kind, seed, 5):
        given = irbatch.Qrels(judgments, marks=kind)
        found = irbatch.evaluate(given, run, [*wanted])
        assert (found.values >= 0).all()
        assert kind != "subtopics" or (found.values <= 1 + 1e-15).all()
        for each, twin in wanted.items():
            for query, judged in judgments.items():
                expected = twin(ranking=order(run.get(query, {})), judged=judged)
                value = found.per_query(each)[query]
                assert math.isclose(value, expected, rel_tol=1e-12, abs_tol=1e-15), (each, query)


@of_kinds
def test_expected_ties_are_the_mean_over_orders(kind: str) -> None:
    run = {"q": {"d1": 1.0, "d4": 1.0, "d3": 1.0, "u": 1.0, "d5": 0.5}}
    orders = [[*each, "d5"] for each in itertools.permutations(("d1", "d4", "d3", "u"))]
    for each, twin in variants(kind):
        if each.cutoff in (3, None):
            expected = irbatch.evaluate(EXAMPLES[kind], run, each, ties="expected")[each]
            values = [twin(ranking=some, judged=EXAMPLES[kind]["q"]) for some in orders]
            assert math.isclose(expected, math.fsum(values) / len(values), rel_tol=1e-12), each


def test_measures_of_several_rels_share_a_join() -> None:
    """Values are those of measures one by one, bit for bit, and what is to be said is said once."""
    names = ["alpha_nDCG@3", "NRBP(rel=2)", "ERR_IA(rel=0)@2", "AP_IA(rel=2)", "P_IA(rel=3)@2"]
    for judgments, run in problems("subtopics", 7, 6):
        for ties in ("id", "expected"):
            evaluate = functools.partial(
                irbatch.evaluate, judgments, run, ties=ties, no_relevant="skip"
            )
            together = evaluate(names)
            for name in names:
                assert repr(together.per_query(name)) == repr(evaluate(name).per_query(name))
    queries = {str(query): {"s": {"d": 2}} for query in range(20)}
    elsewhere = {query: {"u": 1.0} for query in queries}
    with pytest.warns(irbatch.InputWarning, match="none of its documents") as caught:
        irbatch.evaluate(queries, elsewhere, names)
    assert len(caught) == 1


@of_kinds
def test_forms_of_judgments(kind: str, tmp_path: Path) -> None:
    """Mappings, columns, tables and files; plain ones are taken for what the measures read."""
    example = EXAMPLES[kind]
    if kind == "probabilities":
        rows = [(q, p, d, g) for q, some in example.items() for d, (g, p) in some.items()]
        line = "{q} {d} {g} 1 {m}\n"
    else:
        rows = [(q, m, d, g) for q, some in example.items() for m, those in some.items()
                for d, g in those.items()]  # fmt: skip
        line = "{q} {m}\t{d}  {g}\n" if kind == "subtopics" else "{q} 0\t{d}  {m} {g}\n"
    queries, marks, documents, grades = columns = [list(each) for each in zip(*rows, strict=True)]
    path, run = tmp_path / "q.txt.gz", tmp_path / "r.run"
    with gzip.open(path, "wt") as file:
        file.writelines(line.format(q=q, m=m, d=d, g=g) for q, m, d, g in rows)
    run.write_text("".join(f"q Q0 {d} 0 {score} t\n" for d, score in RUN["q"].items()))
    mark = {"subtopics": "subtopic", "strata": "stratum", "probabilities": "probability"}[kind]
    table = dict(zip(["qid", mark, "docno", "relevance"], columns, strict=True))
    called: dict[str, Any] = {"query": "a", mark: "b", "document": "c", "grade": "d"}
    names = [*EXPECTED[kind]]
    expected = irbatch.evaluate(example, RUN, names).mean()
    for given in (
        irbatch.Qrels(example, marks=kind),
        irbatch.Qrels.from_columns(queries, documents, grades, **{kind: marks}),
        irbatch.Qrels.from_table(dict(zip("abcd", columns, strict=True)), **called),
        irbatch.read_qrels(path, marks=kind),
        table,
        str(path),
    ):
        assert irbatch.evaluate(given, RUN, names).mean() == expected
        assert irbatch.evaluate(given, run, names).mean() == expected
    told = f"<Qrels 'x': 1 query, {len(rows)} judgments of {kind}>"
    assert repr(irbatch.Qrels(example, "x", marks=kind)) == told
    results = irbatch.evaluate_runs(example, {"one": RUN, "two": RUN}, names)
    assert results["two"].mean() == expected


@pytest.mark.parametrize(("name", "in_a"), [("StRecall", 1.0), ("xInfAP", 0.5)])
def test_settings(name: str, in_a: float) -> None:
    judgments = {"a": {1: {"d": 1}}, "b": {1: {"d": 0}}, "c": {2: {"d": 2, "e": 1}}}
    run = {"a": {"u": 3.0, "d": 2.0}, "b": {"d": 1.0}}
    evaluate = functools.partial(irbatch.evaluate, judgments, run)
    found = evaluate(name)
    assert found.per_query(name) == {"a": in_a, "b": 0, "c": 0}
    assert (found.counts.no_relevant, found.counts.missing) == (1, 1)
    assert evaluate(name, missing="skip").query_ids == ["a", "b"]
    skipped = evaluate([name, f"{name}(rel=2)"], no_relevant="skip", missing="skip")
    assert skipped[name] == in_a
    assert math.isnan(skipped[f"{name}(rel=2)"])
    assert evaluate(name, judged_only=True)[name] == 1 / 3
    assert evaluate(name, max_depth=1)[name] == evaluate(name, rel=2)[name] == 0


SUBTOPICS = {"q": {"s": {"d": 1}}}
# The kind of judgments, they, what is said of them, and the fields of the error.
REFUSED: list[tuple[str, Any, str, dict[str, Any]]] = [
    *((kind, [1], "mapping", {}) for kind in VARIANTS),
    *((kind, {}, "no queries", {}) for kind in ("subtopics", "strata")),
    ("subtopics", {"q": 3}, "subtopics", {"query": "q"}),
    ("strata", {"q": {"s": 3}}, "documents", {"query": "q"}),
    ("strata", {"q": {"s": {"d": "1"}}}, "'1' is not a number", {"query": "q", "document": "d"}),
    ("subtopics", {"q": {"s": {"d": math.nan}}}, "nan", {"query": "q", "document": "d"}),
    ("subtopics", {"q": {"s": {"d": 1}, 2: {"d": 1}}}, "two kinds", {}),
    ("strata", {"q": {"s": {"d": 1}, "t": {"d": 1}}}, "judged before", {"document": "d"}),
    ("subtopics", {"q": {1.5: {"d": 1}}}, "subtopic id 1.5", {"query": "q"}),
    ("subtopics", {"q": {"s": {b"d": 1}}}, "document id b'd'", {"query": "q"}),
    ("probabilities", {"q": {"d": 1}}, "not a pair", {"document": "d", "value": 1}),
    *(("probabilities", {"q": {"d": (1, p)}}, str(p), {"query": "q", "document": "d"})
      for p in (0, 1.5, -0.5, math.nan, "x")),
    ("subtopics", "q s d 1\nq s d 1\n", "line 1", {"line": 2, "document": "d"}),
    ("subtopics", "q s d 1\nq t d\n", "3 columns", {"line": 2}),
    ("subtopics", "# only\n", "no data lines", {}),
    ("strata", "q 0 d s 1\nq 0 d t 1\n", "line 1", {"line": 2}),
    ("strata", "q 0 d 1\n", "4 columns", {"line": 1}),
    ("strata", "q 0 d s x\n", "'x'", {"line": 1}),
    ("probabilities", "q d 1 1 0.5\nq d 1 1 0.5\n", "line 1", {"line": 2}),
    ("probabilities", "q d 1 1 1.2\n", "probability 1.2", {"line": 1}),
    ("probabilities", "q d 1 1 x\n", "probability 'x'", {"line": 1}),
    ("probabilities", "q d 1 1 NA\n", "no data lines", {}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "given", "fact", "fields"), REFUSED)
def test_judgments(
    kind: str, given: Any, fact: str, fields: dict[str, Any], tmp_path: Path
) -> None:
    if isinstance(given, str):
        path = tmp_path / "q"
        path.write_text(given)
        input_error(lambda: irbatch.read_qrels(path, marks=kind), fact, **fields)
    else:
        input_error(lambda: irbatch.Qrels(given, marks=kind), fact, **fields)


def test_what_goes_together() -> None:
    columns = functools.partial(irbatch.Qrels.from_columns, ["q"], ["d"], [1])
    input_error(lambda: columns(subtopics=["s", "t"]), "differ in length")
    input_error(lambda: columns(strata=["s"], subtopics=["t"]), "one kind")
    strata, plain = EXAMPLES["strata"], irbatch.Qrels({"q": {"d": 1}})
    of_strata = irbatch.Qrels(strata, marks="strata")
    for qrels, names, *facts in [
        (EXAMPLES["strata"], "InfP@5 P@5", "InfP", "P@5", "grades"),
        (strata, "xInfAP StatAP", "xInfAP", "probabilities"),
        (of_strata, "StatAP", "probabilities", "strata"), (of_strata, "P@5", "strata"),
        (plain, "StRecall", "subtopics", "grades"),
        ({"q": {"d": 1}}, "StRecall", "not an int", "subtopics"),
    ]:  # fmt: skip
        input_error(lambda q=qrels, n=names: irbatch.evaluate(q, RUN, n), *facts)
    for ties in ("optimistic", "pessimistic"):
        input_error(lambda t=ties: irbatch.evaluate(strata, RUN, "xInfAP", ties=t), "ties")
    half = irbatch.Qrels({"q": {"s": {"d1": 0.5}}}, marks="strata")
    input_error(lambda: irbatch.evaluate(half, RUN, "xInfAP"), "0.5", "rel=", document="d1")
    assert irbatch.evaluate(half, RUN, "xInfAP", rel=0.5)["xInfAP"] == 1
    unsampled = irbatch.Qrels({"q": {"s": {"d": 1}, "t": {"e": -1}}}, marks="strata")
    assert irbatch.evaluate(unsampled, {"q": {"e": 1.0}}, "InfNumRel")["InfNumRel"] == 1


def test_ad_hoc_judgments_and_those_of_subtopics(tmp_path: Path) -> None:
    """What a file's second column holds decides which measures it is for."""
    path, run = tmp_path / "qrels.txt", {"q": {"a": 2.0, "b": 1.0}}
    for constant in ("0", "Q0"):
        path.write_text(f"q {constant} a 1\nq {constant} b 1\n")
        with pytest.warns(irbatch.InputWarning, match="are these judgments of subtopics?"):
            irbatch.evaluate(path, run, "alpha_nDCG@2")
    path.write_text("q 1 a 1\nq 2 a 1\nq 2 b 1\n")
    assert irbatch.evaluate(path, run, "alpha_nDCG@2")["alpha_nDCG@2"] > 0
    with pytest.raises(irbatch.InputError, match=r"given before, in line 1;"):
        irbatch.evaluate(path, run, "nDCG@2")


# ---------------------------------------------------------------- ndeval's own outputs

NDEVAL = MORE_REFERENCE_DATA / "b_ndeval"
FILE = re.compile(
    r"(?P<set>web\d+)\.(?P<run>gen-\d|[a-z]+-cat[ab](-filtered)?)\.?(?P<options>.*?)\.?"
    r"15digits\.(csv|tsv)\.gz"
)
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
                name, query, value = line.split()
                found.setdefault(name, {})[query] = float(value)
    return found


def of_ndeval(name: str, alpha: float = 0.5, beta: float = 0.5) -> Measure:
    """A measure of ndeval with its settings; it has the same for all."""
    each, settings = measure(name), {"alpha": alpha, "beta": beta}
    known = each.declaration.parameters
    return each(**{key: value for key, value in settings.items() if key in known})


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
    names = {name: of_ndeval(name, alpha, beta) for name in expected}
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


# ---------------------------------------------------------------- sample_eval's and statAP's

FOLDER = MORE_REFERENCE_DATA / "f_sample_eval"
OF_SAMPLE_EVAL = {
    "infAP": "xInfAP{v}@1000", "infNDCG": "InfNDCG{v}@1000", "inum_rel_ret": "InfNumRelRet@1000",
    "inum_rel": "InfNumRel",
}  # fmt: skip


def of_sample_eval(name: str, version: str) -> str:
    if name.startswith("iP") and not name.startswith("iprec"):
        return f"InfP@{name[2:]}"
    if name.startswith("iprec@rec"):
        return f"InfIPrec(recall={float(name[9:]):g})@1000"
    return OF_SAMPLE_EVAL[name].format(v="(version=trecvid)" if version == "TV" else "")


@functools.cache
def pool(name: str) -> irbatch.Qrels:
    files = {"avs21": "avs.qrels.main.tv21.gz", "dl19": "dl19.sampled7.qrels.gz"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", irbatch.InputWarning)  # of strata without a sample
        return irbatch.read_qrels(FOLDER / "qrels" / files[name], marks="strata")


@pytest.mark.parametrize(
    "path", sorted((FOLDER / "expected").glob("*15digits*")), ids=lambda each: each.name
)
def test_sample_eval_outputs(path: Path) -> None:
    name, *_, system, version, _, _, _ = path.name.split(".")
    run = FOLDER / "runs" / "avs_test_run.run.gz"
    if name == "dl19":
        run = REFERENCE_DATA / "dl19_passage" / "runs" / f"{system}.run.gz"
    expected = stored(path)
    del expected["num_ret"]
    names = {each: of_sample_eval(each, version) for each in expected}
    results = irbatch.evaluate(pool(name), run, [*names.values()], missing="skip", max_depth=1000)
    compared = 0
    for each, values in expected.items():
        found = results.per_query(names[each]) | {"all": results[names[each]]}
        for query, value in values.items():
            assert math.isclose(found[query], value, rel_tol=1e-12, abs_tol=1e-15), (each, query)
            compared += 1
    assert compared > 100


def test_statap_outputs() -> None:
    folder = MORE_REFERENCE_DATA / "f_statap"
    if not folder.exists():
        pytest.skip("no reference data: agreement with statAP is not tested")
    qrels = irbatch.read_qrels(folder / "prels.2009.1.txt.gz", marks="probabilities")
    results = irbatch.evaluate(
        qrels, folder / "gen-1.run.gz", "StatAP StatRprec StatP@30",
        missing="skip", no_relevant="skip",
    )  # fmt: skip
    with gzip.open(folder / "gen-1.statAP_t.15digits.txt.gz", "rt") as file:
        rows = [line.split() for line in file if line[0].isdigit() and "-999" not in line]
    assert len(rows) == 47
    for query, _, precision, _, rprec, at_30, *_ in rows:
        for name, value in zip(results.measures, (precision, rprec, at_30), strict=True):
            assert math.isclose(results.per_query(name)[query], float(value), rel_tol=1e-12)
    expected = {"StatAP": 1.2461397849368, "StatRprec": 0.554598673086658}
    assert results.mean() == pytest.approx(expected | {"StatP@30": 2.51007942544013}, rel=1e-12)


@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_measures_of_grades_beside_subtopics(missing: str, tmp_path: Path) -> None:
    """They read the largest grade of a document, in the same call."""
    subtopics = {"q": {1: {"a": 1, "b": 2, "c": 0, "n": -1}, 2: {"b": 1, "c": 1}},
                 "p": {1: {"d": 1}}, "m": {1: {"a": 1}}}  # fmt: skip
    graded = {"q": {"a": 1, "b": 2, "c": 1, "n": -1}, "p": {"d": 1}, "m": {"a": 1}}
    run = {"q": {"a": 2.0, "x": 1.5, "n": 1.25, "b": 1.0}, "p": {"e": 2.0, "d": 1.0}}
    names = ["nDCG@10", "alpha_nDCG@10", "GAUC", "StRecall@1", "AP"]
    marked = irbatch.evaluate(subtopics, run, names[1::2], missing=missing).to_dict()
    plain = irbatch.evaluate(graded, run, names[::2], missing=missing)
    expected = {
        query: {name: ({**values, **marked[query]})[name] for name in names}
        for query, values in plain.to_dict().items()
    }
    found = irbatch.evaluate(subtopics, run, names, missing=missing)
    assert (found.to_dict(), found["GAUC"]) == (expected, plain["GAUC"])
    assert (found.settings, found.counts) == (plain.settings, plain.counts)
    irbatch.Run(run).to_trec(tmp_path / "a.run")
    again = irbatch.evaluate_runs(subtopics, [tmp_path / "a.run"], names, missing=missing)["a"]
    lists, qrels = (
        {q: [*own] for q, own in run.items()},
        irbatch.Qrels(subtopics, marks="subtopics"),
    )
    of_lists = irbatch.evaluate_ids(lists, qrels, names, missing=missing)
    assert again.to_dict() == of_lists.to_dict() == expected
