"""Live comparisons with other tools that compute the same measures."""

from __future__ import annotations

import ast
import os
import random
import subprocess
import sys

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from sklearn import metrics
from sklearn.metrics import dcg_score, ndcg_score
from support.random_problems import Qrels, Run, nasty_problems
from support.tamed_problems import tamed

import irbatch

CUTOFFS = "5,10,15,20,30,100,200,500,1000"
TREC_EVAL = [
    "map", "Rprec", "recip_rank", "ndcg", "num_q", "num_ret", "num_rel", "num_rel_ret",
    "set_P", "set_recall", "set_relative_P", "set_F", "success.1,5,10",
    *(f"{name}.{CUTOFFS}" for name in ("P", "recall", "map_cut", "ndcg_cut", "relative_P")),
]  # fmt: skip


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("judged_only", [False, True])
def test_pytrec_eval(level: int, judged_only: bool) -> None:
    compared = 0
    for problem in nasty_problems(seed=7, count=80):
        qrels, run = tamed(*problem)
        if not qrels.keys() & run.keys() - {"no query"}:  # a name pytrec_eval uses for itself
            continue
        theirs = pytrec_eval.RelevanceEvaluator(
            qrels, TREC_EVAL, relevance_level=level, judged_docs_only_flag=judged_only
        ).evaluate(run)
        ours = with_level(qrels, run, level, judged_only)
        for query in theirs.keys() - {"no query"}:
            for name, value in theirs[query].items():
                assert ours[query][name] == pytest.approx(value, rel=1e-14, abs=0), (query, name)
                compared += 1
    assert compared > 3_000


def with_level(
    qrels: Qrels, run: Run, level: int, judged_only: bool
) -> dict[str, dict[str, float]]:
    """Evaluate as pytrec_eval does: float32 scores, queries of both sides, measures at a level."""
    wanted = irbatch.measures.parse_measures(TREC_EVAL)
    leveled = [
        each(rel=level) if "rel" in each.declaration.parameters and each.name != "nDCG" else each
        for each in wanted
    ]
    results = irbatch.evaluate(
        qrels, run, leveled, missing="skip", score_dtype="float32", judged_only=judged_only
    )
    names = [each.spelled("trec_eval") for each in wanted]
    return {
        query: dict(zip(names, values, strict=True))
        for query, values in zip(results.query_ids, results.values.tolist(), strict=True)
    }


def test_ir_measures() -> None:
    names = ["P@5", "R@10", "AP", "AP@10", "nDCG", "nDCG@10", "RR", "Rprec", "Success@5",
             "SetP", "SetR", "SetF", "NumRet", "AP(rel=2)", "P(rel=2)@5"]  # fmt: skip
    wanted = [ir_measures.parse_measure(name) for name in names]
    for problem in nasty_problems(seed=11, count=60):
        qrels, run = tamed(*problem)
        queries = (qrels.keys() & run.keys()) - {"no query"}
        if not queries:
            continue
        qrels = {q: qrels[q] for q in queries}
        run = {q: run[q] for q in queries}
        ours = irbatch.evaluate(qrels, run, names, score_dtype="float32").to_dict("ir_measures")
        for metric in ir_measures.iter_calc(wanted, qrels, run):
            name = str(metric.measure)
            assert ours[metric.query_id][name] == pytest.approx(metric.value, rel=1e-14), name


@pytest.mark.parametrize("distinct", [True, False])
def test_scikit_learn_s_measures_of_labels(distinct: bool) -> None:
    """Its losses take a tie for a full error; its LRAP takes it for one rank, as no policy does."""
    rng = np.random.default_rng(4)
    scores = rng.permutation(40 * 12).reshape(40, 12).astype(float)
    labels = (rng.random(scores.shape) < 0.3).astype(int)
    labels[0], labels[1] = 0, 1
    if not distinct:
        scores = np.floor(scores / 100)
    names = "AUC CoverageError RankingLoss LRAP GAUC"
    expected = irbatch.evaluate_scores(scores, labels, names, no_relevant="skip")
    worst = irbatch.evaluate_scores(scores, labels, names, ties="pessimistic")
    areas = [
        metrics.roc_auc_score(*row) if 0 < row[0].sum() < 12 else np.nan
        for row in zip(labels, scores, strict=True)
    ]
    assert expected.values[:, 0].tolist() == pytest.approx(areas, rel=1e-14, nan_ok=True)
    assert expected["AUC"] == pytest.approx(np.nanmean(areas), rel=1e-14)
    assert worst["CoverageError"] == metrics.coverage_error(labels, scores)
    loss = metrics.label_ranking_loss(labels, scores)
    assert worst["RankingLoss"] == pytest.approx(loss, rel=1e-14)
    weights = np.where(np.isnan(areas), 0, labels.sum(axis=1))
    grouped = np.nansum(weights * np.array(areas)) / weights.sum()
    assert expected["GAUC"] == pytest.approx(grouped, rel=1e-14)
    precision = metrics.label_ranking_average_precision_score(labels, scores)
    assert (worst["LRAP"] == pytest.approx(precision, rel=1e-14)) == distinct


