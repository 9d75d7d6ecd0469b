"""The upper hull of straight lines: which of them is highest, and from where to where."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

__all__ = ["upper_hull"]

LEAST = Fraction(1, 10**12)  # of a stretch: a shorter one is of lines that cross but for rounding


def upper_hull(
    at_0: Sequence[Fraction], slopes: Sequence[Fraction]
) -> list[tuple[float, float, list[int]]]:
    """Return where on [0, 1] which of the lines are highest.

    Args:
        at_0: where lines start.
        slopes: how much they rise.

    Returns:
        The ends of each stretch, and the places of the lines, several where they are the same.

    >>> upper_hull([Fraction(1), Fraction(0)], [Fraction(0), Fraction(2)])
    [(0.0, 0.5, [0]), (0.5, 1.0, [1])]
    """
    lines = list(zip(at_0, slopes, strict=True))
    now, current = Fraction(), max(lines)
    found: list[tuple[float, float, list[int]]] = []
    while now < 1:
        crossings = [
            ((current[0] - start) / (slope - current[1]), slope, start)
            for start, slope in lines
            if slope > current[1]
        ]
        end = min([each[0] for each in crossings], default=Fraction(1))
        winners = [i for i, line in enumerate(lines) if line == current]
        begin = found[-1][1] if found else 0.0
        if min(end, Fraction(1)) - now > LEAST:
            found.append((begin, float(min(end, Fraction(1))), winners))
        if end >= 1:
            break
        now = end
        _, slope, start = max(each for each in crossings if each[0] == end)
        current = start, slope
    low, _, winners = found[-1]
    return [*found[:-1], (low, 1.0, winners)]
