"""Where the names of points stand so that they can be read: geometry alone, in pixels.

A name stands beside its point where there is room, and farther away, with a leader to its point,
where there is none. No name ever covers a point or another name, or leaves the area; lines and
leaders are kept free as far as that goes. Names take their places one after the other, the most
crowded ones first, and then move as long as that makes the whole better. Nothing is random.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from irbatch.array_types import Bools, Floats
from irbatch.leaderboard.boxes import Box, cover, cross, overlap, rings

__all__ = ["Label", "place_labels"]


WORST, TRADES = 8, 300  # names that are tried together with another one, and how many pairs
AT_ONCE = 48  # places that are looked at together
STACKED = 6  # names of points in the same place that stand under each other as one
ROUNDS = 12  # in which every name may move once; mostly two or three are enough
GAP = 2.5  # between a point and the name beside it
FIRST = 5.0  # from a point to the first ring of places around it
LINE, LEADER, OVER_POINT, CROSSED = 2.5, 5.0, 3.0, 8.0  # what a place costs
COVERED, NOWHERE = 80.0, 1e4  # a leader under a name; a name without a place
FAR, MISLEADS = 0.2, 5.0  # a pixel away from the point; nearer to another point
NEAR = 9.0  # up to here a name needs no leader
CLEARLY = 1.5  # how much nearer its own point has to be

# Places beside a point, as shares of a name's width and height and signs of the gap: its lower left
# corner is at the point plus these. Earlier ones are liked better.
BESIDE = (
    (0.0, -0.5, 1, 0), (0.0, 0.0, 0.4, 1), (-1.0, 0.0, -0.4, 1), (-1.0, -0.5, -1, 0),
    (0.0, -1.0, 0.4, -1), (-1.0, -1.0, -0.4, -1), (-0.5, 0.0, 0, 1), (-0.5, -1.0, 0, -1),
    (-0.2, 0.0, 0, 1), (-0.8, 0.0, 0, 1), (-0.2, -1.0, 0, -1), (-0.8, -1.0, 0, -1),
)  # fmt: skip
LIKED = 0.15  # how much better than the next


class Label(NamedTuple):
    """Where a name stands, and the line to its point where it needs one: ``x1, y1, x2, y2``."""

    box: Box
    leader: tuple[float, float, float, float] | None


def place_labels(
    points: Floats | Sequence[Sequence[float]],
    sizes: Floats | Sequence[Sequence[float]],
    area: Box,
    *,
    radius: float = 4.0,
    others: Floats | Sequence[Sequence[float]] = (),
    lines: Floats | Sequence[Sequence[float]] = (),
    first: Sequence[bool] | None = None,
) -> list[Label | None]:
    """Find a place for the name of every point; None of a name for which there is no room.

    Args:
        points: ``(points, 2)``: their places, y upwards.
        sizes: ``(points, 2)``: widths and heights of their names, with the room around them.
        area: what names may not leave.
        radius: of the points, which names may not cover.
        others: ``(others, 2)``: points without names, which names may not cover either.
        lines: ``(lines, 4)``: ends ``x1, y1, x2, y2`` of what names had better not cover.
        first: which names take their places before the others.

    >>> area = Box(0, 0, 100, 100)
    >>> for label in place_labels([[20, 50], [40, 50]], [[30, 10], [30, 10]], area, radius=4):
    ...     print(*label.box)
    5.0 56.5 35.0 66.5
    46.5 45.0 76.5 55.0
    """
    points = np.asarray(points, np.float64).reshape(-1, 2)
    sizes = np.asarray(sizes, np.float64).reshape(-1, 2)
    lines = np.asarray(lines, np.float64).reshape(-1, 4)
    dots = np.concatenate([points, np.asarray(others, np.float64).reshape(-1, 2)])
    before = np.zeros(len(points), np.bool_) if first is None else np.asarray(first, np.bool_)
    placed: list[Label | None] = []
    for most in (STACKED, 1):
        stacks = _stack(points, most)
        heads = [stack[0] for stack in stacks]
        blocks = np.array([[sizes[stack, 0].max(), sizes[stack, 1].sum()] for stack in stacks])
        layout = _Layout(dots, points[heads], blocks.reshape(-1, 2), area, radius, lines)
        layout.settle(before[heads])
        placed = _unstack(stacks, layout, sizes)
        if None not in placed:
            break
    return placed


def _stack(points: Floats, most: int) -> list[list[int]]:
    """Bring points together that stand in the same place, so many at most."""
    by_place: dict[tuple[float, ...], list[int]] = {}
    for i, place in enumerate(np.round(points).tolist()):
        by_place.setdefault(tuple(place), []).append(i)
    return [same[i : i + most] for same in by_place.values() for i in range(0, len(same), most)]


def _unstack(stacks: list[list[int]], layout: _Layout, sizes: Floats) -> list[Label | None]:
    """Return each name's own box, flush with the side of its stack that its point is on."""
    placed: list[Label | None] = [None] * len(sizes)
    for k, stack in enumerate(stacks):
        left, _, right, top = layout.boxes[k].tolist()
        if np.isnan(left):
            continue
        x, y = layout.points[k].tolist()
        end = layout.leaders[k, 3]  # NaN where there is none
        for i in stack:
            wide, high = sizes[i].tolist()
            start = right - wide if left + right < 2 * x else left
            box = Box(start, top - high, start + wide, top)
            led = box.bottom <= end <= top
            near = min(max(x, box.left), box.right), min(max(y, box.bottom), box.top)
            placed[i] = Label(box, (x, y, *near) if led else None)
            top -= high
            end = np.nan if led else end
    return placed


