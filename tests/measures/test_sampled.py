"""Measures of sampled judgments: against their twins, sample_eval's and statAP's own outputs."""

from __future__ import annotations

import functools
import gzip
import itertools
import math
import warnings
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from oracle import sampled as twin
from oracle.base import order
from support.input_errors import input_error
from support.measure_variants import builtin_names
from support.paths import MORE_REFERENCE_DATA, REFERENCE_DATA

import irbatch
from irbatch.measures import Measure, measure

CUTOFFS = (1, 3, 10, None)
RELS: list[dict[str, Any]] = [{}, {"rel": 2}]
VERSIONS: list[dict[str, Any]] = [{}, {"version": "trecvid"}, {"rel": 2}]
VARIANTS: dict[str, list[dict[str, Any]]] = {
    **dict.fromkeys(("xInfAP", "InfNDCG"), VERSIONS),
    **dict.fromkeys(("InfP", "InfNumRel", "InfNumRelRet", "StatAP", "StatP", "StatRprec"), RELS),
    "InfIPrec": [{"recall": each} for each in (0.0, 0.1, 0.35, 0.5, 1.0)],
}
# A worked example: d1, d3 of stratum 1, d4, d5 of stratum 2 are judged, d2 is not pooled, of the
# rest of stratum 2 nothing is known.
EXAMPLE = {"q": {1: {"d1": 1, "d3": 3}, 2: {"d4": 0, "d5": 2, "d6": -1, "d7": -1}}}
RUN = {"q": {f"d{i}": 6.0 - i for i in range(1, 6)}}
# sample_eval's numbers of it, and statAP's formulas by hand.
EXPECTED = {
    "xInfAP@1000": 0.716664000049999, "InfNDCG@1000": 0.575087373529831,
    "xInfAP(version=trecvid)@1000": 0.716664000049999,
    "InfNDCG(version=trecvid)@1000": 0.575087373529831,
    "InfP@5": 0.599995000074999, "InfP@10": 0.299997500037499, "InfP@50": 0.0599995000074999,
    "InfNumRelRet": 2.99997500037499, "InfNumRel": 4,
    "InfIPrec(recall=0.4)@1000": 0.999980000599982, "InfIPrec(recall=0.5)": 0.666660000099998,
    "InfIPrec(recall=0.7)": 0.599995000074999, "InfIPrec(recall=0.8)": 0,
}  # fmt: skip
DRAWN = {"q": {"d1": (1, 1.0), "d3": (3, 0.5), "d4": (0, 0.1), "d5": (2, 0.25), "d6": (1, 1.0)}}
EXPECTED_OF_DRAWN = {
    "StatAP": (1 + 2 * 2 / 3 + 4 * 4 / 5) / 8, "StatAP@3": (1 + 2 * 2 / 3) / 8,
    "StatP@5": 7 / 5, "StatP@10": 0.7, "StatP": 7 / 5, "StatRprec": 7 / 8,
    "StatRprec(rel=3)": 0.0, "StatAP(rel=2)": (2 / 3 + 4 * 3 / 5) / 6,
}  # fmt: skip

Judgments = dict[str, Any]
Run = dict[str, dict[str, float]]


def test_worked_examples() -> None:
    assert irbatch.evaluate(EXAMPLE, RUN, [*EXPECTED]).mean() == pytest.approx(EXPECTED, rel=1e-13)
    found = irbatch.evaluate(DRAWN, RUN, [*EXPECTED_OF_DRAWN]).mean()
    assert found == pytest.approx(EXPECTED_OF_DRAWN, rel=1e-14)


def test_cutoffs_beyond_any_ranking() -> None:
    for judgments, names in ((EXAMPLE, twin.OF_STRATA), (DRAWN, twin.OF_PROBABILITIES)):
        far = [measure(name) @ 10**30 for name in names if measure(name).declaration.takes_cutoff]
        found = irbatch.evaluate(judgments, RUN, far).mean()
        for each in far:
            if each.name in ("InfP", "StatP"):
                assert 0 < found[str(each)] < 1e-29
            else:
                assert found[str(each)] == irbatch.evaluate(judgments, RUN, each.name)[each.name]


def test_no_measure_is_forgotten() -> None:
    assert builtin_names("strata") == set(twin.OF_STRATA)
    assert builtin_names("probabilities") == set(twin.OF_PROBABILITIES)
    assert {*twin.OF_STRATA, *twin.OF_PROBABILITIES} == set(VARIANTS)


