"""Rank-biased overlap of pairs of rankings: sums over ranks that have no end, in closed form.

Ranks are counted from 0 here, depths from 1. X_d is the overlap of two rankings at depth d, the
documents that both have among their first d, and agreement is X_d / d; see `irbatch.comparing`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from irbatch.array_types import Floats, Floats2, Ints
from irbatch.runtime.kernels import kernel
from irbatch.runtime.threads import map_ranges

BY_TOP, BY_MEAN, BY_NORM = range(3)  # what the kernel makes of ties: the variants w, a and b
VARIANTS = {"w": BY_TOP, "a": BY_MEAN, "b": BY_NORM}
VALUES = 6  # that are computed of a pair
NO_RANKS: Ints = np.empty(0, np.int64)


class Side(NamedTuple):
    """One ranking of each pair, best first; documents that share a score are a group, if any do."""

    starts: Ints  # (pairs + 1,): where rankings begin and end
    partners: Ints  # (documents,): the rank of each in the other ranking, -1 where it isn't there
    tops: Ints = NO_RANKS  # (documents,): the rank of the first of its group
    bottoms: Ints = NO_RANKS  # (documents,): the rank of the last
    groups: Ints = NO_RANKS  # (pairs,): where tops and bottoms of each ranking begin


class Tables(NamedTuple):
    """What sums over infinitely many ranks are made of: float64 ``(depth + 1,)``, at n."""

    powers: Floats  # p^n
    tails: Floats  # T(n), the sum over d > n of p^(d-1) / d: what a common document adds there
    beyond: Floats  # the sum of T(m) over m >= n

    @classmethod
    def of(cls, p: float, depth: int) -> Tables:
        """Tabulate to a depth; from far ends, so that nothing cancels."""
        ranks = np.arange(1, depth + 1)
        powers = np.power(p, np.arange(depth + 1.0))
        terms = powers[:-1] / ranks
        least = powers[-1] / (depth + 1)  # the first term that is left out
        rest = -math.log1p(-p) / p - float(terms.sum())
        last = min(max(rest, least), least / (1 - p))
        tails = np.cumsum(np.append(terms, last)[::-1])[::-1]
        beyond = powers[-1] / (1 - p) - depth * last
        beyond = min(max(beyond, least), least / (1 - p) ** 2)
        sums = np.cumsum(np.append(tails[:-1], beyond)[::-1])[::-1].copy()
        return cls(powers, np.ascontiguousarray(tails), sums)


def sum_up(first: Side, second: Side, p: float, tables: Tables, ties: str | None) -> Floats:
    """Compute the values of each pair of rankings: float64 ``(VALUES, pairs)``.

    These are minimum, residual and extrapolated value; truncated, cut to the same length and
    extrapolated; and average overlap. `tables` are as deep as both rankings together. `ties` is
    the variant by which groups count, None if documents stand in the order given.
    """
    pairs = first.starts.size - 1
    if ties is None:  # each document is a group of its own, and all rankings have the same
        ranks, groups = np.arange(tables.powers.size), np.zeros(pairs, np.int64)
        first, second = (Side(*side[:2], ranks, ranks, groups) for side in (first, second))
    values = np.zeros((VALUES, pairs))
    work = 20 * (first.partners.size + second.partners.size) + 2 * pairs
    options = VARIANTS[ties or "w"], 1.0 - p, tables
    map_ranges(
        lambda start, stop: _sum_up.run(work, first, second, *options, start, stop, values),
        pairs, cells=work,
    )  # fmt: skip
    return values


@kernel
def _sum_up(
    first: Side,
    second: Side,
    variant: int,
    rest: float,
    tables: Tables,
    start: int,
    stop: int,
    values: Floats2,
) -> None:
    """Write the values of some pairs of rankings, whose groups of ties count by a variant."""
    for q in range(start, stop):
        size_first = first.starts[q + 1] - first.starts[q]
        size_second = second.starts[q + 1] - second.starts[q]
        if size_first <= size_second:
            _walk(q, first, second, variant, rest, tables, values)
        else:
            _walk(q, second, first, variant, rest, tables, values)


@kernel
def _walk(
    q: int, short: Side, long: Side, variant: int, rest: float, tables: Tables, values: Floats
) -> None:
    """Write the values of a pair; `short` has the shorter ranking.

    What it has not shown is taken to be, at the least, nothing of the other's; at the most, the
    other's first documents that it lacks; extrapolated, as much of these as of what it has shown.
    Common documents are counted that are whole in both, in one, or partly there in both; and
    `lone` ones, of the longer ranking alone.
    """
    powers, tails, beyond = tables
    shorter = short.starts[q + 1] - short.starts[q]
    longer = long.starts[q + 1] - long.starts[q]
    whole = part_short = part_long = part_both = lone_whole = lone_part = 0
    least = extra = truncated = average = spread = before = at_short = 0.0
    for d in range(1, longer + 1):
        share_short, size_short = 1.0, float(d)
        if d <= shorter:
            share_short, size_short = _measure(short, q, d, variant)
            w, own, other, both, _, _ = _step(short, long, q, d, d - 1, variant)
            whole, part_short = whole + w, part_short + own
            part_long, part_both = part_long + other, part_both + both
        share, size = _measure(long, q, d, variant)
        w, own, other, both, lone_w, lone_p = _step(long, short, q, d, d, variant)
        whole, part_short = whole + w, part_short + other
        part_long, part_both = part_long + own, part_both + both
        lone_whole, lone_part = lone_whole + lone_w, lone_part + lone_p
        overlap = whole + share_short * part_short + share * (part_long + share_short * part_both)
        norm = _norm(size_short, size, d, variant)
        agreement = overlap / norm
        least += agreement * powers[d - 1]
        if d <= shorter:
            at_short = agreement
            truncated += agreement * powers[d - 1]
            average += agreement
        else:
            unseen = d - shorter
            most = min(lone_whole, unseen) + share * min(lone_part, max(unseen - lone_whole, 0))
            spread += most / norm * powers[d - 1]
            mean = (lone_whole + share * lone_part) / (lone_whole + lone_part)
            agreement = (overlap + unseen * at_short * mean) / norm
        extra += (agreement - before) * powers[d - 1]
        before = agreement
        if d == shorter:
            values[4, q] = min(extra, 1.0)
    if longer == 0:
        extra = average = values[4, q] = 1.0
    # At the end all are whole.
    spread += 2.0 * beyond[longer] + (longer - shorter) * tails[longer]
    spread -= beyond[longer + shorter - whole]
    values[2, q] = min(extra, 1.0)
    values[0, q] = min(rest * (least + whole * tails[longer]), values[2, q])
    values[1, q] = min(max(rest * spread, values[2, q] - values[0, q]), 1.0 - values[0, q])
    values[3, q] = min(rest * truncated, 1.0)
    values[5, q] = min(average / max(shorter, 1), 1.0)


@kernel
def _step(
    own: Side, other: Side, q: int, d: int, seen: int, variant: int
) -> tuple[int, int, int, int, int, int]:
    """Count what depth d changes in one ranking; of the other, `seen` ranks are counted so far.

    A group's documents are partly there from its first rank on, and whole at its last; by their
    top, whole at once. Returns how many more are whole in both, partly in own ranking alone, in
    the other alone, in both; and documents of own ranking alone that are whole, and partly there.
    """
    first, groups, other_groups = own.starts[q], own.groups[q], other.groups[q]
    top, bottom = own.tops[groups + d - 1], own.bottoms[groups + d - 1]
    begins = top == d - 1
    ends = begins if variant == BY_TOP else bottom == d - 1
    wholes = 1 if ends else 0
    parts = (1 if begins else 0) - wholes
    whole = part_own = part_other = part_both = lone = 0
    if begins or ends:
        for i in range(first + top, first + bottom + 1):
            at = other_groups + own.partners[i]
            if own.partners[i] < 0:
                lone += 1
            elif other.tops[at] >= seen:
                continue
            elif variant == BY_TOP or other.bottoms[at] < seen:
                whole += wholes
                part_own += parts
            else:
                part_other += wholes
                part_both += parts
    return whole, part_own, part_other, part_both, lone * wholes, lone * parts


@kernel
def _measure(side: Side, q: int, d: int, variant: int) -> tuple[float, float]:
    """Return how much counts, at depth d, of a document of the group there, and of the ranking."""
    at = side.groups[q] + d - 1
    top, bottom = side.tops[at], side.bottoms[at]
    if variant == BY_TOP:
        return 1.0, float(bottom + 1)
    share = (d - top) / (bottom - top + 1)
    return share, top + (d - top) * share if variant == BY_NORM else float(d)


@kernel
def _norm(one: float, other: float, d: int, variant: int) -> float:
    """Return what overlap is divided by; `one` and `other` are how much of rankings counts."""
    if variant == BY_TOP:
        return (one + other) / 2.0
    return math.sqrt(one * other) if variant == BY_NORM else float(d)
