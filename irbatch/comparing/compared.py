"""The numbers of a comparison: means, their differences, and what is known of these."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Bools, Floats, Ints
from irbatch.errors import InputError, many, printable, shown
from irbatch.measures import Measure, measure
from irbatch.runtime.threads import cached_property
from irbatch.statistics.differences import blocks_of_differences, paired_differences, row_blocks
from irbatch.statistics.margins import above_zero_p, beyond_margin, read_margin
from irbatch.statistics.power import detectable_difference, queries_needed
from irbatch.statistics.significance import DRAWN, FAMILY_WISE, correct, least_p, margin_correction
from irbatch.statistics.simultaneous import levels_of, levels_of_all


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
    margin: float | str | None
    settings: dict[str, str]
    missing: dict[str, list[Any]]
    groups: Mapping[str, Self]
    unanswered: dict[str, list[Any]] = field(default_factory=dict)
    signs: tuple[int, ...] = ()  # of each measure, see `Measure.sign`; none: all 1
    alternative: str = "two-sided"
    family: str = "pairs"
    margin_test: str = "t"
    linear: Floats | None = field(default=None, repr=False)  # see `as_linear`; None: as scaled
    judged: Mapping[int, Floats] = field(default_factory=dict)
    alone: Mapping[str, Floats] = field(default_factory=dict)  # of groups of one query: its values

    @cached_property
    def differences(self) -> Floats:
        """The mean of a less the mean of b, ``(pairs, measures)``."""
        return self._of_pairs(self.means, 0) - self._of_pairs(self.means, 1)

    @cached_property
    def relative(self) -> Floats:
        """Differences as shares of b's mean, NaN where that is 0."""
        of = self._of_pairs(self.means, 1)
        return np.divide(self.differences, of, out=np.full_like(of, np.nan), where=of != 0)

    @cached_property
    def wins(self) -> Ints:
        """Queries in which a is better."""
        return self._find(lambda apart: (apart * self.directions > 0).sum(axis=1))

    @cached_property
    def ties(self) -> Ints:
        """Queries in which both are equal."""
        return self._find(lambda apart: (apart == 0).sum(axis=1))

    @cached_property
    def losses(self) -> Ints:
        """Queries in which a is worse."""
        return self._find(lambda apart: (apart * self.directions < 0).sum(axis=1))

    @cached_property
    def queries_differ(self) -> Bools:
        """Whether there is a query in which a and b differ."""
        return self._find(lambda apart: (apart != 0).any(axis=1))

    @cached_property
    def effects(self) -> Floats:
        """Cohen's d: the mean of the paired differences over their standard deviation."""
        mean = self._find(lambda apart: apart.mean(axis=1))
        spread = self._find(lambda apart: apart.std(axis=1, ddof=1))
        constant = np.where(mean == 0, 0.0, np.copysign(np.inf, mean))
        return np.divide(mean, spread, out=constant, where=spread > 0)

    @cached_property
    def significant(self) -> Bools:
        """Where the corrected p-value is below the level."""
        return self.corrected < self.level

    @property
    def least_p(self) -> float:
        """The least corrected p-value that could come out; see `undecided`."""
        sizes = self.family_size, len(self.query_ids), self.draws
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
        if self.correction == "none":
            return f"With {of} no p-value is below {self.least_p:.2g}."
        pairs = many(len(self.pairs), "pair")
        if self.family == "all":
            pairs += f" on {many(len(self.measures), 'measure')}"
        return f"With {of} and {pairs} no corrected p-value is below {self.least_p:.2g}."

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
        return self._corrected(self._beyond(margin, self.directions))

    def equivalent_to(self, margin: float | str) -> Floats:
        """Test if a and b differ by less than a margin, as `not_worse_than` tests one side."""
        both = (self._beyond(margin, side) for side in (self.directions, -self.directions))
        return self._corrected(np.maximum(*both))

    def _beyond(self, margin: float | str, signs: Floats) -> Floats:
        values = self.scaled if self.linear is None else self.linear
        beyond = beyond_margin(values, self.pairs, read_margin(margin), signs)
        return above_zero_p(beyond, self.margin_test, self.draws, self.seed)

    def _corrected(self, p: Floats) -> Floats:
        return correct(p, margin_correction(self.test, self.correction), self.family)

    @property
    def levels(self) -> Floats:
        """The level of each pair after correction, that of its simultaneous interval."""
        if self.test in FAMILY_WISE:
            return levels_of_all(self.significant, len(self.systems), self.level)
        return levels_of(self.significant, self.correction, self.level, self.family)

    @cached_property
    def detectable(self) -> Floats:
        """The least true difference that the t-test shows with a power of 0.8, at `levels`.

        In the measure's own unit, ``(pairs, measures)``; with names in ``to_text(power=True)``.
        """
        return self._by_column(detectable_difference(self._columns, self._column_levels))

    @cached_property
    def queries_needed(self) -> Floats:
        """How many queries would show the observed differences with that power, likewise."""
        return self._by_column(queries_needed(self._columns, self._column_levels))

    @property
    def _column_levels(self) -> Floats:
        """The same for two-sided tests, by `_columns`."""
        return self.levels.ravel() * (1.0 if self.alternative == "two-sided" else 2.0)

    @cached_property
    def judged_shares(self) -> dict[int, Floats]:
        """By cutoff, the mean share of the documents up to it that are judged, ``(systems,)``.

        Of queries with a ranking; NaN of a system without any.
        """
        return {cutoff: _mean_of_known(shares) for cutoff, shares in self.judged.items()}

    @cached_property
    def holes(self) -> dict[int, Ints]:
        """By cutoff, in how many queries a document up to it is unjudged, ``(systems,)``."""
        return {cutoff: (shares < 1).sum(axis=1) for cutoff, shares in self.judged.items()}

    @property
    def signature(self) -> str:
        """Every setting that shaped the numbers, on one line."""
        return " | ".join(f"{name}: {value}" for name, value in self.settings.items())

    def __repr__(self) -> str:
        return (
            f"Comparison of {', '.join(map(printable, self.systems))} on {', '.join(self.measures)}"
        )

    def difference(self, a: str, b: str, measure: str) -> Difference:
        """Look up how a compared pair compares; InputError if it or the measure is unknown."""
        column = self.find_measure(measure)
        pair = self.find_pair(a, b)
        turned = self.systems[self.pairs[pair][0]] != a
        return self._difference(pair, column, -1 if turned else 1)

    def find_measure(self, name: str | Measure) -> int:
        """Return the place of a measure, by any spelling of its name; InputError if unknown."""
        return find_measure(self.measures, name)

    def find_pair(self, a: str, b: str) -> int:
        """Return the place of a compared pair, either way round; errors as `difference`."""
        first, second = (find_system(self.systems, each) for each in (a, b))
        for pair in ((first, second), (second, first)):
            if pair in self.pairs:
                return self.pairs.index(pair)
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

    def _find(self, find: Callable[[Floats], Any]) -> npt.NDArray[Any]:
        """Find something of each pair in such differences; of many, some pairs' at a time."""
        if len(row_blocks(len(self.pairs), self.scaled)) == 1:
            return np.asarray(find(self._paired))
        return np.concatenate([*map(find, blocks_of_differences(self.scaled, self.pairs))])

    def sign_of(self, column: int | None = None) -> Any:
        """Return a measure's `irbatch.measures.Measure.sign`, or those of all, ``(measures,)``."""
        signs = np.array(self.signs or [1] * len(self.measures))
        return signs if column is None else int(signs[column])

    @property
    def directions(self) -> Floats:
        """-1 where lower values of a measure are better, else 1, ``(measures,)``."""
        return np.where(self.sign_of() < 0, -1.0, 1.0)

    @property
    def _columns(self) -> Floats:
        """The same in the units of the means, ``(queries, pairs x measures)``."""
        paired = paired_differences(self.scaled if self.linear is None else self.linear, self.pairs)
        return np.moveaxis(paired, 1, 0).reshape(len(self.query_ids), -1)

    def _by_column(self, columns: Floats) -> Floats:
        return columns.reshape(len(self.pairs), len(self.measures))


NAMED = 10  # systems or measures that an error lists


def find_system(systems: Sequence[str], name: str) -> int:
    """Return the place of a system; InputError if it is unknown."""
    if name not in systems:
        problem = f"there is no system {shown(name)}; there are: {_listed(systems)}"
        raise InputError(problem, source="system", value=name)
    return list(systems).index(name)


def find_measure(measures: Sequence[str], name: str | Measure) -> int:
    """Return the place of a measure, by any spelling of its name; InputError if unknown."""
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


def _mean_of_known(shares: Floats) -> Floats:
    """Return means ``(systems,)`` of what is not NaN."""
    known = ~np.isnan(shares)
    counts = known.sum(axis=1)
    sums = np.where(known, shares, 0.0).sum(axis=1)
    nothing = np.full(counts.shape, np.nan)
    return np.asarray(np.divide(sums, counts, out=nothing, where=counts > 0))
