"""Names that are near to what was typed: slips of a finger, and words of names."""

from __future__ import annotations

import math

from irbatch.measures.declare import Measure


def find_similar(stem: str, index: dict[str, Measure]) -> list[Measure]:
    """Return the measure of the nearest name, or those whose names have a word in them.

    Names that begin otherwise are others, and no typing errors: XRR is not RR.
    """
    if stem[:1] == "m" and len(stem) > 3 and stem[1:] in index:  # the mean of it, as all are
        return [index[stem[1:]]]
    near = [(_slips(stem, name), name) for name in index]
    near = [each for each in near if each[0] is not None]
    if near:
        return [index[min(near)[1]]]
    if len(stem) < 4:
        return []
    around = sorted((name for name in index if stem in name), key=lambda each: each.find(stem) > 0)
    if around:
        return list(dict.fromkeys(index[name] for name in around))[:3]
    within = [name for name in index if name in stem and 2 < len(name) < len(stem) - 1]
    return [index[max(within, key=len)]] if within else []


def _slips(typed: str, name: str) -> float | None:
    """Count the slips that make a name what was typed; None of what is another name.

    Two letters that have changed places are half a slip (Damerau 1964), and so is a letter typed
    twice or once too seldom; a letter too many, too few or wrong is one, and so are the right ones
    in another order. Names of three letters are too like each other for more than half a one: RBO
    is not RBP. The first letter is right, but where it has changed places with another.
    """
    longer = max(len(typed), len(name))
    most = 0.5 if longer < 4 else 1.0 if longer < 7 else 2.0
    if abs(len(typed) - len(name)) > 2 * most or not typed:
        return None
    turned = len(typed) == len(name) and typed[:2] == name[1::-1]
    if typed[0] != name[0] and not turned:
        return None
    rows = [[0.0], [float(j) for j in range(len(name) + 1)]]
    for i, letter in enumerate(typed, 1):
        before, above, row = rows[-2], rows[-1], [float(i)]
        for j, other in enumerate(name, 1):
            twice = i > 1 and letter == typed[i - 2]
            seldom = j > 1 and other == name[j - 2]
            costs = [above[j - 1] + (letter != other), above[j] + 1 - twice / 2]
            costs.append(row[j - 1] + 1 - seldom / 2)
            if i > 1 and j > 1 and (letter, typed[i - 2]) == (name[j - 2], other):
                costs.append(before[j - 2] + 0.5)
            row.append(min(costs))
        rows.append(row)
    slips = min(rows[-1][-1], 1.0 if sorted(typed) == sorted(name) else math.inf)
    return slips if slips <= most else None
