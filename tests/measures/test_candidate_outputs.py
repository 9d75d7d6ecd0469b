"""What recommenders' tools print of real runs, to fifteen digits, and scikit-learn of others."""

from __future__ import annotations

import gzip
import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics

import irbatch
from irbatch.partial import evaluate_partition, merge_partials

FILES = {
    "ml": ("movielens_a", "qrels.random20.txt.gz"),
    "dl19": ("dl19_passage", "qrels.dl19-passage.txt.gz"),
}
TOLERANCE = 1e-12
# Which of our measures it is, and the ties that scikit-learn's rule for them amounts to.
OF_SCIKIT_LEARN = {
    "roc_auc_score": ("AUC", "expected"),
    "coverage_error": ("CoverageError", "pessimistic"),
    "label_ranking_loss": ("RankingLoss", "pessimistic"),
    "label_ranking_average_precision_score": ("LRAP", "expected"),
    "average_precision_score": ("AP(norm=found)", "expected"),
    "n_positive": ("NumRelRet", "expected"),
}
OF_A_TIE = ("label_ranking_average_precision_score", "average_precision_score")
OF_RECBOLE = {
    "hit": "Success", "mrr": "RR", "map": "AP(norm=min)", "recall": "R", "precision": "P",
    "ndcg": "nDCG(gain=binary)",
}  # fmt: skip
OF_RECOMMENDERS = {
    "precision_at_k": "P@10", "recall_at_k": "R@10", "map": "AP@10", "map_at_k": "AP(norm=min)@10",
    "ndcg_at_k(binary,log2)": "nDCG(gain=binary)@10",
}  # fmt: skip


def paths(set_name: str, run: str, data: Path) -> tuple[Path, Path]:
    folder, qrels = FILES[set_name]
    return data / folder / qrels, data / folder / "runs" / f"{run}.run.gz"


def rows(path: Path) -> Iterator[list[str]]:
    """The rows of a file of outputs, without its head and remarks."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            if not line.startswith(("#", "query\t")):
                yield line.rstrip("\n").split("\t")


def with_ties(run: Path) -> set[str]:
    """The queries in whose ranking some score comes twice."""
    scores = defaultdict(list)
    with gzip.open(run, "rt", encoding="utf-8") as file:
        for line in file:
            query, _, _, _, score, *_ = line.split()
            scores[query].append(float(score))
    return {query for query, each in scores.items() if len(set(each)) < len(each)}


def same(found: float, stored: str) -> bool:
    """Equal to fifteen digits; scikit-learn's NaN is a query that is left out."""
    return (math.isnan(found) and stored == "nan") or math.isclose(
        found, float(stored), rel_tol=TOLERANCE, abs_tol=TOLERANCE
    )


@pytest.mark.parametrize(
    "name", ["ml.itemknn50.level4", "ml.popularity.level4", "dl19.repllama-1000.level2"]
)
def test_scikit_learn(name: str, reference_data: Path, more_reference_data: Path) -> None:
    """Every value of every query, and the means; where candidates share a score, precisions differ.

    There a tie is one rank, whose precision is that at its end, even if all in it are relevant.
    """
    set_name, run, level = name.split(".")
    files = paths(set_name, run, reference_data)
    level = level.removeprefix("level")
    meanings = {
        theirs: (irbatch.measure(ours)(rel=int(level)), ties)
        for theirs, (ours, ties) in OF_SCIKIT_LEARN.items()
    }
    wanted = [ours for ours, _ in meanings.values()]
    by_ties = {
        ties: irbatch.evaluate(*files, wanted, ties=ties) for ties in ("expected", "pessimistic")
    }
    skipping = irbatch.evaluate(*files, wanted, ties="expected", no_relevant="skip")
    tied = with_ties(files[1])
    file = more_reference_data / f"g_recsys/expected/{set_name}.{run}.sklearn.level{level}"
    compared, disagreed = 0, 0
    for query, measure, stored in rows(file.with_name(f"{file.name}.15digits.tsv.gz")):
        if measure not in OF_SCIKIT_LEARN:
            continue
        ours, ties = meanings[measure]
        results = skipping if measure == "roc_auc_score" else by_ties[ties]
        found = results[ours] if query == "mean" else results.per_query(ours)[query]
        if measure in OF_A_TIE and (query in tied or (query == "mean" and tied)):
            disagreed += not same(found, stored)
        else:
            assert same(found, stored), (query, measure, found, stored)
            compared += 1
    assert compared > (170 if set_name == "dl19" else 2440)
    assert (disagreed > 0) == bool(tied), "it agrees now: this is no disagreement any more"


