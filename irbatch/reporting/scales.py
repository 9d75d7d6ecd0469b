"""Axes: where a number stands in a picture, and which numbers are written beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Scale"]

TARGETS = (7, 5, 3, 2, 1)  # how many ticks are tried
NICE = (1, 2, 2.5, 5, 10)
LEAST_SPAN = 1e-9  # of an axis, as a share of its numbers: floats are no finer
WORDY, MOST_DECIMALS = 1e9, 10  # beyond these, numbers are written with an exponent
SMALLEST, LARGEST = 1e-290, 1e300  # what is beyond stands at an axis' end, or is as good as 0


@dataclass(frozen=True)
class Scale:
    """A range of numbers and the pixels that its ends stand at."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def over(cls, values: Iterable[float], start: float, end: float) -> Scale:
        """Make a scale that holds some numbers, but for those that are none or no picture holds."""
        known = [value for value in values if abs(value) <= LARGEST] or [0.0]
        low, high = min(known), max(known)
        largest = max(abs(low), abs(high))
        if high - low <= max(largest * LEAST_SPAN, SMALLEST):
            room = largest / 10 if largest > SMALLEST else 0.5
            low, high = low - room, high + room
        return cls(low, high, start, end)

    def __call__(self, value: float) -> float:
        """Return where a number stands."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + min(1.0, max(0.0, share)) * (self.end - self.start)

    def ticks(self, column: float | None) -> list[tuple[float, str]]:
        """Return places and labels of round numbers.

        Args:
            column: pixels of a character, of labels that stand side by side: there are so few
                that these don't touch; None if they stand one above the other.
        """
        found: list[tuple[float, str]] = []
        for target in TARGETS:
            found = self._about(target)
            room = abs(self.end - self.start) / max(1, len(found) - 1)
            longest = max((len(label) for _, label in found), default=0)
            if column is None or (longest + 2) * column <= room:
                return found
        return found[:1]

    def widest(self) -> int:
        """Return how many characters the longest label has, of those one above the other."""
        return max((len(label) for _, label in self.ticks(None)), default=0)

    def _about(self, target: int) -> list[tuple[float, str]]:
        """Return about so many round numbers at equal distances."""
        step = _nice((self.high - self.low) / target)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [(self(number * step), _written(number, step)) for number in range(first, last + 1)]


def _nice(step: float) -> float:
    """Round a step up to 1, 2, 2.5 or 5 of its decimal power."""
    power = 10.0 ** math.floor(math.log10(step))
    return next((each * power for each in NICE if each * power >= step * (1 - 1e-9)), 10 * power)


def _written(number: int, step: float) -> str:
    """Write so many steps with the digits that tell it from its neighbours."""
    value = number * step
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    if decimals <= MOST_DECIMALS and abs(value) < WORDY:
        whole = math.isclose(step * 10**decimals, round(step * 10**decimals))
        return f"{value:.{decimals + (not whole)}f}"  # 2.5 has one more
    return f"{value:.{2 + len(str(abs(number)))}g}"
