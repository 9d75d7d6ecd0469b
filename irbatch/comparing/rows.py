"""What a comparison is made of, a row each: its settings, and the columns of its reports.

The command's options follow from the settings, tables and records from the columns.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypedDict

import numpy as np

from irbatch.array_types import Bools, Floats
from irbatch.errors import InputError, many
from irbatch.report.document import (
    BEST,
    BETTER,
    MARKS,
    NOTHING,
    WORSE,
    Column,
    Document,
    Heading,
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
    tell_few,
)
from irbatch.runtime.numbers import check_choice
from irbatch.statistics.intervals import INTERVALS, POWER, levels_of
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

Comparison = Any  # an `irbatch.Comparison`, whose module imports this one
FEW_PAIRS = 6  # that are listed though there is no baseline

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

    def __post_init__(self) -> None:
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


def make_document(
    compared: Comparison,
    form: str,
    *,
    digits: int = 4,
    intervals: bool = False,
    pairs: bool | None = None,
    power: bool = False,
    plots: bool = True,
    sort: str | None = None,
) -> Document:
    """Return the report of a comparison; `irbatch.Comparison` describes the options."""
    check_digits(digits)
    page, paper = form == "html", form == "latex"
    if pairs is None:
        few = compared.baseline is not None or len(compared.pairs) <= FEW_PAIRS
        pairs = power or (not paper and (few or form in ("html", "notebook")))
    means = not (paper and pairs)
    sort = compared.measures[0] if sort is None and page else sort
    limits = tell_limits(compared)
    parts: list[Part] = []
    for name, group in (("all queries", compared), *compared.groups.items()):
        order = _sorted_systems(group, sort)
        if compared.groups:
            parts.append(Heading(f"{name} ({many(len(group.query_ids), 'query')})"))
        if means:
            parts.append(_tabulate_means(group, digits, intervals, order))
        if group is compared and page and plots:
            from irbatch.comparing.plots import plot_figures  # for those who write pages

            parts += plot_figures(compared)
        if pairs:
            parts.append(_tabulate_pairs(group, digits, power, order))
        if group is compared and limits:
            parts.append(Sentences(limits))
    title = f"Comparison of {many(len(compared.systems), 'system')}"
    caption, note = tell(compared, means=intervals, differences=pairs)
    marks = (MARKS, "the systems it is significantly better than")
    if compared.baseline is not None:
        marks = (f"{BETTER} {WORSE}", f"significantly better, worse than {compared.baseline}")
    legend = [(BEST, "the best mean of a measure"), marks] if means else []
    footer = " | ".join([compared.signature, *(limits if paper else [])])
    return Document(title, caption, legend, parts, footer, note)


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


def list_pairs(compared: Comparison, power: bool) -> list[Record]:
    """Return a record of each measure and pair, with every digit."""
    at = [(pair, k) for k in range(len(compared.measures)) for pair in range(len(compared.pairs))]
    return list_records(pair_columns(compared, power=power), at)[1]


def _tabulate_pairs(compared: Comparison, digits: int, power: bool, order: Sequence[int]) -> Table:
    """Lay out one row a measure and pair, of systems in the order of the means."""
    pairs = sorted(range(len(compared.pairs)), key=lambda i: [*map(order.index, compared.pairs[i])])
    against = "" if compared.baseline is None else f" from {compared.baseline}"
    caption = f"Differences{against}; significant p-values are bold"
    at = [(pair, k) for k in range(len(compared.measures)) for pair in pairs]
    return make_table(caption, pair_columns(compared, digits, power), at)


def list_means(compared: Comparison) -> list[Record]:
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


def tell(compared: Comparison, *, means: bool, differences: bool) -> tuple[str, str]:
    """Say how systems were compared and what is shown; and what of it any other caption needs."""
    grades = re.findall(r"grade >= (\S+)", compared.settings.get("relevant", ""))
    relevant = f", relevant from grade {' or '.join(grades)}" if grades else ""
    few = tell_few(len(compared.query_ids), compared.interval)
    intervals = f"; {compared.told_intervals}{few}" if means or differences else ""
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


def tell_limits(compared: Comparison) -> list[str]:
    """Say if so few queries cannot tell anything."""
    never = compared.pairs and compared.least_p >= compared.level
    return [f"{compared.undecided} Nothing can be significant."] if never else []
