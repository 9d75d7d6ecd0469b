"""What tests and the bootstrap found of a leaderboard, in its JSON."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any

from irbatch.efficiency.quantities import check_count, refuse, require
from irbatch.errors import InputError, shown
from irbatch.leaderboard.axes import find_axis
from irbatch.leaderboard.significance import Significance
from irbatch.leaderboard.stability import Stability
from irbatch.runtime.numbers import is_number
from irbatch.statistics.resampling import check_level
from irbatch.statistics.significance import CORRECTIONS, TESTS

SOURCE = "leaderboard"


def write_findings(
    significance: Significance | None, stability: Stability | None
) -> dict[str, dict[str, Any]]:
    """Return what was found as JSON has it."""
    found = {"significance": significance, "stability": stability}
    return {name: asdict(each) for name, each in found.items() if each is not None}


def read_significance(
    value: Any, systems: Sequence[str], measures: Sequence[str]
) -> Significance | None:
    """Read what `Leaderboard.tested` found, of the measures that are shown; None of nothing.

    Raises:
        InputError: naming the field that cannot be read.
    """
    if value is None:
        return None
    field = "significance"
    given = _object(field, value, ("test", "correction", "level", "queries", "best", "p_values"))
    for name, known in (("test", TESTS), ("correction", CORRECTIONS)):
        if given[name] not in known:
            raise refuse(SOURCE, f"{field}: {name}", f"is {shown(given[name])}", given[name])
    check_level(given["level"])
    best = _object(f"{field}: best", given["best"])
    p_values = _object(f"{field}: p_values", given["p_values"])
    for name, each in p_values.items():
        _shares(f"{field}: p_values: {shown(name)}", each, systems)
        if best.get(name) not in each:
            raise refuse(SOURCE, f"{field}: best", f"is not known of {shown(name)}", best)
    return Significance(
        test=given["test"],
        correction=given["correction"],
        level=float(given["level"]),
        queries=_count(field, "queries", given["queries"]),
        best={name: each for name, each in best.items() if name in measures},
        p_values={name: dict(each) for name, each in p_values.items() if name in measures},
    )


def read_stability(value: Any, systems: Sequence[str], measures: Sequence[str]) -> Stability | None:
    """Read what `Leaderboard.resampled` found; None of nothing, or along measures not shown.

    Raises:
        InputError: naming the field that cannot be read.
    """
    if value is None:
        return None
    field = "stability"
    given = _object(field, value, ("axes", "draws", "seed", "shares", "drawn"))
    axes = read_list(f"{field}: axes", given["axes"])
    drawn = _object(f"{field}: drawn", given["drawn"])
    for name, each in drawn.items():
        for system in read_list(f"{field}: drawn: {shown(name)}", each):
            if system not in systems:
                raise refuse(SOURCE, f"{field}: drawn", f"has no system {shown(system)}", each)
    shares = _shares(f"{field}: shares", given["shares"], systems)
    draws, seed = (_count(field, name, given[name]) for name in ("draws", "seed"))
    try:
        for name in [*axes, *drawn]:
            find_axis(name, measures)
    except InputError:
        return None
    return Stability(
        axes, draws, seed, dict(shares), {name: [*each] for name, each in drawn.items()}
    )


def _object(field: str, value: Any, keys: Collection[str] | None = None) -> dict[str, Any]:
    """Return an object, of these keys if they are given."""
    if not isinstance(value, dict):
        raise refuse(SOURCE, field, f"is {shown(value)}, not an object", value)
    if keys is not None and set(value) != set(keys):
        raise refuse(SOURCE, field, f"has {', '.join(keys)}, not {', '.join(value)}", value)
    return value


def read_list(field: str, value: Any) -> list[str]:
    """Return a list of texts."""
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise refuse(SOURCE, field, f"are {shown(value)}, not a list of texts", value)
    return value


def _shares(field: str, value: Any, systems: Sequence[str]) -> dict[str, float]:
    """Return numbers from 0 to 1 by system."""
    shares: dict[str, float] = _object(field, value)
    for system, share in shares.items():
        if system not in systems:
            raise refuse(SOURCE, field, f"has no system {shown(system)}", value)
        if not is_number(share) or not 0 <= share <= 1:
            raise refuse(SOURCE, field, f"of {shown(system)} is {shown(share)}, not 0 to 1", share)
    return shares


def _count(field: str, name: str, value: Any) -> int:
    require(SOURCE, **{name: value})
    return check_count(SOURCE, f"{field}: {name}", value, 0) or 0
