"""Differences under people's judgments of some queries, with a model's judgments of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.comparing.comparison import Comparison
from irbatch.comparing.settings import ComparisonSettings
from irbatch.errors import InputError, many, warn
from irbatch.evaluation.results import Results
from irbatch.statistics.agreement import paired_p
from irbatch.statistics.intervals import cut_intervals, levels_of, student_quantile
from irbatch.statistics.judges import ENOUGH, FEWEST, CombinedMeans, ModelValues
from irbatch.statistics.tests import correct

ONLY = {"test": "t", "interval": "t", "margin_test": "t", "groups": None}
"""What is defined with a model's judgments: Student's t of the combined means alone."""


def check_options(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return options for comparing with a model's judgments; reject those that are not defined."""
    for name, value in ONLY.items():
        if settings.get(name, value) != value:
            problem = f"{name}={settings[name]!r} is not defined with model_qrels="
            other = "leave it out" if value is None else f"it takes {value!r}"
            raise InputError(f"{problem}: {other}", source=name, value=settings[name])
    return {"test": "t", "interval": "t", "margin_test": "t"}


def check_values(name: str, results: Results) -> None:
    """Reject measures whose means are not arithmetic ones, and values that are NaN."""
    for each in results.columns:
        if each.aggregate != "mean":
            problem = f"{each} has no arithmetic mean of queries"
            raise InputError(problem, source=name, value=each)
    if (empty := np.argwhere(np.isnan(results.values))).size:
        row, column = empty[0].tolist()
        problem = f"{results.measures[column]} is NaN: evaluate with no_relevant='zero'"
        raise InputError(problem, source=name, query=results.query_ids[row])


def warn_of_few(queries: int) -> None:
    """Warn where people judged fewer queries than intervals take to hold."""
    if queries < ENOUGH:
        few = f"people judged {many(queries, 'query')}: intervals of fewer than {ENOUGH}"
        warn(f"{few} may miss more often than they say")


def model_values(results: Mapping[str, Results], queries: Sequence[Any]) -> ModelValues:
    """Return the model's values of the queries that people judged, and of those it judged alone."""
    people = set(queries)
    others = [query for query in next(iter(results.values())).rows if query not in people]
    if len(queries) < FEWEST or len(others) < 2:
        judged = f"people judged {many(len(queries), 'query')}, the model {len(others)} others"
        raise InputError(f"{judged}: it takes {FEWEST} and 2", source="model_qrels")
    values = []
    for name, each in results.items():
        check_values(name, each)
        for query in queries:
            if query not in each.rows:
                problem = "people judged it, the model did not"
                raise InputError(problem, source="model_qrels", query=query)
        if each.rows.keys() != people.union(others):
            problem = f"{name} has values of other queries than the first system: missing='zero'"
            raise InputError(f"{problem} gives all the same", source="model_qrels", value=name)
        values.append(each.values[[each.rows[query] for query in (*queries, *others)]])
    warn_of_few(len(queries))
    every = np.stack(values)
    return ModelValues(every[:, : len(queries)], every[:, len(queries) :])


def add_model(compared: Comparison, model: ModelValues, options: ComparisonSettings) -> Comparison:
    """Return a comparison by people's judgments with the model's added."""
    shape, ranges = compared.means.shape, np.asarray(compared.ranges)
    means = model.combine(compared.values, lambda values: values, options.level)
    apart = model.combine(compared.values, lambda values: _apart(compared, values))
    p = _two_or_one_sided(apart, options.alternative).reshape(compared.p_values.shape)
    corrected = correct(p, options.correction, options.family)
    levels = np.full(p.shape, options.level)
    if options.simultaneous:
        levels = levels_of(corrected < options.level, options.correction, options.level,
                           options.family)  # fmt: skip
    one_sided = options.alternative != "two-sided"
    tails = levels.ravel() / (1 if one_sided else 2)
    reach = apart.error * [
        student_quantile(*each) for each in zip(tails.tolist(), apart.freedom.tolist(), strict=True)
    ]
    lowest, highest = np.tile(ranges, len(compared.pairs))
    most = highest - lowest
    bounds = np.stack([apart.combined - reach, apart.combined + reach], axis=-1)
    bounds = cut_intervals(bounds, apart.combined, -most, most)
    if one_sided:
        greater = options.alternative == "greater"
        bounds[..., int(greater)] = np.inf if greater else -np.inf
    bounds[apart.error == 0] = np.nan
    judged = f"{len(compared.query_ids)} queries judged by people, {model.others.shape[1]} others"
    settings = compared.settings | {"model": f"{judged} by a model alone; prediction-powered"}
    found = replace(
        compared,
        means=means.combined.reshape(shape),
        intervals=cut_intervals(
            means.combined_bounds, means.combined, *np.tile(ranges, shape[0])
        ).reshape(*shape, 2),
        difference_intervals=bounds.reshape(*p.shape, 2),
        p_values=p,
        corrected=corrected,
        settings=settings,
        model=model,
        combined=apart.combined.reshape(p.shape),
    )
    for told in _by_model_alone(found, model):
        warn(told)
    return found


def _apart(compared: Comparison, values: Floats) -> Floats:
    return np.asarray(compared.of_pairs(values, 0) - compared.of_pairs(values, 1))


def _two_or_one_sided(means: CombinedMeans, alternative: str) -> Floats:
    above = means.tails
    if alternative == "greater":
        return above
    below = np.where(means.error > 0, 1.0 - above, 1.0)
    return below if alternative == "less" else np.minimum(2.0 * np.minimum(above, below), 1.0)


def _by_model_alone(compared: Comparison, model: ModelValues) -> list[str]:
    """Tell of differences that are significant by the model's judgments, not with people's."""
    every = np.concatenate([model.same, model.others], axis=1)
    apart = np.moveaxis(_apart(compared, every), 1, 0)
    n, pairs, measures = apart.shape
    flat = apart.reshape(n, -1)
    p = paired_p(flat, np.zeros_like(flat)).reshape(pairs, measures)
    alone = correct(p, compared.correction, compared.family) < compared.level
    told = []
    for pair, column in np.argwhere(alone & ~compared.significant).tolist():
        a, b = (compared.systems[place] for place in compared.pairs[pair])
        better, worse = (a, b) if apart[:, pair, column].mean() > 0 else (b, a)
        found = f"{better} is above {worse} on {compared.measures[column]}"
        told.append(f"{found} by the model's judgments alone: people's do not confirm it")
    return told