@pytest.mark.parametrize("run", ["itemknn50", "popularity"])
def test_recbole(run: str, reference_data: Path, more_reference_data: Path) -> None:
    """Means over users with positives; its ties are in the order of the list, but for GAUC."""
    stored = defaultdict(dict)
    for measure, *_, value in rows(
        more_reference_data / f"g_recsys/expected/ml.{run}.recbole.level4.15digits.tsv.gz"
    ):
        name, _, k = measure.partition("@")
        stored[name][k] = value
    names = {
        f"{irbatch.measure(ours)(rel=4)}@{k}": value
        for name, ours in OF_RECBOLE.items()
        for k, value in stored[name].items()
    }
    files = paths("ml", run, reference_data)
    found = irbatch.evaluate(*files, list(names), no_relevant="skip")
    for name, value in names.items():
        assert same(found[name], value), name
    for no_relevant in ("zero", "skip"):
        options = {"ties": "expected", "no_relevant": no_relevant}
        results = irbatch.evaluate(*files, "GAUC(rel=4)", **options)
        assert same(results["GAUC(rel=4)"], stored["gauc"][""])


def test_recommenders(reference_data: Path, more_reference_data: Path) -> None:
    stored = dict(
        row[:2]
        for row in rows(
            more_reference_data / "g_recsys/expected/ml.itemknn50.recommenders.k10.15digits.tsv.gz"
        )
        if len(row) == 2
    )
    wanted = {name: irbatch.measure(ours)(rel=4) for name, ours in OF_RECOMMENDERS.items()}
    r_precision = irbatch.measure("Rprec(rel=4)@10")
    files = paths("ml", "itemknn50", reference_data)
    found = irbatch.evaluate(*files, [*wanted.values(), r_precision], no_relevant="skip")
    for name, each in wanted.items():
        assert same(found[each], stored[name]), name
    # Its R-precision leaves out users who have no hit, which says more of them than of the others.
    values = np.array(list(found.per_query(r_precision).values()))
    mean = values[values > 0].mean()
    assert same(mean, stored["r_precision_at_k"])
    assert found[r_precision] < mean - 0.02, "it agrees now: this is no disagreement any more"


def test_xclib(reference_data: Path, more_reference_data: Path) -> None:
    """auc(k) looks inside the top k; users whose top k is all of one kind count as 0."""
    file = "g_recsys/expected/ml.itemknn50.xclib.level4_A0.55_B1.5.15digits.tsv.gz"
    stored = {measure: value for _, measure, *_, value in rows(more_reference_data / file)}
    found = irbatch.evaluate(*paths("ml", "itemknn50", reference_data), "AUC(rel=4)@20")
    assert same(found["AUC(rel=4)@20"], stored["auc(k=20)"])


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


TWO = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}}, {"q1": {"b": 2.0, "a": 1.0}}


def test_a_query_without_a_ranking_is_the_worst_or_left_out() -> None:
    qrels, run = TWO
    with pytest.warns(irbatch.InputWarning):
        skipping = irbatch.evaluate(qrels, run, WORST, no_relevant="skip")
    assert list(skipping.mean().values()) == MEANS_OF_WORST
    irbatch.evaluate(qrels, run, WORST, missing="skip")
    irbatch.evaluate(qrels, run, "LRAP AUC MeanRank@8")


WORST = "MeanRank FirstRank MedianRank CoverageError LRAP RankingLoss AUC FallOut MeanRank@8"
MEANS_OF_WORST = [2.0, 2.0, 2.0, 2.0, 0.25, 1.0, 0.0, 1.0, 5.5]


def in_batches() -> irbatch.Results:
    batches = irbatch.BatchEvaluator(WORST)
    batches.update([[2.0, 1.0], []], [[0, 1], []], n_relevant=[1, 1])
    return batches.compute()


def in_partitions() -> irbatch.Results:
    qrels, run = TWO
    return merge_partials([evaluate_partition(qrels, run, WORST)]).results(qrels)


@pytest.mark.parametrize("evaluate", [
    lambda: irbatch.evaluate(*TWO, WORST),
    lambda: irbatch.evaluate(TWO[0], {**TWO[1], "q2": {}}, WORST),
    lambda: irbatch.evaluate(TWO[0], {**TWO[1], "q2": {"c": 1.0}}, WORST, judged_only=True),
    lambda: irbatch.evaluate_runs(TWO[0], {"bm25": TWO[1]}, WORST)["bm25"],
    lambda: irbatch.evaluate_ids([["b", "a"], []], [["a"], ["a"]], WORST),
    lambda: irbatch.evaluate_matrix([[0, 1], []], WORST, n_relevant=[1, 1]),
    lambda: irbatch.evaluate_scores([[2.0, 1.0], []], [[0, 1], []], WORST, n_relevant=[1, 1]),
    in_batches, in_partitions,
])  # fmt: skip
def test_it_is_so_in_every_verb(evaluate: Callable[[], irbatch.Results]) -> None:
    left_out = "MeanRank, FirstRank, MedianRank, CoverageError"
    with pytest.warns(irbatch.InputWarning, match=f"^{left_out}: queries without a ranking"):
        results = evaluate()
    assert list(results.mean().values()) == MEANS_OF_WORST


def test_nothing_is_said_of_means_alone() -> None:
    batches = irbatch.BatchEvaluator("FirstRank", keep="sums")
    batches.update([[2.0, 1.0], []], [[0, 1], []], n_relevant=[1, 1])
    assert batches.compute()["FirstRank"] == 2.0
