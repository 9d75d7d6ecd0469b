"""What Dask and Spark share: the engine puts all rows of a query into one bucket.

A bucket has whole queries, and no other bucket has rows of them. Its rows go to a worker as a
table, as they are; what is wrong with them is said there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from irbatch.data.column_names import choose_columns, names_for
from irbatch.data.runs import Run
from irbatch.errors import InputError, kind_of
from irbatch.evaluation.accumulator import KEEPS
from irbatch.evaluation.evaluation import Cutoffs, Evaluation, Measures
from irbatch.evaluation.partial import PartialResult, evaluate_part, merge_partials
from irbatch.evaluation.results import Results
from irbatch.runtime.numbers import check_choice

BUCKET = "irbatch_bucket"
"""The column that an engine brings rows together by."""


@dataclass(frozen=True)
class Task:
    """What each bucket is asked for: as `irbatch.partial.evaluate_partition`; it pickles."""

    evaluation: Evaluation
    keep: str
    apart: bool  # whether judgments are in the buckets, too

    @classmethod
    def choose(
        cls, measures: Measures, cutoffs: Cutoffs, keep: str, *, apart: bool, **settings: Any
    ) -> Task:
        """Return the task of these arguments.

        Raises:
            InputError: if an option can't be had, or asks for what shuffled rows don't have.
        """
        check_choice("keep", keep, KEEPS)
        if settings.get("ties") == "index":
            problem = "rows that were shuffled have no order: ties='index' has no meaning"
            raise InputError(problem, source="ties", value="index")
        if (order := settings.get("order_by", "score")) != "score":
            problem = "order_by= is for files, which have ranks and scores"
            raise InputError(problem, source="order_by", value=order)
        if settings.pop("progress", None) is not None:
            raise InputError("the engine shows its own progress", source="progress")
        settings["threads"] = settings.get("threads") or 1  # a core has a task of its own
        return cls(Evaluation.choose(measures, cutoffs, **settings), keep, apart)

    def columns_read(self, names: Iterable[str], source: str) -> dict[str, str]:
        """Return the columns of a ``"run"`` or of ``"qrels"`` that are read, by role."""
        reads = self.evaluation.plan.marks or "qrels"
        kind = "run" if source == "run" else reads
        return choose_columns(list(names), kind, names_for(self.evaluation.columns, kind))

    def evaluate_bucket(self, judged: Any, ranked: Any) -> PartialResult:
        """Return what a bucket comes to.

        Args:
            judged: its judgments, a table; or all judgments, where they aren't in buckets.
            ranked: its rankings, a table.

        Raises:
            InputError: naming query, document and value of what cannot be evaluated.
        """
        qrels = None if self.apart and not len(judged) else judged
        run = ranked if len(ranked) else Run({})
        return evaluate_part(self.evaluation, qrels, run, None, self.keep, self.apart)

    def sum_up(self, parts: Iterable[PartialResult], judgments: Any) -> Results:
        """Return the results of all buckets; of none, those of an empty run."""
        judgments = None if self.apart else judgments
        nothing = evaluate_part(self.evaluation, judgments, Run({}), None, self.keep, self.apart)
        return merge_partials([nothing, *parts]).results(judgments)


def check_frame(run: Any, kind: type, engine: str) -> None:
    """Reject a run that is not a frame of an engine's."""
    if not isinstance(run, kind):
        problem = f"{kind_of(run)} is not a DataFrame of {engine}: irbatch.evaluate takes others"
        raise InputError(problem, source="run")
