"""A comparison of systems: everything that is known of their differences, in one object."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, NamedTuple, Self, TypedDict

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Bools, Floats, Ints
from irbatch.comparing import report
from irbatch.comparing.gate import each_condition, judge_comparison, parse_condition
from irbatch.errors import InputError, many, printable
from irbatch.measures import Measure
from irbatch.report.document import DAGGERS, Document, Record, without_marks
from irbatch.report.reported import Path, Reported, make_pandas, make_polars, write_csv
from irbatch.runtime.numbers import check_choice
from irbatch.runtime.threads import cached_property
from irbatch.statistics.bounded import bounded_intervals, least_queries
from irbatch.statistics.intervals import (
    INTERVALS,
    detectable_difference,
    levels_of,
    levels_of_all,
    queries_needed,
)
from irbatch.statistics.resampling import (
    blocks_of_differences,
    check_draws,
    check_level,
    paired_differences,
    row_blocks,
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
    plain_name,
    read_margin,
)


class ComparisonOptions(TypedDict, total=False):
    """The keyword options of `irbatch.compare`, which describes them; `Options` has defaults."""

    baseline: str | None
    test: str
    correction: str | None
    level: float
    interval: str
    simultaneous: bool
    draws: int
    seed: int
    margin: float | str | None
    alternative: str
    family: str
    margin_test: str


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Options:
    """How systems are compared, as `irbatch.compare` describes it."""

    baseline: str | None = None
    test: str = "randomisation"
    correction: str = "holm"
    level: float = 0.05
    interval: str = "t"
    simultaneous: bool = True
    draws: int = 10_000
    seed: int = 0
    margin: float | str | None = None
    alternative: str = "two-sided"
    family: str = "pairs"
    margin_test: str = MARGIN_TESTS[0]

    @classmethod
    def choose(cls, **options: Any) -> Options:
        """Return options that were checked; tests and corrections in any tool's spelling."""
        for name in ("test", "correction"):
            if name in options:
                options[name] = plain_name(options[name])
        self = Options(**options)
        check_choice("test", self.test, TESTS)
        import_scipy(self.test)  # before anything is evaluated
        check_choice("correction", self.correction, CORRECTIONS)
        check_choice("interval", self.interval, INTERVALS)
        check_draws(self.draws, self.seed)
        check_level(self.level)
        check_choice("simultaneous", self.simultaneous, (True, False))
        check_choice("alternative", self.alternative, ALTERNATIVES)
        check_choice("family", self.family, FAMILIES)
        check_choice("margin_test", self.margin_test, MARGIN_TESTS)
        if self.margin is not None:
            read_margin(self.margin)
        if self.alternative != "two-sided" and self.baseline is None:
            problem = f"alternative={self.alternative!r} needs a baseline: greater or less than it"
            raise InputError(problem, source="baseline")
        if self.test in FAMILY_WISE:
            for name, plain in (("alternative", "two-sided"), ("family", "pairs")):
                if (value := getattr(self, name)) != plain:
                    problem = f"{name}={value!r} is not for test={self.test!r}"
                    raise InputError(f"{problem}, of all systems on a measure at once", value=value)
        return self

    @property
    def options(self) -> dict[str, Any]:
        """Their names and values."""
        return {each.name: getattr(self, each.name) for each in fields(Options)}


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


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Comparison(Reported, Options):
    """What `irbatch.compare` returns: numbers, and reports of them in every form.

    Reports for people (`to_text`, `to_markdown`, `to_latex`, `to_html`) have as options: `digits`,
    how many decimals of means and differences (default: 4); `intervals`, whether means come with
    theirs (False); `judged`, whether they stand beside the share of documents that are judged, up
    to each cutoff, and the queries that have an unjudged one there (False); `pairs`, whether the
    table of pairs follows, but for a paper (True); `power`, whether it tells of each pair which
    difference these queries could have shown and how many queries the observed one takes, with a
    power of 0.8 (False), which takes SciPy; `words`, whether a `sentence` on each pair and measure
    follows (False); `daggers`, whether † and ‡ mark what is significantly better and worse than the
    baseline, in place of arrows (False). On a page: `plots` of means and of differences (True),
    which take matplotlib, and `pair`, the two systems whose differences are plotted query by query;
    by default the best of the first measure and the baseline, or else the second best.

    `to_csv` and frames have one line a group, measure and pair; the group of all queries has no
    name. They, `to_dict` and `to_json` have the option `power`, too, and the last two `per_query`,
    whether they have the values of every query (True).

    Attributes:
        systems, measures: names, in the order given.
        query_ids: the queries compared, those that all systems have values for.
        baseline: the system that all others are compared with, or None: all with all.
        pairs: positions (a, b) in `systems`; a is compared with b.
        values: float64 ``(systems, queries, measures)``.
        means: float64 ``(systems, measures)``; `intervals` has one axis more, for two bounds.
        differences: float64 ``(pairs, measures)``, the mean of a less that of b; and so
            `difference_intervals` (two bounds more), `effects`, `p_values`, `corrected`.
        wins, ties, losses: int64 ``(pairs, measures)``.
        judged: cutoff to the share of each query's documents up to it that are judged, float64
            ``(systems, queries)``, NaN of queries without a ranking; `judged_shares` and `holes`
            sum it up. Empty where that isn't known.
        test, alternative, correction, family, level, interval, simultaneous, draws, seed, margin,
            margin_test: as they were asked for.
        least_p: the least corrected p-value that could come out, however clear the differences.
        settings: how the values and the comparison came about.
        missing: system to the queries that others have and it has not: they are left out.
        unanswered: system to the queries it has no ranking for, which count 0.
        groups: a comparison of each group of queries, by name.
        alone: the values of each group of one query, ``(systems, measures)``, which `groups` lacks;
            NaN where it weighs nothing in a weighted mean.
    """

    systems: list[str]
    measures: list[str]
    query_ids: list[Any]
    pairs: list[tuple[int, int]]
    values: Floats
    scaled: Floats = field(repr=False)  # values as they are tested: logarithms of geometric ones
    means: Floats
    intervals: Floats
    difference_intervals: Floats
    p_values: Floats
    corrected: Floats
    settings: dict[str, str]
    missing: dict[str, list[Any]]
    groups: Mapping[str, Self]
    unanswered: dict[str, list[Any]] = field(default_factory=dict)
    signs: tuple[int, ...] = ()  # of each measure, see `Measure.sign`; none: all 1
    ranges: Floats | None = field(default=None, repr=False)  # of values, (2, measures), if known
    linear: Floats | None = field(default=None, repr=False)  # see `as_linear`; None: as scaled
    judged: Mapping[int, Floats] = field(default_factory=dict)
    alone: Mapping[str, Floats] = field(default_factory=dict)  # of groups of one query: its values

    _label: ClassVar[str] = "tab:comparison"

    @cached_property
    def differences(self) -> Floats:
        """The mean of a less the mean of b, ``(pairs, measures)``."""
        return self.of_pairs(self.means, 0) - self.of_pairs(self.means, 1)

    @cached_property
    def relative(self) -> Floats:
        """Differences as shares of b's mean, NaN where that is 0."""
        of = self.of_pairs(self.means, 1)
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
        ends = self._ends_beyond(read_margin(margin), signs)
        vary = self._find(lambda apart: np.ptp(apart, axis=1) > 0)
        return above_zero_p(beyond, self.margin_test, self.draws, self.seed, ends, vary)

    def _ends_beyond(self, margin: Margin, signs: Floats) -> Floats:
        if self.ranges is None or self.linear is not None:  # geometric and weighted means
            return np.tile([[-np.inf], [np.inf]], len(self.measures))
        return ends_beyond(self.ranges, margin, signs)

    def sure_intervals(self, column: int) -> Floats:
        """Return intervals of a measure's means that hold whatever its values, ``(systems, 2)``.

        Those of `interval` for a measure without a known range, geometric and weighted means.
        """
        if self.ranges is None or self.linear is not None:
            return self.intervals[:, column]
        lowest, highest = np.tile(self.ranges[:, [column]], len(self.systems))
        if not np.isfinite(highest - lowest).all():
            return self.intervals[:, column]
        return bounded_intervals(self.values[..., column].T, lowest, highest, self.level)

    def queries_for(self, margin: float | str, measure: str, level: float) -> int | None:
        """Return how many queries without a loss would show that a system is not worse by a margin.

        None where `margin_test` is not ``"bounded"``, or the measure has no known range.
        """
        column, size = self.find_measure(measure), read_margin(margin)
        least, most = self._ends_beyond(size, self.directions)[:, column].tolist()
        if self.margin_test != "bounded" or not math.isfinite(least) or not math.isfinite(most):
            return None
        of = self.means[[b for _, b in self.pairs], column].max() if size.relative else 1.0
        return least_queries(size.amount * of, least, level) if size.amount * of > 0 else None

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
        return report.find_measure(self.measures, name)

    def find_pair(self, a: str, b: str) -> int:
        """Return the place of a compared pair, either way round; errors as `difference`."""
        first, second = (report.find_system(self.systems, each) for each in (a, b))
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

    def of_pairs(self, values: Floats, side: int) -> Floats:
        """Return what the first (0) or second (1) systems of pairs have of ``(systems, …)``."""
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

    def failures(self, *conditions: str | Iterable[str]) -> list[str]:
        """Say in a sentence each of which systems conditions hold: ``"nDCG@10 drops 1% p<0.05"``.

        For a test of a release: ``assert not comparison.failures(…)``.

        Args:
            *conditions: ``MEASURE drops|rises|changes|worsens|improves [AMOUNT[%]] [p<LEVEL]``,
                against the baseline, p being corrected; or
                ``MEASURE [lower bound|upper bound] < NUMBER``, of any mean but the baseline's, or
                of an end of its interval. ``in GROUP:`` before it looks at a group of queries,
                ``in every group:`` at each. A group of one query fails, but for limits of means.

        Raises:
            InputError: if there is none; or one is not of this form, can never hold, holds of what
                is good, or takes a baseline and there is none.
        """
        return self._judge(conditions, required=False)

    def unmet(self, *requirements: str | Iterable[str]) -> list[str]:
        """Say in a sentence which systems don't meet ``"nDCG@10 not worse than baseline by 1%"``.

        ``assert not comparison.unmet(…)`` fails unless the data show it: few queries don't pass.

        Args:
            *requirements: ``MEASURE not worse [than BASELINE] by AMOUNT[%] [p<LEVEL]``: the
                corrected p of `not_worse_than` is below the level, by default the comparison's; or
                ``MEASURE [lower bound|upper bound] >= NUMBER``. Groups as in `failures`.

        Raises:
            InputError: as `failures`, and if a requirement can never be met, or always is.
        """
        return self._judge(requirements, required=True)

    def _judge(self, texts: Iterable[object], *, required: bool) -> list[str]:
        read = [parse_condition(text, required=required) for text in each_condition(texts)]
        return [said for condition in read for said in judge_comparison(self, condition)]

    def caption(self) -> str:
        """Say how systems were compared, and what the means hide."""
        return report.tell_how(self)

    def sentence(self, a: str, b: str, measure: str, *, digits: int = 4) -> str:
        """Say in plain words what is known of a compared pair, and how surely.

        InputError if one of them is unknown, they were not compared, or digits are none.

        >>> import irbatch
        >>> labels = [[1, 0], [1, 0], [1, 0], [0, 1], [1, 0], [1, 0]] * 2
        >>> runs = {"new": labels, "old": [row[::-1] for row in labels]}
        >>> results = {name: irbatch.evaluate_matrix(each, "RR") for name, each in runs.items()}
        >>> found = irbatch.compare_results(results, baseline="old")
        >>> found.sentence("new", "old", "RR", digits=2)  # doctest: +NORMALIZE_WHITESPACE
        'new is better than old on RR by 0.33 (+57.1%),
        and by more than 0.08 on queries like these (95% confidence).'
        """
        pair, column = self.find_pair(a, b), self.find_measure(measure)
        return without_marks(report.say(self, pair, column, digits))

    def sentences(self, *, digits: int = 4) -> list[str]:
        """Say it of every pair on every measure, in the order of `to_csv`, without groups."""
        return list(map(without_marks, report.say_all(self, digits)))

    def to_means_csv(self, path: Path | None = None) -> str:
        """Return, or also write, one line a group, measure and system: its mean and interval."""
        return write_csv(*report.list_means(self), path)

    def plot(self, measure: str | None = None, *, ax: Any = None) -> Any:
        """Plot each pair's difference with its interval; see `irbatch.comparing.plots` for others.

        Args:
            measure: which; default: the first.
            ax: matplotlib's axes to draw on; default: those of a new figure.

        Returns, Raises: as `irbatch.Results.plot`.
        """
        from irbatch.comparing.plots import plot_forest

        return plot_forest(self, self.measures[0] if measure is None else measure, ax=ax)

    def means_to_pandas(self) -> Any:
        """Return a pandas frame: one row a group, measure and system; errors as `to_pandas`."""
        return make_pandas(*report.list_means(self))

    def means_to_polars(self) -> Any:
        """Return a polars frame of the same."""
        return make_polars(*report.list_means(self))

    def _document(
        self,
        form: str,
        *,
        digits: int = 4,
        intervals: bool = False,
        pairs: bool = True,
        judged: bool = False,
        words: bool = False,
        power: bool = False,
        daggers: bool = False,
        plots: bool = True,
        pair: tuple[str, str] | None = None,
    ) -> Document:
        figures = []
        if form == "html":
            from irbatch.comparing.plots import plot_figures  # for those who write pages

            figures = plot_figures(self, pair, digits)
        document = report.make_document(
            self,
            digits,
            intervals=intervals,
            pairs=pairs and form != "latex",
            figures=figures if plots else [],
            judged=judged,
            words=words,
            power=power,
        )
        return document.renamed({}, DAGGERS) if daggers else document

    def _everything(self, *, per_query: bool = True, power: bool = False) -> Record:
        return report.list_everything(self, per_query, power)

    def _records(self, *, power: bool = False) -> tuple[list[str], list[Record]]:
        return report.list_pairs(self, power)


def _mean_of_known(shares: Floats) -> Floats:
    """Return means ``(systems,)`` of what is not NaN."""
    known = ~np.isnan(shares)
    counts = known.sum(axis=1)
    sums = np.where(known, shares, 0.0).sum(axis=1)
    nothing = np.full(counts.shape, np.nan)
    return np.asarray(np.divide(sums, counts, out=nothing, where=counts > 0))
