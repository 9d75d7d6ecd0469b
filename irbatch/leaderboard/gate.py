"""Conditions on a leaderboard: ``latency_p95 > 50``, ``dominated on nDCG@10, latency``.

A system without a value, or an interval, that a condition looks at fails: nothing tells that it is
as good as it has to be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from irbatch.comparing.gate import ROUNDING, Limit, check_range, check_side, read_limit
from irbatch.errors import InputError, join_words, printable, shown
from irbatch.leaderboard.axes import canonical_name
from irbatch.leaderboard.systems import Systems
from irbatch.measures import measure

DOMINATED = re.compile(r"(?P<required>not\s+)?dominated\s+on\s+(?P<axes>\S.*)")
SYSTEM = re.compile(r"of\s+(?P<system>\S.*?):\s+(?P<rest>\S.*)")
FORMS = "'latency_p95 > 50', 'RR@10 lower bound < 0.3' or 'dominated on RR@10, latency'"


class Condition(NamedTuple):
    """What must be, or must not be, of a system or of all."""

    system: str | None
    limit: Limit | None
    axes: list[str]  # on which none may be dominated, where there is no limit


def parse_condition(text: object, *, required: bool) -> Condition:
    """Read a condition; refuse what no leaderboard takes, or is for the other purpose."""
    if not isinstance(text, str):
        raise InputError(f"condition {shown(text)} is not of a form such as {FORMS}", value=text)
    form = SYSTEM.fullmatch(text.strip())
    system, said = (None, text.strip()) if form is None else (form["system"], form["rest"])
    if (form := DOMINATED.fullmatch(said)) is not None:
        if bool(form["required"]) != required:
            other = "a condition to fail by" if required else "a requirement"
            raise InputError(f"{shown(text)} is {other}", value=text)
        axes = re.split(r",(?![^(]*\))", form["axes"])  # but for those of a measure's parameters
        return Condition(system, None, [each.strip() for each in axes])
    limit = read_limit(said)
    if limit is None:
        raise InputError(f"condition {shown(text)} is not of a form such as {FORMS}", value=text)
    return Condition(system, limit, [])


def find_failures(board: Systems, text: str, *, required: bool) -> list[str]:
    """Say in a sentence which systems a condition holds of, or if `required` does not hold of.

    See `irbatch.leaderboard.Leaderboard.failures`.
    """
    condition = parse_condition(text, required=required)
    if not board.systems:  # of none everything is true
        raise InputError(f"no system is left to check {shown(text)} of", value=text)
    if condition.limit is None:
        found = dict(_find_dominated(board, condition.axes))
    else:
        found = dict(_find_beyond(board, text, condition.limit, required=required))
    chosen = board.systems if condition.system is None else board.select(condition.system).systems
    return [f"{printable(name)}: {found[name]}" for name in chosen if name in found]


def tell_passed(board: Systems, text: str, *, required: bool) -> str:
    """Say what has passed; with the axis, where the condition calls it by a shorter name."""
    limit = parse_condition(text, required=required).limit
    name = "" if limit is None else board.axis(limit.name).name
    return text if name in text else f"{text} ({name})"


def _find_dominated(board: Systems, axes: list[str]) -> Iterator[tuple[str, str]]:
    """Yield systems that others dominate, and by whom; those that lack an axis, and which."""
    found = board.pareto(axes)
    on = join_words(found.axes)
    for system, others in found.dominated_by.items():
        yield system, f"dominated on {on} by {join_words(list(map(printable, others)))}"
    for system, lacking in found.left_out.items():
        yield system, f"{join_words(lacking)} is missing"


def _find_beyond(
    board: Systems, text: str, limit: Limit, *, required: bool
) -> Iterator[tuple[str, str]]:
    """Yield systems of which a limit holds, or if `required` doesn't; those without a value."""
    axis = board.axis(limit.name)
    limit = limit._replace(name=axis.name)
    check_side(text, limit, int(axis.sign), required=required)
    known, lacking = board.having([axis.name])
    values = known.comparable(axis.name)
    low, high = _range(board, axis.name)
    beyond = values[(values < low - ROUNDING) | (values > high + ROUNDING)]
    if values.size and not beyond.size:  # or they are in per cent
        check_range(text, limit, low, high)
    elif beyond.size and low <= limit.limit <= high:  # values are, and the limit isn't
        value = float(beyond[0])
        problem = f"condition {shown(text)}: {axis.name} of {value:.4g} is not between {low:g} and "
        problem += f"{high:g}" + (": in per cent?" if high == 1 and 0 <= value <= 100 else "")
        raise InputError(problem, source="accuracy", value=value)
    if limit.bound is not None:
        values = known.bounds(axis.name)[:, limit.bound]
    for system, value in zip(known.systems, values.tolist(), strict=True):
        if np.isnan(value):
            yield system, f"{axis.name} has no interval"
        elif limit.holds(value) != required:
            yield system, f"{limit.told(value)}, {'not ' if required else ''}{limit}"
    for system in lacking:
        yield system, f"{axis.name} is missing"


def _range(board: Systems, name: str) -> tuple[float, float]:
    """Return between which numbers all values of an axis are, as far as that is known."""
    if name not in board.measures:
        return 0.0, np.inf
    return (-np.inf, np.inf) if canonical_name(name) is None else measure(name).range
