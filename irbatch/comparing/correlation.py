"""How alike two orders are: of systems by their scores, and of documents by their ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Floats
from irbatch.comparing.compared import Compared
from irbatch.comparing.rank_biased_overlap import Overlap, Overlaps, overlap, rbo
from irbatch.comparing.ranking_correlation import RankingCorrelations, ranking_correlation
from irbatch.comparing.tau_union import tau_union
from irbatch.errors import InputError
from irbatch.statistics.rank_correlation import (
    kendall_tau,
    kendall_tau_a,
    tau_ap,
    tau_ap_a,
    tau_ap_b,
)

__all__ = [
    "Overlap", "Overlaps", "RankCorrelations", "RankingCorrelations", "kendall_tau",
    "kendall_tau_a", "overlap", "rank_correlation", "ranking_correlation", "rbo", "tau_ap",
    "tau_ap_a", "tau_ap_b", "tau_union",
]  # fmt: skip


class RankCorrelations(NamedTuple):
    """How alike measures order the systems: `kendall_tau` and `tau_ap_b` of each two.

    Both are float64 ``(measures, measures)``.
    """

    measures: list[str]
    tau: Floats
    tau_ap: Floats


def rank_correlation(comparison: Compared) -> RankCorrelations:
    """Tell how alike the measures of a comparison order its systems.

    Raises:
        InputError: if there are fewer than two systems, or a mean is NaN.

    >>> from types import SimpleNamespace
    >>> means = [[0.9, 0.5], [0.7, 0.6], [0.1, 0.2]]
    >>> found = rank_correlation(SimpleNamespace(measures=["AP", "P@5"], means=means))
    >>> found.tau.round(2).tolist()
    [[1.0, 0.33], [0.33, 1.0]]
    """
    means = np.asarray(comparison.means, np.float64)
    measures = list(comparison.measures)
    for name, column in zip(measures, means.T, strict=True):
        if np.isnan(column).any():
            raise InputError(f"the mean of {name} is NaN for some system", value=name)

    def all_pairs(correlate: Callable[[Any, Any], float]) -> Floats:
        found = np.empty((len(measures), len(measures)))
        for i in range(len(measures)):
            for j in range(i + 1):
                found[i, j] = found[j, i] = correlate(means[:, i], means[:, j])
        return found

    return RankCorrelations(measures, all_pairs(kendall_tau), all_pairs(tau_ap_b))
