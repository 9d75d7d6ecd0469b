"""A comparison in words: how it was made, and what is known of each pair and how surely."""

from __future__ import annotations

import math
from collections.abc import Iterator

from irbatch.comparing.compared import Compared
from irbatch.errors import join_words, many
from irbatch.report.document import isolate
from irbatch.report.numbers import check_digits, show, show_bound, show_percent
from irbatch.statistics.margins import read_margin
from irbatch.statistics.significance import FAMILY_WISE, OF_MEANS, margin_correction

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
MARGIN_TESTS = {"t": "one-sided t-tests", "randomisation": "one-sided randomisation tests"}
UNEVEN = 0.05  # a difference of judged shares that means may come from


def tell_how(compared: Compared) -> str:
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


def tell_test(compared: Compared) -> str:
    """Say what a paper has to: the queries, the test, its correction and the level."""
    test = NAMES[compared.test]
    if compared.alternative != "two-sided":
        test = f"one-sided {test} ({compared.alternative})"
    corrected = "" if compared.correction == "none" else f", {NAMES[compared.correction]}"
    if corrected and compared.family == "all":
        corrected += " for all measures together"
    queries = many(len(compared.query_ids), "query")
    return f"{queries}; {test}{corrected}, level {compared.level:g}"


def percent(compared: Compared) -> str:
    """Write how sure intervals are: ``95%``."""
    return f"{100 * (1 - compared.level):g}%"


def _tell_margin(compared: Compared) -> str:
    margin = read_margin(compared.margin)
    within = f"{margin} of the other's mean" if margin.relative else str(margin)
    correction = margin_correction(compared.test, compared.correction)
    how = "" if correction == "none" else f", {NAMES[correction]}"
    return f"Equivalent: within {within}, by two {MARGIN_TESTS[compared.margin_test]}{how}."


def _tell_judged(compared: Compared) -> Iterator[str]:
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


def say_all(compared: Compared, digits: int) -> list[str]:
    """Say what is known of every pair on every measure; names are marked, see `isolate`."""
    check_digits(digits)
    measures, pairs = range(len(compared.measures)), range(len(compared.pairs))
    return [say(compared, pair, k, digits) for k in measures for pair in pairs]


def say(compared: Compared, pair: int, k: int, digits: int) -> str:
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


def _say_found(compared: Compared, pair: int, k: int, digits: int) -> str:
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


def _say_undecided(compared: Compared, pair: int, k: int, digits: int) -> str:
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


def _say_by_ranks(compared: Compared, pair: int, k: int, digits: int) -> str:
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


def _say_margin(compared: Compared, pair: int, k: int) -> str:
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


def _confidence(compared: Compared) -> str:
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
