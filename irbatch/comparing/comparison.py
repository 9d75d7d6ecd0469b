"""A comparison of systems: its numbers, with the forms that they are reported in."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from irbatch.comparing.differences import INTERVAL_NAMES, MARGIN_NAMES, NAMES, Differences
from irbatch.comparing.gate import Outcome, check, failed
from irbatch.errors import many, printable
from irbatch.report.document import (
    BEST,
    BETTER,
    MARKS,
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
from irbatch.report.numbers import (
    NOTHING,
    best_first,
    check_digits,
    is_best,
    show,
    show_change,
    show_interval,
    show_p,
    show_percent,
)
from irbatch.report.reported import Reported
from irbatch.report.text import letter
from irbatch.runtime.numbers import check_choice
from irbatch.statistics.intervals import POWER
from irbatch.statistics.tests import margin_correction, read_margin

UNEVEN = 0.05  # a difference of judged shares that means may come from

At = tuple[int, int]  # of arrays: a pair, or a system, and a measure


def _number(name: str, array: Any, heading: str = "", **more: Any) -> Column:
    """Return the column of an array ``(pairs, measures)``."""
    return Column(heading, name=name, value=lambda at: array[at].item(), **more)


def pair_columns(compared: Differences, digits: int = 4, power: bool = False) -> list[Column]:
    """Return the columns of items ``(pair, measure)``; what tells if a difference is real first."""

    def system(side: int) -> Callable[[At], str]:
        return lambda at: compared.systems[compared.pairs[at[0]][side]]

    def mean(side: int) -> Callable[[At], float]:
        return lambda at: float(compared.means[compared.pairs[at[0]][side], at[1]])

    def bold(at: At) -> Record:
        return {"stands_out": bool(compared.significant[at])}

    check_choice("power", power, (True, False))
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
        *(_power_columns(compared, digits) if power else ()),
    ]  # fmt: skip


def _margin_columns(compared: Differences) -> list[Column]:
    def verdict(name: str, p_values: Any, heading: str, meaning: str) -> Column:
        def text(at: At) -> str:
            holds = "yes" if p_values[at] < compared.level else "no"
            unknown = math.isnan(compared.p_values[at])
            return NOTHING if unknown else f"{holds}, p {show_p(p_values[at], compared.level)}"

        return _number(name, p_values, heading, text=text, meaning=meaning, descends=False)

    return [
        verdict("not_worse_p", compared.not_worse_p, "not worse",
                "whether the system is shown to be less than the margin worse"),
        _number("not_worse", compared.not_worse),
        verdict("equivalence_p", compared.equivalence_p, "equivalent",
                "whether the two are shown to be less than the margin apart"),
        _number("equivalent", compared.equivalent),
    ]  # fmt: skip


def _power_columns(compared: Differences, digits: int) -> list[Column]:
    return [
        _number("detectable", compared.detectable, "detectable", descends=False,
                show=lambda value: show(value, digits),
                meaning="the least true difference that so many queries show with a power of "
                        f"{POWER:.0%}"),
        _number("queries_needed", compared.queries_needed, "queries needed", descends=False,
                show=lambda value: show(value, 0),
                meaning=f"to show the observed difference with a power of {POWER:.0%}"),
    ]  # fmt: skip


def list_pairs(compared: Differences, power: bool) -> list[Record]:
    """Return a record of each measure and pair, with every digit."""
    columns = pair_columns(compared, power=power)
    return list_records(columns, _places(compared, range(len(compared.pairs))))[1]


def _places(compared: Differences, pairs: Sequence[int]) -> list[At]:
    return [(pair, k) for k in range(len(compared.measures)) for pair in pairs]


def tabulate_pairs(compared: Differences, digits: int, power: bool, sort: str | None) -> Table:
    """Lay out one row a measure and pair, of systems in the order of the means."""
    pairs = list(range(len(compared.pairs)))
    if sort is not None:
        order = sorted_systems(compared, sort)
        pairs.sort(key=lambda pair: [order.index(i) for i in compared.pairs[pair]])
    against = "" if compared.baseline is None else f" from {compared.baseline}"
    caption = f"Differences{against}; significant p-values are bold"
    return make_table(caption, pair_columns(compared, digits, power), _places(compared, pairs))


def list_means(compared: Differences) -> list[Record]:
    """Return a record of each measure and system, with every digit."""
    low, high = np.moveaxis(compared.intervals, -1, 0)
    return [
        {"measure": measure, "system": system, "queries": int(compared.counts[k]),
         "mean": compared.means[i, k].item(), "low": low[i, k].item(), "high": high[i, k].item()}
        for k, measure in enumerate(compared.measures)
        for i, system in enumerate(compared.systems)
    ]  # fmt: skip


def count_significant(compared: Differences) -> str:
    """Say in one line what the table of pairs would."""
    pairs = len(compared.pairs)
    counts = compared.significant.sum(axis=0).tolist()
    by_measure = (
        f"{n} of {pairs} on {name}" for n, name in zip(counts, compared.measures, strict=True)
    )
    return f"Significant differences: {', '.join(by_measure)}. pairs=True (--pairs) lists them."


def legend_of(compared: Differences) -> Legend:
    """Say what the marks of means are."""
    best = (BEST, "the best mean of a measure")
    if compared.baseline is None:
        return [best, (MARKS, "the systems it is significantly better than")]
    return [best, (f"{BETTER} {WORSE}", f"significantly better, worse than {compared.baseline}")]


def sorted_systems(compared: Differences, sort: str | None) -> list[int]:
    """Return the systems' positions as given, or from the best on a measure on."""
    if sort is None:
        return list(range(len(compared.systems)))
    column = compared.find_measure(sort)
    return best_first(compared.means[:, column], compared.sign_of(column))


