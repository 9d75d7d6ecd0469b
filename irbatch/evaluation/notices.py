"""What is said of a run whose means say little, or else than they seem to."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from irbatch.data.ids import form_hint
from irbatch.data.qrels import Qrels
from irbatch.errors import warn, warn_all
from irbatch.evaluation.queries import Counts, QueryMark, level_of, name_run
from irbatch.evaluation.results import Results
from irbatch.evaluation.settings import Settings

ENOUGH = 10  # queries in which some document should be judged, or relevant


def warn_of_run(results: Results, settings: Settings, qrels: Qrels, *, any_judged: bool) -> None:
    """Warn of what makes means of a run's queries say little, or else than they seem to."""
    warn_of_empty(results.counts, settings, results.name)
    if not any_judged:
        warn_of_unjudged(first_document(qrels), results.counts.answered, results.name)
    warn_all(notes_on(results))


def notes_on(results: Results) -> list[str]:
    """Say what means leave out, and whether nothing is relevant; without numbers: once."""
    return [*left_out(results), *nothing_relevant(results)]


def left_out(results: Results) -> list[str]:
    """Name measures whose means leave out queries without a ranking, as no rank is the worst."""
    ranks = [
        column
        for column, measure in enumerate(results.columns)
        if measure.declaration.reads == "relevant" and measure.declaration.builtin
    ]
    if not ranks or not results.has_values:  # values may wait to be computed
        return []
    counted = np.ones(len(results.marks), bool)
    if results.settings.get("queries without relevant documents") == "skip":
        counted = (results.marks & (QueryMark.MISSING | QueryMark.EMPTY)).astype(bool)
    values = results.values[counted]
    names = [str(results.columns[i]) for i in ranks if np.isnan(values[:, i]).any()]
    left = "queries without a ranking are left out of the mean"
    hint = "; at a cutoff k, FirstRank, MeanRank and MedianRank are k + 1 there"
    return [f"{', '.join(names)}: {left}{hint}"] if names else []


def warn_of_empty(counts: Counts, settings: Settings, name: str | None) -> None:
    """Warn of a run whose rankings, of several queries, are all empty."""
    if counts.answered > 1 and counts.empty == counts.answered and not settings.judged_only:
        warn(f"{name_run(name)} has empty rankings alone: every query scores 0")


def warn_of_unjudged(document: object, answered: int, name: str | None) -> None:
    """Warn of a run none of whose documents is judged, as `document` is, if it answers enough."""
    if document is not None and answered >= ENOUGH:
        spelled = f"are ids spelled as in the qrels, such as {document!r}?{form_hint([document])}"
        warn(f"{name_run(name)}: none of its documents is judged; {spelled}")


def first_document(qrels: Qrels) -> Any:
    """Return a judged document; None if there is none."""
    return next(iter(next(filter(None, qrels.documents)))) if qrels.codes.size else None


def nothing_relevant(results: Results) -> list[str]:
    """Say so, where none of many queries has a relevant document.

    Gains below 1 are those of relevant documents, too, if a measure finds any.
    """
    if results.counts.no_relevant < max(results.counts.queries, ENOUGH):
        return []
    judging = [column for column in results.columns if column.aggregate != "sum" and column.sign]
    means = [results[column] for column in judging if column.name != "Judged"]
    if any(mean not in (0, math.inf) and mean == mean for mean in means):
        return []
    level = level_of(results.settings)
    what = f"no query has a relevant document (of grade {level} or more)"
    check = "check the labels" if level == "1" else f"check the labels and rel={level}"
    return [f"{what}, so measures are 0 or undefined, however good rankings are: {check}"]
