"""Rectangles and lines: which of them share room, lie on each other, or cross."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from irbatch.array_types import Bools, Floats

__all__ = ["Box", "cover", "cross", "overlap", "rings"]


GROWTH, ANGLES = 1.28, 32  # of rings


class Box(NamedTuple):
    """A rectangle."""

    left: float
    bottom: float
    right: float
    top: float


def rings(least: float, most: float) -> Floats:
    """Return offsets on rings that are ever farther apart."""
    count = int(np.log(max(most / least, 1.0)) / np.log(GROWTH)) + 1
    radii = least * GROWTH ** np.arange(count)
    turns = (np.arange(ANGLES) + np.arange(count)[:, None] % 2 / 2) * 2 * np.pi / ANGLES
    unit = np.stack([np.cos(turns), np.sin(turns)], axis=-1)
    offsets: Floats = (radii[:, None, None] * unit).reshape(-1, 2)
    return offsets


def overlap(boxes: Floats, others: Floats) -> Bools:
    """Tell which boxes share room with which others, bool ``(boxes, others)``."""
    (x1, y1, x2, y2), (left, bottom, right, top) = boxes.T[..., None], others.T
    shared: Bools = (x1 < right) & (left < x2) & (y1 < top) & (bottom < y2)
    return shared


def cover(boxes: Floats, lines: Floats) -> Bools:
    """Tell which boxes lie on which lines, bool ``(boxes, lines)``: clipped, a part is left."""
    enter, leave = np.zeros((1, 1)), np.ones((1, 1))
    for axis in (0, 1):
        start, step = lines[:, axis], lines[:, 2 + axis] - lines[:, axis]
        low, high = boxes[:, axis, None], boxes[:, 2 + axis, None]
        # A line along the other axis is within the box for all of its way, or never.
        along = step == 0
        within = (low < start) & (start < high)
        step = np.where(along, 1.0, step)
        one = np.where(along, np.where(within, 0.0, 2.0), (low - start) / step)
        other = np.where(along, np.where(within, 1.0, 2.0), (high - start) / step)
        enter = np.maximum(enter, np.minimum(one, other))
        leave = np.minimum(leave, np.maximum(one, other))
    covers: Bools = np.asarray(enter < leave)
    return covers


def cross(lines: Floats, others: Floats) -> Bools:
    """Tell which lines cross which others, bool ``(lines, others)``; to meet at an end is fine."""
    (x1, y1, x2, y2), (x3, y3, x4, y4) = lines.T[..., None], others.T
    dx, dy, ex, ey = x2 - x1, y2 - y1, x4 - x3, y4 - y3
    # On which side of a line the ends of the other one are.
    apart = (dx * (y3 - y1) - dy * (x3 - x1)) * (dx * (y4 - y1) - dy * (x4 - x1)) < 0
    other = (ex * (y1 - y3) - ey * (x1 - x3)) * (ex * (y2 - y3) - ey * (x2 - x3)) < 0
    crosses: Bools = apart & other
    return crosses
