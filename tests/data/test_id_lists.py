"""Ranked ids beside sparse matrices, `Qrels` and arrays of ids."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from support.input_errors import input_error

from irbatch import BatchEvaluator, Items, Qrels, evaluate_ids

IDS = np.array([[0, 1, 2], [2, 1, 0]])
CELLS = sp.csr_array(np.array([[0, 2, 0], [1, 0, 0]]))
VALUES = {"RR": (1 / 2 + 1 / 3) / 2, "nDCG@2": 1 / math.log2(3) / 2}


@pytest.mark.parametrize(
    "relevant",
    [CELLS, CELLS.tocoo(), Qrels({0: {1: 2}, 1: {0: 1}}), Qrels.from_sparse(CELLS),
     [{1: 2}, {0: 1}]],
)  # fmt: skip
@pytest.mark.parametrize("ranked", [IDS, IDS.astype(np.int32), IDS.tolist(), list(IDS)])
def test_one_result_of_all_forms(ranked: Any, relevant: Any) -> None:
    assert evaluate_ids(ranked, relevant, list(VALUES)).mean() == VALUES


def test_queries_pair_by_their_ids() -> None:
    qrels = Qrels({"b": {0: 1}, "a": {1: 2}, "c": {7: 1}})
    of_ids = evaluate_ids(IDS, qrels, "RR", query_ids=["a", "b"])
    assert of_ids.per_query("RR") == {"b": 1 / 3, "a": 0.5, "c": 0.0}
    assert of_ids.has_ids
    named = evaluate_ids({"a": IDS[0], "b": IDS[1]}, qrels, "RR")
    assert named.per_query("RR") == of_ids.per_query("RR")


def test_arrays_of_ids_are_read_as_lists_are() -> None:
    arrays = [np.array([1, 5], np.int32), np.array([0], np.int32)]
    lists = evaluate_ids(IDS, [[1, 5], [0]], "AP")
    assert evaluate_ids(IDS, arrays, "AP").per_query("AP") == lists.per_query("AP")
    some_empty = [np.array([1]), np.array([])]
    assert evaluate_ids(IDS, some_empty, "RR").per_query("RR") == {0: 0.5, 1: 0.0}


def test_what_does_not_pair() -> None:
    input_error(lambda: evaluate_ids(IDS, CELLS, "RR", query_ids=["a", "a"]), "2 different ids")
    input_error(lambda: evaluate_ids({1: [2]}, [[1]], "RR", query_ids=[1]), "both sequences")
    input_error(lambda: evaluate_ids({1: [2]}, {1: [2]}, "RR", query_ids=[1]), source="query_ids")
    bad = sp.csr_array(np.array([[0, np.nan, 0], [1, 0, 0]]))
    input_error(lambda: evaluate_ids(IDS, bad, "RR"), query=0, document=1)
    qrels = Qrels({0: {1: 1}})
    input_error(lambda: BatchEvaluator("RR").update_ids(IDS, qrels), source="relevant")


@pytest.mark.parametrize("jit", ["0", "1"])
@pytest.mark.parametrize("large", [7, 2**40, 2**32])
def test_ids_of_32_bits(monkeypatch: pytest.MonkeyPatch, jit: str, large: int) -> None:
    monkeypatch.setenv("IRBATCH_JIT", jit)
    relevant = [[large, 1], [0]]
    wide = evaluate_ids(IDS, relevant, "AP Judged@2")
    narrow = evaluate_ids(IDS.astype(np.int32), relevant, "AP Judged@2")
    assert narrow.values.tolist() == wide.values.tolist()
    items = Items(range(3), popularity=[3, 2, 1])
    found = [evaluate_ids(ids, relevant, "Novelty@2 Gini@1", items=items).mean()
             for ids in (IDS, IDS.astype(np.int32))]  # fmt: skip
    assert found[0] == found[1]
