"""Values don't depend on how many scores are taken together, nor on how they are counted."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

import irbatch
from irbatch.engine import ties
from irbatch.pack import candidates, counting

RANDOM = np.random.default_rng(8)
SCORES = RANDOM.integers(-3, 4, (9, 12))
SCORES[:4] = np.arange(12)  # no ties
LABELS = RANDOM.integers(-1, 3, (9, 12))
HIDDEN = {"mask": RANDOM.random((9, 12)) < 0.8, "exclude": [[i % 5, 11] for i in range(9)]}
HOLES = ~HIDDEN["mask"] | (np.arange(12) == np.array(HIDDEN["exclude"])[..., None]).any(axis=1)
WAYS: list[dict[str, Any]] = [
    {"relevance": LABELS},
    {"relevance": LABELS, **HIDDEN},
    {"relevance": LABELS > 0, "n_relevant": (LABELS > 0).sum(axis=1) + np.arange(9)},
]
MEASURES = "AP nDCG@5 RR Bpref NumRel NumRet"
SIZES = [(candidates, "BLOCK_CELLS", 30), (counting, "SORTED_FROM", 0), (counting, "MANY_TIED", 0),
         (counting, "COUNT_CELLS", 2), (counting, "SPARSE_CELLS", 40)]  # fmt: skip


@pytest.mark.parametrize("ties", ["expected", "pessimistic", "optimistic", "index"])
@pytest.mark.parametrize(("module", "name", "size"), SIZES, ids=[name for _, name, _ in SIZES])
@pytest.mark.parametrize("dtype", [np.int8, np.float32])
def test_sizes(
    module: Any, name: str, size: int, ties: str, dtype: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {"measures": MEASURES, "ties": ties}
    ways = [{"scores": SCORES.astype(dtype), **each} for each in WAYS]
    wanted = [irbatch.evaluate_scores(**each, **given) for each in ways]
    if dtype is np.float32:
        ways[1]["scores"] = np.where(HOLES, np.nan, ways[1]["scores"])
    monkeypatch.setattr(module, name, size)
    found = [irbatch.evaluate_scores(**each, **given) for each in ways]
    for one, other in zip(found, wanted, strict=True):
        assert one.values.tolist() == other.values.tolist()
        assert one.counts == other.counts


@pytest.mark.parametrize("same", [False, True])
def test_counts_of_eleven_thousand_candidates(same: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than 16 bits hold of the steps in which kernels count."""
    monkeypatch.setenv("IRBATCH_JIT", "0")
    values = np.arange(11_000.0)[None, :]
    if same:
        values = np.minimum(values, 1) * -1.0  # but for the first
    given: dict[str, Any] = {"measures": "RR", "ties": "pessimistic"}
    mask = np.arange(11_000)[None, :] < 10_999
    for relevant, hidden in itertools.product(range(1, 6), ({}, {"mask": mask})):
        positives = [[*range(1, 1 + relevant)]]
        found = irbatch.evaluate_scores(values, positives=positives, **given, **hidden)
        assert found["RR"] == 1 / (11_000 - relevant + same - len(hidden))
    input_error(
        lambda: irbatch.evaluate_scores(values * np.nan, positives=[0], **given),
        "score nan of candidate 0",
    )


def test_scores_are_rounded_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ties, "CHUNK", 4)
    exact = 1 + RANDOM.random(11) * 1e-6
    rounded = exact.copy()
    ties.round_scores(rounded, "float32")
    assert rounded.tolist() == exact.astype(np.float32).tolist()
    ties.round_scores(exact, "float64")
    assert (exact != rounded).any()


def test_what_mask_and_lengths_leave() -> None:
    mask = [[True, True, False, True], [False, True, True, True]]
    given: dict[str, Any] = {"measures": "NumRet", "mask": mask, "lengths": [3, 2]}
    found = irbatch.evaluate_scores(SCORES[:2, :4], LABELS[:2, :4], **given)
    assert found.values.tolist() == [[2], [1]]
    given["lengths"] = [3, 1]
    input_error(
        lambda: irbatch.evaluate_scores(SCORES[:2, :4], LABELS[:2, :4], **given),
        "none of the candidates is left",
    )
