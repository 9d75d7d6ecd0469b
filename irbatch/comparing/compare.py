"""Systems against each other: put side by side and tested; the comparison that comes of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, TypeAlias, TypedDict, Unpack, cast

import numpy as np

from irbatch.array_types import Bools, Floats, Ints, Positions
from irbatch.comparing.gate import Outcome, failures, unmet
from irbatch.comparing.read import Aligned, align, is_read, read_results
from irbatch.comparing.rows import (
    ComparisonOptions,
    ComparisonSettings,
    list_means,
    list_pairs,
    make_document,
    tell,
    tell_limits,
)
from irbatch.data.frames import is_series, rows_by_label
from irbatch.errors import InputError, kind_of, many, printable, shown, warn
from irbatch.evaluation.evaluation import Cutoffs, Judgments, Measures
from irbatch.evaluation.runs import evaluate_runs, name_systems
from irbatch.evaluation.settings import EvaluateOptions
from irbatch.measures import Measure, measure, parse_measures
from irbatch.report import Reported
from irbatch.report.document import Record
from irbatch.runtime.numbers import check_keywords
from irbatch.runtime.sums import exact_mean
from irbatch.runtime.threads import cached_property
from irbatch.statistics.intervals import (
    Intervals,
    as_linear,
    cut_intervals,
    detectable_difference,
    find_intervals,
    queries_needed,
)
from irbatch.statistics.resampling import (
    Sample,
    blocks_of_differences,
    join_measures,
    measure_blocks,
    paired_differences,
)
from irbatch.statistics.tests import (
    DRAWN,
    FAMILY_WISE,
    above_zero_p,
    beyond_margin,
    correct,
    ends_beyond,
    honest_difference,
    least_p,
    margin_correction,
    p_values,
    read_margin,
)

# Rankings of several systems, or values by query of each: `compare` tells the forms.
Systems: TypeAlias = Mapping[str, Any] | Iterable[Any]


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


@dataclass(frozen=True, eq=False)
class Scaled:
    """Values ``(systems, queries, measures)`` as means of them are taken, and differences tested.

    Of geometric means they are logarithms. Of weighted ones they are multiplied by weights of mean
    1: so their plain means are the weighted ones, and under the hypothesis that values may change
    sides the signs of differences may.
    """

    values: Floats
    geometric: Bools  # (measures,)
    weights: Floats | None  # (queries, measures); None: all alike

    @cached_property
    def blocks(self) -> list[tuple[Any, Any]]:
        """The measures that the same queries have: their positions, and those of the queries."""
        return measure_blocks(self.values)

    def parts(self) -> Iterator[tuple[Any, Any, Floats]]:
        """Yield each block with its values."""
        for columns, rows in self.blocks:
            whole = len(self.blocks) == 1
            yield columns, rows, self.values if whole else self.values[:, rows][..., columns]

    def weights_of(self, columns: Any, rows: Any) -> Floats | None:
        """Return the weights of a block."""
        return None if self.weights is None else self.weights[rows][:, columns]

    def find(self, find: Callable[[Floats, Any], Any], *, linear: bool = False) -> Any:
        """Find something of each block's values and measures; `linear` ones have means as given."""
        found = []
        for columns, rows, values in self.parts():
            if linear:
                values = as_linear(values, self.geometric[columns], self.weights_of(columns, rows))
            found.append(find(values, columns))
        return join_measures(found, self.blocks)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Comparison(Reported, ComparisonSettings):
    """What `irbatch.compare` returns: numbers, and reports of them in every form.

    Reports for people (`to_text`, `to_markdown`, `to_latex`, `to_html`) have as options: `digits`,
    how many decimals of means and differences (default: 4); `intervals`, whether means come with
    theirs (False); `pairs`, whether the table of pairs follows, by default where there is a
    baseline, of few pairs, and on a page: in LaTeX it is written in place of the means, and only if
    asked for; `power`, whether that table tells which difference these queries could have shown and
    how many queries the observed one takes, with a power of 0.8 (False), which takes SciPy; `sort`,
    the measure by whose means systems stand, in both tables, from the best on, on a page the first
    one, else as they were given. On a page: `plots` of differences (True), which take matplotlib.

    `to_csv` and frames have one line a group, measure and pair, or with the option ``means=True``
    a group, measure and system; the group of all queries has no name. They, `to_dict` and `to_json`
    have the option `power`, too, and the last two `per_query`, whether they have the values of
    every query (True), and `gates`, what `irbatch.comparing.gate.check` returned.

    Attributes:
        systems, measures: names, in the order given.
        query_ids: the queries compared, those that all systems have values for.
        baseline: the system that all others are compared with, or None: all with all.
        pairs: positions (a, b) in `systems`; a is compared with b.
        values: float64 ``(systems, queries, measures)``.
        means: float64 ``(systems, measures)``; `intervals` has one axis more, for two bounds.
        differences: float64 ``(pairs, measures)``, the mean of a less that of b; and so
            `difference_intervals` (two bounds more), `effects`, `p_values`, `corrected`. Intervals
            and effects are NaN where the difference is the same in every query.
        wins, ties, losses: int64 ``(pairs, measures)``.
        not_worse_p, equivalence_p: with a margin, corrected p-values ``(pairs, measures)`` of a
            being less than the margin worse than b, and less than it apart; else None.
        detectable, queries_needed: float64 ``(pairs, measures)``, what option `power` tells.
        settings: how the values and the comparison came about.
        missing: system to the queries that others have and it has not: they are left out.
        unanswered: system to the queries it has no ranking for, which count 0.
        groups: a comparison of each group of two queries or more, by name.
    """

    systems: list[str]
    measures: list[str]
    query_ids: list[Any]
    pairs: list[tuple[int, int]]
    values: Floats
    means: Floats
    differences: Floats
    intervals: Floats
    difference_intervals: Floats
    p_values: Floats
    corrected: Floats
    settings: dict[str, str]
    missing: dict[str, list[Any]]
    unanswered: dict[str, list[Any]]
    groups: Mapping[str, Comparison]
    signs: Floats  # of measures: 1 if higher values are better, -1 if lower ones are, 0 if neither
    ranges: Floats  # (2, measures), of their values; infinite if a mean is geometric or weighted
    scaled: Scaled

    _label: ClassVar[str] = "tab:comparison"

    def __repr__(self) -> str:
        systems = ", ".join(map(printable, self.systems))
        return f"Comparison of {systems} on {', '.join(self.measures)}"

    @cached_property
    def relative(self) -> Floats:
        """Differences as shares of b's mean, NaN where that is 0."""
        of = self.means[[b for _, b in self.pairs]]
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

        return self.scaled.find(find)

    @cached_property
    def significant(self) -> Bools:
        """Where the corrected p-value is below the level."""
        return self.corrected < self.level

    @property
    def least_p(self) -> float:
        """The least corrected p-value that could come out; see `undecided`."""
        sizes = self._together, int(self.counts.max()), self.draws
        return least_p(self.test, self.correction, *sizes, self.alternative)

    @property
    def _together(self) -> int:
        """How many p-values are corrected for together."""
        return len(self.pairs) * (len(self.measures) if self.family == "all" else 1)

    @property
    def undecided(self) -> str:
        """Say why corrected p-values are not below `least_p`, however clear differences are."""
        sizes = (self.draws, "draw") if self.test in DRAWN else (len(self.query_ids), "query")
        of, least = many(*sizes), f"p-value is below {self.least_p:.2g}."
        if self.correction == "none":
            return f"With {of} no {least}"
        return f"With {of} and {many(self._together, 'pair')} no corrected {least}"

    @cached_property
    def not_worse_p(self) -> Floats | None:
        """Corrected p-values of a being not worse than b by the margin; None without a margin."""
        return None if self.margin is None else self._margin_p(self.directions)

    @cached_property
    def equivalence_p(self) -> Floats | None:
        """Corrected p-values of a and b differing by less than the margin, by two tests."""
        return None if self.margin is None else self._margin_p(self.directions, -self.directions)

    def _margin_p(self, *sides: Floats) -> Floats:
        """Test against the margin to some sides, ``(measures,)`` of 1 and -1, all at once."""
        margin = read_margin(self.margin)

        def test(values: Floats, columns: Any) -> Floats:
            p = []
            for side in sides:
                ends = ends_beyond(self.ranges[:, columns], margin, side[columns])
                beyond = beyond_margin(values, self.pairs, margin, side[columns])
                how = self.margin_test, self.draws, self.seed
                p.append(above_zero_p(beyond, *how, ends, self.varies[:, columns]))
            return np.max(p, axis=0)

        p = self.scaled.find(test, linear=True)
        return correct(p, margin_correction(self.test, self.correction), self.family)

    @property
    def levels(self) -> Floats:
        """The level of each pair after correction, that of its simultaneous interval."""
        return self.corrected_levels(self.significant, len(self.systems))

    @cached_property
    def detectable(self) -> Floats:
        """The least true differences that a t-test at `levels` shows, with a power of 0.8."""
        return self._of_t_test(detectable_difference)

    @cached_property
    def queries_needed(self) -> Floats:
        """How many queries would show the observed differences with that power."""
        return self._of_t_test(queries_needed)

    def _of_t_test(self, find: Callable[[Floats, Floats], Floats]) -> Floats:
        """Find something of differences in the units of the means, ``(queries, columns)``."""
        levels = self.levels * (1.0 if self.alternative == "two-sided" else 2.0)

        def find_part(values: Floats, columns: Any) -> Floats:
            paired = np.moveaxis(paired_differences(values, self.pairs), 1, 0)
            numbers = find(paired.reshape(len(paired), -1), levels[:, columns].ravel())
            return numbers.reshape(len(self.pairs), -1)

        return self.scaled.find(find_part, linear=True)

    @property
    def signature(self) -> str:
        """Every setting that shaped the numbers, on one line."""
        return " | ".join(f"{name}: {value}" for name, value in self.settings.items())

    @property
    def directions(self) -> Floats:
        """-1 where lower values of a measure are better, else 1, ``(measures,)``."""
        return np.where(self.signs < 0, -1.0, 1.0)

    def difference(self, a: str, b: str, measure: str) -> Difference:
        """Look up how a compared pair compares; InputError if it or the measure is unknown."""
        column, first, second = self.find_measure(measure), *map(self.find_system, (a, b))
        turned = (first, second) not in self.pairs
        if turned and (second, first) not in self.pairs:
            raise InputError(f"{a!r} was not compared with {b!r}", value=a)
        pair = self.pairs.index((second, first) if turned else (first, second))
        sign, at = -1 if turned else 1, (pair, column)
        low, high = (sign * self.difference_intervals[at] + 0.0).tolist()[::sign]
        wins, losses = [int(self.wins[at]), int(self.losses[at])][::sign]
        of = float(self.means[second, column])
        difference = sign * float(self.differences[at]) + 0.0  # no -0.0
        return Difference(
            difference,
            (low, high),
            difference / of if of else math.nan,
            *(wins, int(self.ties[at]), losses),
            sign * float(self.effects[at]) + 0.0,
            float(self.p_values[at]),
            float(self.corrected[at]),
            bool(self.significant[at]),
        )

    def find_measure(self, name: str | Measure) -> int:
        """Return the place of a measure, by any spelling of its name; InputError if unknown."""
        canonical = str(name) if str(name) in self.measures else str(measure(str(name)))
        if canonical not in self.measures:
            problem = f"{canonical} was not evaluated; there are: {', '.join(self.measures)}"
            raise InputError(problem, source="measures", value=canonical)
        return self.measures.index(canonical)

    def find_system(self, name: str) -> int:
        """Return the place of a system; InputError if it is unknown."""
        if name not in self.systems:
            problem = f"there is no system {shown(name)}; there are: {', '.join(self.systems)}"
            raise InputError(problem, source="system", value=name)
        return self.systems.index(name)

    failures, unmet = failures, unmet  # which say what they take

    def caption(self) -> str:
        """Say how systems were compared, and what the means hide."""
        return " ".join([tell(self, means=True, differences=True)[0], *tell_limits(self)])

    def plot(self, measure: str | None = None, *, ax: Any = None) -> Any:
        """Plot each pair's difference with its interval; see `irbatch.comparing.plots` for others.

        Args:
            measure: which; default: the first.
            ax: matplotlib's axes to draw on; default: those of a new figure.

        Returns, Raises: as `irbatch.Results.plot`.
        """
        from irbatch.comparing.plots import plot_forest

        return plot_forest(self, self.measures[0] if measure is None else measure, ax=ax)

    _document = make_document

    def _everything(
        self, *, per_query: bool = True, power: bool = False, gates: Sequence[Outcome] = ()
    ) -> Record:
        everything: Record = {
            "systems": list(self.systems),
            "measures": list(self.measures),
            **self.options,
            "queries": len(self.query_ids),
            "settings": dict(self.settings),
            "signature": self.signature,
            "caption": self.caption(),
            "means": list_means(self),
            "pairs": list_pairs(self, power),
        }
        if per_query:
            everything["query_ids"] = [str(query) for query in self.query_ids]
            everything["per_query"] = {
                system: dict(zip(self.measures, values.T.tolist(), strict=True))
                for system, values in zip(self.systems, self.values, strict=True)
            }
        everything["groups"] = {
            str(name): group._everything(per_query=per_query, power=power)
            for name, group in self.groups.items()
        }
        if gates:
            everything["gates"] = [outcome._asdict() for outcome in gates]
        return everything

    def _records(
        self, *, means: bool = False, power: bool = False
    ) -> tuple[list[str], list[Record]]:
        records = [
            {"group": str(name), **record}
            for name, group in (("", self), *self.groups.items())
            for record in (list_means(group) if means else list_pairs(group, power))
        ]
        return list(records[0]), records


