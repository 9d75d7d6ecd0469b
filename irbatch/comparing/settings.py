"""How systems are compared: each setting is one row, from which the command's options follow."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field, fields
from typing import Any, TypedDict

import numpy as np

from irbatch.array_types import Bools, Floats
from irbatch.errors import InputError
from irbatch.runtime.numbers import check_choice
from irbatch.statistics.intervals import INTERVALS, levels_of
from irbatch.statistics.resampling import check_draws, check_level
from irbatch.statistics.tests import (
    ALTERNATIVES,
    CORRECTIONS,
    FAMILIES,
    FAMILY_WISE,
    MARGIN_TESTS,
    TESTS,
    import_scipy,
    margin_correction,
    read_margin,
)

NAMES = {
    "randomisation": "paired randomisation test",
    "bootstrap": "studentised bootstrap test",
    "t": "paired t-test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "sign": "sign test",
    "tukey": "randomised Tukey HSD test",
    "anova": "two-way ANOVA with Tukey's HSD",
    "none": "no correction",
    "bonferroni": "Bonferroni correction",
    "holm": "Holm correction",
    "bh": "Benjamini-Hochberg correction",
    "by": "Benjamini-Yekutieli correction",
}
INTERVAL_NAMES = {"t": "Student's t", "percentile": "percentile bootstrap", "bca": "BCa bootstrap"}
MARGIN_NAMES = {
    "bounded": "one-sided tests that hold for all values in the measure's range",
    "t": "one-sided t-tests",
    "randomisation": "one-sided randomisation tests",
}


class ComparisonOptions(TypedDict, total=False):
    """The keyword options of `irbatch.compare`, which describes them."""

    baseline: str | None
    test: str
    correction: str
    level: float
    interval: str
    simultaneous: bool
    draws: int
    seed: int
    margin: float | str | None
    alternative: str
    family: str
    margin_test: str


def _row(value: Any, meaning: str, **option: Any) -> Any:
    """Return a setting's field: its default, its help, and its option of commands."""
    return field(default=value, metadata={"option": {"help": meaning, "default": None, **option}})


def _number_or_share(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


ALWAYS_TOLD = ("test", "correction", "level", "interval", "draws", "seed")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ComparisonSettings:
    """How systems are compared, as `irbatch.compare` describes it."""

    baseline: str | None = _row(
        None, "compare all others with it (default: all with all)", metavar="NAME"
    )
    test: str = _row(
        "randomisation", f"of paired differences: {', '.join(TESTS)} (default: randomisation)",
        choices=TESTS, metavar="NAME",
    )  # fmt: skip
    alternative: str = _row(
        "two-sided", "what to find: any difference, or a mean greater (less) than the baseline's",
        choices=ALTERNATIVES,
    )  # fmt: skip
    correction: str = _row(
        "holm", f"of p-values of several pairs: {', '.join(CORRECTIONS)} (default: holm)",
        choices=CORRECTIONS, metavar="NAME",
    )  # fmt: skip
    family: str = _row(
        "pairs", "what is corrected for together: the pairs on a measure, or all on all measures",
        choices=FAMILIES,
    )  # fmt: skip
    level: float = _row(
        0.05, "of significance; intervals are as sure as it leaves (default: 0.05, so 95%%)",
        metavar="P", type=float,
    )  # fmt: skip
    interval: str = _row("t", "by Student's t, or by bootstrap (default: t)", choices=INTERVALS)
    simultaneous: bool = _row(
        True, "intervals of differences each by itself, not adjusted as p-values are",
        action="store_false",
    )  # fmt: skip
    draws: int = _row(
        10_000, "resamples, of tests and intervals that draw them (default: 10000)",
        metavar="N", type=int,
    )  # fmt: skip
    seed: int = _row(0, "of the draws (default: 0)", metavar="N", type=int)
    margin: float | str | None = _row(
        None,
        "differences below it don't matter: a number, or a share such as 1%% of the other's mean",
        metavar="X", type=_number_or_share,
    )  # fmt: skip
    margin_test: str = _row(
        MARGIN_TESTS[0], "of differences against the margin (default: bounded)",
        choices=MARGIN_TESTS,
    )  # fmt: skip

    @classmethod
    def choose(cls, **options: Any) -> ComparisonSettings:
        """Return settings that were checked."""
        self = ComparisonSettings(**options)
        for row in fields(ComparisonSettings):
            if choices := row.metadata["option"].get("choices"):
                check_choice(row.name, getattr(self, row.name), choices)
        check_choice("simultaneous", self.simultaneous, (True, False))
        import_scipy(self.test)  # before anything is evaluated
        check_draws(self.draws, self.seed)
        check_level(self.level)
        if self.margin is not None:
            read_margin(self.margin)
        if self.alternative != "two-sided" and self.baseline is None:
            problem = f"alternative={self.alternative!r} needs a baseline: greater or less than it"
            raise InputError(problem, source="baseline")
        for name in ("alternative", "family") if self.test in FAMILY_WISE else ():
            value = getattr(self, name)
            if value != getattr(ComparisonSettings, name):
                problem = f"{name}={value!r} is not for test={self.test!r}"
                raise InputError(f"{problem}, of all systems on a measure at once", value=value)
        return self

    def check_baseline(self, systems: Collection[str]) -> None:
        """Reject a baseline that is not one of the systems, before any is evaluated."""
        if self.baseline is not None and self.baseline not in systems:
            problem = f"baseline {self.baseline!r} is none of {', '.join(map(repr, systems))}"
            raise InputError(problem, source="baseline", value=self.baseline)

    def corrected_levels(self, significant: Bools, systems: int) -> Floats:
        """Return by how much each of simultaneous intervals ``(pairs, measures)`` may miss."""
        if self.test in FAMILY_WISE:
            return np.full(significant.shape, self.level / math.comb(systems, 2))
        return levels_of(significant, self.correction, self.level, self.family)

    @property
    def options(self) -> dict[str, Any]:
        """Their names and values."""
        return {row.name: getattr(self, row.name) for row in fields(ComparisonSettings)}

    @property
    def described(self) -> dict[str, str]:
        """Those that always matter, and those that are not the default."""
        usual = ComparisonSettings().options
        return {
            name: str(value)
            for name, value in self.options.items()
            if name in ALWAYS_TOLD or value != usual[name]
        }

    @property
    def told_test(self) -> str:
        """The test, the correction and the level in words."""
        test = NAMES[self.test]
        if self.alternative != "two-sided":
            test = f"one-sided {test} ({self.alternative})"
        if self.correction != "none":
            test += f", {NAMES[self.correction]}"
            test += " for all measures together" * (self.family == "all")
        return f"{test}, level {self.level:g}"

    @property
    def told_intervals(self) -> str:
        """Which intervals there are, in words."""
        return f"{100 * (1 - self.level):g}% {INTERVAL_NAMES[self.interval]} intervals"

    @property
    def told_margin(self) -> str:
        """What is equivalent, in a sentence; empty without a margin."""
        if self.margin is None:
            return ""
        margin = read_margin(self.margin)
        within = f"{margin} of the other's mean" if margin.relative else str(margin)
        correction = margin_correction(self.test, self.correction)
        how = "" if correction == "none" else f", {NAMES[correction]}"
        return f"Equivalent: within {within}, by two {MARGIN_NAMES[self.margin_test]}{how}."
