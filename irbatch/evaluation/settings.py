"""The choices that shape an evaluation's numbers, and the line that tells them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from irbatch.data.column_names import Columns
from irbatch.engine.ties import SCORE_DTYPES, Ordering, TiePolicy
from irbatch.errors import InputError
from irbatch.measures import REL, VERSIONS
from irbatch.runtime.numbers import check_choice, check_keywords, check_whole
from irbatch.runtime.progress import Progress
from irbatch.version import __version__

if TYPE_CHECKING:
    from irbatch.data.items import DocumentCosts, ItemStatistics


TIES = tuple(map(str, TiePolicy))
"""What may become of documents that share a score, see `irbatch.evaluate`."""


class EvaluateOptions(TypedDict, total=False):
    """The keyword options of `irbatch.evaluate`, which describes them, where others take them."""

    missing: str | None
    no_relevant: str
    judged_only: bool
    score_dtype: str | None
    ties: str
    rel: float | None
    max_depth: int | None
    trec_eval: str | int | None
    order_by: str
    columns: Columns
    items: ItemStatistics | None
    costs: DocumentCosts | Mapping[Any, float] | None
    threads: int | None
    progress: Progress | bool | None


OPTIONS: dict[str, tuple[Any, ...]] = {
    "missing": ("zero", "skip", "error"),
    "no_relevant": ("zero", "skip"),
    "judged_only": (False, True),
    "score_dtype": SCORE_DTYPES,
    "ties": TIES,
    "trec_eval": (None, *VERSIONS),
}
# What is meant when nothing is said: on its own, or to be as a version of trec_eval is.
DEFAULTS: dict[str | None, dict[str, Any]] = {
    None: {"missing": "zero", "score_dtype": "float64"},
    "9": {"missing": "skip", "score_dtype": "float32"},
    "10": {"missing": "error", "score_dtype": "float64"},
}


@dataclass(frozen=True)
class Settings:
    """How queries are averaged and rankings are read, as `irbatch.evaluate` describes it."""

    missing: str = "zero"
    no_relevant: str = "zero"
    judged_only: bool = False
    score_dtype: str = "float64"
    ties: str = "id"
    rel: float | None = None
    max_depth: int | None = None
    trec_eval: str | None = None

    @classmethod
    def choose(
        cls,
        *,
        trec_eval: str | int | None = None,
        missing: str | None = None,
        score_dtype: str | None = None,
        **others: Any,
    ) -> Settings:
        """Return the settings asked for; those left None are trec_eval's, if a version is named."""
        number = isinstance(trec_eval, int) and str(trec_eval) in VERSIONS
        version: Any = str(trec_eval) if number else trec_eval
        check_option("trec_eval", version)
        given = {"missing": missing, "score_dtype": score_dtype}
        chosen = {name: value for name, value in given.items() if value is not None}
        return cls(**{**DEFAULTS[version], **chosen}, trec_eval=version, **others)

    def __post_init__(self) -> None:
        for name in OPTIONS:
            check_option(name, getattr(self, name))
        if self.ties == "expected" and self.max_depth is not None:
            problem = "ties='expected' has no rankings that max_depth= could cut"
            raise InputError(f"{problem}; measures have cutoffs", value=self.max_depth)
        if self.rel is not None:
            try:
                REL.check(self.rel)
            except ValueError as what:
                raise InputError(f"rel={self.rel!r} must be {what}", value=self.rel) from None
        if self.max_depth is not None:
            check_whole("max_depth", self.max_depth, 1)

    @property
    def least_relevant(self) -> float:
        """The grade from which documents are relevant unless a measure says otherwise."""
        return 1.0 if self.rel is None else self.rel

    def open_parameters(self) -> dict[str, object]:
        """Return values for the parameters that a measure leaves open, by name."""
        chosen: dict[str, object] = {} if self.rel is None else {"rel": float(self.rel)}
        return chosen | ({"rounding": "up"} if self.trec_eval == "9" else {})

    def signature(self, order: str) -> dict[str, str]:
        """Name every setting; `order` says what the rankings' order came from."""
        called = {"zero": "score 0"}
        signature = {
            "irbatch": __version__,
            "order": order,
            "missing queries": called.get(self.missing, self.missing),
            "queries without relevant documents": called.get(self.no_relevant, self.no_relevant),
            "unjudged documents": "removed" if self.judged_only else "not relevant",
            "relevant": f"grade >= {self.least_relevant:g} unless rel=",
        }
        if self.max_depth is not None:
            signature["depth"] = f"at most {self.max_depth}"
        if self.trec_eval is not None:
            signature["as"] = f"trec_eval {self.trec_eval}"
        return signature

    @property
    def ordering(self) -> Ordering:
        """What documents are ordered by."""
        return Ordering(self.score_dtype, TiePolicy(self.ties))


def check_settings(function: Any, settings: Mapping[str, object]) -> None:
    """Reject keywords of a public function that are none of `irbatch.evaluate`."""
    check_keywords(function, settings, EvaluateOptions.__annotations__)


def check_option(name: str, value: object) -> None:
    """Reject a value that an option can't have."""
    check_choice(name, value, OPTIONS[name])
