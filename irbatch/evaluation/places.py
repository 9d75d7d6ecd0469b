"""Judgments and rankings that have changed places, where their kinds don't tell: in dicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from irbatch.data.qrels import Qrels
from irbatch.errors import InputError, warn
from irbatch.runtime.numbers import is_real, is_whole

HIGHEST_GRADE = 4  # of most judgments
MOST_GRADES = 10  # that differ, in most
FEWEST_SCORES = 4  # that differ, to be surely none
SWAPPED = "judgments come first, then the run"


def check_places(given: object, judged: object, run: object) -> None:
    """Refuse dicts that have surely changed places; warn of those that may have.

    Surely: several grades, none of them a whole number, differ within each query, and scores are
    0 to 4 and tied, as grades are. `Qrels` and `Run` say what they are, and so do files and tables
    by their columns.

    Args:
        given: the judgments as they were given, `judged` as they were read.
    """
    if not (isinstance(given, Mapping) and isinstance(judged, Qrels) and isinstance(run, Mapping)):
        return
    if not all(isinstance(each, Mapping) for each in run.values()):  # which is refused elsewhere
        return
    whole = judged.levels % 1 == 0
    if (whole.all() and len(whole) <= MOST_GRADES) or not all(map(_is_grade, _scores(run))):
        return
    said = "the judgments' grades are like scores, and the run's scores like grades (0, 1, 2 …)"
    tied, single = _has_ties(run), len(run) > 1 and all(len(each) == 1 for each in run.values())
    sure = len(whole) >= FEWEST_SCORES and not whole.any()
    if sure and tied and not _has_ties(given):
        advice = f"{SWAPPED}; where they do, say so by irbatch.Qrels(…) and irbatch.Run(…)"
        raise InputError(f"{said}: {advice}", source="qrels and run")
    if tied or single:
        warn(f"{said}: are they in each other's place? {SWAPPED}")


def check_runs(runs: Mapping[str, Any]) -> None:
    """Refuse one run in dicts in place of several by name."""
    for each in runs.values():
        if not isinstance(each, Mapping) or not all(map(is_real, each.values())) or not each:
            return
    if runs:
        advice = "evaluate takes it, or give {'its name': run}"
        raise InputError(f"this is one run, of queries to documents: {advice}", source="run")


def check_run(run: Mapping[Any, Any]) -> None:
    """Refuse several runs in dicts, by name, in place of one."""
    for each in run.values():
        inner = next(iter(each.values()), None) if isinstance(each, Mapping) else None
        if isinstance(inner, Mapping):
            advice = "evaluate_runs takes them"
            raise InputError(f"these are several runs, by name: {advice}", source="run")
        break


def _scores(run: Mapping[Any, Any]) -> Iterator[Any]:
    return (score for each in run.values() for score in each.values())


def _is_grade(score: object) -> bool:
    return is_whole(score) and 0 <= score <= HIGHEST_GRADE


def _has_ties(queries: Mapping[Any, Any]) -> bool:
    """Tell whether two documents of a query have the same number."""
    return any(len(set(map(float, each.values()))) < len(each) for each in queries.values())