class CompareOptions(ComparisonOptions, EvaluateOptions, TypedDict, total=False):
    """The keyword options of `compare`: its own, and those of `irbatch.evaluate`."""


def compare(
    qrels: Judgments | Systems,
    runs: Systems | None = None,
    measures: Measures | None = None,
    cutoffs: Cutoffs = None,
    *,
    groups: Mapping[Any, str] | None = None,
    **settings: Unpack[CompareOptions],
) -> Comparison:
    """Compare systems on the same queries, and tell which differences are more than chance.

    A query that a measure has no value of, for some system, is left out of that measure. A measure
    that some saved results lack is left out with a warning.

    Args:
        qrels, runs, measures, cutoffs: as in `irbatch.evaluate_runs`; results among the runs are
            not evaluated again. Without measures, and then perhaps without judgments,
            ``compare({"old": …, "new": …})`` takes values that are there already: `Results`; a dict
            of queries to measures to values, as pytrec_eval returns it; a table of any framework
            with a column of queries and one a measure; or the path of results in JSON, or of a
            Parquet file or folder of such tables, with queries in any order.
        baseline: the system that all others are compared with; default: each with each.
        test: of the paired differences: ``"randomisation"`` (default), flipping signs, exact where
            up to 24 queries differ, p-values below 0.01 by saddlepoint approximation; ``"t"``,
            ``"wilcoxon"``, ``"sign"``, ``"bootstrap"``; or of all systems at once ``"tukey"``,
            randomised, or ``"anova"``. Of a million queries ``"t"`` takes a minute where those that
            resample take several.
        correction: of p-values, for the number of pairs compared on a measure: ``"holm"``
            (default), ``"bonferroni"``, ``"bh"``, ``"by"`` or ``"none"``. Tests of all systems at
            once need none.
        level: chance of finding a difference that is not there, and of an interval to miss (0.05).
        interval: of means and differences: by Student's ``"t"`` (default), or by bootstrap,
            ``"percentile"`` or ``"bca"``.
        simultaneous: whether intervals of differences are as wide as the correction asks for
            (default), so that they seldom disagree with the p-values; else each misses by `level`
            by itself, as those of means do.
        draws: of tests and intervals that resample (10,000).
        seed: of the draws (0); the first of more draws are those of fewer.
        margin: differences below it don't matter: tells which systems are equivalent, and which
            are not worse. A number, or a share of the other system's mean such as ``"1%"``.
        alternative: what a test is to find: any difference (``"two-sided"``, default), or that a
            system's mean is ``"greater"`` than the baseline's, or ``"less"``; intervals are
            one-sided, too.
        family: what a correction is for: the ``"pairs"`` on a measure (default), or ``"all"`` pairs
            on all measures.
        margin_test: of differences against the margin: ``"bounded"`` (default) holds whatever the
            differences, as it counts on losses that these queries do not show, and takes some 370
            queries for a margin of 0.01 of a measure between 0 and 1; ``"t"`` and
            ``"randomisation"`` take fewer and trust that what was not seen is like what was, which
            is wrong where few queries lose much. Measures without a known range, and weighted and
            geometric means, are tested by ``"t"`` from 30 queries on.
        groups: query id to the name of its group, a mapping or a series of pandas; tables are
            broken down by group, and the bootstrap draws from each apart.
        **settings: the keyword arguments of `irbatch.evaluate`, too.

    Raises:
        InputError: if there are fewer than two systems or two common queries, the baseline or an
            option is unknown, results have no measure in common, a table has a query twice or
            columns that are not measures, and as `irbatch.evaluate`.

    >>> import irbatch
    >>> qrels = {q: {"d1": 1} for q in "abcdefgh"}
    >>> good = {q: {"d1": 2, "d2": 1} for q in qrels}
    >>> bad = {q: {"d1": 1, "d2": 2} for q in qrels}
    >>> found = irbatch.compare(qrels, {"bad": bad, "good": good}, "RR", baseline="bad")
    >>> found.difference("good", "bad", "RR").p_value  # 2 of 256 assignments of signs
    0.0078125
    >>> first = irbatch.evaluate_matrix([[1, 0], [0, 1], [1, 0]], "RR P@1")
    >>> other = irbatch.evaluate_matrix([[0, 1], [0, 1], [1, 0]], "RR P@1")
    >>> irbatch.compare({"first": first, "other": other}).difference("first", "other", "RR").wins
    1
    """
    check_keywords(compare, settings, CompareOptions.__annotations__)
    others: dict[str, Any] = {**settings}
    own = [name for name in ComparisonOptions.__annotations__ if name in others]
    options = ComparisonSettings(**{name: others.pop(name) for name in own})
    if runs is None or measures is None:
        for name in (*others, *(["measures"] if measures is not None else [])):
            problem = f"{name}= is for rankings with judgments: values are compared as they are"
            raise InputError(problem, source=name)
        systems = name_systems(cast(Systems, qrels if runs is None else runs), "result")
        options.check_baseline(systems)
        return compare_aligned(align(read_results(systems)), options, groups)
    systems = name_systems(runs)
    options.check_baseline(systems)
    columns = parse_measures(measures, cutoffs)
    results = read_results({name: run for name, run in systems.items() if is_read(run)})
    if rankings := {name: run for name, run in systems.items() if name not in results}:
        results |= evaluate_runs(cast(Judgments, qrels), rankings, columns, **others)
    aligned = align({name: results[name] for name in systems}, list(map(str, columns)))
    return compare_aligned(aligned, options, groups)


