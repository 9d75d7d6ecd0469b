"""What can be asked of trec_eval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from irbatch.errors import InputError, shown
from irbatch.evaluation.settings import Settings, check_option
from irbatch.measures import TrecValue, list_measures, trec_measures

LARGEST = 10**300  # float64 must hold it


@dataclass(frozen=True)
class TrecEval:
    """An evaluation as trec_eval makes it.

    Args:
        measures: names, nicknames and parameters as after ``-m``; none: the official ones.
        version: ``"9"`` or ``"10"``.
        complete: average over all judged queries (``-c``).
        level: the least relevant grade (``-l``).
        max_depth: ranks seen (``-M``), or None.
        judged_only: remove unjudged documents (``-J``).
        docs: documents in the collection (``-N``).
    """

    measures: Sequence[str] = ()
    version: str = "10"
    complete: bool = False
    level: int = 1
    max_depth: int | None = None
    judged_only: bool = False
    docs: int = 0

    def __post_init__(self) -> None:
        check_option("trec_eval", self.version)
        if self.version is None:
            raise InputError("a version must be named", value=self.version)
        several = isinstance(self.measures, Sequence) and not isinstance(self.measures, str | bytes)
        if not several or not all(isinstance(each, str) for each in self.measures):
            problem = f"measures {shown(self.measures)} are not several names"
            raise InputError(problem, source="measures", value=self.measures)
        for name, number in (("level", self.level), ("docs", self.docs)):
            if type(number) is not int or not 0 <= number <= LARGEST:
                problem = f"{name}={shown(number)} must be a whole number of at least 0"
                raise InputError(problem, value=number)

    def values(self) -> list[TrecValue]:
        """List what is printed of each query, in order."""
        wanted = list_measures(self.measures or ("official",), self.version)
        return [
            each
            for name, parameters in wanted.items()
            for each in trec_measures()[name].values(parameters)
        ]

    def settings(self) -> Settings:
        """Return the settings that it amounts to."""
        return Settings.choose(
            trec_eval=self.version,
            missing="zero" if self.complete else None,
            judged_only=self.judged_only,
            rel=float(self.level),
            max_depth=self.max_depth,
        )
