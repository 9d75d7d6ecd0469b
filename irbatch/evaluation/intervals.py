"""Intervals of a system's means."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from irbatch.measures import Measure
from irbatch.statistics.bounded import bounded_intervals
from irbatch.statistics.intervals import INTERVALS, find_intervals

KINDS = (*INTERVALS, "bounded")
DRAWS = 2000  # of bootstraps


def find_interval(
    results: Any, name: str | Measure, kind: str = "t", level: float = 0.05
) -> tuple[float, float]:
    """Return the bounds of a mean over queries, of `Results`, see their `intervals`."""
    column = results.column_of(name)
    measure, values = results.columns[column], results.values[:, column]
    values = values[~np.isnan(values)]
    geometric = measure.aggregate == "geometric"
    is_mean = measure.aggregate == "mean" or (geometric and bool((values > 0).all()))
    if not is_mean or len(values) < 2:
        return math.nan, math.nan
    least, most = measure.range
    if kind == "bounded" and math.isfinite(most - least) and not geometric:
        ends = np.array([least]), np.array([most])
        low, high = bounded_intervals(values[:, None], *ends, level)[0].tolist()
    else:
        table = (np.log(values) if geometric else values)[None, :, None]
        how = "t" if kind == "bounded" else kind
        geometrics = np.array([geometric])
        bounds = find_intervals(table, [], how, level, DRAWS, 0, geometric=geometrics)
        low, high = bounds.means[0, 0].tolist()
    mean = results[name]
    return max(low, min(least, mean)), min(high, max(most, mean))