def _read_groups(
    aligned: Aligned, groups: Mapping[Any, str] | None
) -> Iterator[tuple[str, list[int], Aligned]]:
    """Yield each group's name, rows and part of the systems' values."""
    by_query = rows_by_label(groups) if is_series(groups) else groups or {}
    if not isinstance(by_query, Mapping):
        problem = f"groups go from query ids to names, not {kind_of(groups)}"
        raise InputError(problem, source="groups")
    rows: dict[str, list[int]] = {}
    for row, query in enumerate(aligned.query_ids if groups is not None else ()):
        if query not in by_query:
            raise InputError("it has no group", source="groups", query=query)
        rows.setdefault(str(by_query[query]), []).append(row)
    inside: dict[str, set[Any]] = {}  # with queries that were left out
    for query, name in by_query.items():
        inside.setdefault(str(name), set()).add(query)
    for name, of_group in rows.items():
        yield name, of_group, aligned.part(of_group, inside[name])


def _strata(rows: Iterable[list[int]]) -> list[Positions] | None:
    """Return the groups to draw from; those of one query, without chance in it, are joined."""
    several = [np.array(group) for group in rows if len(group) > 1]
    single = [group[0] for group in rows if len(group) == 1]
    if len(single) == 1 and several:
        largest = max(range(len(several)), key=lambda i: several[i].size)
        several[largest] = np.append(several[largest], single)
    elif single:
        several.append(np.array(single))
    return several or None


