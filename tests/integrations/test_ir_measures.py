"""The provider for ir_measures against ir_measures' own providers.

Theirs are asked for one measure at a time: several at once share an evaluator there, and some
get the values of another.
"""

from __future__ import annotations

import copy
import math
import shutil
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from random import Random
from typing import Any

import ir_measures
import pandas as pd
import pytest
from ir_measures import AP, NumRet, P, R, nDCG
from support.input_errors import input_error
from support.other_tools import Table, python, without_ties
from support.random_problems import nasty_problems, tamed

import irbatch
from irbatch.integrations.ir_measures import IrbatchProvider, install, uninstall

BOTH_HAVE = """\
P@1 P@5 P(rel=2)@5 P(judged_only=True)@5 P(rel=2,judged_only=True)@3
R@1 R@10 R(rel=2)@10 R(judged_only=True)@10
RR RR(rel=2) RR(judged_only=True)
AP AP@3 AP@100 AP(rel=2) AP(rel=2)@3 AP(judged_only=True) AP(judged_only=True)@5
Rprec Rprec(rel=2) Rprec(judged_only=True)
Success@1 Success(rel=2)@5 Success(judged_only=True)@5
Bpref Bpref(rel=2) infAP infAP(rel=2)
IPrec@0.0 IPrec@0.1 IPrec@1.0 IPrec(rel=2)@0.35
nDCG nDCG@1 nDCG@10 nDCG(judged_only=True) nDCG(judged_only=True)@10
nDCG(gains={1:3,2:9}) nDCG(gains={0:1,1:3})@10 nDCG(gains={1:0,2:0})@5
SetP SetP(rel=2) SetP(relative=True) SetP(relative=True,rel=2) SetP(judged_only=True)
SetR SetR(rel=2) SetAP SetAP(rel=2) SetAP(judged_only=True)
SetF SetF(rel=2) SetF(beta=2.0) SetF(beta=0.5,rel=2) SetF(judged_only=True)
NumQ NumRel NumRet NumRet(rel=1) NumRet(rel=2) Judged
""".split()  # noqa: SIM905
# Where they break ties, and scores that are one as float32, in another way.
WITHOUT_TIES = ["RR@1", "RR@3", "RR(rel=2)@10", "Judged@1", "Judged@5", "Judged@10"]
# Where they need cwl-eval.
OF_CWL = """\
INST(max_rel=3) INST(T=2.0,max_rel=4) INSQ(max_rel=3) INSQ(T=2.5,max_rel=3) NERR10(p=0.8,max_rel=3)
NERR11(max_rel=3) NERR11(T=3.0,max_rel=3) NERR8(max_rel=3)@1 NERR8(max_rel=3)@10 NERR9(max_rel=4)@20
SDCG(max_rel=3)@1 SDCG(max_rel=3)@10 BPM(T=1.0,max_rel=3)@5 BPM(T=2.0,max_rel=4)@1000
""".split()  # noqa: SIM905
# Theirs are pyndeval's: without ties, up to 20 documents, and divided at cutoff 1, too.
OF_SUBTOPICS = """\
alpha_nDCG@1 alpha_nDCG@20 alpha_nDCG(alpha=0.3,rel=2)@5 alpha_DCG@2 alpha_DCG(alpha=0.25)@20
ERR_IA@2 ERR_IA(rel=2)@20 nERR_IA@1 nERR_IA@10 NRBP NRBP(alpha=0.3,beta=0.8) nNRBP nNRBP(rel=2)
AP_IA AP_IA(rel=2) P_IA@5 P_IA(rel=2)@20 StRecall@1 StRecall(rel=2)@20
""".split()  # noqa: SIM905
Values = dict[str, dict[str, float]]

QRELS: Table = {"q": {"a": 1, "b": 0, "c": 2, "n": -1}, "p": {"a": 1}, "m": {"a": 1}}
RUN: Table = {"q": {"b": 3.0, "a": 2.0, "n": 1.5, "x": 1.0, "c": 0.5}, "p": {"a": 1.0},
              "extra": {"a": 1.0}}  # fmt: skip


@pytest.fixture
def provider() -> Iterator[IrbatchProvider]:
    """The provider, installed for the length of a test."""
    uninstall()
    yield install()
    uninstall()


def parse(names: list[str]) -> list[Any]:
    return [ir_measures.parse_measure(name) for name in names]


def by_query(metrics: Any) -> Values:
    """Measure to query to value."""
    found: Values = {}
    for each in metrics:
        assert each.query_id not in found.setdefault(str(each.measure), {})
        found[str(each.measure)][each.query_id] = each.value
    return found


