"""The choices that shape an evaluation's numbers, and the line that tells them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from irbatch.data.ids import REPEATS
from irbatch.engine.ties import SCORE_DTYPES, Ordering, TiePolicy
from irbatch.errors import InputError, keyword
from irbatch.measures import REL, VERSIONS
from irbatch.runtime.numbers import check_choice, check_keywords, check_whole
from irbatch.version import __version__

if TYPE_CHECKING:
    from irbatch.data.column_names import Columns
    from irbatch.data.items import DocumentCosts, Items
    from irbatch.runtime.progress import Progress


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


# What is meant when nothing is said but to be as a version of trec_eval is.
DEFAULTS: dict[str | None, dict[str, Any]] = {
    "9": {"missing": "skip", "score_dtype": "float32"},
    "10": {"missing": "error", "score_dtype": "float64"},
}


class Settings(NamedTuple):
    """How queries are averaged and rankings are read, as `irbatch.evaluate` describes it."""

    missing: str = "zero"
    rel: float | None = None
    max_depth: int | None = None
    no_relevant: str = "zero"
    judged_only: bool = False
    score_dtype: str = "float64"
    ties: str = "id"
    repeats: str = "error"
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
        """Return the settings asked for, checked; those left None are trec_eval's or the defaults.

        Raises:
            InputError: if one has another value than it can have.
        """
        number = isinstance(trec_eval, int) and str(trec_eval) in VERSIONS
        version: Any = str(trec_eval) if number else trec_eval
        check_choice("trec_eval", version, CHOICES["trec_eval"])
        options = {"missing": missing, "score_dtype": score_dtype}
        chosen = {name: value for name, value in options.items() if value is not None}
        settings = cls(**{**DEFAULTS.get(version, {}), **chosen}, trec_eval=version, **others)
        for name, choices in CHOICES.items():
            check_choice(name, getattr(settings, name), choices)
        if settings.ties == "expected" and settings.max_depth is not None:
            problem = (
                f"{keyword('ties', 'expected')} has no rankings that {keyword('max_depth')} cuts"
            )
            raise InputError(f"{problem}; measures have cutoffs", value=settings.max_depth)
        if settings.rel is not None:
            try:
                REL.check(settings.rel)
            except ValueError as what:
                problem = f"{keyword('rel', settings.rel)} must be {what}"
                raise InputError(problem, value=settings.rel) from None
        if settings.max_depth is not None:
            check_whole("max_depth", settings.max_depth, 1)
        return settings

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

    def signature(self, order: str, **read: Any) -> dict[str, str]:
        """Name every setting, and by name what is `read` of documents, None of nothing.

        `order` says what the rankings' order came from.
        """
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
        fingerprints = {name: of.fingerprint for name, of in read.items() if of is not None}
        return signature | fingerprints

    @property
    def ordering(self) -> Ordering:
        """What documents are ordered by."""
        return Ordering(self.score_dtype, TiePolicy(self.ties))


OPTIONS: dict[str, dict[str, Any]] = {
    "missing": {
        "help": "what a judged query missing from a run does (default: zero)",
        "choices": ("zero", "skip", "error"), "default": None,
    },
    "rel": {
        "help": "least relevant grade of measures without a rel= of their own (default: 1)",
        "metavar": "GRADE", "type": float,
    },
    "max_depth": {
        "help": "leave out documents beyond this rank", "metavar": "RANK", "type": int,
    },
    "no_relevant": {
        "help": "what a query without relevant documents does (default: zero)",
        "choices": ("zero", "skip"),
    },
    "judged_only": {"help": "remove unjudged documents first", "action": "store_true"},
    "score_dtype": {
        "help": "precision of score comparison; float32 as trec_eval 9 (default: float64)",
        "choices": SCORE_DTYPES, "default": None,
    },
    "ties": {
        "help": f"what becomes of documents that share a score (default: id, descending); "
        f"{', '.join(TiePolicy)}",
        "choices": tuple(map(str, TiePolicy)), "metavar": "POLICY",
    },
    "repeats": {
        "help": "what a document does that is judged repeatedly: be an error, or have the first, "
        "the largest or the sum of its grades (default: error)",
        "choices": REPEATS,
    },
    "trec_eval": {
        "help": "be as this version of trec_eval in what isn't said otherwise", "choices": VERSIONS,
    },
}  # fmt: skip
"""The option of commands that each setting has, as argparse's; None leaves it to trec_eval=.

Where nothing else is said an option's default is that of the field of `Settings`.
"""

CHOICES = {
    **{name: option["choices"] for name, option in OPTIONS.items() if "choices" in option},
    "judged_only": (False, True),
    "trec_eval": (None, *VERSIONS),
}
"""The settings that are one of some values."""


def check_settings(function: Any, settings: Mapping[str, object]) -> None:
    """Reject keywords of a public function that are none of `irbatch.evaluate`."""
    check_keywords(function, settings, EvaluateOptions.__annotations__)
