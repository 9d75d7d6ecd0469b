"""What can be asked of trec_eval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from irbatch.errors import InputError, shown
from irbatch.evaluation.settings import Settings, check_option
from irbatch.measures import TrecValue, list_measures, trec_measures
from irbatch.runtime.threads import cached_property

LARGEST = 10**300  # float64 must hold it


@dataclass(frozen=True)
class TrecEval:
    """An evaluation as trec_eval makes it, by its options."""

    measures: Sequence[str] = ()  # names, nicknames and parameters (-m); none: the official ones
    version: str = "10"  # or "9"
    complete: bool = False  # average over all judged queries (-c)
    level: int = 1  # the least relevant grade (-l)
    ranks: int | None = None  # seen (-M)
    judged_only: bool = False  # remove unjudged documents (-J)
    docs: int = 0  # documents in the collection (-N)

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
        return self._values

    @cached_property
    def _values(self) -> list[TrecValue]:
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
            max_depth=self.ranks,
        )