def ours_and_theirs(name: str, qrels: Any, run: Table) -> list[dict[str, float]]:
    (measure,) = parse([name])
    return [by_query(each.iter_calc([measure], qrels, run))[str(measure)]
            for each in (IrbatchProvider(), ir_measures)]  # fmt: skip


# Values


@pytest.mark.parametrize(("names", "arrange"), [(BOTH_HAVE, dict), (WITHOUT_TIES, without_ties)])
def test_nasty_problems(names: list[str], arrange: Callable[[Table], Table]) -> None:
    measures = parse(names)
    compared = 0
    for problem in nasty_problems(seed=29, count=60):
        qrels, ranked = (
            {q: each for q, each in side.items() if q != "no query"} for side in tamed(*problem)
        )
        run = arrange(ranked)
        if not qrels or not run:
            continue
        found = by_query(IrbatchProvider().iter_calc(measures, qrels, run))
        assert len(found) == len(measures)
        for measure in measures:
            theirs = by_query(ir_measures.iter_calc([measure], qrels, run))[str(measure)]
            # Weighted F: by the square of a root.
            expected = pytest.approx(theirs, rel=1e-14 if measure.NAME == "SetF" else 0, abs=0)
            assert found[str(measure)] == expected, measure
            compared += len(theirs)
    assert compared > 100 * len(measures)


def test_means_and_missing_queries(provider: IrbatchProvider) -> None:
    measures = parse(BOTH_HAVE + WITHOUT_TIES)
    means = ir_measures.calc_aggregate(measures, QRELS, RUN)
    values = by_query(ir_measures.iter_calc(measures, QRELS, RUN))
    uninstall()
    for measure in measures:
        expected = ir_measures.calc_aggregate([measure], QRELS, RUN)[measure]
        assert means[measure] == pytest.approx(expected, rel=1e-14), measure
        assert values[str(measure)].keys() == QRELS.keys()
        assert values[str(measure)]["m"] == measure.DEFAULT == 0


OF_BOTH = [each for each in BOTH_HAVE + WITHOUT_TIES if "judged_only" not in each]
OF_SCALES = ["RBP(rel=1)", "RBP(rel=2,p=0.5)", "Compat(p=0.8)", *OF_CWL, "ERR@5"]


def test_objects_are_there_and_in_evaluate_the_same() -> None:
    """Whoever spells out a default or leaves it out, asks of `evaluate` what the provider gives."""
    rng = Random(5)
    qrels = {f"q{q}": {f"d{d}": rng.randint(-1, 3) for d in range(12)} for q in range(20)}
    run = {q: {f"d{d}": i + 1.0 for i, d in enumerate(rng.sample(range(20), 15))} for q in qrels}
    theirs = parse(OF_BOTH)
    for each in parse([*OF_BOTH, *OF_SCALES]):
        defaults = {name: about.default for name, about in each.SUPPORTED_PARAMS.items()}
        told = {name: value for name, value in defaults.items() if name in ("rel", "p", "beta", "T")
                and isinstance(value, (int, float))}  # fmt: skip
        for measure in (each, type(each)(**(told | each.params))):
            (found,) = irbatch.evaluate(qrels, run, [measure]).mean().values()
            expected = IrbatchProvider().calc_aggregate([measure], qrels, run)[measure]
            assert found == pytest.approx(expected, rel=1e-14), measure
            if each in theirs:
                expected = ir_measures.calc_aggregate([measure], qrels, run)[measure]
                assert found == pytest.approx(expected, rel=1e-14), measure


LOG3 = math.log2(3)
# q's grades in rank order are 0 1 -1 - 2, p's 1.
OURS_ALONE = {
    "RBP(rel=1)": (0.2 * (0.8 + 0.8**4) + 0.2) / 3,
    "RBP(rel=1,p=0.5)@2": (0.5 * 0.5 + 0.5) / 3,
    "RBP(rel=2)@10": 0.2 * 0.8**4 / 3,
    "NumRel(rel=2)": 1.0,
    "RR(judged_only=True)@2": (1 / 2 + 1) / 3,
    "nDCG(dcg='exp-log2',gains={1:3})@1": 1 / 3,
    "nDCG(dcg='exp-log2')": (1 + (1 / LOG3 + 3 / math.log2(6)) / (3 + 1 / LOG3)) / 3,
}  # fmt: skip


@pytest.mark.parametrize("name", OURS_ALONE)
def test_measures_without_a_provider_there(name: str, provider: IrbatchProvider) -> None:
    (measure,) = parse([name])
    found = ir_measures.calc_aggregate([measure], QRELS, RUN)[measure]
    assert found == pytest.approx(OURS_ALONE[name], rel=1e-14)
    uninstall()
    if find_spec("ranx") is find_spec("cwl") is None:  # they measure some of these
        with pytest.raises(ValueError, match="Unsupported measures"):
            ir_measures.calc_aggregate([measure], QRELS, RUN)


