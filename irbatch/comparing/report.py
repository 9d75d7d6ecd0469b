"""A comparison for people and programs: its columns, its tables, its caption."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from irbatch.comparing.differences import Differences
from irbatch.errors import InputError, many
from irbatch.report.document import (
    BEST,
    BETTER,
    MARKS,
    WORSE,
    Cell,
    Column,
    Document,
    Figures,
    Heading,
    Legend,
    Part,
    Record,
    Row,
    Sentences,
    Table,
    list_records,
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
from irbatch.report.text import letter
from irbatch.statistics.intervals import POWER
from irbatch.statistics.tests import margin_correction, read_margin

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
MARGIN_TESTS = {
    "bounded": "one-sided tests that hold for all values in the measure's range",
    "t": "one-sided t-tests",
    "randomisation": "one-sided randomisation tests",
}
UNEVEN = 0.05  # a difference of judged shares that means may come from
FEW_PAIRS = 6  # that are listed though there is no baseline
FEW_QUERIES = 50  # of which Student's t interval of a skewed mean misses too often


@dataclass(frozen=True)
class Place:
    """A pair, or a system, on a measure; and how many decimals are written of it."""

    compared: Differences
    row: int
    measure: int
    digits: int = 4

    def get(self, name: str) -> Any:
        """Return the number that an attribute of the comparison has here."""
        return getattr(self.compared, name)[self.row, self.measure].item()

    def system(self, side: int) -> int:
        """Return the first or the second system of the pair."""
        return self.compared.pairs[self.row][side]

    def mean(self, side: int) -> float:
        """Return the mean of the first or the second system of the pair."""
        return float(self.compared.means[self.system(side), self.measure])

    def bound(self, intervals: str, side: int) -> float:
        """Return an end of an interval."""
        return float(getattr(self.compared, intervals)[self.row, self.measure, side])

    def interval(self) -> str:
        """Write the interval of the difference."""
        low, high = (self.bound("difference_intervals", side) for side in (0, 1))
        return show_interval(low, high, self.digits, signed=True)

    def p(self, name: str) -> str:
        """Write a p-value."""
        return show_p(self.get(name), self.compared.level)

    def verdict(self, name: str) -> str:
        """Write whether something is shown, and its p-value."""
        if math.isnan(self.get("p_values")):
            return NOTHING
        return f"{'yes' if self.get(name) < self.compared.level else 'no'}, p {self.p(name)}"


def _number(
    heading: str,
    name: str,
    attribute: str,
    text: Callable[[Place], str],
    meaning: str = "",
    **more: Any,
) -> Column:
    """Return the column of a comparison's attribute."""
    return Column(heading, name=name, value=lambda at: at.get(attribute), text=text,
                  meaning=meaning, **more)  # fmt: skip


def _bare(name: str, value: Callable[[Place], Any]) -> Column:
    """Return a column for programs alone."""
    return Column("", name=name, value=value)


def _significant(at: Place) -> Record:
    return {"stands_out": at.get("significant")}


# What tells whether a difference is real comes first: of a wide table only that may be seen.
PAIR_COLUMNS = (
    Column("measure", "name", name="measure", value=lambda at: at.compared.measures[at.measure]),
    Column("system", "name", name="system", value=lambda at: at.compared.systems[at.system(0)]),
    Column("against", "name", name="against", value=lambda at: at.compared.systems[at.system(1)]),
    _bare("queries", lambda at: len(at.compared.query_ids)),
    _bare("mean", lambda at: at.mean(0)),
    _bare("mean_against", lambda at: at.mean(1)),
    _number("difference", "difference", "differences",
            lambda at: show_change(at.get("differences"), at.digits),
            "and as a share of the other's mean",
            more=lambda at: {"after": show_percent(at.get("relative"))}),
    _number("p", "p", "p_values", lambda at: at.p("p_values"), descends=False),
    _number("corrected p", "corrected_p", "corrected", lambda at: at.p("corrected"),
            descends=False, more=_significant),
    _bare("significant", lambda at: at.get("significant")),
    Column("interval", name="low", value=lambda at: at.bound("difference_intervals", 0),
           text=lambda at: at.interval()),
    _bare("high", lambda at: at.bound("difference_intervals", 1)),
    _bare("relative", lambda at: at.get("relative")),
    _number("w/t/l", "wins", "wins",
            lambda at: "/".join(str(at.get(name)) for name in ("wins", "ties", "losses")),
            "queries where the system is better, equal, worse"),
    _bare("ties", lambda at: at.get("ties")),
    _bare("losses", lambda at: at.get("losses")),
    _number("effect", "effect", "effects", lambda at: show_change(at.get("effects"), 2),
            "Cohen's d_z, the mean over the standard deviation of the queries' differences"),
)  # fmt: skip
MARGIN_COLUMNS = (
    _number("not worse", "not_worse_p", "not_worse_p", lambda at: at.verdict("not_worse_p"),
            "whether the system is shown to be less than the margin worse", descends=False),
    _bare("not_worse", lambda at: at.get("not_worse")),
    _number("equivalent", "equivalence_p", "equivalence_p", lambda at: at.verdict("equivalence_p"),
            "whether the two are shown to be less than the margin apart", descends=False),
    _bare("equivalent", lambda at: at.get("equivalent")),
)  # fmt: skip
POWER_COLUMNS = (
    _number("detectable", "detectable", "detectable",
            lambda at: show(at.get("detectable"), at.digits),
            f"the least true difference that {POWER:.0%} of such comparisons show", descends=False),
    _number("queries needed", "queries_needed", "queries_needed",
            lambda at: show(at.get("queries_needed"), 0),
            "how many queries would show the observed difference so often", descends=False),
)  # fmt: skip
MEAN_COLUMNS = (
    _bare("measure", lambda at: at.compared.measures[at.measure]),
    _bare("system", lambda at: at.compared.systems[at.row]),
    _bare("queries", lambda at: len(at.compared.query_ids)),
    _bare("mean", lambda at: at.get("means")),
    _bare("low", lambda at: at.bound("intervals", 0)),
    _bare("high", lambda at: at.bound("intervals", 1)),
)


