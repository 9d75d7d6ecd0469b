"""What follows from a leaderboard: its frontier, tests of accuracy, and conditions it meets."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from irbatch.comparing.compare import compare_aligned
from irbatch.comparing.gate import (
    ROUNDING,
    Limit,
    Outcome,
    check_purpose,
    check_range,
    check_side,
    each_condition,
    judge_limit,
    read_limit,
    split_scope,
)
from irbatch.comparing.read import align
from irbatch.comparing.settings import ComparisonSettings
from irbatch.efficiency.fields import check_fields
from irbatch.errors import InputError, did_you_mean, join_words, many, printable, shown
from irbatch.evaluation.results import Results
from irbatch.evaluation.tables import find_interval
from irbatch.leaderboard.rows import Board, canonical_name
from irbatch.measures import measure
from irbatch.statistics.resampling import check_level

DOMINATED = re.compile(r"(?P<required>not\s+)?dominated\s+on\s+(?P<axes>\S.*)")
OF_BOARDS = "such as 'latency_p95 > 50', 'RR@10 lower bound < 0.3' or 'dominated on RR@10, latency'"
NOT_OF_QUERIES = ("weighted", "run")  # aggregates that are not plain means of queries


@dataclass(frozen=True)
class Pareto:
    """Which systems are on the frontier, and which others beat those that are not.

    A system is dominated by one that is at least as good along every axis and better along one
    (Santhanam et al. 2022). Systems that are equal along every axis are on the frontier together
    or not at all. Where axes are times or rates that were measured under several conditions, such
    as on several machines, there is a frontier of each, and `conditions` says of which.
    """

    axes: list[str]
    frontier: list[str]  # systems that nothing dominates, in the leaderboard's order
    dominated_by: dict[str, list[str]]  # each of the others, with all that dominate it
    left_out: dict[str, list[str]] = field(default_factory=dict)  # not compared: axes it lacks
    conditions: dict[str, str] = field(default_factory=dict)  # systems to how they were measured


# ---------------------------------------------------------------- tests of accuracy


@dataclass(frozen=True)
class Significance:
    """What `Leaderboard.tested` found: of each measure the best system, and all others against it.

    Attributes:
        level: p-values below it are significant.
        queries: how many were compared.
        best: measure to the system of the best mean, of those tested.
        p_values: measure to system to the p-value of its difference from the best, corrected for
            all pairs of systems, as which is the best is known from the same values.
    """

    level: float
    queries: int
    best: dict[str, str]
    p_values: dict[str, dict[str, float]]

    def __post_init__(self) -> None:
        check_fields(self, "significance")
        check_level(self.level)

    def not_worse(self, measure: str) -> list[str]:
        """Name the systems that are not significantly worse than the best, which is among them."""
        p_values = self.p_values.get(measure, {})
        return [system for system, p in p_values.items() if p >= self.level]

    def caption(self) -> str:
        """Say what was tested, and how."""
        how = "paired randomisation test, Holm correction over all pairs"
        return f"{how}, {self.queries} queries, level {self.level:g}"


def find_significance(board: Board, level: float, draws: int, seed: int) -> Significance:
    """Test the differences between systems that have values of queries, on measures that all have.

    Rows of one system have the same results, tested once.
    """
    rows = [
        row for row in board.rows if isinstance(row.results, Results) and row.results.has_values
    ]
    owners: dict[int, str] = {}  # of results, the first row
    for row in rows:
        owners.setdefault(id(row.results), row.name)
    measures = _choose_measures(board.measures, {row.name: row.results for row in rows})
    systems = {row.name: row.results for row in rows if row.name in owners.values()}
    options = ComparisonSettings.choose(
        test="randomisation", correction="holm", level=level, draws=draws, seed=seed
    )
    comparison = compare_aligned(align(systems, list(measures.values())), options)
    best: dict[str, str] = {}
    p_values: dict[str, dict[str, float]] = {}
    for k, name in enumerate(measures):
        place = int(np.argmax(comparison.means[:, k] * board.axis(name).sign))
        best[name] = comparison.systems[place]
        of_pair = dict(zip(comparison.pairs, comparison.corrected[:, k].tolist(), strict=True))
        p = {
            system: 1.0 if i == place else of_pair[max(i, place), min(i, place)]
            for i, system in enumerate(comparison.systems)
        }
        p_values[name] = {row.name: p[owners[id(row.results)]] for row in rows}
    return Significance(comparison.level, len(comparison.query_ids), best, p_values)


def _choose_measures(measures: Sequence[str], systems: Mapping[str, Results]) -> dict[str, str]:
    """Return the measures that are means of the same queries for all systems, and their columns."""
    if len(systems) < 2:
        problem = "values of queries are known of fewer than two systems: evaluate their runs"
        raise InputError(problem, source="leaderboard")
    (first, one), *others = systems.items()
    for system, results in others:
        if set(results.query_ids) != set(one.query_ids):
            sizes = f"{many(len(one.query_ids), 'query')} and {len(results.query_ids)}"
            problem = f"{shown(first)} and {shown(system)} were evaluated on different queries"
            raise InputError(f"{problem} ({sizes})", source="leaderboard", value=system)
    chosen = {
        name: one.columns[one.column_of(name)]
        for name in measures
        if all(name in results for results in systems.values())
    }
    tested = {n: str(own) for n, own in chosen.items() if own.aggregate not in NOT_OF_QUERIES}
    if not tested:
        raise InputError("no measure is a mean of queries, to test", source="leaderboard")
    return tested


# ---------------------------------------------------------------- conditions


def parse_on_board(text: object, *, required: bool) -> tuple[str | None, Limit | list[str]]:
    """Read a condition on a leaderboard: of which system (None: all), and what it says.

    That is a limit, or the axes on which none may be dominated; names of axes are as written.

    >>> parse_on_board("of new: dominated on P(rel=2)@5, latency", required=False)
    ('new', ['P(rel=2)@5', 'latency'])
    """
    system, condition = split_scope(text, "of") if isinstance(text, str) else (None, "")
    if (form := DOMINATED.fullmatch(condition)) is not None:
        check_purpose(text, is_requirement=bool(form["required"]), required=required)
        return system, split_axes(form["axes"])
    limit = read_limit(condition)
    if limit is None:
        raise InputError(f"condition {shown(text)} is not of a form {OF_BOARDS}", value=text)
    return system, limit


def split_axes(text: str) -> list[str]:
    """Split names at commas, but for those in the parentheses of a measure."""
    return [axis.strip() for axis in re.split(r",(?![^()]*\))", text)]


def check_board(board: Board, conditions: Iterable[object], *, required: bool) -> list[Outcome]:
    """Judge systems by conditions, as `Leaderboard.failures` says; one without a value fails."""
    outcomes: list[Outcome] = []
    for text in each_condition(conditions):
        system, condition = parse_on_board(text, required=required)
        if not board.systems:  # of none everything is true
            raise InputError(f"no system is left to check {shown(text)} of", value=text)
        if isinstance(condition, list):
            judged = _judge_dominated(board, text, condition)
        else:
            limit = condition._replace(name=board.axis(condition.name).name)
            check_side(text, limit, int(board.axis(limit.name).sign), required=required)
            _check_range(board, text, limit)
            judged = judge_limit(text, limit, _look(board, limit), required=required)
        if system is not None and system not in board.systems:
            problem = f"{shown(system)} is not on the leaderboard"
            problem += did_you_mean(system, board.systems)
            raise InputError(problem, source="system", value=system)
        outcomes += [outcome for outcome in judged if system in (None, outcome.system)]
    return outcomes


def _judge_dominated(board: Board, text: str, axes: list[str]) -> Iterator[Outcome]:
    """Yield of each system whether others dominate it; one that lacks an axis fails."""
    front = board.pareto(axes)
    on = join_words(front.axes)
    for system in board.systems:
        told = f"not dominated on {on}"
        if system in front.dominated_by:
            others = join_words(list(map(printable, front.dominated_by[system])))
            told = f"dominated on {on} by {others}"
        elif system in front.left_out:
            told = f"{join_words(front.left_out[system])} is missing"
        told = f"{printable(system)}: {told}"
        yield Outcome(text, system, system in front.frontier, math.nan, math.nan, None, told)


def _look(board: Board, limit: Limit) -> Iterator[tuple[str, float, str]]:
    """Yield each system, what a limit looks at, and what is to be said where that is unknown."""
    _, lacking = board.having([limit.name])
    for row in board.rows:
        value, *ends = row.figure(limit.name)
        lack = f"{limit.name} is missing" if row.name in lacking else ""
        if limit.bound is not None and not lack:
            results = row.results if limit.name in row.accuracy else None
            if isinstance(results, Results) and results.has_values:
                ends = [*find_interval(results, limit.name, "bounded", board.level)]
            value = ends[limit.bound]
            lack = f"{limit.name} has no interval" if math.isnan(value) else ""
        yield row.name, math.nan if lack else value, lack


def _check_range(board: Board, text: str, limit: Limit) -> None:
    """Reject a condition that always holds, or never; values are perhaps in per cent."""
    low, high = 0.0, math.inf
    if limit.name in board.measures:
        is_ours = canonical_name(limit.name) is not None
        low, high = measure(limit.name).range if is_ours else (-math.inf, math.inf)
    values = board.values(limit.name)
    beyond = values[(values < low - ROUNDING) | (values > high + ROUNDING)]
    if not beyond.size:
        check_range(text, limit, low, high)
    elif low <= limit.limit <= high:
        value = float(beyond[0])
        hint = ": in per cent?" if high == 1 and 0 <= value <= 100 else ""
        problem = f"{limit.name} of {value:.4g} is not between {low:g} and {high:g}{hint}"
        raise InputError(f"condition {shown(text)}: {problem}", source="accuracy", value=value)