def tabulate_means(compared: Differences, digits: int, intervals: bool, sort: str | None) -> Table:
    """Lay out one row a system; without a baseline systems have letters."""
    signs, order = compared.sign_of(), sorted_systems(compared, sort)
    letters = {system: letter(place) for place, system in enumerate(order)}
    marks = _marks(compared, letters)

    def after(i: int) -> Record:
        return {"after": "baseline" if compared.systems[i] == compared.baseline else ""}

    def mean(k: int) -> Column:
        best = is_best((compared.means[:, k] * (signs[k] or math.nan)).tolist())

        def more(i: int) -> Record:
            low, high = compared.intervals[i, k].tolist()
            within = show_interval(low, high, digits) if intervals else ""
            return {"stands_out": best[i], "after": within, "marks": marks[i][k]}

        return Column(compared.measures[k], value=lambda i: float(compared.means[i, k]), more=more,
                      show=lambda value: show(value, digits))  # fmt: skip

    columns = [Column("#", "mark", descends=False, text=letters.__getitem__)]
    columns = columns if compared.baseline is None else []
    columns.append(Column("system", "name", value=lambda i: compared.systems[i], more=after))
    columns += map(mean, range(len(compared.measures)))
    caption = f"Means of {many(len(compared.query_ids), 'query')}"
    return make_table(caption, columns, order)


def _marks(compared: Differences, letters: Mapping[int, str]) -> list[list[list[str]]]:
    """Say for each system and measure what it beats (with a baseline: how it compares)."""
    marks: list[list[list[str]]] = [[[] for _ in compared.measures] for _ in compared.systems]
    for pair, k in np.argwhere(compared.significant).tolist():
        a, b = compared.pairs[pair]
        difference = compared.differences[pair, k] * compared.sign_of(k)
        if compared.baseline is not None and difference:
            marks[a][k].append(BETTER if difference > 0 else WORSE)
        elif difference:
            better, worse = (a, b) if difference > 0 else (b, a)
            marks[better][k].append(letters[worse])
    return [[sorted(cell, key=lambda a: (len(a), a)) for cell in row] for row in marks]