def _pair_columns(compared: Differences, power: bool) -> list[Column]:
    columns = [*PAIR_COLUMNS, *(MARGIN_COLUMNS if compared.margin is not None else ())]
    return [*columns, *(POWER_COLUMNS if power else ())]


def _shown_columns(compared: Differences, power: bool) -> list[Column]:
    """Return the columns that tell people something that others don't."""
    uncorrected = compared.correction == "none"
    hidden = {"corrected_p" if uncorrected else "", "against" if compared.baseline else ""}
    columns = [each for each in _pair_columns(compared, power) if each.name not in hidden]
    return [replace(each, more=_significant) if each.name == "p" and uncorrected else each
            for each in columns]  # fmt: skip


def _places(compared: Differences, of: Literal["pairs", "systems"], digits: int = 4) -> list[Place]:
    measures, rows = range(len(compared.measures)), range(len(getattr(compared, of)))
    return [Place(compared, row, k, digits) for k in measures for row in rows]


def list_pairs(compared: Differences, power: bool) -> tuple[list[str], list[Record]]:
    """Return columns and records: one a group, measure and pair."""
    return _of_groups(compared, _pair_columns(compared, power), "pairs")


def list_means(compared: Differences) -> tuple[list[str], list[Record]]:
    """Return columns and records: one a group, measure and system."""
    return _of_groups(compared, MEAN_COLUMNS, "systems")


def _of_groups(
    compared: Differences, columns: Sequence[Column], of: Literal["pairs", "systems"]
) -> tuple[list[str], list[Record]]:
    names: list[str] = []
    records: list[Record] = []
    for group, part in _all_and_groups(compared, ""):
        names, found = list_records(columns, _places(part, of))
        records += [{"group": group, **each} for each in found]
    return ["group", *names], records


def _all_and_groups(compared: Differences, name: str) -> list[tuple[str, Differences]]:
    return [(name, compared), *((str(group), each) for group, each in compared.groups.items())]


