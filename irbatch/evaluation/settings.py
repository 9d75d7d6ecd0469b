"""The choices that shape an evaluation's numbers, and the line that tells them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypedDict

from irbatch.data.column_names import Columns
from irbatch.data.columns import REPEATS
from irbatch.engine.ties import SCORE_DTYPES, Ordering, TiePolicy
from irbatch.errors import InputError, keyword
from irbatch.measures import REL, VERSIONS
from irbatch.runtime.numbers import check_choice, check_keywords, check_whole
from irbatch.runtime.progress import Progress
from irbatch.version import __version__

if TYPE_CHECKING:
    from irbatch.data.items import DocumentCosts, Items


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
    items: Items | None
    costs: DocumentCosts | Mapping[Any, float] | None
    threads: int | None
    progress: Progress | bool | None
    exclude: Any
    repeats: str


# What is meant when nothing is said: on its own, or to be as a version of trec_eval is.
DEFAULTS: dict[str | None, dict[str, Any]] = {
    None: {"missing": "zero", "score_dtype": "float64"},
    "9": {"missing": "skip", "score_dtype": "float32"},
    "10": {"missing": "error", "score_dtype": "float64"},
}


def _row(value: Any, help_text: str, **option: Any) -> Any:
    """Return a setting's field: its default, its help, and its option of commands, as argparse's.

    A command's default is the field's, unless `option` has another: None leaves it to trec_eval=.
    """
    option = {"help": help_text, **({} if "action" in option else {"default": value}), **option}
    return field(default=value, metadata={"option": option})


@dataclass(frozen=True)
class Settings:
    """How queries are averaged and rankings are read, as `irbatch.evaluate` describes it."""

    missing: str = _row(
        "zero", "what a judged query missing from a run does (default: zero)",
        choices=("zero", "skip", "error"), default=None,
    )  # fmt: skip
    rel: float | None = _row(
        None, "least relevant grade of measures without a rel= of their own (default: 1)",
        metavar="GRADE", type=float,
    )  # fmt: skip
    max_depth: int | None = _row(
        None, "leave out documents beyond this rank", metavar="RANK", type=int
    )
    no_relevant: str = _row(
        "zero", "what a query without relevant documents does (default: zero)",
        choices=("zero", "skip"),
    )  # fmt: skip
    judged_only: bool = _row(False, "remove unjudged documents first", action="store_true")
    score_dtype: str = _row(
        "float64", "precision of score comparison; float32 as trec_eval 9 (default: float64)",
        choices=SCORE_DTYPES, default=None,
    )  # fmt: skip
    ties: str = _row(
        "id",
        f"what becomes of documents that share a score (default: id, descending); "
        f"{', '.join(map(str, TiePolicy))}",
        choices=tuple(map(str, TiePolicy)), metavar="POLICY",
    )  # fmt: skip
    repeats: str = _row(
        "error", "what a document does that is judged repeatedly: be an error, or have the first, "
        "the largest or the sum of its grades (default: error)", choices=REPEATS,
    )  # fmt: skip
    trec_eval: str | None = _row(
        None, "be as this version of trec_eval in what isn't said otherwise", choices=VERSIONS
    )

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
        options = {"missing": missing, "score_dtype": score_dtype}
        chosen = {name: value for name, value in options.items() if value is not None}
        return cls(**{**DEFAULTS[version], **chosen}, trec_eval=version, **others)

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            check_choice(name, getattr(self, name), choices)
        if self.ties == "expected" and self.max_depth is not None:
            problem = (
                f"{keyword('ties', self.ties)} has no rankings that {keyword('max_depth')} cuts"
            )
            raise InputError(f"{problem}; measures have cutoffs", value=self.max_depth)
        if self.rel is not None:
            try:
                REL.check(self.rel)
            except ValueError as what:
                raise InputError(
                    f"{keyword('rel', self.rel)} must be {what}", value=self.rel
                ) from None
        if self.max_depth is not None:
            check_whole("max_depth", self.max_depth, 1)

    @property
    def least_relevant(self) -> float:
        """The grade from which documents are relevant unless a measure says otherwise."""
        return 1.0 if self.rel is None else self.rel

    def open_parameters(self) -> dict[str, object]:
        """Return values for the parameters that a measure leaves open, by name."""
        chosen: dict[str, object] = {} if self.rel is None else {"rel": float(self.rel)}
        if self.trec_eval is not None:
            chosen["level"] = self.least_relevant  # of RnDCG
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
        if self.repeats != "error":
            signature["repeated judgments"] = self.repeats
        if self.trec_eval is not None:
            signature["as"] = f"trec_eval {self.trec_eval}"
        return signature

    @property
    def ordering(self) -> Ordering:
        """What documents are ordered by."""
        return Ordering(self.score_dtype, TiePolicy(self.ties))


def _choices(row: Field[Any]) -> tuple[Any, ...]:
    """Return the values that a setting can have; none where they are numbers."""
    option = row.metadata["option"]
    if "action" in option:
        return False, True
    choices = tuple(option.get("choices", ()))
    return (None, *choices) if choices and row.default is None else choices


CHOICES = {row.name: choices for row in fields(Settings) if (choices := _choices(row))}
"""The settings that are one of some values."""


def check_option(name: str, value: object) -> None:
    """Reject a value that a setting can't have."""
    check_choice(name, value, CHOICES[name])


def check_settings(function: Any, settings: Mapping[str, object]) -> None:
    """Reject keywords of a public function that are none of `irbatch.evaluate`."""
    check_keywords(function, settings, EvaluateOptions.__annotations__)
