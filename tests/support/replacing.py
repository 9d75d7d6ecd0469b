"""Trees of mappings and lists, as states and JSON are, with each part replaced in turn."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

Path = tuple[Any, ...]

DEEP: list[Any] = []
for _ in range(3000):
    DEEP = [DEEP]

GARBAGE: list[Any] = [
    None, True, "x", b"x", "", float("nan"), float("inf"), -1, 2.5, 10**30, 2**63, -(2**70), 1j,
    [], [[]], [None], {}, {"x": 1}, {1, 2}, (), [1, "x"], [[1], [2, 3]], DEEP, object(), Ellipsis,
    np.zeros(0), np.zeros((3, 3, 3)), np.ones(1), np.array(5), np.array(["a"]),
    np.datetime64("now"), [True], [float("nan")], [-1], [2.5], [10**30],
]  # fmt: skip


def places(tree: Any, here: Path = ()) -> Iterator[Path]:
    """Find every part, the whole first; of a list the first and the last entry stand for all."""
    yield here
    if isinstance(tree, dict):
        for key, each in tree.items():
            yield from places(each, (*here, key))
    elif isinstance(tree, list):
        for i in sorted({0, len(tree) - 1}) if tree else ():
            yield from places(tree[i], (*here, i))


def replaced(tree: Any, path: Path, value: Any) -> Any:
    """Return a copy in which something else stands at a place."""
    if not path:
        return value
    made = copy.deepcopy(tree)
    part = made
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    return made


def without(tree: Any, path: Path) -> Any:
    """Return a copy that lacks what stands at a place."""
    made = copy.deepcopy(tree)
    part = made
    for step in path[:-1]:
        part = part[step]
    del part[path[-1]]
    return made
