"""Scores of 16 bits are counted as the numbers that they are."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

import irbatch
from irbatch.pack.candidates import Candidates

BITS = np.arange(1 << 16, dtype=np.uint16)
RANDOM = np.random.default_rng(4)
LABELS = np.where(RANDOM.random((20, 300)) < 0.05, RANDOM.integers(1, 3, (20, 300)), 0)
pytestmark = pytest.mark.filterwarnings("ignore:scores of 16 bits")


@pytest.fixture(params=["float16", "bfloat16", "torch.float16", "torch.bfloat16"])
def halves(request: pytest.FixtureRequest) -> Any:
    """Return what makes 16-bit floats of bits."""
    package, _, name = request.param.rpartition(".")
    if package:
        torch = pytest.importorskip("torch")
        return lambda bits: torch.from_numpy(bits.view(np.int16)).view(getattr(torch, name))
    if name == "float16":
        return lambda bits: bits.view(np.float16)
    pytest.importorskip("ml_dtypes")
    return lambda bits: bits.view(importlib.import_module("ml_dtypes").bfloat16)


def as_float32(scores: Any) -> Any:
    if isinstance(scores, np.ndarray):
        return scores.astype(np.float32)
    return scores.float().numpy()


def test_counted_numbers_are_those_of_float32(halves: Any) -> None:
    scores = halves(BITS.reshape(256, 256))
    numbers = as_float32(scores).reshape(-1)
    candidates = Candidates(scores, None)
    np.testing.assert_array_equal(candidates.block(0, 256)[0].reshape(-1), numbers)
    for row, column in ((0, 0), (1, 255), (130, 3), (128, 0)):
        assert candidates.score_of(row, column) == numbers[256 * row + column]


@pytest.mark.parametrize("ties", ["expected", "pessimistic", "optimistic", "index"])
@pytest.mark.parametrize("turned", [False, True])
def test_values_are_those_of_float32(halves: Any, ties: str, turned: bool) -> None:
    bits = RANDOM.choice(BITS[(BITS & 0x7FFF) < 0x7C00], 6_000).astype(np.uint16)
    bits[::3] = bits[0]
    scores = halves(bits.reshape(300, 20)).T if turned else halves(bits.reshape(20, 300))
    given: dict[str, Any] = {"measures": "AP nDCG@10 RR R@50", "ties": ties}
    some = irbatch.evaluate_scores(scores, LABELS, exclude=[[5, 7]] * 20, **given)
    others = irbatch.evaluate_scores(as_float32(scores), LABELS, exclude=[[5, 7]] * 20, **given)
    assert some.to_dict() == others.to_dict()
    assert some.counts == others.counts


def test_errors_name_the_number(halves: Any) -> None:
    one = int(np.frombuffer(np.float16(1).tobytes(), np.uint16)[0])
    value = float(as_float32(halves(np.array([[one]], np.uint16)))[0, 0])
    tied = halves(np.array([[one, one]], np.uint16))
    given: dict[str, Any] = {"measures": "RR", "positives": [0]}
    with pytest.raises(irbatch.InputError, match="share the score") as caught:
        irbatch.evaluate_scores(tied, ties="error", **given)
    assert caught.value.value == value
    nan = halves(np.array([[one, 0x7FFF]], np.uint16))
    input_error(lambda: irbatch.evaluate_scores(nan, **given), "score nan of candidate 1")
    assert irbatch.evaluate_scores(nan, mask=[[True, False]], **given)["RR"] == 1.0
