"""The numbers of a comparison: means, their differences, and what is known of these."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np

from irbatch.array_types import Bools, Floats, Ints
from irbatch.errors import InputError, many, printable, shown
from irbatch.measures import Measure, measure
from irbatch.runtime.cached import cached_property
from irbatch.statistics.intervals import as_linear
from irbatch.statistics.power import detectable_difference, equivalence_p, queries_needed
from irbatch.statistics.significance import DRAWN, least_p, paired_differences

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
INTERVAL_NAMES = {
    "t": "Student's t",
    "percentile": "percentile bootstrap",
    "bca": "BCa bootstrap",
}
NAMED = 10  # systems or measures that an error lists


class Difference(NamedTuple):
    """One system against another on one measure.

    The first's mean less the second's, its confidence interval, and its share of the second's mean,
    NaN where that is 0; queries in which the first is better, equal, worse; Cohen's d of the paired
    differences; the p-value before and after correction, and whether it is then below the level.
    """

    difference: float
    interval: tuple[float, float]
    relative: float
    wins: int
    ties: int
    losses: int
    effect: float
    p_value: float
    corrected: float
    significant: bool


@dataclass(frozen=True, eq=False, repr=False)
class Compared:
    """The numbers of a comparison; `irbatch.comparing.Comparison` says what each of them is."""

    systems: list[str]
    measures: list[str]
    query_ids: list[Any]
    baseline: str | None
    pairs: list[tuple[int, int]]
    values: Floats
    scaled: Floats = field(repr=False)  # values as they are tested: logarithms of geometric ones
    means: Floats
    intervals: Floats
    difference_intervals: Floats
    p_values: Floats
    corrected: Floats
    test: str
    correction: str
    level: float
    interval: str
    simultaneous: bool
    draws: int
    seed: int
    margin: float | None
    settings: dict[str, str]
    missing: dict[str, list[Any]]
    groups: Mapping[str, Self]
    unanswered: dict[str, list[Any]] = field(default_factory=dict)
    signs: tuple[int, ...] = ()  # of each measure, see `Measure.sign`; none: all 1

    @cached_property
    def differences(self) -> Floats:
        """The mean of a less the mean of b, ``(pairs, measures)``."""
        return self._of_pairs(self.means, 0) - self._of_pairs(self.means, 1)

    @cached_property
    def relative(self) -> Floats:
        """Differences as shares of b's mean, NaN where that is 0."""
        of = self._of_pairs(self.means, 1)
        nothing = np.full_like(of, np.nan)
        return np.divide(self.differences, of, out=nothing, where=of != 0)

    @cached_property
    def wins(self) -> Ints:
        """Queries in which a is better."""
        return np.asarray((self._gains > 0).sum(axis=1))

    @cached_property
    def ties(self) -> Ints:
        """Queries in which both are equal."""
        return np.asarray((self._paired == 0).sum(axis=1))

    @cached_property
    def losses(self) -> Ints:
        """Queries in which a is worse."""
        return np.asarray((self._gains < 0).sum(axis=1))

    @cached_property
    def effects(self) -> Floats:
        """Cohen's d: the mean of the paired differences over their standard deviation."""
        mean, spread = self._paired.mean(axis=1), self._paired.std(axis=1, ddof=1)
        constant = np.where(mean == 0, 0.0, np.copysign(np.inf, mean))
        effects: Floats = np.divide(mean, spread, out=constant, where=spread > 0)
        return effects

    @cached_property
    def significant(self) -> Bools:
        """Where the corrected p-value is below the level."""
        return self.corrected < self.level

    @property
    def least_p(self) -> float:
        """The least corrected p-value that could come out; see `undecided`."""
        sizes = len(self.pairs), len(self.query_ids), self.draws
        return least_p(self.test, self.correction, *sizes)

    @property
    def undecided(self) -> str:
        """Say why corrected p-values are not below `least_p`, however clear differences are."""
        drawn = self.test in DRAWN
        of = many(self.draws, "draw") if drawn else many(len(self.query_ids), "query")
        if self.correction == "none":
            return f"With {of} no p-value is below {self.least_p:.2g}."
        pairs = many(len(self.pairs), "pair")
        return f"With {of} and {pairs} no corrected p-value is below {self.least_p:.2g}."

    @cached_property
    def equivalent(self) -> Bools | None:
        """Where two uncorrected one-sided t-tests put differences within the margin, if any."""
        if self.margin is None:
            return None
        return self._by_column(equivalence_p(self._columns, self.margin)) < self.level

    @cached_property
    def detectable(self) -> Floats:
        """The least true difference that the uncorrected t-test shows with a power of 0.8."""
        return self._by_column(detectable_difference(self._columns, self.level))

    @cached_property
    def queries_needed(self) -> Floats:
        """How many queries would show the observed differences with that power."""
        return self._by_column(queries_needed(self._columns, self.level))

    @property
    def signature(self) -> str:
        """Every setting that shaped the numbers, on one line."""
        return " | ".join(f"{name}: {value}" for name, value in self.settings.items())

    def caption(self) -> str:
        """Say how systems were compared, and what the means hide."""
        systems = many(len(self.systems) - (self.baseline is not None), "system")
        against = f" against {self.baseline}" if self.baseline is not None else ""
        corrected = "" if self.correction == "none" else f", {NAMES[self.correction]}"
        intervals = f"{100 * (1 - self.level):g}% {INTERVAL_NAMES[self.interval]} intervals"
        if self.simultaneous:
            intervals += ", those of differences simultaneous"
        said = [
            f"{systems}{against}, {many(len(self.query_ids), 'query')}; "
            f"{NAMES[self.test]}{corrected}, level {self.level:g}; {intervals}."
        ]
        if self.pairs and self.least_p >= self.level:
            said.append(f"{self.undecided} Nothing can be significant.")
        if self.margin is not None:
            said.append(f"Equivalent: within {self.margin:g}, by two one-sided t-tests.")
        out = {query for queries in self.missing.values() for query in queries}
        if out:
            said.append(f"Left out, as not all systems have them: {many(len(out), 'query')}.")
        zeros = ((len(queries), name) for name, queries in self.unanswered.items())
        if counted := [f"{count} of {name}" for count, name in zeros if count]:
            said.append(f"Queries without a ranking, counting 0: {', '.join(counted)}.")
        return " ".join(said)

    def __repr__(self) -> str:
        return (
            f"Comparison of {', '.join(map(printable, self.systems))} on {', '.join(self.measures)}"
        )

    def difference(self, a: str, b: str, measure: str) -> Difference:
        """Look up how a compared pair compares; InputError if it or the measure is unknown."""
        column = find_measure(self.measures, measure)
        first, second = (find_system(self.systems, each) for each in (a, b))
        for pair, sign in (((first, second), 1), ((second, first), -1)):
            if pair in self.pairs:
                return self._difference(self.pairs.index(pair), column, sign)
        raise InputError(f"{a!r} was not compared with {b!r}", value=a)

    def _difference(self, pair: int, column: int, sign: int) -> Difference:
        at = pair, column
        low, high = (sign * self.difference_intervals[at] + 0.0).tolist()[::sign]
        wins, losses = [int(self.wins[at]), int(self.losses[at])][::sign]
        of = self.means[self.pairs[pair][1 if sign > 0 else 0], column]
        difference = sign * float(self.differences[at]) + 0.0  # no -0.0
        return Difference(
            difference,
            (low, high),
            difference / float(of) if of else math.nan,
            *(wins, int(self.ties[at]), losses),
            sign * float(self.effects[at]) + 0.0,
            float(self.p_values[at]),
            float(self.corrected[at]),
            bool(self.significant[at]),
        )

    def _of_pairs(self, values: Floats, side: int) -> Floats:
        return values[[pair[side] for pair in self.pairs]]

    @cached_property
    def _paired(self) -> Floats:
        """Differences by query, ``(pairs, queries, measures)``."""
        return paired_differences(self.scaled, self.pairs)

    @property
    def _gains(self) -> Floats:
        """The same, above 0 where a is better, or higher where neither is."""
        signs = self.sign_of()
        return np.asarray(self._paired * np.where(signs == 0, 1, signs))

    def sign_of(self, column: int | None = None) -> Any:
        """Return a measure's `irbatch.measures.Measure.sign`, or those of all, ``(measures,)``."""
        signs = np.array(self.signs or [1] * len(self.measures))
        return signs if column is None else int(signs[column])

    @property
    def _columns(self) -> Floats:
        """The same in the units of the means, ``(queries, pairs x measures)``."""
        geometric = np.any(self.scaled != self.values, axis=(0, 1))
        paired = paired_differences(as_linear(self.scaled, geometric), self.pairs)
        return np.moveaxis(paired, 1, 0).reshape(len(self.query_ids), -1)

    def _by_column(self, columns: Floats) -> Floats:
        return columns.reshape(len(self.pairs), len(self.measures))