def problems(seed: int, count: int) -> Iterator[tuple[Judgments, Judgments, Run]]:
    """Queries with few and many strata, and with probabilities; runs with ties and none."""
    rng = Random(seed)
    for _ in range(count):
        strata: Judgments = {}
        drawn: Judgments = {}
        run: Run = {}
        for query in map(str, range(rng.randint(1, 5))):
            documents = [f"d{i}" for i in range(rng.choice((1, 4, 15)))]
            stratum = {each: rng.randrange(rng.choice((1, 3, 5))) for each in documents}
            strata[query] = {
                name: {each: rng.choice((-1, -2, 0, 1, 1, 2, 3)) for each in documents
                       if stratum[each] == name}
                for name in sorted(set(stratum.values()))
            }  # fmt: skip
            drawn[query] = {
                each: (rng.choice((-1, 0, 1, 1, 2)), rng.choice((1, 0.5, 0.125, rng.random())))
                for each in documents
            }
            scores = (0, 0.5, 1) if rng.random() < 0.3 else range(40)
            retrieved = rng.sample([*documents, "u1", "u2", "u3"], rng.randint(0, len(documents)))
            run[query] = {each: float(rng.choice(scores)) for each in retrieved}
        del run[rng.choice(list(run))]
        run["0"] = {"d0": 1.0}
        yield strata, drawn, run


def variants(names: Any) -> Iterator[tuple[str, dict[str, Any], int | None, Measure]]:
    for name in names:
        each = measure(name)
        cutoffs = CUTOFFS if each.declaration.takes_cutoff else (None,)
        for parameters, k in itertools.product(VARIANTS[name], cutoffs):
            yield name, parameters, k, each(**parameters) if k is None else each(**parameters) @ k


@pytest.mark.filterwarnings("ignore:qrels. no document of stratum")
@pytest.mark.parametrize("seed", range(3))
def test_twin(seed: int) -> None:
    for strata, drawn, run in problems(seed, 12):
        pools = irbatch.Qrels(strata, marks="strata")
        for judgments, names, qrels in (
            (strata, twin.OF_STRATA, pools), (drawn, twin.OF_PROBABILITIES, drawn),
        ):  # fmt: skip
            wanted = list(variants(names))
            found = irbatch.evaluate(qrels, run, [each for *_, each in wanted])
            assert (found.values >= 0).all()
            for name, parameters, k, each in wanted:
                for query, judged in judgments.items():
                    ranking = order(run.get(query, {}))
                    expected = twin.evaluate(name, ranking, judged, k, **parameters)
                    value = found.per_query(each)[query]
                    assert math.isclose(value, expected, rel_tol=1e-12, abs_tol=1e-15), each


def test_expected_ties_are_the_mean_over_orders() -> None:
    run = {"q": {"d1": 1.0, "d4": 1.0, "d6": 1.0, "u": 1.0, "d5": 0.5}}
    orders = [[*each, "d5"] for each in itertools.permutations(("d1", "d4", "d6", "u"))]
    for judgments, names in (
        (EXAMPLE, ["xInfAP", "InfNDCG@3", "InfP@2", "InfIPrec(recall=0.3)", "InfNumRelRet@2"]),
        (DRAWN, ["StatAP", "StatP@2", "StatRprec"]),
    ):
        expected = irbatch.evaluate(judgments, run, names, ties="expected").mean()
        for name in names:
            each = measure(name)
            settings = dict(each.parameters)
            of_each = functools.partial(twin.evaluate, each.name, judged=judgments["q"], **settings)
            values = [of_each(ranking=ranking, k=each.cutoff) for ranking in orders]
            assert math.isclose(expected[name], math.fsum(values) / len(values), rel_tol=1e-12)