def test_ir_measures_judged_share() -> None:
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}
    wanted = [ir_measures.parse_measure(f"Judged@{k}") for k in (1, 2, 3, 10)]
    theirs = ir_measures.calc_aggregate(wanted, qrels, run)
    ours = irbatch.evaluate(qrels, run, "Judged@{1,2,3,10}").mean()
    assert {str(name): value for name, value in theirs.items()} == ours


BPREF_OF_RANX = """
import random, ranx
chosen = random.Random(0)
def one(grades):
    qrels = {"q": {f"d{i}": grade for i, grade in enumerate(grades)}}
    order = chosen.sample(range(12), 9)
    run = {"q": {f"d{i}": float(place) for place, i in enumerate(order)}}
    value = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "bpref")
    print(repr((qrels, run, float(value))).replace("nan", "None"))
for _ in range(30):
    one([1, 0, *chosen.choices([0, 1, 2], k=6)])
one([1] * 6)
"""


def test_bpref_of_ranx() -> None:
    """Equal but for queries that have nothing judged not relevant: NaN there, as in 0/0."""
    pytest.importorskip("ranx")
    found = subprocess.run([sys.executable, "-W", "ignore", "-c", BPREF_OF_RANX], check=True,
                           env={**os.environ, "NUMBA_DISABLE_JIT": "1"},  # compiling takes minutes
                           capture_output=True, text=True)  # fmt: skip
    *equal, other = map(ast.literal_eval, found.stdout.splitlines())
    for qrels, run, theirs in equal:
        assert irbatch.evaluate(qrels, run, "Bpref")["Bpref"] == pytest.approx(theirs, rel=1e-14)
    qrels, run, theirs = other
    retrieved = len(qrels["q"].keys() & run["q"].keys())
    assert irbatch.evaluate(qrels, run, "Bpref")["Bpref"] == retrieved / 6
    assert theirs is None, "ranx agrees now: this is no disagreement any more"


@pytest.mark.parametrize("k", [1, 3, 10, None])
def test_scikit_learn_without_ties(k: int | None) -> None:
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 4, (50, 12)).astype(float)
    labels[:, 0] = 1.0
    scores = rng.permuted(np.tile(np.arange(12.0), (50, 1)), axis=1)
    ours = irbatch.evaluate_scores(scores, labels, ["nDCG", "DCG"] if k is None else
                                   [f"nDCG@{k}", f"DCG@{k}"]).mean()  # fmt: skip
    theirs = [ndcg_score(labels, scores, k=k), dcg_score(labels, scores, k=k)]
    assert list(ours.values()) == pytest.approx(theirs, rel=1e-13)


def test_larger_run_against_pytrec_eval() -> None:
    """Depths of real runs, where sums are long and cutoffs fall inside."""
    rng = random.Random(1)
    qrels, run = {}, {}
    for q in range(30):
        documents = [f"d{i:04}" for i in range(rng.choice((50, 500, 1500)))]
        qrels[str(q)] = {d: rng.randint(-1, 3) for d in rng.sample(documents, 40)}
        run[str(q)] = {d: rng.choice((rng.random(), 0.5)) for d in documents}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, TREC_EVAL).evaluate(run)
    ours = irbatch.evaluate(qrels, run, TREC_EVAL, score_dtype="float32").to_dict("trec_eval")
    for query, values in theirs.items():
        assert ours[query] == pytest.approx(values, rel=1e-14)
