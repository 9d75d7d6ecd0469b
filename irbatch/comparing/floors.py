"""Limits of means that were evaluated, without another system to compare them with."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from irbatch.array_types import Floats
from irbatch.comparing.conditions import Level, parse_condition, parse_requirement
from irbatch.comparing.gate import tell_limit
from irbatch.comparing.limits import Limit, each_condition
from irbatch.errors import InputError, shown
from irbatch.evaluation.results import Results
from irbatch.statistics.intervals import find_intervals

LEVEL = 0.05  # chance of an interval to miss


def failures(
    results: Results | Mapping[str, Results], *conditions: str | Iterable[str]
) -> list[str]:
    """Say in a sentence each of which systems conditions hold: ``"nDCG@10 < 0.35"``.

    Args:
        results: of `irbatch.evaluate` or `irbatch.evaluate_runs`.
        *conditions: ``MEASURE [lower bound|upper bound] < NUMBER``, or another operator; of the
            mean, or of an end of its 95 % interval by Student's t.

    Raises:
        InputError: as `irbatch.Comparison.failures`, and if a condition takes a baseline or groups.

    >>> import irbatch
    >>> results = irbatch.evaluate_matrix([[1, 0], [0, 1], [1, 0]], "RR P@1")
    >>> failures(results, "P@1 < 0.7"), unmet(results, "RR >= 0.5", "RR lower bound >= 0.5")
    (['run: P@1 is 0.6667, < 0.7'], ['run: the lower bound of RR is 0.1162, not >= 0.5'])
    """
    return [said for text in each_condition(conditions) for said in _check(results, text, True)]


def unmet(
    results: Results | Mapping[str, Results], *requirements: str | Iterable[str]
) -> list[str]:
    """Say in a sentence which systems don't meet ``"nDCG@10 >= 0.35"``; otherwise as `failures`."""
    return [said for text in each_condition(requirements) for said in _check(results, text, False)]


def read_limit_alone(text: str, *, required: bool) -> Limit:
    """Read a condition that looks at one system alone.

    Raises:
        InputError: if it is none, or takes a baseline or groups.
    """
    found = parse_requirement(text) if required else parse_condition(text)
    if not isinstance(found, Level) or found.group is not None:
        needs = "groups" if found.group is not None else "a baseline"
        option = "groups" if found.group is not None else "baseline"
        problem = f"condition {shown(text)} needs {needs}, which irbatch.compare takes"
        problem += f" (`irbatch compare --{option}`)"
        raise InputError(problem, value=text)
    return found.limit


def _check(results: Results | Mapping[str, Results], text: str, wrong: bool) -> Iterator[str]:
    """Yield what is said of systems for which it is `wrong` whether the limit holds."""
    limit = read_limit_alone(text, required=not wrong)
    named = {results.name or "run": results} if isinstance(results, Results) else results
    for name, each in named.items():
        if limit.name not in each:
            problem = f"{limit.name} was not evaluated; there are: {', '.join(each)}"
            raise InputError(problem, source="measures", value=limit.name)
        value = each[limit.name] if limit.bound is None else _bounds(each, limit.name)[limit.bound]
        if limit.holds(value) == wrong or math.isnan(value):
            yield tell_limit(name, value, limit, wrong)


def _bounds(results: Results, measure: str) -> tuple[float, float]:
    """Return the interval of a mean; NaN where `values_behind` knows none."""
    behind = values_behind(results, measure)
    if behind is None:
        return math.nan, math.nan
    table, geometric = behind[0][None, :, None], np.array([behind[1]])
    low, high = find_intervals(table, [], "t", LEVEL, 0, 0, geometric=geometric).means[0, 0]
    return within_range(results, measure, float(low), float(high))


def values_behind(results: Results, measure: str) -> tuple[Floats, bool] | None:
    """Return the values that an interval of a mean is found from, and whether they are logarithms.

    None of a sum, of a weighted or a geometric mean that is no plain one, and of a single query.
    """
    place = results.column_of(measure)
    how, values = results.columns[place].aggregate, results.values[:, place]
    values = values[~np.isnan(values)]
    geometric = how == "geometric"
    if how in ("sum", "weighted") or len(values) < 2 or (geometric and values.min() <= 0):
        return None
    return (np.log(values) if geometric else values), geometric


def within_range(results: Results, measure: str, low: float, high: float) -> tuple[float, float]:
    """Cut an interval of a mean where no value of the measure can be."""
    least, most = results.columns[results.column_of(measure)].range
    mean = results[measure]
    return max(low, min(least, mean)), min(high, max(most, mean))
