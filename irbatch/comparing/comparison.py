"""A comparison of systems: its numbers, with the forms that they are reported in."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from irbatch.array_types import Bools, Floats, Ints
from irbatch.comparing.gate import Outcome, failures, unmet
from irbatch.comparing.settings import ComparisonSettings
from irbatch.errors import InputError, many, printable, shown
from irbatch.measures import Measure, measure
from irbatch.report import Reported
from irbatch.report.document import (
    BEST,
    BETTER,
    MARKS,
    NOTHING,
    WORSE,
    Column,
    Document,
    Heading,
    Legend,
    Part,
    Record,
    Sentences,
    Table,
    list_records,
    make_table,
)
from irbatch.report.text import (
    best_first,
    check_digits,
    is_best,
    letter,
    show,
    show_change,
    show_interval,
    show_p,
    show_percent,
)
from irbatch.runtime.threads import cached_property
from irbatch.statistics.intervals import POWER, as_linear, detectable_difference, queries_needed
from irbatch.statistics.resampling import (
    blocks_of_differences,
    join_measures,
    measure_blocks,
    paired_differences,
)
from irbatch.statistics.tests import (
    DRAWN,
    above_zero_p,
    beyond_margin,
    correct,
    ends_beyond,
    least_p,
    margin_correction,
    read_margin,
)

FEW_PAIRS = 6  # that are listed though there is no baseline


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
                weights = self.weights_of(columns, rows)
                values = as_linear(values, self.geometric[columns], weights)
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
        queries = many(len(self.query_ids), "query")
        of = many(self.draws, "draw") if self.test in DRAWN else queries
        pairs = "" if self.correction == "none" else f" and {many(self._together, 'pair')}"
        return (
            f"With {of}{pairs} no {'corrected ' * bool(pairs)}p-value is below {self.least_p:.2g}."
        )

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
        if str(name) in self.measures:
            return self.measures.index(str(name))
        canonical = str(measure(name) if isinstance(name, str) else name)
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

    failures, unmet = failures, unmet

    def caption(self) -> str:
        """Say how systems were compared, and what the means hide."""
        return " ".join([_tell(self, means=True, differences=True)[0], *_tell_limits(self)])

    def plot(self, measure: str | None = None, *, ax: Any = None) -> Any:
        """Plot each pair's difference with its interval; see `irbatch.comparing.plots` for others.

        Args:
            measure: which; default: the first.
            ax: matplotlib's axes to draw on; default: those of a new figure.

        Returns, Raises: as `irbatch.Results.plot`.
        """
        from irbatch.comparing.plots import plot_forest

        return plot_forest(self, self.measures[0] if measure is None else measure, ax=ax)

    def _document(
        self,
        form: str,
        *,
        digits: int = 4,
        intervals: bool = False,
        pairs: bool | None = None,
        power: bool = False,
        plots: bool = True,
        sort: str | None = None,
    ) -> Document:
        check_digits(digits)
        page, paper = form == "html", form == "latex"
        figures: list[Part] = []
        if page and plots:
            from irbatch.comparing.plots import plot_figures  # for those who write pages

            figures += plot_figures(self)
        if pairs is None:
            few = self.baseline is not None or len(self.pairs) <= FEW_PAIRS
            pairs = power or (not paper and (few or form in ("html", "notebook")))
        means = not (paper and pairs)
        sort = self.measures[0] if sort is None and page else sort
        limits = _tell_limits(self)
        parts: list[Part] = []
        for name, group in (("all queries", self), *self.groups.items()):
            order = _sorted_systems(group, sort)
            if self.groups:
                parts.append(Heading(f"{name} ({many(len(group.query_ids), 'query')})"))
            if means:
                parts.append(_tabulate_means(group, digits, intervals, order))
            if group is self:
                parts += figures
            if pairs:
                parts.append(_tabulate_pairs(group, digits, power, order))
            if group is self and limits:
                parts.append(Sentences(limits))
        title = f"Comparison of {many(len(self.systems), 'system')}"
        caption, note = _tell(self, means=intervals, differences=pairs)
        legend = _legend_of(self) if means else []
        footer = " | ".join([self.signature, *(limits if paper else [])])
        return Document(title, caption, legend, parts, footer, note)

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
            "means": _list_means(self),
            "pairs": _list_pairs(self, power),
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
            everything["gates"] = [gate._asdict() for gate in gates]
        return everything

    def _records(
        self, *, means: bool = False, power: bool = False
    ) -> tuple[list[str], list[Record]]:
        records = [
            {"group": str(name), **record}
            for name, group in (("", self), *self.groups.items())
            for record in (_list_means(group) if means else _list_pairs(group, power))
        ]
        return list(records[0]), records


At = tuple[int, int]  # of arrays: a pair and a measure


def _number(name: str, array: Any, heading: str = "", **more: Any) -> Column:
    """Return the column of an array ``(pairs, measures)``."""
    return Column(heading, name=name, value=lambda at: array[at].item(), **more)


def pair_columns(compared: Comparison, digits: int = 4, power: bool = False) -> list[Column]:
    """Return the columns of items ``(pair, measure)``; what tells if a difference is real first."""

    def system(side: int) -> Callable[[At], str]:
        return lambda at: compared.systems[compared.pairs[at[0]][side]]

    def mean(side: int) -> Callable[[At], float]:
        return lambda at: float(compared.means[compared.pairs[at[0]][side], at[1]])

    def bold(at: At) -> Record:
        return {"stands_out": bool(compared.significant[at])}

    low, high = np.moveaxis(compared.difference_intervals, -1, 0)
    wins, ties, losses = compared.wins, compared.ties, compared.losses
    lone, plain = compared.baseline is None, compared.correction == "none"
    p: Record = {"descends": False, "show": lambda p: show_p(p, compared.level)}
    return [
        Column("measure", "name", name="measure", value=lambda at: compared.measures[at[1]]),
        Column("system", "name", name="system", value=system(0)),
        Column("against" if lone else "", "name", name="against", value=system(1)),
        Column("", name="queries", value=lambda at: int(compared.counts[at[1]])),
        Column("", name="mean", value=mean(0)),
        Column("", name="mean_against", value=mean(1)),
        _number("difference", compared.differences, "difference",
                meaning="and as a share of the other's mean",
                show=lambda value: show_change(value, digits),
                more=lambda at: {"after": show_percent(compared.relative[at].item())}),
        _number("p", compared.p_values, "p", **p, **({"more": bold} if plain else {})),
        _number("corrected_p", compared.corrected, "" if plain else "corrected p", more=bold, **p),
        _number("significant", compared.significant),
        _number("low", low, "interval",
                text=lambda at: show_interval(low[at], high[at], digits, signed=True)),
        _number("high", high),
        _number("relative", compared.relative),
        _number("wins", wins, "w/t/l", text=lambda at: f"{wins[at]}/{ties[at]}/{losses[at]}",
                meaning="queries where the system is better, equal, worse"),
        _number("ties", ties),
        _number("losses", losses),
        _number("effect", compared.effects, "effect", show=lambda value: show_change(value, 2),
                meaning="Cohen's d_z, the mean over the standard deviation of the queries' "
                        "differences"),
        *(_margin_columns(compared) if compared.margin is not None else ()),
        *((_number("detectable", compared.detectable, "detectable", descends=False,
                   show=lambda value: show(value, digits),
                   meaning="the least true difference that so many queries show with a power of "
                           f"{POWER:.0%}"),
           _number("queries_needed", compared.queries_needed, "queries needed", descends=False,
                   show=lambda value: show(value, 0),
                   meaning=f"to show the observed difference with a power of {POWER:.0%}"),
           ) if power else ()),
    ]  # fmt: skip


def _margin_columns(compared: Comparison) -> list[Column]:
    def verdict(name: str, p_values: Any, heading: str, meaning: str) -> Column:
        def text(at: At) -> str:
            holds = "yes" if p_values[at] < compared.level else "no"
            unknown = math.isnan(compared.p_values[at])
            return NOTHING if unknown else f"{holds}, p {show_p(p_values[at], compared.level)}"

        return _number(name, p_values, heading, text=text, meaning=meaning, descends=False)

    return [
        verdict("not_worse_p", compared.not_worse_p, "not worse",
                "whether the system is shown to be less than the margin worse"),
        verdict("equivalence_p", compared.equivalence_p, "equivalent",
                "whether the two are shown to be less than the margin apart"),
    ]  # fmt: skip


def _list_pairs(compared: Comparison, power: bool) -> list[Record]:
    """Return a record of each measure and pair, with every digit."""
    at = [(pair, k) for k in range(len(compared.measures)) for pair in range(len(compared.pairs))]
    return list_records(pair_columns(compared, power=power), at)[1]


def _tabulate_pairs(compared: Comparison, digits: int, power: bool, order: Sequence[int]) -> Table:
    """Lay out one row a measure and pair, of systems in the order of the means."""
    places = [[order.index(system) for system in pair] for pair in compared.pairs]
    pairs = sorted(range(len(places)), key=places.__getitem__)
    against = "" if compared.baseline is None else f" from {compared.baseline}"
    caption = f"Differences{against}; significant p-values are bold"
    at = [(pair, k) for k in range(len(compared.measures)) for pair in pairs]
    return make_table(caption, pair_columns(compared, digits, power), at)


def _list_means(compared: Comparison) -> list[Record]:
    """Return a record of each measure and system, with every digit."""
    low, high = np.moveaxis(compared.intervals, -1, 0)
    return [
        {"measure": measure, "system": system, "queries": int(compared.counts[k]),
         "mean": compared.means[i, k].item(), "low": low[i, k].item(), "high": high[i, k].item()}
        for k, measure in enumerate(compared.measures)
        for i, system in enumerate(compared.systems)
    ]  # fmt: skip


def _sorted_systems(compared: Comparison, sort: str | None) -> list[int]:
    """Return the systems' positions as given, or from the best on a measure on."""
    if sort is None:
        return list(range(len(compared.systems)))
    column = compared.find_measure(sort)
    return best_first(compared.means[:, column], int(compared.signs[column]))


