"""Signs in the times of calls that a search keeps answers, or that its warm-up was not over."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from irbatch.array_types import Floats
from irbatch.errors import many, shown, warn
from irbatch.report.numbers import show_quantity

FEWEST = 5  # calls on both sides: the median of fewer is that of a cold start
FACTOR = 2.0  # between two medians that differ much
LEAST = 0.1  # ms between them: of less the caches of the processor are the reason


def warn_of_caching(system: str, warm: Mapping[int, float], times: Floats) -> None:
    """Warn where calls that were made before take another time than when they were made first.

    Args:
        system: whose times they are.
        warm: ms that timed calls took when the warm-up made them first, by their number.
        times: ms ``(passes, calls)``.
    """
    asked = np.array(list(warm), np.int64)
    if len(asked) >= FEWEST:
        fresh = np.delete(times[0], asked)
        before, after = _median(list(warm.values())), _median(times[0, asked])
        # Of calls that are all warm a slow beginning may be the reason as well.
        if _is_less(after, before) and (not len(fresh) or _is_less(after, _median(fresh))):
            said = f"{many(len(asked), 'call')} of the warm-up took {_ms(before)} first, and"
            others = f"; the other calls took {_ms(_median(fresh))}" if len(fresh) else ""
            why = "it keeps answers, or its warm-up was not over"
            _warn(system, f"{said} {_ms(after)} when they were timed{others}", why)
            return
    if len(times) > 1 and times.shape[1] >= FEWEST:
        first, later = _median(times[0]), _median(np.median(times[1:], axis=0))
        said = f"calls took {_ms(first)} in the first pass, and {_ms(later)} in later ones"
        if _is_less(later, first):
            _warn(system, said, "it keeps answers, or its warm-up was not over")
        elif _is_less(first, later):
            _warn(system, said, "it slows down, or something else takes the machine's time")


def _warn(system: str, said: str, why: str) -> None:
    hint = "warmup_queries=, a longer warmup= or repeat=1 may tell"
    warn(f"times of {shown(system)} are of two kinds: {said} (medians); {why} ({hint})")


def _is_less(one: float, other: float) -> bool:
    return one * FACTOR <= other and other - one >= LEAST


def _median(times: Floats | list[float]) -> float:
    return float(np.median(times))


def _ms(time: float) -> str:
    return f"{show_quantity(time)} ms"
