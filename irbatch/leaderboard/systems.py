"""What pictures and reports read of a leaderboard, which they don't import."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from irbatch.array_types import Floats
from irbatch.efficiency import EfficiencyRecord, Quantity
from irbatch.leaderboard.pareto import Pareto

__all__ = ["Systems", "find_levels"]


class Systems(Protocol):
    """Systems and what is known of them; `irbatch.leaderboard.Leaderboard` explains the names."""

    systems: list[str]
    records: list[EfficiencyRecord]
    measures: list[str]
    means: Floats
    intervals: Floats
    n_queries: list[int | None]
    settings: dict[str, str]
    level: float | None
    directions: dict[str, str]
    constraints: list[str]
    left_out: dict[str, list[str]]

    @property
    def axes(self) -> list[str]:  # noqa: D102
        ...

    def axis(self, name: str) -> Quantity: ...  # noqa: D102

    def values(self, name: str) -> Floats: ...  # noqa: D102

    def bounds(self, name: str) -> Floats: ...  # noqa: D102

    def currencies(self, name: str) -> dict[str, str]: ...  # noqa: D102

    def pareto(  # noqa: D102
        self, axes: Iterable[str], *, directions: Mapping[str, str] | None = None
    ) -> Pareto: ...

    def caption(self) -> str: ...  # noqa: D102


def find_levels(board: Systems, axis: str) -> list[float | None]:
    """Return of each system the chance that its interval along an axis misses; None if unknown."""
    if axis in board.measures:
        return [board.level] * len(board.systems)
    timed = [each.latency for each in board.records]
    return [board.level if each is None else each.level for each in timed]
