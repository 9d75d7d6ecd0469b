"""Tests of differences against their definitions, drawn alike."""

from __future__ import annotations

import math

import numpy as np
import pytest

from irbatch.statistics.resampling import draw_counts
from irbatch.statistics.significance import Sample, p_values


def test_bootstrap_studentises_what_is_drawn() -> None:
    """Of five queries some draws have no spread: then any mean but 0 is as large as can be."""
    values = np.random.default_rng(2).gamma(2, 1, (2, 5, 3))
    sample = Sample(values, [(1, 0)], 3000, 4)

    def studentised(differences: np.ndarray) -> float:
        if np.ptp(differences) == 0:
            return math.inf
        return abs(differences.mean()) / math.sqrt(differences.var(ddof=1) / 5)

    counts = np.concatenate(list(draw_counts(5, 3000, 4))).astype(int)
    assert (counts == 5).any(), "a draw without spread"
    expected = []
    for column in sample.flat().T:
        least = studentised(column) * (1 - 1e-9)
        centred = column - column.mean()
        as_large = sum(studentised(np.repeat(centred, often)) >= least for often in counts)
        expected.append((as_large + 1) / 3001)
    assert p_values(sample, "bootstrap")[0].tolist() == expected


def test_two_queries_are_enough_for_t() -> None:
    stats = pytest.importorskip("scipy.stats")
    values = np.array([[[0.25], [0.5]], [[0.5], [1.0]]])
    found = p_values(Sample(values, [(1, 0)], 1, 0), "t")
    assert found == pytest.approx(stats.ttest_rel(*values[::-1, :, 0]).pvalue, rel=1e-12)
