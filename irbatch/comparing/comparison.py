"""A comparison of systems: its numbers, with the forms that they are reported in."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, ClassVar

import numpy as np

from irbatch.comparing.differences import Differences
from irbatch.comparing.gate import Outcome, check, failed
from irbatch.comparing.settings import INTERVAL_NAMES, MARGIN_NAMES, NAMES
from irbatch.errors import InputError, many, printable
from irbatch.report.document import (
    BEST,
    BETTER,
    DAGGERS,
    MARKS,
    WORSE,
    Cell,
    Column,
    Document,
    Heading,
    Legend,
    Part,
    Record,
    Row,
    Sentences,
    Table,
    make_table,
)
from irbatch.report.numbers import (
    NOTHING,
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
from irbatch.statistics.intervals import POWER
from irbatch.statistics.tests import margin_correction, read_margin

UNEVEN = 0.05  # a difference of judged shares that means may come from
FEW_QUERIES = 50  # of which Student's t interval of a skewed mean misses too often


def list_pairs(compared: Differences, power: bool) -> tuple[list[str], list[Record]]:
    """Return names, and a record of each measure and pair, with every digit."""
    low, high = np.moveaxis(compared.difference_intervals, -1, 0)
    numbers: dict[str, Any] = {
        "difference": compared.differences, "p": compared.p_values,
        "corrected_p": compared.corrected, "significant": compared.significant,
        "low": low, "high": high, "relative": compared.relative, "wins": compared.wins,
        "ties": compared.ties, "losses": compared.losses, "effect": compared.effects,
    }  # fmt: skip
    if compared.margin is not None:
        numbers |= {"not_worse_p": compared.not_worse_p, "not_worse": compared.not_worse,
                    "equivalence_p": compared.equivalence_p,
                    "equivalent": compared.equivalent}  # fmt: skip
    if power:
        numbers |= {"detectable": compared.detectable, "queries_needed": compared.queries_needed}
    names = ["measure", "system", "against", "queries", "mean", "mean_against", *numbers]
    records = [
        dict(zip(names, (
            measure, compared.systems[a], compared.systems[b], len(compared.query_ids),
            float(compared.means[a, k]), float(compared.means[b, k]),
            *(array[pair, k].item() for array in numbers.values()),
        ), strict=True))
        for k, measure in enumerate(compared.measures)
        for pair, (a, b) in enumerate(compared.pairs)
    ]  # fmt: skip
    return names, records


def list_means(compared: Differences) -> tuple[list[str], list[Record]]:
    """Return names, and a record of each measure and system, with every digit."""
    names = ["measure", "system", "queries", "mean", "low", "high"]
    records = [
        dict(zip(names, (
            measure, system, len(compared.query_ids), float(compared.means[i, k]),
            *compared.intervals[i, k].tolist(),
        ), strict=True))
        for k, measure in enumerate(compared.measures)
        for i, system in enumerate(compared.systems)
    ]  # fmt: skip
    return names, records


def list_everything(compared: Differences, per_query: bool, power: bool) -> Record:
    """Return everything about a comparison, as JSON has it."""
    everything: Record = {
        "systems": list(compared.systems),
        "measures": list(compared.measures),
        **compared.options,
        "queries": len(compared.query_ids),
        "settings": dict(compared.settings),
        "signature": compared.signature,
        "caption": tell_how(compared),
        "means": list_means(compared)[1],
        "judged": [
            {"cutoff": cutoff, "system": system, "judged": share}
            for cutoff, shares in compared.judged_shares.items()
            for system, share in zip(compared.systems, shares.tolist(), strict=True)
        ],
        "pairs": list_pairs(compared, power)[1],
    }
    if per_query:
        values = compared.values.transpose(0, 2, 1).tolist()
        everything["query_ids"] = [str(query) for query in compared.query_ids]
        everything["per_query"] = {
            system: dict(zip(compared.measures, of_system, strict=True))
            for system, of_system in zip(compared.systems, values, strict=True)
        }
    everything["groups"] = {
        str(name): list_everything(group, per_query, power)
        for name, group in compared.groups.items()
    }
    return everything


def tabulate_pairs(compared: Differences, digits: int, power: bool) -> Table:
    """Lay out one row a measure and pair."""

    def write_p(name: str, item: Record) -> str:
        return show_p(item[name], compared.level)

    def verdict(name: str) -> Any:
        def write(item: Record) -> str:
            if math.isnan(item["p"]):
                return NOTHING
            return f"{'yes' if item[f'{name}'] < compared.level else 'no'}, p {write_p(name, item)}"

        return write

    def significant(item: Record) -> Record:
        return {"stands_out": item["significant"]}

    def column(heading: str, name: str, text: Any, meaning: str = "", **more: Any) -> Column:
        return Column(heading, value=itemgetter(name), text=text, meaning=meaning, **more)

    # What tells whether a difference is real comes first: of a wide table only that may be seen.
    columns = [
        Column("measure", "name", value=itemgetter("measure")),
        Column("system", "name", value=itemgetter("system")),
        column("difference", "difference", lambda item: show_change(item["difference"], digits),
               "and as a share of the other's mean",
               more=lambda item: {"after": show_percent(item["relative"])}),
    ]  # fmt: skip
    if compared.baseline is None:
        columns.insert(2, Column("against", "name", value=itemgetter("against")))
    plain = compared.correction == "none"
    columns.append(column("p", "p", lambda item: write_p("p", item), descends=False,
                          more=significant if plain else lambda item: {}))  # fmt: skip
    if not plain:
        columns.append(column("corrected p", "corrected_p",
                              lambda item: write_p("corrected_p", item), descends=False,
                              more=significant))  # fmt: skip
    columns += [
        column("interval", "low",
               lambda item: show_interval(item["low"], item["high"], digits, signed=True)),
        column("w/t/l", "wins", lambda item: f"{item['wins']}/{item['ties']}/{item['losses']}",
               "queries where the system is better, equal, worse"),
        column("effect", "effect", lambda item: show_change(item["effect"], 2),
               "Cohen's d_z, the mean over the standard deviation of the queries' differences"),
    ]  # fmt: skip
    if compared.margin is not None:
        columns += [
            column("not worse", "not_worse_p", verdict("not_worse_p"),
                   "whether the system is shown to be less than the margin worse", descends=False),
            column("equivalent", "equivalence_p", verdict("equivalence_p"),
                   "whether the two are shown to be less than the margin apart", descends=False),
        ]  # fmt: skip
    if power:
        columns += [
            column("detectable", "detectable", lambda item: show(item["detectable"], digits),
                   f"the least true difference that {POWER:.0%} of such comparisons show",
                   descends=False),
            column("queries needed", "queries_needed",
                   lambda item: show(item["queries_needed"], 0),
                   "how many queries would show the observed difference so often", descends=False),
        ]  # fmt: skip
    against = "" if compared.baseline is None else f" from {compared.baseline}"
    caption = f"Differences{against}; significant p-values are bold"
    return make_table(caption, columns, list_pairs(compared, power)[1])


def count_significant(compared: Differences) -> str:
    """Say in one line what the table of pairs would."""
    pairs = len(compared.pairs)
    counts = compared.significant.sum(axis=0).tolist()
    said = (f"{n} of {pairs} on {name}" for n, name in zip(counts, compared.measures, strict=True))
    return f"Significant differences: {', '.join(said)}. pairs=True (--pairs) lists them."


def legend_of(compared: Differences) -> Legend:
    """Say what the marks of means are."""
    if len(compared.systems) < 2:
        return []
    best = (BEST, "the best mean of a measure")
    if compared.baseline is None:
        return [best, (MARKS, "the systems it is significantly better than")]
    return [best, (f"{BETTER} {WORSE}", f"significantly better, worse than {compared.baseline}")]


def tabulate_means(
    compared: Differences, digits: int, intervals: bool, judged: bool, sort: str | None
) -> Table:
    """Lay out one row a system, in the order given or from the best on; see `Comparison`.

    Without a baseline systems have letters.
    """
    if judged and not compared.judged:
        problem = "how much is judged isn't known: compare runs, on measures that have cutoffs"
        raise InputError(problem, source="judged")
    lettered = compared.baseline is None
    columns = [Column("#", "mark", descends=False)] if lettered else []
    columns += [Column("system", "name"), *map(Column, compared.measures)]
    columns += [Column(f"judged of {cutoff}") for cutoff in (compared.judged if judged else ())]
    signed = np.where(compared.sign_of() == 0, np.nan, compared.means * compared.sign_of())
    best = [is_best(means) for means in signed.T.tolist()]
    marks = _marks(compared)
    order = range(len(compared.systems))
    if sort is not None:
        order = np.argsort(-signed[:, compared.find_measure(sort)], kind="stable").tolist()
    rows = []
    for i in order:
        system = compared.systems[i]
        cells = [Cell(letter(i), i)] if lettered else []
        cells.append(Cell(system, after="baseline" if system == compared.baseline else ""))
        for k, mean in enumerate(compared.means[i].tolist()):
            low, high = compared.intervals[i, k].tolist()
            within = show_interval(low, high, digits) if intervals else ""
            cells.append(Cell(show(mean, digits), mean, best[k][i], within, marks[i][k]))
        if judged:
            shares = [float(of[i]) for of in compared.judged_shares.values()]
            cells += [Cell(_show_share(share), share) for share in shares]
        rows.append(Row(cells))
    return Table(f"Means of {many(len(compared.query_ids), 'query')}", columns, rows)


def _show_share(share: float) -> str:
    """Write a share of documents; only all of them are 100%."""
    return NOTHING if math.isnan(share) else f"{math.floor(1000 * share) / 10:.1f}%"


def _marks(compared: Differences) -> list[list[list[str]]]:
    """Say for each system and measure what it beats (with a baseline: how it compares)."""
    marks: list[list[list[str]]] = [[[] for _ in compared.measures] for _ in compared.systems]
    for pair, k in np.argwhere(compared.significant).tolist():
        a, b = compared.pairs[pair]
        difference = compared.differences[pair, k] * compared.sign_of(k)
        if compared.baseline is not None and difference:
            marks[a][k].append(BETTER if difference > 0 else WORSE)
        elif difference:
            better, worse = (a, b) if difference > 0 else (b, a)
            marks[better][k].append(letter(worse))
    return [[sorted(each, key=lambda a: (len(a), a)) for each in row] for row in marks]


def tell_how(compared: Differences, *, means: bool = True, differences: bool = True) -> str:
    """Say how systems were compared, and what the means hide; see `Comparison.caption`.

    Of intervals that are not shown, those of means or of differences, nothing is said.
    """
    systems = many(len(compared.systems) - (compared.baseline is not None), "system")
    against = f" against {compared.baseline}" if compared.baseline is not None else ""
    told = f"{systems}{against}, {tell_test(compared)}"
    if means or differences:
        told += f"; {compared.percent} {INTERVAL_NAMES[compared.interval]} intervals"
    if differences and compared.simultaneous:
        told += ", those of differences simultaneous"
    said = [f"{told}."]
    if compared.model is not None:
        alone = compared.model.others.shape[1]
        said.append(f"Means and differences are of these queries under people's judgments and of "
                    f"{alone} more under a model's.")  # fmt: skip
    if compared.pairs and compared.least_p >= compared.level:
        said.append(f"{compared.undecided} Nothing can be significant.")
    if differences and not compared.varies.all():
        said.append(
            "Differences that are the same in every query have no interval and no effect: how much "
            "they would vary is not known."
        )
    if means and compared.interval == "t" and len(compared.query_ids) < FEW_QUERIES:
        said.append(
            f"Of fewer than {FEW_QUERIES} queries an interval of a mean misses more often than it "
            "says where values are skewed or few different ones."
        )
    if compared.margin is not None:
        said.append(_tell_margin(compared))
    out = {query for queries in compared.missing.values() for query in queries}
    if out:
        said.append(f"Left out, as not all systems have them: {many(len(out), 'query')}.")
    zeros = ((len(queries), name) for name, queries in compared.unanswered.items())
    if counted := [f"{count} of {name}" for count, name in zeros if count]:
        said.append(f"Queries without a ranking, counting 0: {', '.join(counted)}.")
    return " ".join([*said, *_tell_judged(compared)])


def tell_test(compared: Differences) -> str:
    """Say what a paper has to: the queries, the test, its correction and the level."""
    test = NAMES[compared.test]
    if compared.alternative != "two-sided":
        test = f"one-sided {test} ({compared.alternative})"
    corrected = "" if compared.correction == "none" else f", {NAMES[compared.correction]}"
    if corrected and compared.family == "all":
        corrected += " for all measures together"
    queries = many(len(compared.query_ids), "query")
    return f"{queries}; {test}{corrected}, level {compared.level:g}"


def _tell_margin(compared: Differences) -> str:
    margin = read_margin(compared.margin)
    within = f"{margin} of the other's mean" if margin.relative else str(margin)
    correction = margin_correction(compared.test, compared.correction)
    how = "" if correction == "none" else f", {NAMES[correction]}"
    return f"Equivalent: within {within}, by two {MARGIN_NAMES[compared.margin_test]}{how}."


def _tell_judged(compared: Differences) -> Iterator[str]:
    """Say where systems are judged so unevenly that their means may differ by that."""
    for cutoff, shares in compared.judged_shares.items():
        known = [(each, i) for i, each in enumerate(shares.tolist()) if not math.isnan(each)]
        if known and max(known)[0] - min(known)[0] >= UNEVEN:
            least, most = (
                f"{share:.0%} ({compared.systems[i]})" for share, i in (min(known), max(known))
            )
            yield (
                f"Judged of the first {cutoff} documents: from {least} to {most}; what is "
                "not judged counts as not relevant."
            )


FEW_PAIRS = 6  # that are listed though there is no baseline


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Comparison(Reported, Differences):
    """What `irbatch.compare` returns: numbers, and reports of them in every form.

    Reports for people (`to_text`, `to_markdown`, `to_latex`, `to_html`) have as options: `digits`,
    how many decimals of means and differences (default: 4); `intervals`, whether means come with
    theirs (False); `judged`, whether they stand beside the share of documents that are judged, up
    to each cutoff (False); `pairs`, whether the
    table of pairs follows, by default where there is a baseline, of few pairs, and on a page: in
    LaTeX it is written in place of the means, and only if asked for; `power`, whether it tells of
    each pair which difference these queries could have shown and how many queries the observed one
    takes, with a power of 0.8 (False), which takes SciPy; `sort`, the measure by whose means
    systems stand, from the best on, on a page the first one, else as they were given; `daggers`,
    whether † and ‡ mark what is significantly better and worse than the baseline, in place of
    arrows (False). On a page: `plots` of differences (True), which take matplotlib, and `pair`, the
    two systems whose differences are plotted query by query; by default the best of the first
    measure and the baseline, or else the second best.

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
        judged: cutoff to the share of each query's documents up to it that are judged, float64
            ``(systems, queries)``, NaN of queries without a ranking; `judged_shares` are their
            means. Empty where that isn't known.
        test, alternative, correction, family, level, interval, simultaneous, draws, seed, margin,
            margin_test: as they were asked for.
        least_p: the least corrected p-value that could come out, however clear the differences.
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
        return tell_how(self)

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
        judged: bool = False,
        power: bool = False,
        daggers: bool = False,
        plots: bool = True,
        pair: tuple[str, str] | None = None,
        sort: str | None = None,
    ) -> Document:
        check_digits(digits)
        page, paper = form == "html", form == "latex"
        figures: list[Part] = []
        if page and plots:
            from irbatch.comparing.plots import plot_figures  # for those who write pages

            figures += plot_figures(self, pair)
        few = self.baseline is not None or len(self.pairs) <= FEW_PAIRS
        default = not paper and (few or form in ("html", "notebook"))
        listed = bool(self.pairs) and (default if pairs is None else pairs)
        means = not (paper and pairs)
        sort = self.measures[0] if sort is None and page else sort
        parts: list[Part] = []
        for name, each in (("all queries", self), *self.groups.items()):
            if self.groups:
                parts.append(Heading(f"{name} ({many(len(each.query_ids), 'query')})"))
            if means:
                parts.append(tabulate_means(each, digits, intervals, judged, sort))
            parts += figures if each is self else []
            if listed:
                parts.append(tabulate_pairs(each, digits, power))
            elif each.pairs and pairs is None and not paper:
                parts.append(Sentences([count_significant(each)]))
        title = f"Comparison of {many(len(self.systems), 'system')}"
        caption = tell_how(self, means=intervals, differences=listed)
        legend, note = legend_of(self) if means else [], tell_test(self) if self.pairs else ""
        document = Document(title, caption, legend, parts, self.signature, note and f"{note}.")
        return document.renamed({}, DAGGERS) if daggers else document

    def _everything(
        self, *, per_query: bool = True, power: bool = False, gates: Sequence[Outcome] = ()
    ) -> Record:
        judged = {"gates": [each._asdict() for each in gates]} if gates else {}
        return {**list_everything(self, per_query, power), **judged}

    def _records(
        self, *, means: bool = False, power: bool = False
    ) -> tuple[list[str], list[Record]]:
        groups = (("", self), *self.groups.items())
        listed = [list_means(each) if means else list_pairs(each, power) for _, each in groups]
        records = [
            {"group": str(name), **record}
            for (name, _), (_, found) in zip(groups, listed, strict=True)
            for record in found
        ]
        return ["group", *listed[0][0]], records
