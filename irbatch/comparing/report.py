"""A comparison for people and programs: its columns, its tables, its sentences.

Functions take an `irbatch.Comparison`, which is above them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.errors import InputError, join_words, many, shown
from irbatch.measures import Measure, measure
from irbatch.report import document, numbers
from irbatch.report.document import (
    Cell,
    Column,
    Document,
    Figures,
    Heading,
    Part,
    Record,
    Row,
    Sentences,
    Table,
    isolate,
    list_records,
    make_table,
    without_marks,
)
from irbatch.report.numbers import check_digits, show, show_bound, show_percent
from irbatch.report.text import letter
from irbatch.statistics.intervals import POWER
from irbatch.statistics.tests import FAMILY_WISE, OF_MEANS, margin_correction, read_margin

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
NAMED = 10  # systems or measures that an error lists
INTERVAL_NAMES = {"t": "Student's t", "percentile": "percentile bootstrap", "bca": "BCa bootstrap"}
MARGIN_TESTS = {
    "bounded": "one-sided tests that hold for all values in the measure's range",
    "t": "one-sided t-tests",
    "randomisation": "one-sided randomisation tests",
}
UNEVEN = 0.05  # a difference of judged shares that means may come from


def make_document(
    compared: Any,
    digits: int,
    *,
    intervals: bool = False,
    pairs: bool = True,
    figures: Sequence[Figures] = (),
    judged: bool = False,
    words: bool = False,
    power: bool = False,
) -> Document:
    """Return the report of all queries, with figures, then of each group; see `Comparison`."""
    numbers.check_digits(digits)
    parts: list[Part] = []
    everything = [("all queries", compared), *compared.groups.items()]
    for name, each in everything:
        if compared.groups:
            parts.append(Heading(f"{name} ({many(len(each.query_ids), 'query')})"))
        parts.append(_tabulate_means(each, digits, intervals, judged))
        if each is compared:
            parts += figures
        if pairs and each.pairs:
            caption = "Pairs of systems; significant p-values are bold"
            columns = pair_columns(each, digits, power=power)
            parts.append(make_table(caption, columns, _list_pairs(each), whole=True))
        if words and each.pairs:
            parts.append(Sentences(say_all(each, digits)))
    title = f"Comparison of {many(len(compared.systems), 'system')}"
    note = f"{tell_test(compared)}." if compared.pairs else ""
    return Document(title, tell_how(compared), _legend(compared), parts, compared.signature, note)


def pair_columns(compared: Any, digits: int = 4, *, power: bool = False) -> list[Column]:
    """Return the columns of pairs, of which an item is a pair's and a measure's place.

    What tells whether a difference is real comes first: of a wide table only that may be seen.
    """

    def name(heading: str, find: Callable[[int, int], str]) -> Column:
        return Column(heading, "name", name=heading, value=lambda item: find(*item))

    def of(values: Any) -> Callable[[tuple[int, int]], Any]:
        return lambda item: values[item].item()

    def change(value: float) -> str:
        return numbers.show_change(value, digits)

    def p_value(p: float) -> str:
        return numbers.show_p(p, compared.level)

    def stands_out(item: tuple[int, int]) -> Record:
        return {"stands_out": bool(compared.significant[item])}

    def counts(item: tuple[int, int]) -> list[int]:
        return [int(each[item]) for each in (compared.wins, compared.ties, compared.losses)]

    corrected = compared.correction != "none"
    low, high = np.moveaxis(compared.difference_intervals, -1, 0)
    interval = f"{percent(compared)} interval"
    if compared.simultaneous and len(compared.pairs) > 1:
        interval = f"simultaneous {interval}"
    columns = [
        name("measure", lambda pair, k: compared.measures[k]),
        name("system", lambda pair, k: compared.systems[compared.pairs[pair][0]]),
        name("against", lambda pair, k: compared.systems[compared.pairs[pair][1]]),
        Column("", name="queries", value=lambda item: len(compared.query_ids)),
        *(
            Column("", name=column, value=of(compared.of_pairs(compared.means, side)))
            for side, column in enumerate(("mean", "mean_against"))
        ),
        Column("difference", name="difference", value=of(compared.differences), show=change,
               meaning="the system's mean less the other's"),
        Column("p", name="p", descends=False, value=of(compared.p_values), show=p_value,
               more=lambda item: {} if corrected else stands_out(item),
               meaning="the chance of a difference as large between systems that are alike"),
        Column("corrected p" if corrected else "", name="corrected_p", descends=False,
               value=of(compared.corrected), show=p_value, more=stands_out,
               meaning="the same, corrected for how many are compared"),
        Column("", name="significant", value=of(compared.significant)),
        Column(interval, value=of(low),
               more=lambda item: {"text": numbers.show_interval(
                   low[item], high[item], digits, signed=True)},
               meaning="where the difference is likely to be, of queries like these"),
        Column("", name="low", value=of(low)),
        Column("", name="high", value=of(high)),
        Column("relative", name="relative", value=of(compared.relative), show=numbers.show_percent,
               meaning="the difference as a share of the other's mean"),
        Column("wins/ties/losses", value=lambda item: counts(item)[0] - counts(item)[2],
               more=lambda item: {"text": "/".join(map(str, counts(item)))},
               meaning="queries where the system is better, equal, worse"),
        Column("", name="wins", value=of(compared.wins)),
        Column("", name="ties", value=of(compared.ties)),
        Column("", name="losses", value=of(compared.losses)),
        Column("effect", name="effect", value=of(compared.effects),
               show=lambda effect: numbers.show_change(effect, 2),
               meaning="the difference in standard deviations of the queries' differences"),
    ]  # fmt: skip

    def add_margin(heading: str, names: tuple[str, str], p: Any, meaning: str) -> None:
        def tell(item: tuple[int, int]) -> Record:
            told = "yes" if p[item] < compared.level else "no"
            nothing = math.isnan(compared.p_values[item])
            return {"text": numbers.NOTHING if nothing else f"{told}, p {p_value(p[item])}"}

        columns.append(Column(heading, value=lambda item: -float(p[item]), more=tell,
                              meaning=meaning))  # fmt: skip
        columns.append(Column("", name=names[1], value=of(p)))
        columns.append(Column("", name=names[0], value=of(p < compared.level)))

    if compared.margin is not None:
        for heading, names, p, sense in (
            ("not worse", ("not_worse", "not_worse_p"), compared.not_worse_p, "worse"),
            ("equivalent", ("equivalent", "equivalence_p"), compared.equivalence_p, "apart"),
        ):
            meaning = f"whether the system is shown to be less than {compared.margin} {sense}"
            add_margin(heading, names, p, meaning)
    if power:
        columns += [
            Column("detectable", name="detectable", descends=False, value=of(compared.detectable),
                   show=lambda value: numbers.show(value, digits),
                   meaning=f"the least true difference that {POWER:.0%} of such comparisons show"),
            Column("queries needed", name="queries_needed", descends=False,
                   value=of(compared.queries_needed), show=lambda value: numbers.show(value, 0),
                   meaning="how many queries would show the observed difference so often"),
        ]  # fmt: skip
    return columns


def mean_columns(compared: Any) -> list[Column]:
    """Return the columns of means, of which an item is a measure's and a system's place."""
    return [
        Column("", name="measure", value=lambda item: compared.measures[item[0]]),
        Column("", name="system", value=lambda item: compared.systems[item[1]]),
        Column("", name="queries", value=lambda item: len(compared.query_ids)),
        Column("", name="mean", value=lambda item: float(compared.means[item[::-1]])),
        Column("", name="low", value=lambda item: float(compared.intervals[item[::-1]][0])),
        Column("", name="high", value=lambda item: float(compared.intervals[item[::-1]][1])),
    ]


def _list_pairs(compared: Any) -> list[tuple[int, int]]:
    measures, pairs = range(len(compared.measures)), range(len(compared.pairs))
    return [(pair, k) for k in measures for pair in pairs]


def list_pairs(compared: Any, power: bool) -> tuple[list[str], list[Record]]:
    """Return columns and records: one a group, measure and pair."""
    return _of_groups(compared, lambda each: pair_columns(each, power=power), _list_pairs)


def list_means(compared: Any) -> tuple[list[str], list[Record]]:
    """Return columns and records: one a group, measure and system."""
    return _of_groups(compared, mean_columns, _list_means)


def _list_means(compared: Any) -> list[tuple[int, int]]:
    return [(k, i) for k in range(len(compared.measures)) for i in range(len(compared.systems))]


def _of_groups(
    compared: Any,
    columns: Callable[[Any], Sequence[Column]],
    items: Callable[[Any], Iterable[Any]],
) -> tuple[list[str], list[Record]]:
    names: list[str] = []
    records: list[Record] = []
    for group, part in [("", compared), *compared.groups.items()]:
        names, found = list_records(columns(part), items(part))
        records += [{"group": str(group), **each} for each in found]
    return ["group", *names], records


def list_everything(compared: Any, per_query: bool, power: bool) -> Record:
    """Return everything about a comparison, as JSON has it."""
    _, pairs = list_records(pair_columns(compared, power=power), _list_pairs(compared))
    queries = [str(query) for query in compared.query_ids]
    everything: Record = {
        "systems": list(compared.systems),
        "measures": list(compared.measures),
        **compared.options,
        "queries": len(queries),
        "settings": dict(compared.settings),
        "signature": compared.signature,
        "caption": tell_how(compared),
        "means": list_records(mean_columns(compared), _list_means(compared))[1],
        "judged": [
            {"cutoff": cutoff, "system": system, "judged": share, "holes": holes}
            for cutoff, shares in compared.judged_shares.items()
            for system, share, holes in zip(
                compared.systems, shares.tolist(), compared.holes[cutoff].tolist(), strict=True
            )
        ],
        "pairs": [
            {**record, "sentence": without_marks(sentence)}
            for record, sentence in zip(pairs, say_all(compared, 4), strict=True)
        ],
    }
    if per_query:
        values = compared.values.transpose(0, 2, 1).tolist()
        everything["query_ids"] = queries
        everything["per_query"] = {
            system: dict(zip(compared.measures, of_system, strict=True))
            for system, of_system in zip(compared.systems, values, strict=True)
        }
    everything["groups"] = {
        str(name): list_everything(group, per_query, power)
        for name, group in compared.groups.items()
    }
    return everything


def _legend(compared: Any) -> document.Legend:
    if len(compared.systems) < 2:
        return []
    best = (document.BEST, "the best mean of a measure")
    if compared.baseline is None:
        return [best, (document.MARKS, "the systems it is significantly better than")]
    signs = f"{document.BETTER} {document.WORSE}"
    return [best, (signs, f"significantly better, worse than {compared.baseline}")]


def _tabulate_means(compared: Any, digits: int, intervals: bool, judged: bool) -> Table:
    """Lay out one row a system, in the order given; without a baseline, systems have letters."""
    if judged and not compared.judged:
        problem = "how much is judged isn't known: compare runs, on measures that have cutoffs"
        raise InputError(problem, source="judged")
    lettered = compared.baseline is None
    columns = [Column("system", "name"), *map(Column, compared.measures)]
    if lettered:
        columns.insert(0, Column("#", "mark", descends=False))
    signed = np.where(compared.sign_of() == 0, np.nan, compared.means * compared.sign_of())
    best = [numbers.is_best(means) for means in signed.T.tolist()]
    marks = _marks(compared)
    rows = []
    for i, system in enumerate(compared.systems):
        cells = [Cell(system, after="baseline" if system == compared.baseline else "")]
        if lettered:
            cells.insert(0, Cell(letter(i), i))
        for k, mean in enumerate(compared.means[i].tolist()):
            low, high = compared.intervals[i, k].tolist()
            within = numbers.show_interval(low, high, digits) if intervals else ""
            cells.append(Cell(numbers.show(mean, digits), mean, best[k][i], within, marks[i][k]))
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
    if math.isnan(share):
        return numbers.NOTHING
    return f"{math.floor(1000 * share) / 10:.1f}%"


def _marks(compared: Any) -> list[list[list[str]]]:
    """Say for each system and measure what it beats (with a baseline: how it compares)."""
    marks: list[list[list[str]]] = [[[] for _ in compared.measures] for _ in compared.systems]
    for pair, k in np.argwhere(compared.significant).tolist():
        a, b = compared.pairs[pair]
        difference = compared.differences[pair, k] * compared.sign_of(k)
        if compared.baseline is not None and difference:
            marks[a][k].append(document.BETTER if difference > 0 else document.WORSE)
        elif difference > 0:
            marks[a][k].append(letter(b))
        elif difference < 0:
            marks[b][k].append(letter(a))
    for of_system in marks:
        for letters in of_system:
            letters.sort(key=lambda each: (len(each), each))
    return marks


def tell_how(compared: Any) -> str:
    """Say how systems were compared, and what the means hide; see `Comparison.caption`."""
    systems = many(len(compared.systems) - (compared.baseline is not None), "system")
    against = f" against {compared.baseline}" if compared.baseline is not None else ""
    intervals = f"{percent(compared)} {INTERVAL_NAMES[compared.interval]} intervals"
    if compared.simultaneous:
        intervals += ", those of differences simultaneous"
    said = [f"{systems}{against}, {tell_test(compared)}; {intervals}."]
    if compared.pairs and compared.least_p >= compared.level:
        said.append(f"{compared.undecided} Nothing can be significant.")
    if compared.margin is not None:
        said.append(_tell_margin(compared))
    out = {query for queries in compared.missing.values() for query in queries}
    if out:
        said.append(f"Left out, as not all systems have them: {many(len(out), 'query')}.")
    zeros = ((len(queries), name) for name, queries in compared.unanswered.items())
    if counted := [f"{count} of {name}" for count, name in zeros if count]:
        said.append(f"Queries without a ranking, counting 0: {', '.join(counted)}.")
    return " ".join([*said, *_tell_judged(compared)])


def tell_test(compared: Any) -> str:
    """Say what a paper has to: the queries, the test, its correction and the level."""
    test = NAMES[compared.test]
    if compared.alternative != "two-sided":
        test = f"one-sided {test} ({compared.alternative})"
    corrected = "" if compared.correction == "none" else f", {NAMES[compared.correction]}"
    if corrected and compared.family == "all":
        corrected += " for all measures together"
    queries = many(len(compared.query_ids), "query")
    return f"{queries}; {test}{corrected}, level {compared.level:g}"


def percent(compared: Any) -> str:
    """Write how sure intervals are: ``95%``."""
    return f"{100 * (1 - compared.level):g}%"


def _tell_margin(compared: Any) -> str:
    margin = read_margin(compared.margin)
    within = f"{margin} of the other's mean" if margin.relative else str(margin)
    correction = margin_correction(compared.test, compared.correction)
    how = "" if correction == "none" else f", {NAMES[correction]}"
    return f"Equivalent: within {within}, by two {MARGIN_TESTS[compared.margin_test]}{how}."


def _tell_judged(compared: Any) -> Iterator[str]:
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


def say_all(compared: Any, digits: int) -> list[str]:
    """Say what is known of every pair on every measure; names are marked, see `isolate`."""
    check_digits(digits)
    measures, pairs = range(len(compared.measures)), range(len(compared.pairs))
    return [say(compared, pair, k, digits) for k in measures for pair in pairs]


def say(compared: Any, pair: int, k: int, digits: int) -> str:
    """Say what is known of a pair on a measure, and how surely; see `Comparison.sentence`."""
    check_digits(digits)
    a, b = (isolate(compared.systems[each]) for each in compared.pairs[pair])
    on = isolate(compared.measures[k])
    if not compared.queries_differ[pair, k]:
        return f"{a} and {b} are equal on {on} in every query."
    difference = float(compared.differences[pair, k])
    if math.isnan(difference):
        return f"{a} and {b} cannot be compared on {on}."
    if compared.test not in OF_MEANS:
        said = _say_by_ranks(compared, pair, k, digits)
    elif compared.significant[pair, k]:
        said = _say_found(compared, pair, k, digits)
    else:
        said = _say_undecided(compared, pair, k, digits)
    return f"{said}{_say_margin(compared, pair, k)} ({_confidence(compared)})."


def _say_found(compared: Any, pair: int, k: int, digits: int) -> str:
    a, b = (isolate(compared.systems[each]) for each in compared.pairs[pair])
    difference = float(compared.differences[pair, k])
    bounds = compared.difference_intervals[pair, k].tolist()
    higher = difference > 0
    share = float(compared.relative[pair, k])
    told = "" if math.isnan(share) else f" ({show_percent(share)})"
    size = show(abs(difference), digits)
    least = _show_least(bounds[0] if higher else -bounds[1], digits)
    word = _word(compared.sign_of(k), higher=higher)
    on = isolate(compared.measures[k])
    surely = f"and by more than {least} on queries like these"
    return f"{a} is {word} than {b} on {on} by {size}{told}, {surely}"


def _say_undecided(compared: Any, pair: int, k: int, digits: int) -> str:
    a, b = (isolate(compared.systems[each]) for each in compared.pairs[pair])
    low, high = compared.difference_intervals[pair, k].tolist()
    on, sign = isolate(compared.measures[k]), compared.sign_of(k)
    if compared.alternative != "two-sided":
        greater = compared.alternative == "greater"
        word, bound = _word(sign, higher=greater), low if greater else high
        side = "above" if greater else "below"
        shown = _show_signed(bound, digits)
        return (
            f"It is not shown that {a} is {word} than {b} on {on}: the difference is {side} {shown}"
        )
    word = _word(sign, higher=True) if sign >= 0 else "better"
    between = f"{_show_signed(low, digits)} and {_show_signed(high, digits)}"
    return (
        f"It is not decided whether {a} or {b} is {word} on {on}: the difference is between "
        f"{between}"
    )


def _say_by_ranks(compared: Any, pair: int, k: int, digits: int) -> str:
    """Say what a test says that is not of means."""
    a, b = (isolate(compared.systems[each]) for each in compared.pairs[pair])
    low, high = compared.difference_intervals[pair, k].tolist()
    tells = "tells" if compared.significant[pair, k] else "does not tell"
    counts = [int(each[pair, k]) for each in (compared.wins, compared.losses)]
    mean = _show_signed(float(compared.differences[pair, k]), digits)
    return (
        f"The {NAMES[compared.test]} {tells} {a} from {b} on {isolate(compared.measures[k])}: "
        f"better in {many(counts[0], 'query')}, worse in {counts[1]}; the means differ by {mean}, "
        f"between {_show_signed(low, digits)} and {_show_signed(high, digits)}"
    )


def _say_margin(compared: Any, pair: int, k: int) -> str:
    """Say whether the difference matters."""
    if compared.margin is None or compared.not_worse is None or compared.equivalent is None:
        return ""
    margin = read_margin(compared.margin)
    a, b = (isolate(compared.systems[each]) for each in compared.pairs[pair])
    size = f"{margin} of {b}'s mean" if margin.relative else str(margin)
    if compared.equivalent[pair, k]:
        return f"; they are equivalent, less than {size} apart"
    better = compared.differences[pair, k] * compared.directions[k] > 0
    if compared.not_worse[pair, k] and not (better and compared.significant[pair, k]):
        return f"; {a} is not worse by {size}"
    return ""


def _confidence(compared: Any) -> str:
    """Say how sure a statement is, and if that is not for all of them together."""
    sure = f"{percent(compared)} confidence"
    if len(compared.pairs) * (len(compared.measures) if compared.family == "all" else 1) < 2:
        return sure
    if not compared.simultaneous or (
        compared.correction == "none" and compared.test not in FAMILY_WISE
    ):
        return f"{sure} each"
    if compared.correction in ("bh", "by"):
        return f"{sure} on average"
    kinds = ["pairs", "measures"] if compared.family == "all" else ["pairs"]
    return f"{sure} for all {join_words(kinds)} together"


def _word(sign: int, *, higher: bool) -> str:
    """Say what a higher, or lower, mean is."""
    if not sign:
        return "higher" if higher else "lower"
    return "better" if higher == (sign > 0) else "worse"


def _show_least(bound: float, digits: int) -> str:
    """Write a bound that a difference is beyond: rounded towards 0."""
    scale = 10.0**digits
    units = bound * scale * (1 + 1e-12)
    floored = math.floor(units) / scale if math.isfinite(units) else bound
    return "0" if floored <= 0 else show(floored, digits)


def _show_signed(value: float, digits: int) -> str:
    """Write a difference with its sign, where it has one digit above 0."""
    shown = show_bound(value, digits)
    return shown if shown.strip("+-0.") else show(value, digits)


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


def query_values(comparison: Any, a: str, b: str, measure: str | Measure) -> tuple[Floats, Floats]:
    """Return the values of two different systems, float64 ``(queries,)`` each."""
    column = find_measure(comparison.measures, measure)
    first, second = (find_system(comparison.systems, name) for name in (a, b))
    if first == second:
        raise InputError(f"two systems differ, not {a!r} from itself", value=a)
    values = np.asarray(comparison.values)
    return values[first, :, column], values[second, :, column]
