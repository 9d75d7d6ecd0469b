"""What the terminal's summary says: how much of the numbered tables was tried, what was skipped."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
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


def summarise_skips(skipped: Iterable[Any]) -> Iterator[str]:
    """Count the tests that were skipped, a line for each missing package or other reason."""
    counts: Counter[str] = Counter()
    for report in skipped:
        reason = str(report.longrepr[2]).removeprefix("Skipped: ")
        package = re.match(r"could not import '([\w.]+)'|pip install (?:--no-deps )?(\w+)$", reason)
        counts[package[1] or package[2] if package else reason] += 1
    for reason, count in counts.most_common():
        yield f"skipped, {reason}: {count} test{'s' if count > 1 else ''}"


def number_of(test: str) -> int:
    """Return the number that a test has in its name."""
    found = re.match(r"test_(\d\d)_", test)
    assert found is not None, test
    return int(found[1])
