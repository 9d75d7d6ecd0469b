"""How often each system is on the Pareto frontier, had other queries been asked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Floats
from irbatch.comparing.aligning import align
from irbatch.efficiency import EfficiencyRecord, Measurement
from irbatch.efficiency.quantities import PERCENTILES
from irbatch.errors import InputError, join_words
from irbatch.leaderboard.significance import choose_measures
from irbatch.statistics.resampling import draw_counts, draw_means


@dataclass(frozen=True)
class Stability:
    """What `Leaderboard.resampled` found: how often each system was on the frontier.

    Attributes:
        axes: those of the frontier.
        draws, seed: of the bootstrap.
        shares: system to the share of draws in which it was on the frontier; systems without a
            value of an axis are left out.
        drawn: axis to the systems whose values were drawn; others' stand as they are.
    """

    axes: list[str]
    draws: int
    seed: int
    shares: dict[str, float]
    drawn: dict[str, list[str]]

    def share(self, system: str) -> float:
        """Return a system's share; NaN of one that is left out."""
        return self.shares.get(system, math.nan)


class Timed(NamedTuple):
    """The calls that a system's latency is of."""

    latencies: Floats  # (repeat, calls)
    queries: list[Any]  # ids, one a call; none of batches

    @classmethod
    def of(cls, given: Any) -> Timed | None:
        """Return the calls of a measurement; None of a record, which has only their summary."""
        if not isinstance(given, Measurement):
            return None
        queries = list(given.run.queries)
        alone = given.record.batch_size == 1 and len(queries) == given.latencies.shape[1]
        return cls(given.latencies, queries if alone else [])


def find_shares(values: Floats) -> Floats:
    """Return how often systems are on the frontier: of ``(systems, axes, draws)``, ``(systems,)``.

    Of all axes higher is better. On the frontier is what no other is as good as along all of them
    and better than along one.

    >>> find_shares(np.array([[[1.0, 1.0]], [[0.5, 1.0]]])).tolist()
    [1.0, 0.5]
    """
    shares = np.empty(len(values))
    for i, own in enumerate(values):
        as_good = (values >= own).all(axis=1)
        better = (values > own).any(axis=1)
        dominated = (as_good & better).any(axis=0)
        shares[i] = (dominated.size - np.count_nonzero(dominated)) / dominated.size
    return shares


class Rows(NamedTuple):
    """What is known of systems: a list each."""

    systems: Sequence[str]
    records: Sequence[EfficiencyRecord]
    results: Sequence[Any]
    timed: Sequence[Timed | None]


def find_stability(
    rows: Rows, axes: Sequence[str], measures: Sequence[str], values: Floats, signs: Floats,
    draws: int, seed: int,
) -> Stability:  # fmt: skip
    """Draw queries and calls with replacement; see `Leaderboard.resampled`.

    Args:
        rows: the systems.
        axes: names; `measures` are those that are measures.
        values: as they are, ``(systems, axes)``.
        signs: of each axis, 1 where higher is better, else -1.
    """
    drawn = np.repeat(values[:, :, None], draws, axis=2)
    which: dict[str, list[str]] = {}
    queries = next((each.queries for each in rows.timed if each is not None), [])
    if accuracy := [name for name in axes if name in measures]:
        queries, means = _draw_accuracy(rows, accuracy, draws, seed)
        for name, of_systems in means.items():
            which[name] = list(of_systems)
            for system, some in of_systems.items():
                drawn[rows.systems.index(system), axes.index(name)] = some
    for i, (system, record, timed) in enumerate(zip(*rows[:2], rows.timed, strict=True)):
        for k, name in enumerate(axes):
            part = None if timed is None else _statistic(record, name)
            if timed is not None and part is not None:
                statistic, factor = part
                calls, own = _in_order(timed, queries, 1 + i)
                drawn[i, k] = _draw_latency(calls, statistic, draws, seed + own) * factor
                which.setdefault(name, []).append(system)
    if not which:
        problem = "there is nothing to draw: neither queries with values nor calls are known"
        raise InputError(f"{problem} along {join_words(list(axes))}", source="leaderboard")
    shares = find_shares(drawn * signs[:, None]).tolist()
    named = dict(zip(rows.systems, shares, strict=True))
    return Stability(list(axes), draws, seed, named, which)


def _in_order(timed: Timed, queries: Sequence[Any], other: int) -> tuple[Floats, int]:
    """Return calls in the order of the queries and 0: one draw is of both; or as they are."""
    places = {query: place for place, query in enumerate(timed.queries)}
    if len(places) != len(queries) or not all(query in places for query in queries):
        return timed.latencies, other
    return timed.latencies[:, [places[query] for query in queries]], 0


def _draw_accuracy(
    rows: Rows, measures: Sequence[str], draws: int, seed: int
) -> tuple[list[Any], dict[str, dict[str, Floats]]]:
    """Return queries, and measure to system to means of drawn queries ``(draws,)``."""
    chosen, kept = choose_measures(rows.systems, rows.results, measures)
    if not kept:
        return [], {}
    aligned = align(chosen)
    values = np.ascontiguousarray(aligned.values.transpose(1, 2, 0))  # (queries, measures, systems)
    geometric = np.array([each.aggregate == "geometric" for each in aligned.columns])
    usable = ~geometric | (values > 0).all(axis=(0, 2))  # a geometric mean with a 0 stays 0
    values[:, geometric & usable] = np.log(values[:, geometric & usable])
    flat = values[:, usable].reshape(len(values), -1)
    _, means = draw_means(flat, draws, seed)
    found: dict[str, dict[str, Floats]] = {}
    of_systems = iter(means.reshape(-1, len(aligned.systems), draws))
    for k in np.flatnonzero(usable).tolist():
        some = next(of_systems)
        if geometric[k]:
            some = np.exp(some)
        elif aligned.columns[k].aggregate == "sum":
            some = some * len(values)
        found[kept[k]] = dict(zip(aligned.systems, some, strict=True))
    return aligned.query_ids, found


def _statistic(record: EfficiencyRecord, axis: str) -> tuple[str, float] | None:
    """Return what of a latency's statistics an axis is, and times what; None if it is of none."""
    latency = record.latency
    if latency is None or latency.mean is None:
        return None
    if axis.startswith("latency_"):
        return axis.removeprefix("latency_"), 1.0
    cost = record.cost_per_million
    if axis != "cost_per_million" or record.stated_cost is not None or cost is None:
        return None
    return ("mean", cost / latency.mean) if latency.mean else None


def _draw_latency(latencies: Floats, statistic: str, draws: int, seed: int) -> Floats:
    """Draw calls ``(repeat, calls)`` with replacement; return a statistic of each draw."""
    repeats, calls = latencies.shape
    if statistic == "mean":
        by_call = latencies.mean(axis=0)
        return np.concatenate([some @ by_call / calls for some in draw_counts(calls, draws, seed)])
    order = np.argsort(latencies, axis=None, kind="stable")
    ordered, of_call = latencies.ravel()[order], order % calls
    place = PERCENTILES[statistic] / 100 * (repeats * calls - 1)
    found = []
    for counts in draw_counts(calls, draws, seed):
        before = np.cumsum(counts[:, of_call], axis=1)
        low, high = (
            ordered[np.minimum((before <= rank).sum(axis=1), ordered.size - 1)]
            for rank in (math.floor(place), math.ceil(place))
        )
        found.append(low + (high - low) * (place - math.floor(place)))
    return np.concatenate(found)