@pytest.mark.parametrize("name", [*OF_CWL, "RBP(rel=1)", "RBP(rel=2,p=0.5)"])
def test_cwl_eval(name: str) -> None:
    pytest.importorskip("cwl", reason="pip install cwl-eval")
    assert IrbatchProvider().supports(*parse([name]))
    qrels = {f"q{i}": {f"d{j}": (i * j) % 5 - 1 for j in range(9)} for i in range(1, 6)}
    run = {f"q{i}": {f"d{j}": float(j * 7 % 13) for j in range(2, 3 * i)} for i in range(1, 6)}
    ours, theirs = ours_and_theirs(name, qrels, run)
    assert ours == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize("name", ["Compat", "Compat(p=0.8)", "Compat(normalize=False)"])
def test_compat_of_rankings_of_1000(name: str) -> None:
    qrels = {"q": {f"d{i}": i % 5 for i in range(0, 1100, 37)}, "none": {"d1": 0}}
    run = {q: {f"d{i}": float(i * 37 % 1009 + 1) for i in range(1000)} for q in qrels}
    ours, theirs = ours_and_theirs(name, qrels, run)
    assert ours == pytest.approx(theirs, rel=1e-12)
    assert 0 < ours["q"] < 1


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is a Perl program")
@pytest.mark.parametrize("name", ["nDCG(dcg='exp-log2')@3", "nDCG(dcg='exp-log2')@10", "ERR@3"])
def test_gdeval(name: str) -> None:
    qrels = {str(q): {f"d{d}": (q * d) % 4 for d in range(9)} for q in range(1, 6)}
    run = {str(q): {f"d{d}": float(d * 5 % 11) for d in range(1, 11)} for q in range(1, 6)}
    ours, theirs = ours_and_theirs(name, qrels, run)
    assert ours == pytest.approx(theirs, abs=0.6e-5)  # it prints 5 digits


def test_what_is_not_supported_or_rejected() -> None:
    (measure,) = parse(["INST(max_rel=1)"])
    input_error(
        lambda: list(IrbatchProvider().iter_calc([measure], QRELS, RUN)),
        "grade 2 is above the max_grade of INST, 1",
    )
    others = parse(["INST(max_rel=3,min_rel=1)", "RBP@10", "alpha_nDCG"])
    assert not any(map(IrbatchProvider().supports, others))


def test_a_cutoff_of_0_ends_the_process_there(provider: IrbatchProvider) -> None:
    code = "import ir_measures as m; m.calc_aggregate([m.P @ 0], {'q': {'a': 1}}, {'q': {'a': 1.}})"
    assert python(code).returncode < 0, "killed by a signal"
    input_error(
        lambda: ir_measures.calc_aggregate([R @ 0], QRELS, RUN),
        "cutoff 0 must be a whole number of at least 1",
    )


# Who is asked


def test_other_measures_fall_through(provider: IrbatchProvider) -> None:
    (measure,) = parse(["Accuracy"])
    assert not provider.supports(measure)
    sides = {"q": QRELS["q"]}, {"q": RUN["q"]}
    found = ir_measures.calc_aggregate([measure, AP], *sides)
    uninstall()
    assert found == {m: ir_measures.calc_aggregate([m], *sides)[m] for m in (measure, AP)}


def judged_by_subtopics(seed: int) -> tuple[list[Any], Table]:
    """Judgments, and rankings without ties, some of documents that are not judged."""
    rng = Random(seed)
    qrels = [
        ir_measures.Qrel(str(query), f"d{i}", rng.choice((-1, 0, 1, 1, 2)), str(subtopic))
        for query in range(9) for subtopic in range(rng.randint(1, 4)) for i in range(12)
        if rng.random() < 0.4
    ]  # fmt: skip
    run = {
        str(query): {f"d{i}": rank + 0.5 for rank, i in enumerate(rng.sample(range(15), 9))}
        for query in range(1, 10)
    }
    return qrels, run


