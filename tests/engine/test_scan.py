"""The scan against sums over every cell, for all that decides which way it takes."""

from __future__ import annotations

import itertools
import tracemalloc
from typing import Any

import numpy as np
import pytest

import irbatch
from irbatch.array_types import Floats
from irbatch.engine import scan as scan_module
from irbatch.engine.matrix import NEGATIVE, PAD, UNJUDGED, Entries, RelevanceMatrix, SparseMatrix
from irbatch.engine.scan import FULL_DEPTH, ScanRequest, scan
from irbatch.measures.parameters import make_weighting

pytestmark = pytest.mark.portable

WEIGHTINGS = [make_weighting("linear", "log2", None), make_weighting("exp", "ln", 2.0)]
SHARES = (0.0, 0.01, 0.1, 0.6, 1.0)  # of judged documents: rows of few and of many


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let few rows and documents be one batch."""
    monkeypatch.setattr(scan_module, "ROWS_AT_ONCE", 4)
    monkeypatch.setattr(scan_module, "DOCUMENTS_AT_ONCE", 150)


@pytest.mark.parametrize("jit", ["0", "1"])
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32])
def test_every_statistic(dtype: Any, jit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IRBATCH_JIT", jit)
    rng = np.random.default_rng(5)
    for share, complete in itertools.product(SHARES, (False, True)):
        matrix = _random_matrix(rng, dtype, share, complete=complete)
        for cutoffs in ([1.0, 3.0, 17.0], [2.0, 64.0, 999.0, FULL_DEPTH]):
            request = ScanRequest(cutoffs, [1.0, 2.5], WEIGHTINGS)
            _compare(scan(matrix, request, 2).sums._asdict(), _slow(matrix, request))


@pytest.mark.parametrize("jit", ["0", "1"])
def test_entries(jit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IRBATCH_JIT", jit)
    rng = np.random.default_rng(6)
    for share in SHARES:
        matrix = _random_matrix(rng, np.int8, share, complete=True)
        rows, columns = np.nonzero((matrix.codes != 0) & (matrix.codes != PAD))
        starts = np.searchsorted(rows, np.arange(matrix.retrieved.size + 1))
        entries = Entries(starts, columns + 1, matrix.codes[rows, columns].astype(np.int64))
        sparse = SparseMatrix(matrix.levels, matrix.retrieved, matrix.judged, entries)
        for cutoffs in ([1.0, 9.0], [1.0, 9.0, FULL_DEPTH]):
            request = ScanRequest(cutoffs, [1.0], WEIGHTINGS)
            _compare(scan(sparse, request).sums._asdict(), _slow(matrix, request))


def _random_matrix(
    rng: np.random.Generator, dtype: Any, share: float, *, complete: bool
) -> RelevanceMatrix:
    """Make a matrix of rankings short and long, with judged documents that aren't retrieved."""
    shape, levels = (23, 136), np.array([0.0, 1.0, 2.0, 3.0])
    top = np.iinfo(dtype).max if dtype is np.int8 else 4
    if share == 1.0 and top > 4:  # as many levels as codes can tell apart
        levels = np.arange(float(top))
    codes = rng.integers(NEGATIVE, levels.size, shape).astype(dtype)
    codes[rng.random(shape) >= share] = UNJUDGED
    if complete:
        codes[codes < 0] = 0
    retrieved = np.append([0, 1, 8, shape[1]], rng.integers(0, shape[1] + 1, shape[0] - 4))
    codes[np.arange(shape[1]) >= retrieved[:, None]] = PAD
    judged = np.stack([(codes == level).sum(axis=1) for level in range(levels.size)], axis=1)
    judged[::2, 1] += 3
    return RelevanceMatrix(codes, levels, retrieved, judged, complete)


def _compare(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    for name, values in wanted.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)


def _slow(matrix: RelevanceMatrix, request: ScanRequest) -> dict[str, Any]:
    """Walk every cell, for each cutoff anew."""
    codes = matrix.codes.astype(np.int64)
    columns = [min(int(min(cutoff, 10**6)), codes.shape[1]) for cutoff in request.cutoffs]
    there = (codes != PAD) & ((codes != UNJUDGED) | matrix.complete)
    hits = [(codes >= 0) & (matrix.levels[codes] >= at) for at in request.thresholds]
    relevant = [matrix.judged[:, matrix.levels >= at].sum(axis=1) for at in request.thresholds]
    ranks = np.arange(1, codes.shape[1] + 1)
    precisions = [hit * (hit.cumsum(axis=1) / ranks) for hit in hits]
    within = np.minimum(matrix.retrieved, request.cutoffs[-1])[:, None]
    first = [hit & (hit.cumsum(axis=1) == 1) & (ranks <= within) for hit in hits]
    return {
        "judged": _at(there, columns),
        "negative": _at(codes == NEGATIVE, columns),
        "hits": np.stack([_at(hit, columns) for hit in hits]),
        "precision_sum": np.stack([_at(terms, columns) for terms in precisions]),
        "first_hit": np.stack([(each * ranks).max(axis=1) for each in first]),
        "hits_at_relevant": np.stack(
            [
                (hit & (ranks <= np.minimum(total[:, None], within))).sum(axis=1)
                for hit, total in zip(hits, relevant, strict=True)
            ]
        ),
        "relevant": np.stack(relevant),
        **_slow_gains(matrix, request, codes, columns),
    }


def _slow_gains(
    matrix: RelevanceMatrix, request: ScanRequest, codes: Any, columns: list[int]
) -> dict[str, Any]:
    found: dict[str, list[Floats]] = {}
    deepest = int(matrix.judged.sum(axis=1).max()) + codes.shape[1]
    for weighting in request.weightings:
        gains, divisors = weighting.gain(matrix.levels), weighting.discount(deepest)[:deepest]
        gained = np.where(codes >= 0, gains[codes], 0.0)
        ideal = np.zeros((codes.shape[0], deepest))
        for row, counts in zip(ideal, matrix.judged, strict=True):
            best = np.sort(np.repeat(gains, counts))[::-1]
            row[: best.size] = best
        depths = [int(min(cutoff, deepest)) for cutoff in request.cutoffs]
        for name, terms, at in (
            ("gain", gained, columns),
            ("discounted_gain", gained / divisors[: codes.shape[1]], columns),
            ("ideal_gain", ideal, depths),
            ("ideal_discounted_gain", ideal / divisors, depths),
        ):
            found.setdefault(name, []).append(_at(terms, at))
    return {name: np.stack(values) for name, values in found.items()}


def _at(terms: Any, columns: list[int]) -> Any:
    """Add terms up in the order of ranks, to some depths."""
    return np.cumsum(terms, axis=1)[:, np.array(columns) - 1]


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