def test_forms_of_judgments(tmp_path: Path) -> None:
    run = tmp_path / "r.run"
    run.write_text("".join(f"q Q0 {d} 0 {score} t\n" for d, score in RUN["q"].items()))
    rows = [(q, s, d, g) for q, some in EXAMPLE.items() for s, those in some.items()
            for d, g in those.items()]  # fmt: skip
    path = tmp_path / "strata.gz"
    with gzip.open(path, "wt") as file:
        file.writelines(f"{q} 0\t{d}  {s} {g}\n" for q, s, d, g in rows)
    columns = [list(each) for each in zip(*rows, strict=True)]
    names = "xInfAP InfNDCG(version=trecvid)@3 InfNumRel"
    expected = irbatch.evaluate(EXAMPLE, RUN, names).mean()
    called = {"query": "a", "stratum": "b", "document": "c", "grade": "d"}
    strata, marked = functools.partial(irbatch.Qrels, marks="strata"), irbatch.Qrels
    queries, stratum, documents, grades = columns
    for given in (
        strata(EXAMPLE), marked.from_columns(queries, documents, grades, strata=stratum),
        irbatch.read_qrels(path, marks="strata"),
        marked.from_table(dict(zip("abcd", columns, strict=True)), **called),
        dict(zip(["qid", "stratum", "docno", "relevance"], columns, strict=True)), str(path),
    ):  # fmt: skip
        assert irbatch.evaluate(given, RUN, names).mean() == expected
        assert irbatch.evaluate(given, run, names).mean() == expected
    assert repr(strata(EXAMPLE, "x")) == "<Qrels 'x': 1 query, 6 judgments of strata>"
    drawn = [(q, d, g, p) for q, some in DRAWN.items() for d, (g, p) in some.items()]
    path = tmp_path / "prels"
    lines = [f"{q} {d} {g} 1 {p}\n" for q, d, g, p in drawn]
    path.write_text("".join(lines).replace("d1 1 1 1.0", "d1 1 0 0.3") + "q d9 3 1 NA\n")
    columns = [list(each) for each in zip(*drawn, strict=True)]
    expected = irbatch.evaluate(DRAWN, RUN, "StatAP StatP@3").mean()
    table = dict(zip(["query_id", "doc_id", "grade", "probability"], columns, strict=True))
    for given in (
        marked(DRAWN, marks="probabilities"), table, str(path),
        marked.from_columns(*columns[:3], probabilities=columns[3]),
        marked.from_table(table, marks="probabilities"),
        irbatch.read_qrels(path, marks="probabilities"),
    ):  # fmt: skip
        assert irbatch.evaluate(given, RUN, "StatAP StatP@3").mean() == expected
        assert irbatch.evaluate(given, run, "StatAP StatP@3").mean() == expected


def test_settings() -> None:
    judgments = {"a": {1: {"d": 1}}, "b": {1: {"d": 0}}, "c": {2: {"d": 2, "e": 1}}}
    run = {"a": {"u": 3.0, "d": 2.0}, "b": {"d": 1.0}}
    names = "xInfAP xInfAP(rel=2) InfNumRel(rel=2)"
    found = irbatch.evaluate(judgments, run, names)
    assert found.per_query("xInfAP") == {"a": 0.5, "b": 0, "c": 0}
    assert found.per_query("InfNumRel(rel=2)") == {"a": 0, "b": 0, "c": 1}
    assert found.counts.no_relevant == 1
    skipped = irbatch.evaluate(judgments, run, names, no_relevant="skip", missing="skip")
    assert (skipped["xInfAP"], skipped.counts.missing) == (0.5, 1)
    assert math.isnan(skipped["xInfAP(rel=2)"])
    assert irbatch.evaluate(judgments, run, "xInfAP", judged_only=True)["xInfAP"] == 1 / 3
    assert irbatch.evaluate(judgments, run, "xInfAP", rel=2)["xInfAP"] == 0
    twice = irbatch.evaluate_runs(judgments, {"one": run, "two": run}, names)
    assert twice["two"].mean() == found.mean()


