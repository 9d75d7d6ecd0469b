"""Axes: where a number stands in a picture, and which numbers are written beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

TARGETS = (7, 5, 3, 2, 1)  # how many ticks are tried
NICE = (1, 2, 2.5, 5, 10)
LEAST_SPAN = 1e-9  # of an axis, as a share of its numbers: floats are no finer
WORDY, MOST_DECIMALS = 1e9, 10  # beyond these, numbers are written with an exponent
SMALLEST, LARGEST = 1e-290, 1e300  # what is beyond stands at an axis' end, or is as good as 0
LEAST_MARKS = 3  # of a logarithmic axis; with fewer it has those of a linear one
PLAIN_FROM, PLAIN_TO = 1e-4, 1e7  # what is written without an exponent on a logarithmic axis


@dataclass(frozen=True)
class Scale:
    """A range of numbers and the pixels that its ends stand at."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def over(cls, values: Iterable[float], start: float, end: float) -> Scale:
        """Make a scale that holds some numbers, but for NaN and those too large for a picture."""
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


@dataclass(frozen=True)
class LogScale:
    """A range of numbers above zero, and the pixels that its ends stand at, by their logarithms."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return where a number stands; NaN and those not above zero stand at the lower end."""
        if not value > self.low:
            return self.start
        low = math.log(self.low)
        share = (math.log(value) - low) / (math.log(self.high) - low)
        return self.start + min(1.0, share) * (self.end - self.start)

    def ticks(self, column: float) -> list[tuple[float, str]]:
        """Return places and labels of round numbers, as `Scale.ticks`."""
        return [(self(value), label) for value, label in self.marks(column)]

    def marks(self, column: float) -> list[tuple[float, str]]:
        """Return round numbers and their labels, which stand side by side and don't touch.

        Args:
            column: pixels of a character.

        >>> [label for _, label in LogScale(0.5, 3000, 0, 200).marks(7)]
        ['1', '10', '100', '1,000']
        """
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        for leads, every in ((1, 2, 5), 1), ((1, 3), 1), *(((1,), each) for each in range(1, 700)):
            powers = range(first - first % every, last + 1, every)
            values = [float(f"{lead}e{power}") for power in powers for lead in leads]
            found = _plain([value for value in values if self.low <= value <= self.high])
            if len(found) < LEAST_MARKS:
                break
            if self._apart(found, column):
                return found
        linear = Scale(self.low, self.high, self.low, self.high)
        for target in TARGETS:
            found = linear._about(target)
            if self._apart(found, column):
                return found
        return found[:1]

    def _apart(self, marks: list[tuple[float, str]], column: float) -> bool:
        """Tell whether labels at these numbers don't touch."""
        return all(
            abs(self(value) - self(before)) >= ((len(said) + len(label)) / 2 + 2) * column
            for (before, said), (value, label) in pairwise(marks)
        )


def _plain(values: list[float]) -> list[tuple[float, str]]:
    """Write round numbers, with commas between thousands unless some need an exponent."""
    form = ",.10g" if all(PLAIN_FROM <= value < PLAIN_TO for value in values) else "g"
    return [(value, f"{value:{form}}") for value in values]


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