def compare_aligned(
    aligned: Aligned, options: ComparisonSettings, groups: Mapping[Any, str] | None = None
) -> Comparison:
    """Compare systems on all queries and on each group of them."""
    if options.test in FAMILY_WISE:
        options = replace(options, correction="none")
    compared: dict[str, Comparison] = {}
    rows_of_groups = []
    for name, rows, part in _read_groups(aligned, groups):
        rows_of_groups.append(rows)
        if min(part.counts) < 2:
            warn(f"group {name!r} has one query: it is not compared apart")
        else:
            compared[name] = compare_aligned(part, options)
    return _compare(aligned, options, _strata(rows_of_groups), compared)


def _compare(
    aligned: Aligned,
    options: ComparisonSettings,
    strata: Sequence[Positions] | None,
    groups: Mapping[str, Comparison],
) -> Comparison:
    """Compare systems on all queries, each measure on those that have a value of it."""
    ranges = np.array([column.range for column in aligned.columns]).T
    scaled = _scale(aligned)
    pairs = _pairs(aligned.systems, options.baseline)
    sampling = pairs, options.draws, options.seed, options.alternative
    samples = [Sample(np.ascontiguousarray(values), *sampling) for *_, values in scaled.parts()]

    def find(find: Callable[[Sample], Any]) -> Floats:
        return np.asarray(join_measures([find(sample) for sample in samples], scaled.blocks))

    means = find(lambda sample: [[*map(exact_mean, own.T)] for own in sample.values])
    means[:, scaled.geometric] = np.exp(means[:, scaled.geometric])
    differences = means[[a for a, _ in pairs]] - means[[b for _, b in pairs]]
    p = find(lambda sample: p_values(sample, options.test))
    corrected = correct(p, options.correction, options.family)
    levels = np.full(p.shape, options.level)
    if options.simultaneous:
        levels = options.corrected_levels(corrected < options.level, len(means))
    bounds = _find_intervals(scaled, samples, options, levels, strata)
    if options.simultaneous and options.test in FAMILY_WISE:
        reach = find(lambda sample: [honest_difference(sample, options.test, options.level)])
        honest = np.stack([differences - reach, differences + reach], axis=-1)
        bounds.differences[:, ~scaled.geometric] = honest[:, ~scaled.geometric]
    reach = np.subtract(*ranges[::-1])
    of_differences = cut_intervals(bounds.differences, differences, -reach, reach)
    if options.alternative == "greater":  # open to the side that the test does not look at
        of_differences[..., 1] = np.inf
    elif options.alternative == "less":
        of_differences[..., 0] = -np.inf
    varies = find(lambda sample: sample.find(lambda flat: np.ptp(flat, axis=0))) > 0
    of_differences[~varies] = np.nan
    settings = {**aligned.settings, **options.described}
    if strata is not None and options.interval != "t":
        settings["draws"] += ", of each group apart"
    is_plain = scaled.weights is None and not scaled.geometric.any()
    comparison = Comparison(
        systems=aligned.systems,
        measures=list(map(str, aligned.columns)),
        query_ids=aligned.query_ids,
        pairs=pairs,
        values=aligned.values,
        means=means,
        differences=differences,
        intervals=cut_intervals(bounds.means, means, *ranges),
        difference_intervals=of_differences,
        p_values=p,
        corrected=corrected,
        settings=settings,
        missing=aligned.missing,
        unanswered=aligned.unanswered,
        groups=groups,
        signs=np.array([float(column.sign) for column in aligned.columns]),
        ranges=ranges if is_plain else np.add(ranges, [[-np.inf], [np.inf]]),
        scaled=scaled,
        **options.options,
    )
    for array in (aligned.values, scaled.values, *vars(comparison).values()):
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    return comparison