def tell_how(compared: Differences, *, means: bool = True, differences: bool = True) -> str:
    """Say how systems were compared, and what the intervals and margins that are shown are."""
    systems = many(len(compared.systems) - (compared.baseline is not None), "system")
    against = f" against {compared.baseline}" if compared.baseline is not None else ""
    sentences = [f"{systems}{against}, {tell_test(compared, means, differences)}."]
    if compared.model is not None:
        alone = compared.model.others.shape[1]
        sentences.append(
            f"Means and differences are of these queries under people's judgments and of {alone} "
            "more under a model's."
        )
    if differences and compared.margin is not None:
        margin = read_margin(compared.margin)
        within = f"{margin} of the other's mean" if margin.relative else str(margin)
        correction = margin_correction(compared.test, compared.correction)
        how = "" if correction == "none" else f", {NAMES[correction]}"
        tests = MARGIN_NAMES[compared.margin_test]
        sentences.append(f"Equivalent: within {within}, by two {tests}{how}.")
    return " ".join(sentences)


def tell_test(compared: Differences, means: bool, differences: bool) -> str:
    """Say what a paper has to: queries, what is relevant if known, the test, intervals shown."""
    test = NAMES[compared.test]
    if compared.alternative != "two-sided":
        test = f"one-sided {test} ({compared.alternative})"
    corrected = "" if compared.correction == "none" else f", {NAMES[compared.correction]}"
    if corrected and compared.family == "all":
        corrected += " for all measures together"
    grades = re.findall(r"grade >= (\S+)", compared.settings.get("relevant", ""))
    relevant = f", relevant from grade {' or '.join(grades)}" if grades else ""
    queries = many(len(compared.query_ids), "query")
    how = f"{queries}{relevant}; {test}{corrected}, level {compared.level:g}"
    if means or differences:
        how += f"; {compared.percent} {INTERVAL_NAMES[compared.interval]} intervals"
    if differences and compared.simultaneous:
        how += ", those of differences simultaneous"
    return how


def tell_queries(compared: Differences) -> list[str]:
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


def remarks(compared: Differences, *, differences: bool = True) -> list[str]:
    """Say what else the numbers hide, a sentence or two each; of differences if they are shown."""
    sentences = []
    if compared.pairs and compared.least_p >= compared.level:
        sentences.append(f"{compared.undecided} Nothing can be significant.")
    if differences and not compared.varies.all():
        sentences.append(
            "Differences that are the same in every query have no interval and no effect: how much "
            "they would vary is not known."
        )
    for cutoff, shares in compared.judged_shares.items():
        judged = [(share, i) for i, share in enumerate(shares.tolist()) if not math.isnan(share)]
        if judged and max(judged)[0] - min(judged)[0] >= UNEVEN:
            least, most = (
                f"{share:.0%} ({compared.systems[i]})" for share, i in (min(judged), max(judged))
            )
            sentences.append(
                f"Judged of the first {cutoff} documents: from {least} to {most}; what is not "
                "judged counts as not relevant."
            )
    return sentences