def list_everything(compared: Differences, per_query: bool, power: bool) -> Record:
    """Return everything about a comparison, as JSON has it."""
    columns = _pair_columns(compared, power)
    everything: Record = {
        "systems": list(compared.systems),
        "measures": list(compared.measures),
        **compared.options,
        "queries": len(compared.query_ids),
        "settings": dict(compared.settings),
        "signature": compared.signature,
        "caption": tell_how(compared),
        "means": list_records(MEAN_COLUMNS, _places(compared, "systems"))[1],
        "judged": [
            {"cutoff": cutoff, "system": system, "judged": share, "holes": holes}
            for cutoff, shares in compared.judged_shares.items()
            for system, share, holes in zip(
                compared.systems, shares.tolist(), compared.holes[cutoff].tolist(), strict=True
            )
        ],
        "pairs": list_records(columns, _places(compared, "pairs"))[1],
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


def make_document(
    compared: Differences,
    digits: int = 4,
    *,
    means: bool = True,
    intervals: bool = False,
    pairs: bool | None = None,
    figures: Sequence[Figures] = (),
    judged: bool = False,
    power: bool = False,
    sort: str | None = None,
) -> Document:
    """Return the report of all queries, with figures, then of each group; see `Comparison`."""
    check_digits(digits)
    few = compared.baseline is not None or len(compared.pairs) <= FEW_PAIRS
    listed = bool(compared.pairs) and (few if pairs is None else pairs)
    parts: list[Part] = []
    for name, each in _all_and_groups(compared, "all queries"):
        if compared.groups:
            parts.append(Heading(f"{name} ({many(len(each.query_ids), 'query')})"))
        if means:
            parts.append(_tabulate_means(each, digits, intervals, judged, sort))
        if each is compared:
            parts += figures
        if listed:
            against = "" if compared.baseline is None else f" from {compared.baseline}"
            caption = f"Differences{against}; significant p-values are bold"
            columns = _shown_columns(each, power)
            parts.append(make_table(caption, columns, _places(each, "pairs", digits)))
        elif each.pairs and pairs is None:
            parts.append(Sentences([_count_significant(each)]))
    title = f"Comparison of {many(len(compared.systems), 'system')}"
    note = f"{_tell_test(compared)}." if compared.pairs else ""
    caption = tell_how(compared, means=intervals, differences=listed)
    legend = _legend(compared) if means else []
    return Document(title, caption, legend, parts, compared.signature, note)


def _count_significant(compared: Differences) -> str:
    """Say in one line what the table of pairs would."""
    pairs = len(compared.pairs)
    counts = compared.significant.sum(axis=0).tolist()
    said = (f"{n} of {pairs} on {name}" for n, name in zip(counts, compared.measures, strict=True))
    return f"Significant differences: {', '.join(said)}. pairs=True (--pairs) lists them."


def _legend(compared: Differences) -> Legend:
    if len(compared.systems) < 2:
        return []
    best = (BEST, "the best mean of a measure")
    if compared.baseline is None:
        return [best, (MARKS, "the systems it is significantly better than")]
    return [best, (f"{BETTER} {WORSE}", f"significantly better, worse than {compared.baseline}")]


def _tabulate_means(
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
    signed = np.where(compared.sign_of() == 0, np.nan, compared.means * compared.sign_of())
    best = [is_best(means) for means in signed.T.tolist()]
    marks = _marks(compared)
    order = list(range(len(compared.systems)))
    if sort is not None:
        column = compared.find_measure(sort)
        order = np.argsort(-signed[:, column], kind="stable").tolist()
    rows = []
    for i in order:
        system = compared.systems[i]
        cells = [Cell(letter(i), i)] if lettered else []
        cells.append(Cell(system, after="baseline" if system == compared.baseline else ""))
        for k, mean in enumerate(compared.means[i].tolist()):
            low, high = compared.intervals[i, k].tolist()
            within = show_interval(low, high, digits) if intervals else ""
            cells.append(Cell(show(mean, digits), mean, best[k][i], within, marks[i][k]))
        for cutoff, shares in compared.judged_shares.items() if judged else ():
            share, holes = float(shares[i]), int(compared.holes[cutoff][i])
            cells += [Cell(_show_share(share), share), Cell(str(holes), holes)]
        rows.append(Row(cells))
    for cutoff in compared.judged if judged else ():
        columns.append(Column(f"judged of {cutoff}"))
        columns.append(Column("queries with holes", descends=False))
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
        elif difference > 0:
            marks[a][k].append(letter(b))
        elif difference < 0:
            marks[b][k].append(letter(a))
    for of_system in marks:
        for letters in of_system:
            letters.sort(key=lambda each: (len(each), each))
    return marks


def tell_how(compared: Differences, *, means: bool = True, differences: bool = True) -> str:
    """Say how systems were compared, and what the means hide; see `Comparison.caption`.

    Of intervals that are not shown, those of means or of differences, nothing is said.
    """
    systems = many(len(compared.systems) - (compared.baseline is not None), "system")
    against = f" against {compared.baseline}" if compared.baseline is not None else ""
    told = f"{systems}{against}, {_tell_test(compared)}"
    if means or differences:
        told += f"; {percent(compared)} {INTERVAL_NAMES[compared.interval]} intervals"
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


def _tell_test(compared: Differences) -> str:
    """Say what a paper has to: the queries, the test, its correction and the level."""
    test = NAMES[compared.test]
    if compared.alternative != "two-sided":
        test = f"one-sided {test} ({compared.alternative})"
    corrected = "" if compared.correction == "none" else f", {NAMES[compared.correction]}"
    if corrected and compared.family == "all":
        corrected += " for all measures together"
    queries = many(len(compared.query_ids), "query")
    return f"{queries}; {test}{corrected}, level {compared.level:g}"


def percent(compared: Differences) -> str:
    """Write how sure intervals are: ``95%``."""
    return f"{100 * (1 - compared.level):g}%"


def _tell_margin(compared: Differences) -> str:
    margin = read_margin(compared.margin)
    within = f"{margin} of the other's mean" if margin.relative else str(margin)
    correction = margin_correction(compared.test, compared.correction)
    how = "" if correction == "none" else f", {NAMES[correction]}"
    return f"Equivalent: within {within}, by two {MARGIN_TESTS[compared.margin_test]}{how}."


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
