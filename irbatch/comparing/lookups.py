"""Systems and measures of a comparison, by their names."""

from __future__ import annotations

from collections.abc import Sequence

from irbatch.errors import InputError, shown
from irbatch.measures import Measure, measure

NAMED = 10  # systems or measures that an error lists


def find_system(systems: Sequence[str], name: str) -> int:
    """Return the position of a system; refuse one that is unknown."""
    if name not in systems:
        problem = f"there is no system {shown(name)}; there are: {_listed(systems)}"
        raise InputError(problem, source="system", value=name)
    return list(systems).index(name)


def find_measure(measures: Sequence[str], name: str | Measure) -> int:
    """Return the position of a measure, by any spelling of its name; refuse one not evaluated."""
    known = list(measures)
    if str(name) in known:
        return known.index(str(name))
    canonical = str(measure(name) if isinstance(name, str) else name)
    if canonical not in known:
        problem = f"{canonical} was not evaluated; there are: {_listed(known)}"
        raise InputError(problem, source="measures", value=canonical)
    return known.index(canonical)


def _listed(names: Sequence[str]) -> str:
    more = f", and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
