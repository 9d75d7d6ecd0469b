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
    judgments: Any  # None if they are in the buckets, too

    @classmethod
    def choose(
        cls,
        qrels: Any,
        run: Any,
        frame: tuple[type, str],
        measures: Measures,
        cutoffs: Cutoffs,
        keep: str,
        **settings: Any,
    ) -> Task:
        """Return the task of these arguments; `frame` is the type that an engine's have."""
        if not isinstance(run, frame[0]):
            problem = f"{kind_of(run)} is not a DataFrame of {frame[1]}"
            raise InputError(f"{problem}: irbatch.evaluate takes others", source="run")
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
        evaluation = Evaluation.choose(measures, cutoffs, **settings)
        judgments = None if isinstance(qrels, frame[0]) else evaluation.judgments(qrels)
        return cls(evaluation, keep, judgments)

    def columns_read(self, names: Iterable[str], source: str) -> dict[str, str]:
        """Return the columns of a ``"run"`` or of ``"qrels"`` that are read, by role."""
        reads = self.evaluation.plan.marks or "qrels"
        kind = "run" if source == "run" else reads
        return choose_columns(list(names), kind, names_for(self.evaluation.columns, kind))

    def evaluate_bucket(self, judged: Any, ranked: Any) -> PartialResult:
        """Return what a bucket comes to: a table of rankings, and of judgments if it has them."""
        apart = self.judgments is None
        qrels = (judged if len(judged) else None) if apart else self.judgments
        run = ranked if len(ranked) else Run({})
        return evaluate_part(self.evaluation, qrels, run, keep=self.keep, apart=apart)

    def sum_up(self, parts: Iterable[PartialResult]) -> Results:
        """Return the results of all buckets; of none, those of an empty run."""
        more: Any = {"keep": self.keep, "apart": self.judgments is None}
        nothing = evaluate_part(self.evaluation, self.judgments, Run({}), **more)
        return merge_partials([nothing, *parts]).results(self.judgments)