@pytest.mark.parametrize("name", OF_SUBTOPICS)
def test_measures_of_subtopics(name: str) -> None:
    pytest.importorskip("pyndeval")
    (measure,) = parse([name])
    for seed in range(3):
        qrels, run = judged_by_subtopics(seed)
        ours, theirs = ours_and_theirs(name, qrels, run)
        told = {query: value for query, value in theirs.items() if not math.isnan(value)}
        assert {query: ours[query] for query in told} == pytest.approx(told, rel=1e-12, abs=1e-15)
        assert ours.keys() == theirs.keys()
        for form in (iter(qrels), pd.DataFrame(qrels)):
            assert by_query(IrbatchProvider().iter_calc([measure], form, run))[name] == ours
        found = irbatch.evaluate(pd.DataFrame(qrels), run, [measure]).mean()
        expected = IrbatchProvider().calc_aggregate([measure], qrels, run)[measure]
        assert list(found.values()) == pytest.approx([expected], rel=1e-14)


def test_measures_of_subtopics_beside_others(provider: IrbatchProvider) -> None:
    """In one call: theirs would read the run once and have nothing left for other parameters."""
    measures = parse(["AP", "alpha_nDCG@5", "NRBP(beta=0.8)", "P_IA(judged_only=True)@2"])
    qrels, run = judged_by_subtopics(5)
    together = ir_measures.calc_aggregate(measures, iter(qrels), run)
    apart = {each: ir_measures.calc_aggregate([each], qrels, run)[each] for each in measures}
    assert together == apart
    judged = {(each.query_id, each.doc_id) for each in qrels}
    condensed = {
        query: {document: score for document, score in some.items() if (query, document) in judged}
        for query, some in run.items()
    }
    plain = ir_measures.P_IA @ 2
    assert ir_measures.calc_aggregate([plain], qrels, condensed)[plain] == together[measures[3]]
    with pytest.warns(irbatch.InputWarning, match="no query has two subtopics"):
        ir_measures.calc_aggregate(measures, QRELS, RUN)


# Forms of input


def rows_of(table: Table, kind: Any) -> list[Any]:
    return [kind(q, d, value) for q, each in table.items() for d, value in each.items()]


FORMS: dict[str, Callable[[Table, Any], Any]] = {
    "dict": lambda table, kind: table,
    "list": rows_of,
    "generator": lambda table, kind: iter(rows_of(table, kind)),
    "frame": lambda table, kind: pd.DataFrame(rows_of(table, kind)),
}


@pytest.mark.parametrize("qrels", FORMS)
@pytest.mark.parametrize("run", FORMS)
def test_forms(qrels: str, run: str, provider: IrbatchProvider) -> None:
    """Nothing that is handed in is changed."""
    measures = parse(["AP", "nDCG(gains={1:5})@3", "P(judged_only=True)@2", "NumQ", "Judged@2"])
    before = copy.deepcopy((QRELS, RUN))
    expected = ir_measures.calc_aggregate(measures, *before)
    judged = FORMS[qrels](QRELS, ir_measures.Qrel)
    ranked = FORMS[run](RUN, ir_measures.ScoredDoc)
    assert ir_measures.calc_aggregate(measures, judged, ranked) == expected
    assert before == (QRELS, RUN)


def test_an_evaluator_takes_several_runs(provider: IrbatchProvider) -> None:
    measures = [AP, P @ 1, nDCG(judged_only=True) @ 3, NumRet]
    evaluator = ir_measures.evaluator(measures, iter(rows_of(QRELS, ir_measures.Qrel)))
    other = {"m": {"a": 2.0}, "q": {"c": 1.0, "z": 3.0}}
    for run in (RUN, other, {}, RUN):
        found = evaluator.calc_aggregate(run)
        assert found == ir_measures.calc_aggregate(measures, QRELS, run)
    assert found[P @ 1] == pytest.approx(1 / 3)
    assert evaluator.calc_aggregate({})[AP] == 0


def test_queries_without_judgments(provider: IrbatchProvider) -> None:
    assert list(ir_measures.iter_calc([AP], {}, RUN)) == []
    assert by_query(ir_measures.iter_calc([AP], {"q": {}, "p": {"a": 1}}, RUN)) == {
        "AP": {"q": 0.0, "p": 1.0}
    }


# Installing


def test_install_and_uninstall() -> None:
    pipeline = ir_measures.DefaultPipeline.providers
    before = list(pipeline)
    assert "irbatch" not in [each.NAME for each in before]
    installed = install()
    assert install() is installed is ir_measures.providers.registry["irbatch"]
    assert pipeline == [installed, *before]
    uninstall()
    assert pipeline == before
    uninstall()
    assert pipeline == before
    assert install() is installed
    uninstall()


def test_importing_installs_nothing() -> None:
    code = """
import ir_measures
before = list(ir_measures.DefaultPipeline.providers)
import irbatch.integrations.ir_measures
assert ir_measures.DefaultPipeline.providers == before
assert "irbatch" not in ir_measures.providers.registry
"""
    assert python(code).stderr == ""
