"""What a run of the comparison was asked for, and the data its sections share."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.data import Problem, make_problem, write_problem
from benchmarks.report import COMPARISON, Table

__all__ = ["JUDGED", "Settings"]

JUDGED = (1, 20, 60)


@dataclass
class Settings:
    """Sizes, and problems that are made once.

    Attributes:
        queries, depth: rankings, and documents in each.
        judged: numbers of judged documents a query; the sections that take one take `usual`.
        rounds: how often each work is timed.
        quick: leave out what takes longer than the tests can wait.
        whole: whether sizes are those that aims are of.
        folder: for files, gone at the end.
    """

    queries: int
    depth: int
    judged: list[int]
    rounds: int
    quick: bool
    whole: bool
    folder: Path
    _kept: dict[tuple[Any, ...], Any] = field(default_factory=dict)

    @classmethod
    def of(cls, options: argparse.Namespace, folder: Path) -> Settings:
        """Fill in what was not said."""
        quick = options.quick
        return cls(
            queries=options.queries or (60 if quick else 6_980),
            depth=options.depth or (50 if quick else 1_000),
            judged=options.judged or list(JUDGED),
            rounds=options.rounds or (1 if quick else 3),
            quick=quick,
            whole=not (quick or options.queries or options.depth),
            folder=folder,
        )

    @property
    def usual(self) -> int:
        """A number of judged documents between the others."""
        return self.judged[len(self.judged) // 2]

    def table(self, title: str, columns: tuple[str, ...] = COMPARISON) -> Table:
        """Return an empty table."""
        return Table(title, columns, self.whole)

    def problem(self, queries: int, depth: int, judged: int) -> Problem:
        """Return a problem, made once."""
        key = queries, depth, judged
        if key not in self._kept:
            self._kept[key] = make_problem(*key)
        return self._kept[key]

    def files(self, problem: Problem, name: str) -> tuple[Path, Path]:
        """Return paths of TREC qrels and run, written once."""
        if (name,) not in self._kept:
            self._kept[name,] = write_problem(problem, self.folder, name)
        return self._kept[name,]

    def small(self, judged: int) -> Problem:
        """Return a problem to warm up on: what matters is that types are the same.

        ranx goes back to one thread for good when it sees fewer than ten queries.
        """
        return self.problem(20, min(self.depth, 50), judged)

    def size(self, judged: int | None = None) -> str:
        """Describe the whole problem."""
        text = f"{self.queries:,} queries × {self.depth:,} documents"
        return text if judged is None else f"{text}, {judged} judged"
