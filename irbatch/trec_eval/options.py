"""What can be asked of trec_eval, and what it answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.errors import InputError, shown
from irbatch.evaluation.settings import Settings, check_option
from irbatch.formats.file_reader import Reader
from irbatch.measures import TrecValue, list_measures, trec_measures
from irbatch.trec_eval.printing import Printed, ZScores

__all__ = ["MissingQueryError", "TrecEval"]

LARGEST = 10**300  # float64 must hold it


class MissingQueryError(InputError):
    """A judged query is missing from the run, which version 10 does not evaluate without -c."""


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

    Raises:
        InputError: for measures or parameters the version doesn't have.
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
            raise InputError(f"measures {shown(self.measures)} are not several names",
                             source="measures", value=self.measures)  # fmt: skip
        for name, number in (("level", self.level), ("docs", self.docs)):
            if type(number) is not int or not 0 <= number <= LARGEST:
                raise InputError(f"{name}={shown(number)} must be a whole number of at least 0",
                                 value=number)  # fmt: skip

    def values(self) -> list[TrecValue]:
        """List what is printed of each query, in order.

        Raises:
            InputError: for measures or parameters the version doesn't have.
        """
        wanted = list_measures(self.measures or ("official",), self.version)
        return [
            each
            for name, parameters in wanted.items()
            for each in trec_measures()[name].values(parameters)
        ]

    def settings(self) -> Settings:
        """Return the settings that it amounts to."""
        return Settings.like(
            self.version, "zero" if self.complete else None, None,
            judged_only=self.judged_only, rel=float(self.level), max_depth=self.max_depth,
        )  # fmt: skip

    def lines(
        self,
        qrels: Qrels,
        run: Run | Reader,
        *,
        per_query: bool = False,
        summary: bool = True,
        zscores: ZScores | None = None,
    ) -> Iterator[str]:
        """Print an evaluation, line by line.

        Args:
            qrels, run: as read from files: ids are text. A reader is evaluated as it is read.
            per_query: the values of each query (``-q``).
            summary: the averages (not with ``-n``).
            zscores: to print deviations from these instead of values (``-Z``).

        Raises:
            InputError: when no query is both judged and answered.
            MissingQueryError: as version 10, without `complete`, after what precedes the query.
        """
        table = Printed(self, qrels, run)
        if zscores is not None:
            table.standardize(zscores)
        if per_query:
            yield from table.query_lines()
        if table.stopped_at is not None:
            raise MissingQueryError(
                f"it is judged and missing, as are {table.missing - 1} others; -c scores them 0, "
                "--as 9 leaves them out",
                source="run",
                path=table.name,
                query=table.stopped_at,
            )
        if summary:
            yield from table.summary_lines()