def _find_intervals(
    scaled: Scaled,
    samples: Sequence[Sample],
    options: ComparisonSettings,
    levels: Floats,
    strata: Sequence[Positions] | None,
) -> Intervals:
    """Find intervals of means, and of differences that miss by levels ``(pairs, measures)``."""
    levels = levels * (1.0 if options.alternative == "two-sided" else 2.0)
    parts = []
    for sample, (columns, rows, _) in zip(samples, scaled.parts(), strict=True):
        places = np.arange(scaled.values.shape[1])[rows]
        groups = [np.flatnonzero(np.isin(places, group)) for group in strata or ()]
        parts.append(find_intervals(
            sample.values, sample.pairs, options.interval, options.level, options.draws,
            options.seed, [group for group in groups if group.size] or None,
            scaled.geometric[columns], levels[:, columns], scaled.weights_of(columns, rows),
        ))  # fmt: skip
    return Intervals(*(join_measures(ends, scaled.blocks) for ends in zip(*parts, strict=True)))


def _scale(aligned: Aligned) -> Scaled:
    geometric = np.array([column.aggregate == "geometric" for column in aligned.columns])
    weights = aligned.weights
    plain = weights is None and not geometric.any()
    scaled = np.ascontiguousarray(aligned.values) if plain else aligned.values.copy()
    if weights is not None:
        for k in np.flatnonzero(weights.sum(axis=0) == 0).tolist():
            problem = f"no query weighs anything in the mean of {aligned.columns[k]}"
            raise InputError(problem, source="measures")
        weights = np.where(np.isnan(aligned.values[0]), 0.0, weights)
        weights = weights / (weights.sum(axis=0) / aligned.counts)
        scaled *= weights
    if geometric.any():
        if (scaled[..., geometric] <= 0).any():
            problem = "a geometric mean of values that are 0 cannot be compared"
            raise InputError(problem, source="measures")
        scaled[..., geometric] = np.log(scaled[..., geometric])
    return Scaled(scaled, geometric, weights)


def _pairs(systems: Sequence[str], baseline: str | None) -> list[tuple[int, int]]:
    """Return which systems are compared: each with the baseline, or with all before it."""
    if baseline is None:
        return [(a, b) for a in range(len(systems)) for b in range(a)]
    position = systems.index(baseline)
    return [(a, position) for a in range(len(systems)) if a != position]