class _Layout:
    """Names that have taken their places; NaN for those that haven't."""

    def __init__(
        self, dots: Floats, points: Floats, sizes: Floats, area: Box, radius: float, lines: Floats
    ) -> None:
        self.points, self.sizes, self.area, self.radius = points, sizes, area, radius
        self.dots = np.concatenate([dots - radius, dots + radius], axis=1)
        self.lines = lines
        self.offsets = rings(
            radius + FIRST, np.hypot(area.right - area.left, area.top - area.bottom)
        )
        self.beside = [self._allowed(i, self._around(i)) for i in range(len(points))]
        self.anywhere: dict[int, _Places] = {}
        self.boxes = np.full((len(points), 4), np.nan)
        self.leaders = np.full((len(points), 4), np.nan)
        self.costs = np.zeros(len(points))
        self.missing = np.full(len(points), NOWHERE)

    def settle(self, first: Bools) -> None:
        """Give every name a place: those of `first` before the others, the most crowded first."""
        apart = np.abs(self.points[:, None] - self.points)
        reach = self.sizes[:, None] + self.sizes + 2 * self.radius
        crowd = (apart < reach).all(axis=2).sum(axis=1)
        order = np.lexsort((-crowd, ~first)).tolist()
        self.missing[first] *= 2
        self._move(order)
        trades, better = TRADES, True
        while better and trades > 0:
            worst = np.argsort(-self._prices(), kind="stable")[:WORST].tolist()
            led = np.flatnonzero(~np.isnan(self.leaders[:, 0])).tolist()
            pairs = [(i, j) for i in worst for j in led if i != j][:trades]
            trades -= len(pairs)
            better = sum(self._trade(i, j) for i, j in pairs) > 0
            self._move(order)

    def _move(self, order: list[int]) -> None:
        """Move one name after the other while that makes the whole better."""
        for _ in range(ROUNDS):
            before = self.boxes.copy()
            for i in order:
                self._lift(i)
                self._put(i)
            if np.array_equal(before, self.boxes, equal_nan=True):
                break

    def _trade(self, i: int, j: int) -> bool:
        """Move two names at once, if that makes the whole better."""
        kept = self.boxes[[i, j]], self.leaders[[i, j]], self.costs[[i, j]]
        before = self._now(j)
        self._lift(j)
        before += self._now(i)
        self._lift(i)
        if self._put(i) + self._put(j) < before - LIKED / 2:
            return True
        self.boxes[[i, j]], self.leaders[[i, j]], self.costs[[i, j]] = kept
        return False

    def _lift(self, i: int) -> None:
        self.boxes[i] = self.leaders[i] = np.nan

    def _put(self, i: int) -> float:
        """Put a name where it is best, as the others stand now; return what that costs."""
        best, cost = self._cheapest(self.beside[i])
        if best is None:
            if i not in self.anywhere:
                self.anywhere[i] = self._allowed(i, self._everywhere(i))
            best, cost = self._cheapest(self.anywhere[i])
        if best is None:
            return float(self.missing[i])
        self.boxes[i], self.leaders[i], self.costs[i] = best
        return cost

    def _cheapest(self, places: _Places) -> tuple[tuple[Floats, Floats, float] | None, float]:
        """Find the cheapest place that is free, among places whose own costs rise."""
        best, least = None, np.inf
        for start in range(0, len(places.costs), AT_ONCE):
            if places.costs[start] >= least:
                break
            some = _Places(*(each[start : start + AT_ONCE] for each in places))
            prices = self._price(some)
            k = int(np.argmin(prices))
            if prices[k] < least:
                least = float(prices[k])
                best = some.boxes[k], some.leaders[k], float(some.costs[k])
        return best, least

    def _now(self, i: int) -> float:
        """Return what a name costs where it stands."""
        kept = self.boxes[i].copy(), self.leaders[i].copy(), self.costs[i]
        if np.isnan(kept[0][0]):
            return float(self.missing[i])
        self._lift(i)
        cost = self._price(_Places(kept[0][None], kept[1][None], np.array([kept[2]])))[0]
        self.boxes[i], self.leaders[i], self.costs[i] = kept
        return float(cost)

    def _prices(self) -> Floats:
        return np.array([self._now(i) for i in range(len(self.points))])

    def _price(self, places: _Places) -> Floats:
        """Return what places cost beside the names that stand; infinite where one is in the way."""
        prices = np.full(len(places.boxes), np.inf)
        free = ~overlap(places.boxes, self.boxes).any(axis=1)
        boxes, leaders = places.boxes[free], places.leaders[free]
        covered = cover(boxes, self.leaders).sum(axis=1) + cover(self.boxes, leaders).sum(axis=0)
        crossed = cross(leaders, self.leaders).sum(axis=1)
        prices[free] = places.costs[free] + COVERED * covered + CROSSED * crossed
        return prices

    def _allowed(self, i: int, boxes: Floats) -> _Places:
        """Keep the places inside the area that cover no point; say what each of them costs."""
        liked = np.minimum(np.arange(len(boxes)), len(BESIDE)) * LIKED
        area = self.area
        inside = (boxes[:, :2] >= area[:2]).all(axis=1) & (boxes[:, 2:] <= area[2:]).all(axis=1)
        kept = inside & ~overlap(boxes, self.dots).any(axis=1)
        boxes = boxes[kept]
        nearest = np.clip(self.points[i], boxes[:, :2], boxes[:, 2:])
        distance = np.hypot(*(nearest - self.points[i]).T)
        # A name that is as near to another point might be read as that one's.
        dots = (self.dots[:, None, :2] + self.dots[:, None, 2:]) / 2
        elsewhere = (np.abs(dots[:, 0] - self.points[i]) > 0.5).any(axis=1)
        others = (np.clip(dots, boxes[:, :2], boxes[:, 2:]) - dots)[elsewhere]
        misleads = (np.hypot(others[..., 0], others[..., 1]) < distance + CLEARLY).any(axis=0)
        needs = misleads | (distance > self.radius + NEAR)
        leaders = np.concatenate([np.broadcast_to(self.points[i], nearest.shape), nearest], axis=1)
        leaders[~needs] = np.nan
        costs = liked[kept] + FAR * distance + LEADER * needs + MISLEADS * misleads
        costs += LINE * cover(boxes, self.lines).sum(axis=1)
        costs += OVER_POINT * cover(self.dots[elsewhere], leaders).sum(axis=0)
        order = np.argsort(costs, kind="stable")
        return _Places(boxes[order], leaders[order], costs[order])

    def _around(self, i: int) -> Floats:
        """Return places beside a point, and then on rings around it."""
        gap = self.radius + GAP
        beside = np.array(BESIDE)
        corners = [beside[:, :2] * self.sizes[i] + beside[:, 2:] * gap]
        towards = self.offsets / np.hypot(*self.offsets.T)[:, None]
        corners.append(self.offsets + (towards - 1) * self.sizes[i] / 2)
        lower = self.points[i] + np.concatenate(corners)
        return np.concatenate([lower, lower + self.sizes[i]], axis=1)

    def _everywhere(self, i: int) -> Floats:
        """Return places all over the area, in rows."""
        wide, high = self.sizes[i].tolist()
        left, bottom, right, top = self.area
        x = np.append(np.arange(left, right - wide, max(2.0, wide / 2)), right - wide)
        y = np.append(np.arange(bottom, top - high, max(2.0, high / 2)), top - high)
        lower = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        return np.concatenate([lower, lower + self.sizes[i]], axis=1)


class _Places(NamedTuple):
    """Places that a name may take, the leaders that they take, and what they cost."""

    boxes: Floats
    leaders: Floats
    costs: Floats
