"""How systems are compared, and what is known of their differences: the numbers of a comparison.

Each setting is one row, from which the command's options follow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, Self, TypedDict

import numpy as np

from irbatch.array_types import Bools, Floats, Ints
from irbatch.errors import InputError, many, shown
from irbatch.measures import Measure, measure
from irbatch.runtime.numbers import check_choice
from irbatch.runtime.threads import cached_property
from irbatch.statistics.bounded import bounded_intervals, least_queries
from irbatch.statistics.intervals import (
    INTERVALS,
    detectable_difference,
    levels_of,
    queries_needed,
)
from irbatch.statistics.judges import ModelValues
from irbatch.statistics.resampling import (
    blocks_of_differences,
    check_draws,
    check_level,
    join_measures,
    measure_blocks,
    paired_differences,
)
from irbatch.statistics.tests import (
    ALTERNATIVES,
    CORRECTIONS,
    DRAWN,
    FAMILIES,
    FAMILY_WISE,
    MARGIN_TESTS,
    TESTS,
    Margin,
    above_zero_p,
    beyond_margin,
    correct,
    ends_beyond,
    import_scipy,
    least_p,
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


NAMED = 10  # systems or measures that an error lists


class Difference(NamedTuple):
    """One system against another on one measure."""

    difference: float  # the first's mean less the second's
    interval: tuple[float, float]  # NaN where the difference is the same in every query
    relative: float  # its share of the second's mean, NaN where that is 0
    wins: int  # queries in which the first is better
    ties: int
    losses: int
    effect: float  # Cohen's d_z; NaN where differences don't vary
    p_value: float
    corrected: float
    significant: bool  # whether the corrected p-value is below the level


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Differences(ComparisonSettings):
    """The numbers of an `irbatch.Comparison`, which describes them."""

    systems: list[str]
    measures: list[str]
    query_ids: list[Any]
    pairs: list[tuple[int, int]]
    values: Floats
    scaled: Floats = field(repr=False)  # values as they are tested: logarithms of geometric ones
    means: Floats
    differences: Floats
    intervals: Floats
    difference_intervals: Floats
    p_values: Floats
    corrected: Floats
    settings: dict[str, str]
    missing: dict[str, list[Any]]
    groups: Mapping[str, Self] = field(default_factory=dict)
    unanswered: dict[str, list[Any]] = field(default_factory=dict)
    signs: tuple[int, ...] = ()  # of each measure, see `Measure.sign`; none: all 1
    ranges: Floats | None = field(default=None, repr=False)  # of values, (2, measures), if known
    linear: Floats | None = field(default=None, repr=False)  # see `as_linear`; None: as scaled
    judged_shares: Mapping[int, Floats] = field(default_factory=dict)
    alone: Sequence[str] = ()  # groups of one query
    model: ModelValues | None = field(default=None, repr=False)  # a model's, if they were added

    @cached_property
    def relative(self) -> Floats:
        """Differences as shares of b's mean, NaN where that is 0."""
        of = self.of_pairs(self.means, 1)
        return np.divide(self.differences, of, out=np.full_like(of, np.nan), where=of != 0)

    @cached_property
    def counts(self) -> Ints:
        """How many queries each measure is compared on, ``(measures,)``."""
        return (~np.isnan(self.values[0])).sum(axis=0)

    @property
    def wins(self) -> Ints:
        """Queries in which a is better."""
        return self._summary[..., 0].astype(np.int64)

    @property
    def ties(self) -> Ints:
        """Queries in which both are equal."""
        return self._summary[..., 1].astype(np.int64)

    @property
    def losses(self) -> Ints:
        """Queries in which a is worse."""
        return self._summary[..., 2].astype(np.int64)

    @property
    def varies(self) -> Bools:
        """Whether the difference is not the same in every query."""
        return self._summary[..., 3] > 0

    @property
    def effects(self) -> Floats:
        """Cohen's d_z, the mean of differences over their standard deviation; NaN if that is 0."""
        *_, mean, spread = np.moveaxis(self._summary, -1, 0)
        return np.divide(mean, spread, out=np.full_like(mean, np.nan), where=self.varies)

    @cached_property
    def _summary(self) -> Floats:
        """What the five above are made of, in the order of use: ``(pairs, measures, 6)``."""

        def find(values: Floats, columns: Any) -> Floats:
            numbers = []
            for apart in blocks_of_differences(values, self.pairs):
                gains = apart * self.directions[columns]
                signs = [where.sum(axis=1) for where in (gains > 0, apart == 0, gains < 0)]
                spread = apart.std(axis=1, ddof=1)
                numbers.append([*signs, np.ptp(apart, axis=1), apart.mean(axis=1), spread])
            return np.concatenate([np.stack(of_pairs, axis=-1) for of_pairs in numbers])

        return self._of_blocks(self.scaled, find)

    @cached_property
    def significant(self) -> Bools:
        """Where the corrected p-value is below the level."""
        return self.corrected < self.level

    @property
    def percent(self) -> str:
        """How sure intervals are: ``95%``."""
        return f"{100 * (1 - self.level):g}%"

    @property
    def least_p(self) -> float:
        """The least corrected p-value that could come out; see `undecided`."""
        sizes = self.family_size, int(self.counts.max()), self.draws
        return least_p(self.test, self.correction, *sizes, self.alternative)

    @property
    def family_size(self) -> int:
        """How many p-values are corrected for together."""
        return len(self.pairs) * (len(self.measures) if self.family == "all" else 1)

    @property
    def undecided(self) -> str:
        """Say why corrected p-values are not below `least_p`, however clear differences are."""
        drawn = self.test in DRAWN
        of = many(self.draws, "draw") if drawn else many(len(self.query_ids), "query")
        pairs = "" if self.correction == "none" else f" and {many(self.family_size, 'pair')}"
        return (
            f"With {of}{pairs} no {'corrected ' * bool(pairs)}p-value is below {self.least_p:.2g}."
        )

    @cached_property
    def not_worse_p(self) -> Floats | None:
        """Corrected p-values of a being not worse than b by the margin; None without a margin."""
        return None if self.margin is None else self.not_worse_than(self.margin)

    @cached_property
    def equivalence_p(self) -> Floats | None:
        """Corrected p-values of a and b differing by less than the margin, by two tests."""
        return None if self.margin is None else self.equivalent_to(self.margin)

    @property
    def not_worse(self) -> Bools | None:
        """Where that p-value is below the level."""
        return None if self.not_worse_p is None else self.not_worse_p < self.level

    @property
    def equivalent(self) -> Bools | None:
        """Where that p-value is below the level."""
        return None if self.equivalence_p is None else self.equivalence_p < self.level

    def not_worse_than(self, margin: float | str) -> Floats:
        """Test if a is not worse than b by a margin: corrected p-values, ``(pairs, measures)``.

        Args:
            margin: a number above 0, or a share of b's mean such as ``"1%"``.

        Raises:
            InputError: if it is neither, or a share of a mean below 0.
        """
        return self._corrected(self._beyond(read_margin(margin), self.directions))

    def equivalent_to(self, margin: float | str) -> Floats:
        """Test if a and b differ by less than a margin, as `not_worse_than` tests one side."""
        size = read_margin(margin)
        both = (self._beyond(size, side) for side in (self.directions, -self.directions))
        return self._corrected(np.maximum(*both))

    def _beyond(self, margin: Margin, signs: Floats) -> Floats:
        if self.model is not None:
            combined = self.model.combine(
                self.values, lambda values: beyond_margin(values, self.pairs, margin, signs)
            )
            return combined.tails.reshape(self.p_values.shape)
        ends = self._ends_beyond(margin, signs)

        def find(values: Floats, columns: Any) -> Floats:
            beyond = beyond_margin(values, self.pairs, margin, signs[columns])
            how = self.margin_test, self.draws, self.seed
            return above_zero_p(beyond, *how, ends[:, columns], self.varies[:, columns])

        return self._of_blocks(self.scaled if self.linear is None else self.linear, find)

    def _ends_beyond(self, margin: Margin, signs: Floats) -> Floats:
        if self.ranges is None or self.linear is not None:  # geometric and weighted means
            return np.tile([[-np.inf], [np.inf]], len(self.measures))
        return ends_beyond(self.ranges, margin, signs)

    def _corrected(self, p: Floats) -> Floats:
        return correct(p, margin_correction(self.test, self.correction), self.family)

    def sure_intervals(self, column: int) -> Floats:
        """Return intervals of means ``(systems, 2)``; of a known range, whatever the values."""
        if self.ranges is None or self.linear is not None or self.model is not None:
            return self.intervals[:, column]
        lowest, highest = np.tile(self.ranges[:, [column]], len(self.systems))
        if not np.isfinite(highest - lowest).all():
            return self.intervals[:, column]
        values = self.values[..., column].T
        values = values[~np.isnan(values[:, 0])]
        return bounded_intervals(values, lowest, highest, self.level)

    def queries_for(self, margin: Margin, column: int, level: float) -> int | None:
        """Return how many queries without a loss show a margin, by a bounded test; else None."""
        least, most = self._ends_beyond(margin, self.directions)[:, column].tolist()
        if self.margin_test != "bounded" or not math.isfinite(least) or not math.isfinite(most):
            return None
        of = self.of_pairs(self.means, 1)[:, column].max() if margin.relative else 1.0
        return least_queries(margin.amount * of, least, level) if margin.amount * of > 0 else None

    @property
    def levels(self) -> Floats:
        """The level of each pair after correction, that of its simultaneous interval."""
        return self.corrected_levels(self.significant, len(self.systems))

    @cached_property
    def detectable(self) -> Floats:
        """The least true differences that the t-test shows, with a power of 0.8.

        At `levels`, in the measure's own unit, ``(pairs, measures)``.
        """
        return self._of_t_test(detectable_difference)

    @cached_property
    def queries_needed(self) -> Floats:
        """How many queries would show the observed differences with that power, likewise."""
        return self._of_t_test(queries_needed)

    def _of_t_test(self, find: Callable[[Floats, Floats], Floats]) -> Floats:
        """Find something of differences in the units of the means, ``(queries, columns)``."""
        levels = self.levels * (1.0 if self.alternative == "two-sided" else 2.0)

        def find_part(values: Floats, columns: Any) -> Floats:
            paired = np.moveaxis(paired_differences(values, self.pairs), 1, 0)
            found = find(paired.reshape(len(paired), -1), levels[:, columns].ravel())
            return found.reshape(len(self.pairs), -1)

        return self._of_blocks(self.scaled if self.linear is None else self.linear, find_part)

    @property
    def signature(self) -> str:
        """Every setting that shaped the numbers, on one line."""
        return " | ".join(f"{name}: {value}" for name, value in self.settings.items())

    def difference(self, a: str, b: str, measure: str) -> Difference:
        """Look up how a compared pair compares; InputError if it or the measure is unknown."""
        column, pair = self.find_measure(measure), self.find_pair(a, b)
        turned = self.systems[self.pairs[pair][0]] != a
        sign, at = -1 if turned else 1, (pair, column)
        low, high = (sign * self.difference_intervals[at] + 0.0).tolist()[::sign]
        wins, losses = [int(self.wins[at]), int(self.losses[at])][::sign]
        of = self.means[self.pairs[pair][0 if turned else 1], column]
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

    def find_measure(self, name: str | Measure) -> int:
        """Return the place of a measure, by any spelling of its name; InputError if unknown."""
        if str(name) in self.measures:
            return self.measures.index(str(name))
        canonical = str(measure(name) if isinstance(name, str) else name)
        if canonical not in self.measures:
            problem = f"{canonical} was not evaluated; there are: {_listed(self.measures)}"
            raise InputError(problem, source="measures", value=canonical)
        return self.measures.index(canonical)

    def find_system(self, name: str) -> int:
        """Return the place of a system; InputError if it is unknown."""
        if name not in self.systems:
            problem = f"there is no system {shown(name)}; there are: {_listed(self.systems)}"
            raise InputError(problem, source="system", value=name)
        return self.systems.index(name)

    def find_pair(self, a: str, b: str) -> int:
        """Return the place of a compared pair, either way round; errors as `difference`."""
        first, second = self.find_system(a), self.find_system(b)
        for pair in ((first, second), (second, first)):
            if pair in self.pairs:
                return self.pairs.index(pair)
        raise InputError(f"{a!r} was not compared with {b!r}", value=a)

    def of_pairs(self, values: Floats, side: int) -> Floats:
        """Return what the first (0) or second (1) systems of pairs have of ``(systems, …)``."""
        return values[[pair[side] for pair in self.pairs]]

    def _of_blocks(self, values: Floats, find: Callable[[Floats, Any], Any]) -> Any:
        """Find something of measures that the same queries have, `find` taking their positions."""
        blocks = measure_blocks(self.scaled)
        parts = [find(values if len(blocks) == 1 else values[:, rows][..., columns], columns)
                 for columns, rows in blocks]  # fmt: skip
        return join_measures(parts, blocks)

    def sign_of(self, column: int | None = None) -> Any:
        """Return a measure's `irbatch.measures.Measure.sign`, or those of all, ``(measures,)``."""
        signs = np.array(self.signs or [1] * len(self.measures))
        return signs if column is None else int(signs[column])

    @property
    def directions(self) -> Floats:
        """-1 where lower values of a measure are better, else 1, ``(measures,)``."""
        return np.where(self.sign_of() < 0, -1.0, 1.0)


def _listed(names: Sequence[str]) -> str:
    more = f", and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
