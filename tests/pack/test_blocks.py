"""Values don't depend on how many scores are taken together, nor on how they are counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

import irbatch
from irbatch.engine.ties import by_score
from irbatch.pack import candidates, counting, scores

RANDOM = np.random.default_rng(8)
SCORES = RANDOM.integers(-3, 4, (9, 12))
LABELS = RANDOM.integers(-1, 3, (9, 12))
HIDDEN = {"mask": RANDOM.random((9, 12)) < 0.8, "exclude": [[i % 5, 11] for i in range(9)]}
WAYS: list[dict[str, Any]] = [
    {"relevance": LABELS},
    {"relevance": LABELS, **HIDDEN},
    {"relevance": LABELS > 0, "n_relevant": (LABELS > 0).sum(axis=1) + np.arange(9)},
]
MEASURES = "AP nDCG@5 RR Bpref NumRel NumRet"
SIZES = [(candidates, "BLOCK_CELLS", 30), (counting, "SORTED_FROM", 0), (counting, "MANY_TIED", 0),
         (scores, "COUNT_CELLS", 8), (scores, "SPARSE_CELLS", 40)]  # fmt: skip


@pytest.mark.parametrize("ties", ["expected", "pessimistic", "optimistic", "index"])
@pytest.mark.parametrize(("module", "name", "size"), SIZES, ids=[name for _, name, _ in SIZES])
@pytest.mark.parametrize("dtype", [np.int8, np.float32])
def test_sizes(
    module: Any, name: str, size: int, ties: str, dtype: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {"measures": MEASURES, "ties": ties}
    values = SCORES.astype(dtype)
    wanted = [irbatch.evaluate_scores(values, **each, **given) for each in WAYS]
    monkeypatch.setattr(module, name, size)
    found = [irbatch.evaluate_scores(values, **each, **given) for each in WAYS]
    for one, other in zip(found, wanted, strict=True):
        assert one.values.tolist() == other.values.tolist()
        assert one.counts == other.counts


def test_scores_are_rounded_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_score, "CHUNK", 4)
    exact = 1 + RANDOM.random(11) * 1e-6
    rounded = exact.copy()
    by_score.round_scores(rounded, "float32")
    assert rounded.tolist() == exact.astype(np.float32).tolist()
    by_score.round_scores(exact, "float64")
    assert (exact != rounded).any()


def test_what_mask_and_lengths_leave() -> None:
    mask = [[True, True, False, True], [False, True, True, True]]
    given: dict[str, Any] = {"measures": "NumRet", "mask": mask, "lengths": [3, 1]}
    given["mask"][1][0] = True
    found = irbatch.evaluate_scores(SCORES[:2, :4], LABELS[:2, :4], **given)
    assert found.values.tolist() == [[2], [1]]
    given["mask"][1][0] = False
    input_error(
        lambda: irbatch.evaluate_scores(SCORES[:2, :4], LABELS[:2, :4], **given),
        "none of the candidates is left",
    )