def test_refusals(tmp_path: Path) -> None:
    strata = functools.partial(irbatch.Qrels, marks="strata")
    drawn = functools.partial(irbatch.Qrels, marks="probabilities")
    for kind, judgments, facts, fields in [
        (strata, [1], ["mapping", "strata"], {}),
        (strata, {}, ["no queries"], {}),
        (strata, {"q": 3}, ["strata"], {"query": "q"}),
        (strata, {"q": {"s": 3}}, ["documents"], {"query": "q"}),
        (strata, {"q": {"s": {"d": "1"}}}, ["'1' is not a number"], {"document": "d"}),
        (strata, {"q": {"s": {"d": 1}, 2: {"e": 1}}}, ["stratum ids", "two kinds"], {}),
        (strata, {"q": {"s": {"d": 1}, "t": {"d": 1}}}, ["judged before"], {"document": "d"}),
        (drawn, [1], ["mapping", "probability"], {}),
        (drawn, {"q": {"d": 1}}, ["not a pair"], {"query": "q", "document": "d", "value": 1}),
        (drawn, {"q": {"d": (1, 0)}}, ["probability 0"], {"query": "q", "document": "d"}),
        (drawn, {"q": {"d": (1, 1.5)}}, ["1.5"], {"document": "d", "value": 1.5}),
        (drawn, {"q": {"d": (1, -0.5)}}, ["-0.5"], {"document": "d"}),
        (drawn, {"q": {"d": (1, math.nan)}}, ["nan"], {"query": "q", "document": "d"}),
        (drawn, {"q": {"d": (1, "x")}}, ["'x'"], {"document": "d", "value": "x"}),
    ]:  # fmt: skip
        input_error(lambda kind=kind, each=judgments: kind(each), *facts, **fields)
    with pytest.warns(irbatch.InputWarning, match="stratum 't' of query 'q'.* none count"):
        unsampled = strata({"q": {"s": {"d": 1}, "t": {"e": -1}}})
    assert irbatch.evaluate(unsampled, {"q": {"e": 1.0}}, "InfNumRel")["InfNumRel"] == 1
    run = {"q": {"d": 1.0}}
    half = strata({"q": {"s": {"d": 0.5}}})
    input_error(lambda: irbatch.evaluate(half, run, "xInfAP"), "0.5", "rel=", document="d")
    assert irbatch.evaluate(half, run, "xInfAP", rel=0.5)["xInfAP"] == 1
    lines = tmp_path / "q"
    read = functools.partial(irbatch.read_qrels, lines, marks="strata")
    for text, fact, line in [
        ("q 0 d s 1\nq 0 d t 1\n", "line 1", 2), ("q 0 d 1\n", "4 columns", 1),
        ("q 0 d s x\n", "'x'", 1),
    ]:  # fmt: skip
        lines.write_text(text)
        input_error(read, fact, line=line)
    for text, fact, line in [
        ("q d 1 1 0.5\nq d 1 1 0.5\n", "line 1", 2), ("q d 1 1 0\n", "probability 0", 1),
        ("q d 1 1 1.2\n", "probability 1.2", 1), ("q d 1 1 x\n", "probability 'x'", 1),
        ("q d 1 1 NA\n", "no data lines", None),
    ]:  # fmt: skip
        lines.write_text(text)
        fields = {} if line is None else {"line": line}
        read = functools.partial(irbatch.read_qrels, lines, marks="probabilities")
        input_error(read, fact, **fields)
    columns = functools.partial(irbatch.Qrels.from_columns, ["q"], ["d"], [1])
    input_error(lambda: columns(strata=["s", "t"]), "differ in length")
    input_error(lambda: columns(strata=["s"], subtopics=["t"]), "one kind")
    evaluate = irbatch.evaluate
    input_error(lambda: evaluate(EXAMPLE, RUN, "xInfAP P@5"), "xInfAP", "P@5", "grades")
    input_error(lambda: evaluate(EXAMPLE, RUN, "xInfAP StatAP"), "xInfAP", "probabilities")
    input_error(lambda: evaluate(irbatch.Qrels({"q": {"d": 1}}), RUN, "StatAP"), "grades")
    input_error(lambda: evaluate(strata(EXAMPLE), RUN, "StatAP"), "probabilities", "strata")
    input_error(lambda: evaluate(strata(EXAMPLE), RUN, "P@5"), "strata")
    input_error(lambda: evaluate(EXAMPLE, RUN, "xInfAP", ties="pessimistic"), "order")
    input_error(lambda: irbatch.evaluate_matrix([[1]], "xInfAP"), "strata", "irbatch.Qrels")


# ---------------------------------------------------------------- other tools' outputs

FOLDER = MORE_REFERENCE_DATA / "f_sample_eval"
OURS = {
    "infAP": "xInfAP{v}@1000", "infNDCG": "InfNDCG{v}@1000", "inum_rel_ret": "InfNumRelRet@1000",
    "inum_rel": "InfNumRel",
}  # fmt: skip


def spelled(name: str, version: str) -> str:
    if name.startswith("iP") and not name.startswith("iprec"):
        return f"InfP@{name[2:]}"
    if name.startswith("iprec@rec"):
        return f"InfIPrec(recall={float(name[9:]):g})@1000"
    return OURS[name].format(v="(version=trecvid)" if version == "TV" else "")


def stored(path: Path) -> dict[str, dict[str, float]]:
    """Measure to query to value."""
    found: dict[str, dict[str, float]] = {}
    with gzip.open(path, "rt") as file:
        for line in file:
            name, query, value = line.split()
            found.setdefault(name, {})[query] = float(value)
    return found


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
    names = {each: spelled(each, version) for each in expected}
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
    assert math.isclose(results["StatAP"], 1.2461397849368, rel_tol=1e-12)
    assert math.isclose(results["StatRprec"], 0.554598673086658, rel_tol=1e-12)
    assert math.isclose(results["StatP@30"], 2.51007942544013, rel_tol=1e-12)


def test_reference_outputs_are_there() -> None:
    if not FOLDER.exists():
        pytest.skip("no reference data: agreement with sample_eval is not tested")
    assert len(list((FOLDER / "expected").glob("*15digits*"))) == 8