def _legend_of(compared: Comparison) -> Legend:
    """Say what the marks of means are."""
    best = (BEST, "the best mean of a measure")
    if compared.baseline is None:
        return [best, (MARKS, "the systems it is significantly better than")]
    return [best, (f"{BETTER} {WORSE}", f"significantly better, worse than {compared.baseline}")]


def _tabulate_means(
    compared: Comparison, digits: int, intervals: bool, order: Sequence[int]
) -> Table:
    """Lay out one row a system; without a baseline systems have letters."""
    letters = {system: letter(place) for place, system in enumerate(order)}
    marks = _marks(compared, letters)

    def mean(k: int) -> Column:
        best = is_best((compared.means[:, k] * (compared.signs[k] or math.nan)).tolist())

        def more(i: int) -> Record:
            low, high = compared.intervals[i, k].tolist()
            within = show_interval(low, high, digits) if intervals else ""
            return {"stands_out": best[i], "after": within, "marks": marks[i][k]}

        return Column(compared.measures[k], value=lambda i: float(compared.means[i, k]), more=more,
                      show=lambda value: show(value, digits))  # fmt: skip

    columns = [Column("#", "mark", descends=False, text=letters.__getitem__)]
    columns = columns if compared.baseline is None else []
    notes = {compared.baseline: {"after": "baseline"}}
    columns.append(Column("system", "name", value=lambda i: compared.systems[i],
                          more=lambda i: notes.get(compared.systems[i], {})))  # fmt: skip
    columns += map(mean, range(len(compared.measures)))
    caption = f"Means of {many(len(compared.query_ids), 'query')}"
    return make_table(caption, columns, order)


