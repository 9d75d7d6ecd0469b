"""How much of the numbered tables was tried: what the terminal's summary says of it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any


def summarise(passed: Iterable[Any]) -> Iterator[str]:
    """Count what tests that passed recorded of themselves."""
    recorded: defaultdict[str, list[Any]] = defaultdict(list)
    for report in passed:
        for name, value in report.user_properties:
            recorded[name].append(value)
    if rows := recorded["row"]:
        numbers, checked, absent, inexpressible = zip(*rows, strict=True)
        yield (
            f"rows: {len(set(numbers))} in {len(rows)} cases, {sum(checked)} cells checked, "
            f"{sum(inexpressible)} cannot be expressed, {sum(absent)} absent"
        )
    if relations := recorded["relation"]:
        numbers, variants, compared = zip(*relations, strict=True)
        yield (
            f"relations: {len(set(numbers))} of 30, {max(variants)} measures and cutoffs, "
            f"{sum(map(sum, compared)):,} values compared"
        )
    if mistakes := recorded["mistake"]:
        yield f"mistakes of other tools: {len(set(mistakes))} of 40"


def number_of(test: str) -> int:
    """Return the number that a test has in its name."""
    found = re.match(r"test_(\d\d)_", test)
    assert found is not None, test
    return int(found[1])
