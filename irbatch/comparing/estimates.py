"""Means, differences, p-values, intervals: of values as they are, or with a model's judgments."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Bools, Floats
from irbatch.comparing.settings import ComparisonSettings
from irbatch.errors import InputError, many, warn
from irbatch.evaluation.results import Results
from irbatch.statistics.agreement import paired_p
from irbatch.statistics.intervals import Intervals, find_intervals
from irbatch.statistics.judges import ENOUGH, FEWEST, ModelValues
from irbatch.statistics.resampling import Sample
from irbatch.statistics.tests import FAMILY_WISE, correct, honest_difference, p_values


class Estimate(NamedTuple):
    """What is estimated of systems ``(systems, measures)`` and of pairs ``(pairs, measures)``.

    `varies` tells where differences are not the same in every query; `intervals` takes by how much
    those of differences may miss.
    """

    means: Floats
    differences: Floats
    p_values: Floats
    varies: Bools
    intervals: Callable[[Floats], Intervals]


def plain_estimate(
    sample: Sample,
    settings: ComparisonSettings,
    strata: Sequence[Any] | None,
    geometric: Bools,
    weights: Floats | None,
) -> Estimate:
    """Estimate from the values alone; `find_intervals` has the last three arguments."""
    # Exactly rounded, as the means of results are.
    means = np.array(
        [[math.fsum(each.tolist()) / each.size for each in system.T] for system in sample.values]
    )
    means[:, geometric] = np.exp(means[:, geometric])
    differences = means[[a for a, _ in sample.pairs]] - means[[b for _, b in sample.pairs]]

    def intervals(levels: Floats) -> Intervals:
        how = settings.interval, settings.level, settings.draws, settings.seed
        found = find_intervals(sample.values, sample.pairs, *how, strata, geometric, levels,
                               weights)  # fmt: skip
        if not settings.simultaneous or settings.test not in FAMILY_WISE:
            return found
        reach = honest_difference(sample, settings.test, settings.level)
        honest = np.stack([differences - reach, differences + reach], axis=-1)
        return Intervals(found.means, np.where(geometric[:, None], found.differences, honest))

    p = p_values(sample, settings.test)
    varies = sample.find(lambda flat: np.ptp(flat, axis=0)) > 0
    return Estimate(means, differences, p, varies, intervals)


ONLY = {"test": "t", "interval": "t", "margin_test": "t", "groups": None}
"""What is defined with a model's judgments: Student's t of the combined means alone."""


def check_settings_with_model(settings: Mapping[str, Any]) -> None:
    """Reject settings that are not defined with a model's judgments."""
    for name, value in ONLY.items():
        if settings.get(name, value) != value:
            problem = f"{name}={settings[name]!r} is not defined with model_qrels="
            other = "leave it out" if value is None else f"it takes {value!r}"
            raise InputError(f"{problem}: {other}", source=name, value=settings[name])


def estimate_with_model(
    sample: Sample, settings: ComparisonSettings, model: ModelValues
) -> Estimate:
    """Estimate from people's values of some queries, and a model's of these and of others."""
    values, pairs = sample.values, sample.pairs
    of_systems, of_pairs = (len(values), values.shape[2]), (len(pairs), values.shape[2])

    def apart(some: Floats) -> Floats:
        return some[[a for a, _ in pairs]] - some[[b for _, b in pairs]]

    means = model.combine(values, lambda some: some, settings.level)
    found = model.combine(values, apart)
    above = found.tails
    below = np.where(found.error > 0, 1.0 - above, 1.0)
    both = np.minimum(2.0 * np.minimum(above, below), 1.0)
    p = {"two-sided": both, "greater": above, "less": below}[settings.alternative]

    def intervals(levels: Floats) -> Intervals:
        of_means = means.combined_bounds.reshape(*of_systems, 2)
        bounds = model.combine(values, apart, levels.ravel()).combined_bounds
        return Intervals(of_means, bounds.reshape(*of_pairs, 2))

    return Estimate(
        means.combined.reshape(of_systems),
        found.combined.reshape(of_pairs),
        p.reshape(of_pairs),
        (found.error > 0).reshape(of_pairs),
        intervals,
    )


def warn_of_model(
    sample: Sample,
    settings: ComparisonSettings,
    model: ModelValues,
    significant: Bools,
    names: tuple[Sequence[str], Sequence[str]],
) -> None:
    """Warn of differences that are significant by the model's judgments, not with people's.

    `names` are those of systems and of measures.
    """
    every = np.concatenate([model.same, model.others], axis=1)
    firsts, seconds = ([pair[side] for pair in sample.pairs] for side in (0, 1))
    shape = significant.shape
    one, other = (
        np.moveaxis(every[some], 1, 0).reshape(every.shape[1], -1) for some in (firsts, seconds)
    )
    p = correct(paired_p(one, other).reshape(shape), settings.correction, settings.family)
    above = (one - other).mean(axis=0).reshape(shape) > 0
    for pair, column in np.argwhere((p < settings.level) & ~significant).tolist():
        better, worse = sample.pairs[pair][:: 1 if above[pair, column] else -1]
        found = f"{names[0][better]} is above {names[0][worse]} on {names[1][column]}"
        warn(f"{found} by the model's judgments alone: people's do not confirm it")


def model_values(
    results: Mapping[str, Results], queries: Sequence[Any], people: Collection[Any] = ()
) -> ModelValues:
    """Return a model's values of the queries that both judged, and of those it judged alone.

    The latter are not among `people`, further ones that people judged.

    Raises:
        InputError: as `values_of`, if there are too few queries, or systems have other ones.
    """
    both = {*queries, *people}
    first = next(iter(results.values()))
    others = [query for query in first.rows if query not in both]
    if len(queries) < FEWEST or len(others) < 2:
        judged = f"both judged {many(len(queries), 'query')}, the model {len(others)} others"
        raise InputError(f"{judged}: it takes {FEWEST} and 2", source="model_qrels")
    for name, each in results.items():
        if each.rows.keys() != first.rows.keys():
            problem = f"{name} has values of other queries than the first system: missing='zero'"
            raise InputError(f"{problem} gives all the same", source="model_qrels", value=name)
    if len(queries) < ENOUGH:
        few = f"people judged {many(len(queries), 'query')}: intervals of fewer than {ENOUGH}"
        warn(f"{few} may miss more often than they say")
    return ModelValues(values_of(results, queries), values_of(results, others))


def values_of(results: Mapping[str, Results], queries: Sequence[Any]) -> Floats:
    """Return values of some queries, ``(systems, queries, measures)``.

    Raises:
        InputError: if one is missing or NaN, or a measure's mean is not the arithmetic one.
    """
    values = []
    for name, each in results.items():
        for column in each.columns:
            if column.aggregate != "mean":
                problem = f"{column} has no arithmetic mean of queries"
                raise InputError(problem, source=name, value=column)
        for query in queries:
            if query not in each.rows:
                raise InputError("not judged by both judges", source=name, query=query)
        values.append(each.values[[each.rows[query] for query in queries]])
        if (empty := np.argwhere(np.isnan(values[-1]))).size:
            row, column = empty[0].tolist()
            problem = f"{each.measures[column]} is NaN: evaluate with no_relevant='zero'"
            raise InputError(problem, source=name, query=queries[row])
    return np.stack(values)
