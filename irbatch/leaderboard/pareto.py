"""The Pareto frontier: systems that no other system beats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from irbatch.array_types import Floats
from irbatch.errors import join_words, printable
from irbatch.report.text import shorten

AT_ONCE = 1 << 22  # comparisons of two systems along one axis
NAMED = 60  # columns of a terminal for those that dominate a system


@dataclass(frozen=True)
class Pareto:
    """Which systems are on the frontier, and which others beat those that are not.

    A system is dominated by one that is at least as good along every axis and better along one
    (Santhanam et al. 2022). Systems that are equal along every axis are on the frontier together
    or not at all.
    """

    axes: list[str]
    frontier: list[str]  # systems that nothing dominates, in the leaderboard's order
    dominated_by: dict[str, list[str]]  # each of the others, with all that dominate it
    left_out: dict[str, list[str]] = field(default_factory=dict)  # not compared: axes it lacks

    def __str__(self) -> str:
        lines = [f"Pareto frontier of {', '.join(map(printable, self.axes))}:"]
        lines += [f"  {printable(system)}" for system in self.frontier]
        for system, others in self.dominated_by.items():
            by = shorten(", ".join(map(printable, others)), NAMED)
            lines.append(f"  {printable(system)} is dominated by {by}")
        for system, axes in self.left_out.items():
            lines.append(f"  {printable(system)} is left out, without {join_words(axes)}")
        return "\n".join(lines)


def find_pareto(
    systems: Sequence[str], axes: list[str], values: Floats, left_out: dict[str, list[str]]
) -> Pareto:
    """Find the frontier of systems; `values` are ``(systems, axes)``, of which higher is better."""
    dominated_by: dict[str, list[str]] = {}
    step = max(1, AT_ONCE // max(1, values.size))
    for start in range(0, len(systems), step):
        some = values[start : start + step, None]
        beats = np.asarray((values >= some).all(axis=2) & (values > some).any(axis=2))
        for system, row in zip(systems[start : start + step], beats, strict=True):
            if row.any():
                dominated_by[system] = [systems[place] for place in np.flatnonzero(row).tolist()]
    frontier = [system for system in systems if system not in dominated_by]
    return Pareto(axes, frontier, dominated_by, left_out)
