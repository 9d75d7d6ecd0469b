"""What the terminal's summary says of skipped tests."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any


def summarise_skips(skipped: Iterable[Any]) -> Iterator[str]:
    """Count the tests that were skipped, a line for each missing package or other reason."""
    counts: Counter[str] = Counter()
    for report in skipped:
        reason = str(report.longrepr[2]).removeprefix("Skipped: ")
        package = re.match(r"could not import '([\w.]+)'|pip install (?:--no-deps )?(\w+)$", reason)
        counts[package[1] or package[2] if package else reason] += 1
    for reason, count in counts.most_common():
        yield f"skipped, {reason}: {count} test{'s' if count > 1 else ''}"
