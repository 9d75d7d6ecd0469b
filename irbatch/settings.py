"""The choices that shape an evaluation's numbers, and the line that tells them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from irbatch.errors import InputError
from irbatch.ranking import SCORE_DTYPES
from irbatch.version import __version__

__all__ = ["Progress", "Settings"]

Progress = Callable[[int, int], object]
"""Called with the number of queries done and the number there are."""

OPTIONS: dict[str, tuple[Any, ...]] = {
    "missing": ("zero", "skip", "error"),
    "no_relevant": ("zero", "skip"),
    "judged_only": (False, True),
    "score_dtype": SCORE_DTYPES,
}


@dataclass(frozen=True)
class Settings:
    """How queries are averaged and rankings are read.

    Args:
        missing: what a judged query that is missing from the run does: score ``"zero"``, be left
            out (``"skip"``), or be an ``"error"``.
        no_relevant: what a query without relevant documents does: score ``"zero"``, or be left
            out of the means of the measures that have nothing to find in it (``"skip"``).
        judged_only: remove documents without a grade >= 0 from the rankings first.
        score_dtype: the precision in which scores are compared; ``"float32"`` is trec_eval 9's.

    Raises:
        InputError: for any other value.
    """

    missing: str = "zero"
    no_relevant: str = "zero"
    judged_only: bool = False
    score_dtype: str = "float64"

    def __post_init__(self) -> None:
        for name, options in OPTIONS.items():
            value = getattr(self, name)
            if not any(value is each or value == each for each in options):
                choices = ", ".join(map(repr, options))
                raise InputError(f"{name}={value!r} must be one of {choices}", value=value)

    def signature(self, order: str) -> dict[str, str]:
        """Name every setting.

        Args:
            order: what the rankings' order came from.
        """
        return {
            "irbatch": __version__,
            "order": order,
            "missing queries": {"zero": "score 0"}.get(self.missing, self.missing),
            "queries without relevant documents": {"zero": "score 0"}.get(
                self.no_relevant, self.no_relevant
            ),
            "unjudged documents": "removed" if self.judged_only else "not relevant",
            "relevant": "grade >= 1 unless rel=",
        }

    def score_order(self) -> str:
        """Describe the order of documents that have ids and scores."""
        return f"score ({self.score_dtype}) descending, then document id descending"
