"""Who stands before whom among documents that share a score."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from irbatch.data.ids import TextColumn
from irbatch.engine import orders
from irbatch.engine.expected import expect
from irbatch.engine.matrix import PAD, RelevanceMatrix
from irbatch.engine.scan import ScanRequest, scan
from irbatch.engine.ties import (
    OpenTies,
    Ordering,
    Texts,
    TieGroups,
    TiePolicy,
    find_ranks,
    order_documents,
    place_ids,
    rank_tied,
)
from irbatch.measures.parameters import make_weighting


def test_documents_stand_by_score_then_id_both_descending() -> None:
    rng = np.random.default_rng(0)
    rows = np.sort(rng.integers(0, 5, 60))
    scores = rng.integers(0, 4, 60).astype(float)
    ids = [f"d{i}" for i in rng.permutation(60)]
    expected = sorted(range(60), key=lambda i: (-rows[i], scores[i], ids[i]), reverse=True)
    assert order_documents(rows, scores, ids).tolist() == expected


TEXTS = [["a", "b", "c", "ab", "", "b\u0080", "\ue000", "\ud800", "\U00010000"], [9, 10, 100, 1]]


@pytest.mark.parametrize("ids", [*TEXTS, [f"d{i * 7 % 50}" for i in range(50)]])
@pytest.mark.parametrize("seed", range(3))
def test_ids_compare_as_text_either_way(ids: list[Any], seed: int) -> None:
    down = sorted(ids, key=str, reverse=True)
    picks = np.random.default_rng(seed).permutation(len(ids))[: 1 + len(ids) // (seed + 1)]
    judged = [ids[pick] for pick in picks]
    policies = (TiePolicy.ID, down), (TiePolicy.ID_ASCENDING, down[::-1]), (TiePolicy.INDEX, ids)
    for policy, order in policies:
        # In two rankings behind another one: the documents of one tie stand together or apart.
        names = ["x", *ids, *ids], [each for each in judged for _ in range(2)]
        columns = [TextColumn.encode(list(map(str, each))) for each in names]
        every, some = (Texts(each.text, each.starts, each.lengths) for each in columns)
        begins, rows = np.array([1, 1 + len(ids)] * len(judged)), np.arange(1 + 2 * len(ids))
        places = rank_tied(policy, every, rows, begins, np.full_like(begins, len(ids)), some)
        assert places[::2].tolist() == [order.index(each) for each in judged]
        assert (places[1::2] == places[::2]).all()
        if policy != TiePolicy.INDEX:
            assert place_ids(policy, ids).tolist() == [order.index(each) for each in ids]


def test_grades_decide_for_the_worst_and_for_the_best() -> None:
    """A tie of five: grades 2, 1 and -1, and two documents without a judgment."""
    grades = np.array([1.0, 2.0, -1.0])
    shared = np.zeros(3, np.int64), grades, np.full(3, 4), np.full(3, 5)
    places = {
        policy: TieGroups(policy, *shared).count_before(lambda: np.array([7, 8, 9])).tolist()
        for policy in TiePolicy
    }
    worst, keys = [3, 4, 0], [7, 8, 9]
    assert places == {
        TiePolicy.OPTIMISTIC: [1, 0, 4],
        **dict.fromkeys((TiePolicy.PESSIMISTIC, TiePolicy.EXPECTED, TiePolicy.ERROR), worst),
        **dict.fromkeys((TiePolicy.INDEX, TiePolicy.ID, TiePolicy.ID_ASCENDING), keys),
    }


@pytest.mark.parametrize("policy", list(TiePolicy))
def test_only_ties_of_different_grades_matter(policy: TiePolicy) -> None:
    """Row 0: a tie of one grade. Row 1: a mixed one. Row 2: a mixed one without a grade above 0."""
    rows = np.array([0, 0, 1, 1, 2])
    grades = np.array([1.0, 1.0, 0.0, 1.0, -1.0])
    groups = TieGroups(policy, rows, grades, np.full(5, 3), np.full(5, 2))
    found = groups.list_open()
    assert (found is not None) == (policy == TiePolicy.EXPECTED)
    if found is not None:
        assert [each.tolist() for each in found] == [[1, 2], [3, 3], [5, 5]]
    assert groups.mark_rows(4).tolist() == [False, not policy.by_id, False, False]
    refused = groups.find_rejected()
    assert (refused in (2, 3)) if policy == TiePolicy.ERROR else refused is None
    assert groups.count_constant(np.array([2, 2, 2])) == 1
    assert groups.count_constant(np.array([2, 9, 2])) == 0


def test_open_ties_of_some_rows_count_from_the_first() -> None:
    ties = OpenTies(np.array([0, 2, 2, 5]), np.arange(4), np.arange(4) + 2)
    for first, last in itertools.combinations(range(7), 2):
        found = ties.of_rows(first, last)
        mine = [i for i, row in enumerate([0, 2, 2, 5]) if first <= row < last]
        assert found.begins.tolist() == mine
        assert (found.rows + first).tolist() == ties.rows[mine].tolist()


@pytest.mark.parametrize("seed", range(8))
def test_scores_are_found_with_or_without_a_hint(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 7, 12)
    ends = np.cumsum(lengths)
    begins = ends - lengths
    rankings = [np.sort(rng.integers(0, 5, n))[::-1].astype(float) for n in lengths]
    rows = np.repeat(np.arange(12), lengths)
    wanted = scores = np.concatenate(rankings)
    above = [(rankings[row] > score).sum() for row, score in zip(rows, wanted, strict=True)]
    equal = [(rankings[row] == score).sum() for row, score in zip(rows, wanted, strict=True)]
    right = np.arange(scores.size)
    for near in (np.full(scores.size, -1), right, np.where(right % 2, right, -1)):
        found = find_ranks(scores, begins, ends, wanted, rows, near)
        assert [each.tolist() for each in found] == [above, equal]


def test_first_hits_are_expected_by_their_reciprocals() -> None:
    """Row 0: a relevant document and another one share ranks 1 and 2. Row 1: none is relevant."""
    codes = np.array([[1, 0, -3, -3, -3, -3, -3, -3], [0, -1, -3, -3, -3, -3, -3, -3]], np.int8)
    ties = OpenTies(np.arange(2), np.zeros(2, np.int64), np.full(2, 2))
    retrieved, judged = np.array([2, 2]), np.array([[1, 1], [1, 0]])
    matrix = RelevanceMatrix(codes, np.arange(2.0), retrieved, judged, ties=ties)
    request = ScanRequest([1.0, 2.0], [1.0], [make_weighting("linear", "log2", None)])
    expected = expect(matrix, ties, request, scan(matrix, request))
    statistics = expected.view(expected, 0, 0, [0, 1])
    assert statistics.reciprocal_rank.tolist() == [[0.5, 0.75], [0, 0]]
    assert statistics.first_hit.tolist() == [[2, 1 / 0.75], [0, 0]]


def test_ties_keep_what_is_left_of_them() -> None:
    """Row 0: ties at ranks 1-3 and 4-6, of which the second keeps one code. Row 1: one of 2-3."""
    codes = np.array([[1, -1, 0, 1, 1, -1], [-1, 2, 0, -1, -3, -3]])
    left = np.array([[1, 0, 1, 1, -3, -3], [2, 0, -3, -3, -3, -3]])
    ties = OpenTies(np.array([0, 0, 1]), np.array([0, 3, 1]), np.array([3, 6, 3]))
    found = ties.condensed(codes >= 0, left)
    assert [each.tolist() for each in found] == [[0, 1], [0, 0], [2, 2]]


@pytest.mark.parametrize("length", [5, 9])  # of which all orders are tried, and of which some
def test_orders_in_parts_are_the_same(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    codes = np.array([[1, 2, 0, -1, 3, 4, 5, 6, 7] + [PAD] * 7] * 3, np.int8)
    codes[:, length:] = PAD
    ties = OpenTies(*np.array([[1], [0], [length]]))
    counts = np.zeros((3, 8), np.int64)
    counts[1] = np.arange(8)
    matrix = RelevanceMatrix(codes, np.arange(8.0), np.full(3, length), counts, ties=ties)
    ((_, (whole,)),) = ((row, list(each)) for row, each in orders.orders_of(matrix))
    monkeypatch.setattr(orders, "BLOCK_BYTES", 100)
    ((row, parts),) = ((row, list(each)) for row, each in orders.orders_of(matrix))
    assert row == 1
    assert len(parts) == -(-len(whole.codes) // 50)
    for name in ("codes", "retrieved", "judged"):
        found = np.concatenate([getattr(part, name) for part in parts])
        assert found.tolist() == getattr(whole, name).tolist()
    assert len(whole.retrieved) == len(whole.judged) == len(whole.codes) > 50
    assert (whole.judged == counts[1]).all()


def test_an_ordering_says_what_decides() -> None:
    assert Ordering().describe() == "score (float64) descending, then document id descending"
    index = Ordering("float32", TiePolicy.INDEX)
    assert index.describe() == "score (float32) descending, ties: index"
    assert index.describe("rank") == "rank ascending, ties: index"