def _marks(compared: Comparison, letters: Mapping[int, str]) -> list[list[list[str]]]:
    """Say for each system and measure what it beats (with a baseline: how it compares)."""
    marks: list[list[list[str]]] = [[[] for _ in compared.measures] for _ in compared.systems]
    for pair, k in np.argwhere(compared.significant).tolist():
        a, b = compared.pairs[pair]
        difference = compared.differences[pair, k] * compared.signs[k]
        if compared.baseline is not None and difference:
            marks[a][k].append(BETTER if difference > 0 else WORSE)
        elif difference:
            better, worse = (a, b) if difference > 0 else (b, a)
            marks[better][k].append(letters[worse])
    return [[sorted(cell, key=lambda a: (len(a), a)) for cell in row] for row in marks]


def _tell(compared: Comparison, *, means: bool, differences: bool) -> tuple[str, str]:
    """Say how systems were compared and what is shown; and what of it any other caption needs."""
    grades = re.findall(r"grade >= (\S+)", compared.settings.get("relevant", ""))
    relevant = f", relevant from grade {' or '.join(grades)}" if grades else ""
    intervals = f"; {compared.told_intervals}" if means or differences else ""
    if differences and compared.simultaneous:
        intervals += ", those of differences simultaneous"
    queries = many(len(compared.query_ids), "query")
    how = f"{queries}{relevant}; {compared.told_test}{intervals}."
    systems = many(len(compared.systems) - (compared.baseline is not None), "system")
    against = f" against {compared.baseline}" if compared.baseline is not None else ""
    margin = [compared.told_margin] if differences and compared.told_margin else []
    left_out = tell_queries(compared)
    return " ".join([f"{systems}{against}, {how}", *margin, *left_out]), " ".join([how, *left_out])


def tell_queries(compared: Comparison) -> list[str]:
    """Say which queries are left out, and which count 0."""
    sentences = []
    if out := {query for queries in compared.missing.values() for query in queries}:
        sentences.append(f"Left out, as not all systems have them: {many(len(out), 'query')}.")
    lacking = (len(compared.query_ids) - compared.counts).tolist()
    for count, name in zip(lacking, compared.measures, strict=True):
        if count:
            queries = many(count, "query")
            sentences.append(f"Left out of {name}, of which a system has no value: {queries}.")
    zeros = ((len(queries), name) for name, queries in compared.unanswered.items())
    if counted := [f"{count} of {name}" for count, name in zeros if count]:
        sentences.append(f"Queries without a ranking, counting 0: {', '.join(counted)}.")
    return sentences


def _tell_limits(compared: Comparison) -> list[str]:
    """Say if so few queries cannot tell anything."""
    never = compared.pairs and compared.least_p >= compared.level
    return [f"{compared.undecided} Nothing can be significant."] if never else []
