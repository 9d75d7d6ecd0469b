"""The two systems: evaluated as they are given, and read once more for the queries to explain."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from irbatch.data.runs import Run
from irbatch.errors import warnings_kept
from irbatch.evaluation.results import Results
from irbatch.evaluation.runs import evaluate
from irbatch.evaluation.settings import EvaluateOptions
from irbatch.evaluation.system_names import name_systems
from irbatch.evaluation.task import Judgments, Rankings, as_run
from irbatch.formats import is_file, read_rankings, read_run
from irbatch.measures import Measure

STANDARD_INPUT = "-"


@dataclass(frozen=True)
class System:
    """A system's rankings: a run, or a file, of which no more than some queries is kept."""

    given: Any
    order_by: str

    @classmethod
    def of(cls, rankings: Rankings, order_by: str) -> System:
        """Take rankings as they are given; what can be read only once is read."""
        if rankings == STANDARD_INPUT:
            return cls(read_run(STANDARD_INPUT, order_by=order_by), "score")
        return cls(rankings if is_file(rankings) else as_run(rankings), order_by)

    def evaluate(self, qrels: Judgments, measure: Measure, settings: EvaluateOptions) -> Results:
        """Return its results."""
        options = settings.copy()
        options["order_by"] = self.order_by
        return evaluate(qrels, self.given, measure, **options)

    def read(self, queries: Collection[Any]) -> Run:
        """Return its rankings of some queries, perhaps of others, too."""
        if not queries:
            return Run({})
        if isinstance(self.given, Run):
            return self.given
        with warnings_kept():  # evaluating it has warned
            return Run(read_rankings(self.given, queries, self.order_by))


def name_both(a: Rankings, b: Rankings, order_by: str) -> dict[str, System]:
    """Return both systems by their names, which are A and B if they have none."""
    named = [
        each if isinstance(each, str | os.PathLike) else Run({}, _own_name(each) or name)
        for each, name in ((a, "A"), (b, "B"))
    ]
    systems = [System.of(each, order_by) for each in (a, b)]
    return dict(zip(name_systems(named), systems, strict=True))


def _own_name(rankings: Rankings) -> str | None:
    return rankings.name if isinstance(rankings, Run) else None
