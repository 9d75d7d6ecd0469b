"""The relevance matrix: blocks are bounded, padding is inert, levels are any grades."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import irbatch
from irbatch.engine.matrix import BLOCK_BYTES, NEGATIVE, PAD, UNJUDGED, RelevanceMatrix, plan_blocks
from irbatch.measures import Plan, parse_measures
from irbatch.pack.join import pack_run


@pytest.mark.parametrize(
    "depths", [[], [0], [5] * 1000, [10] * 9_999 + [10**6], [0, 1, 2, 3] * 50, list(range(3000))]
)
def test_blocks_hold_every_query_once_and_stay_bounded(depths: list[int]) -> None:
    lengths = np.array(depths, np.int64)
    blocks = list(plan_blocks(lengths, n_levels=4))
    everything = np.concatenate([np.empty(0, np.intp), *blocks])
    assert sorted(everything.tolist()) == list(range(len(depths)))
    for rows in blocks:
        widest = lengths[rows].max()
        assert rows.size * widest <= BLOCK_BYTES or rows.size == 1
        assert widest <= 2 * lengths[rows].min() + 64, "padding at most doubles a row"


def test_one_deep_query_beside_many_short_ones_costs_megabytes() -> None:
    """Padded to one depth this would take ten gigabytes."""
    deep = {f"d{i}": float(i) for i in range(200_000)}
    run = {f"q{i}": {"a": 2.0, "b": 1.0} for i in range(10_000)} | {"deep": deep}
    qrels = {q: {"a": 1, "d7": 1} for q in run}
    prepared, wrapped = irbatch.Qrels(qrels), irbatch.Run(run)
    plan = Plan(parse_measures("nDCG@10 AP"))
    tracemalloc.start()
    for block in pack_run(prepared, wrapped, np.arange(len(prepared))):
        plan.values(block.matrix)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 << 20


def test_labels_that_are_all_different_stay_bounded() -> None:
    """Counts by level of 400 queries x 160,000 levels would take half a gigabyte."""
    labels = np.random.default_rng(0).random((400, 400))
    tracemalloc.start()
    found = irbatch.evaluate_matrix(labels, "nDCG@10 DCG")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 128 << 20
    parts = [irbatch.evaluate_matrix(labels[i : i + 1], "nDCG@10 DCG").values for i in range(40)]
    assert found.values[:40].tolist() == np.concatenate(parts).tolist()


def test_what_stands_in_the_matrix() -> None:
    qrels = irbatch.Qrels({"q": {"a": 5, "b": -1, "c": 0.5, "z": 5}})
    run = irbatch.Run({"q": {"a": 4, "x": 3, "b": 2, "c": 1}})
    (block,) = pack_run(qrels, run, np.arange(1))
    assert block.matrix.levels.tolist() == [0.5, 5.0]
    assert block.matrix.codes.tolist() == [[1, UNJUDGED, NEGATIVE, 0, PAD, PAD, PAD, PAD]]
    assert block.matrix.judged.tolist() == [[1, 2]], "negative grades are at no level"
    assert block.matrix.condensed().codes.tolist() == [[1, 0, PAD, PAD, PAD, PAD, PAD, PAD]]


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float32])
def test_labels_for_all_documents_equal_the_same_judgments_by_id(dtype: type) -> None:
    """Where all is judged, grade 0 is passed over unless a measure sees something in it."""
    labels = np.random.default_rng(4).choice([0, 0, 0, 0, 1, 2, -1], (40, 53)).astype(dtype)
    labels[:, -1] = 0
    grades = {i: dict(enumerate(row.tolist())) for i, row in enumerate(labels)}
    run = {i: {d: -d for d in row} for i, row in grades.items()}
    for names in (
        "AP nDCG RR@10 P@{5,60} Judged@{3,60} NumRet R@7 Rprec CG IDCG",
        "P(rel=0)@5 AP(rel=0) P@5 Judged@5",
        "DCG(gain={0:0.5}) nDCG(gain={0:0.5})@10 nDCG@10 Judged@5",
    ):
        by_label = irbatch.evaluate_matrix(labels, names)
        by_id = irbatch.evaluate(grades, run, names)
        assert by_label.values.tolist() == by_id.values.tolist()


def test_cells_past_the_end_change_nothing() -> None:
    codes = np.full((1, 16), PAD, np.int8)
    codes[0, :3] = [1, UNJUDGED, 0]
    junk = codes.copy()
    junk[0, 3:] = 1
    levels, retrieved, judged = np.array([0.0, 1.0]), np.array([3]), np.array([[1, 2]])
    plan = Plan(parse_measures("nDCG AP P P@10 Judged NumRet RR R@5"))
    values = [
        plan.values(RelevanceMatrix(each, levels, retrieved, judged)).tolist()
        for each in (codes, junk, codes[:, :8].copy())
    ]
    assert values[0] == values[1] == values[2]


def test_ideal_rankings_end_at_the_last_cutoff(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten million relevant documents take no memory, nor, in plain Python, seconds a query."""
    monkeypatch.setenv("IRBATCH_JIT", "0")
    many = np.full(9, 10**7)
    tracemalloc.start()
    try:
        found = irbatch.evaluate_matrix(np.eye(9, 10), "nDCG@4 DCG@{1,5} R@9", n_relevant=many)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 << 20
    few = irbatch.evaluate_matrix(np.eye(9, 10), "nDCG@4 DCG@{1,5} R@9", n_relevant=many // 10**6)
    assert (found.values[:, :3] == few.values[:, :3]).all()
    assert (found.values[:, 3] == 1 / 10**7).all()
