"""What 16-bit scores cost before they are compared: ``pytest benchmarks/test_half_floats.py``.

Their places in order, made from the bits, against the conversions of NumPy and of torch, which
are the same numbers in float32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from irbatch.pack.candidates import Candidates

SCORES = np.random.default_rng(1).standard_normal((256, 1_000)).astype(np.float32)


def _places() -> Callable[[], Any]:
    scores = SCORES.astype(np.float16)
    return lambda: Candidates(scores, None).block(0, len(scores))


def _numpy() -> Callable[[], Any]:
    scores = SCORES.astype(np.float16)
    return lambda: scores.astype(np.float32)


def _torch(name: str) -> Callable[[], Any]:
    torch = pytest.importorskip("torch")
    scores = torch.from_numpy(SCORES).to(getattr(torch, name))
    return scores.float


@pytest.mark.parametrize(
    "make",
    [_places, _numpy, lambda: _torch("float16"), lambda: _torch("bfloat16")],
    ids=["places", "numpy", "torch float16", "torch bfloat16"],
)
def test_conversion(
    benchmark: Any, make: Callable[[], Callable[[], Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IRBATCH_JIT", "1")
    work = make()
    work()
    benchmark(work)