def query_values(
    compared: Compared, a: str, b: str, measure: str | Measure
) -> tuple[Floats, Floats]:
    """Return the values of two different systems, float64 ``(queries,)`` each."""
    column = find_measure(compared.measures, measure)
    first, second = find_system(compared.systems, a), find_system(compared.systems, b)
    if first == second:
        raise InputError(f"two systems differ, not {a!r} from itself", value=a)
    values = np.asarray(compared.values)
    return values[first, :, column], values[second, :, column]


def find_system(systems: Sequence[str], name: str) -> int:
    """Return the position of a system; refuse one that is unknown."""
    if name not in systems:
        problem = f"there is no system {shown(name)}; there are: {_listed(systems)}"
        raise InputError(problem, source="system", value=name)
    return list(systems).index(name)


def find_measure(measures: Sequence[str], name: str | Measure) -> int:
    """Return the position of a measure, by any spelling of its name; refuse one not evaluated."""
    known = list(measures)
    if str(name) in known:
        return known.index(str(name))
    canonical = str(measure(name) if isinstance(name, str) else name)
    if canonical not in known:
        problem = f"{canonical} was not evaluated; there are: {_listed(known)}"
        raise InputError(problem, source="measures", value=canonical)
    return known.index(canonical)


def _listed(names: Sequence[str]) -> str:
    more = f", and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