FEW_PAIRS = 6  # that are listed though there is no baseline


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Comparison(Reported, Differences):
    """What `irbatch.compare` returns: numbers, and reports of them in every form.

    Reports for people (`to_text`, `to_markdown`, `to_latex`, `to_html`) have as options: `digits`,
    how many decimals of means and differences (default: 4); `intervals`, whether means come with
    theirs (False); `pairs`, whether the table of pairs follows, by default where there is a
    baseline, of few pairs, and on a page: in LaTeX it is written in place of the means, and only if
    asked for; `power`, whether that table tells which difference these queries could have shown and
    how many queries the observed one takes, with a power of 0.8 (False), which takes SciPy; `sort`,
    the measure by whose means systems stand, in both tables, from the best on, on a page the first
    one, else as they were given. On a page: `plots` of differences (True),
    which take matplotlib.

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
        judged_shares: cutoff to the mean share of the documents up to it that are judged, of
            queries with a ranking, float64 ``(systems,)``; empty where that isn't known.
        settings: how the values and the comparison came about.
        missing: system to the queries that others have and it has not: they are left out.
        unanswered: system to the queries it has no ranking for, which count 0.
        groups: a comparison of each group of queries, by name.
        alone: the groups of one query, which `groups` lacks.
    """

    _label: ClassVar[str] = "tab:comparison"

    def __repr__(self) -> str:
        return (
            f"Comparison of {', '.join(map(printable, self.systems))} on {', '.join(self.measures)}"
        )

    def failures(self, *conditions: str | Iterable[str]) -> list[str]:
        """Say in a sentence each of which systems conditions hold: ``"nDCG@10 drops 1% p<0.05"``.

        For a test of a release: ``assert not comparison.failures(…)``.

        Args:
            *conditions: ``MEASURE drops|rises|changes|worsens|improves [AMOUNT[%]] [p<LEVEL]``,
                against the baseline, p being corrected; or
                ``MEASURE [lower bound|upper bound] < NUMBER``, of any mean but the baseline's, or
                of an end of its interval, or ``missing queries > NUMBER``. ``in GROUP:`` before it
                looks at a group of queries, ``in every group:`` at each. One of one query fails.

        Raises:
            InputError: if there is none; or one is not of this form, can never hold, holds of what
                is good, or takes a baseline and there is none.
        """
        return failed(check(self, conditions, required=False))

    def unmet(self, *requirements: str | Iterable[str]) -> list[str]:
        """Say in a sentence which systems don't meet ``"nDCG@10 not worse than baseline by 1%"``.

        ``assert not comparison.unmet(…)`` fails unless the data show it: few queries don't pass.

        Args:
            *requirements: ``MEASURE not worse [than BASELINE] by AMOUNT[%] [p<LEVEL]``: the
                corrected p of `not_worse_than` is below the level, by default the comparison's; or
                ``MEASURE [lower bound|upper bound] >= NUMBER[%]``. Groups as in `failures`.

        Raises:
            InputError: as `failures`, and if a requirement can never be met, or always is.
        """
        return failed(check(self, requirements, required=True))

    def caption(self) -> str:
        """Say how systems were compared, and what the means hide."""
        return " ".join([tell_how(self), *tell_queries(self), *remarks(self)])

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
        few = self.baseline is not None or len(self.pairs) <= FEW_PAIRS
        listed = power or (not paper and (few or form in ("html", "notebook")))
        listed = listed if pairs is None else pairs
        means = not (paper and listed)
        sort = self.measures[0] if sort is None and page else sort
        with_intervals = {"means": intervals, "differences": listed}
        queries, hidden = tell_queries(self), remarks(self, differences=listed)
        beside, below = (queries, []) if paper else ([], [*queries, *hidden])
        parts: list[Part] = []
        for name, group in (("all queries", self), *self.groups.items()):
            if self.groups:
                parts.append(Heading(f"{name} ({many(len(group.query_ids), 'query')})"))
            if means:
                parts.append(tabulate_means(group, digits, intervals, sort))
            sentences = [] if listed or pairs is not None or paper else [count_significant(group)]
            if group is self:
                parts += figures
                sentences += below
            if listed:
                parts.append(tabulate_pairs(group, digits, power, sort))
            if sentences:
                parts.append(Sentences(sentences))
        title = f"Comparison of {many(len(self.systems), 'system')}"
        caption = " ".join([tell_how(self, **with_intervals), *beside])
        note = " ".join([f"{tell_test(self, **with_intervals)}.", *beside])
        settings = " | ".join([self.signature, *(hidden if paper else [])])
        return Document(title, caption, legend_of(self) if means else [], parts, settings, note)

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
            "judged": [
                {"cutoff": cutoff, "system": system, "judged": share}
                for cutoff, shares in self.judged_shares.items()
                for system, share in zip(self.systems, shares.tolist(), strict=True)
            ],
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
            everything["gates"] = [gate._asdict() for gate in gates]
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
