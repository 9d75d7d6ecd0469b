"""Gates: conditions on systems, for a test or a release; what came out, said in sentences.

`failures` and `unmet` describe them, `irbatch.leaderboard.Leaderboard` has others.
"""

from __future__ import annotations

import functools
import math
import operator
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Floats
from irbatch.errors import InputError, join_words, printable, shown
from irbatch.evaluation.results import Results
from irbatch.evaluation.tables import find_interval
from irbatch.measures import measure
from irbatch.report.text import show_p
from irbatch.runtime.numbers import DECIMAL
from irbatch.statistics.intervals import bounded_intervals
from irbatch.statistics.tests import DRAWN, Margin

Comparison = Any  # an `irbatch.Comparison`, whose module imports this one

OPERATORS = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
HIGH, LOW = (">", ">="), ("<", "<=")  # what holds of high values, and of low ones
BOUNDS = "lower", "upper"
ROUNDING = 1e-12  # as near as this a value is the limit, and a mean that drops by 0.1 drops 10%
LEVEL = 0.05  # chance of the interval of a mean alone to miss
EVERY = "every group"
MISSING = "missing queries"  # those that a system has no ranking for
# Verbs of what must not happen to a mean: whether it is a rise (1), a drop (-1) or either (0), and
# whether that is so of a measure of which higher values are better. Other verbs are requirements.
FAIL_BY = {
    "drops": (-1, False), "rises": (1, False), "changes": (0, False),
    "worsens": (-1, True), "improves": (1, True),
}  # fmt: skip

# A number can be read in one way: so the time that a text takes is linear in its length.
NUMBER = r"(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)"
SCOPE = re.compile(r"(?P<word>in|of)\s+(?P<scope>\S.*):\s+(?P<rest>\S.*)")
LIMIT = re.compile(rf"({'|'.join(OPERATORS)})\s*({DECIMAL})\s*(%?)\s*\Z")
AMOUNT = rf"\s+(?P<amount>{NUMBER})(?:\s*(?P<percent>%))?"
P_BELOW = rf"(?:\s+p\s*<\s*(?P<p>{NUMBER}))?"
VERDICTS = (  # to fail by, and required
    re.compile(rf"(?P<name>\S+)\s+(?P<verb>{'|'.join(FAIL_BY)})(?:(?:\s+by)?{AMOUNT})?{P_BELOW}"),
    re.compile(
        r"(?P<name>\S+)\s+(?P<verb>not\s+worse|equivalent)"
        rf"(?:\s+(?:than|to)\s+(?P<baseline>\S.*?))?\s+(?:by|within){AMOUNT}{P_BELOW}"
    ),
)

PURPOSES = "a condition to fail by", "a requirement"  # by whether it is required
FORMS = (
    "'nDCG@10 drops 1% p<0.05' (or rises, changes, worsens, improves; 1% or 0.01; with p or "
    "without) or 'nDCG@10 < 0.35'",
    "'nDCG@10 not worse than baseline by 1%', 'nDCG@10 equivalent to baseline within 1%', "
    "'nDCG@10 >= 0.35' or 'missing queries <= 5'",
)


class Outcome(NamedTuple):
    """What checking a condition of one system gave, as JSON has it under ``gates``."""

    condition: str  # as it was written
    system: str
    passed: bool
    value: float  # a mean, an end of an interval, or a difference; NaN if unknown
    limit: float  # what that was compared with: the number, or the margin
    p: float | None  # of a test, corrected
    told: str  # all of this as a sentence


class Limit(NamedTuple):
    """What a value, or a bound of its interval, is compared with."""

    name: str
    bound: int | None  # 0: the lower one, 1: the upper one; None: the value
    operator: str
    limit: float


class Verdict(NamedTuple):
    """What must not happen to a mean against the baseline's, or what of it must be shown."""

    name: str
    verb: str  # of `FAIL_BY`, by the margin or more; or "not worse", "equivalent", within it
    margin: Margin  # 0 if none is named
    p: float | None = None  # the level of the p-value
    baseline: str | None = None  # as it was named

    def side(self, sign: int) -> int:
        """Return 1 for a rise, -1 for a drop, 0 for either; `sign` is the measure's."""
        side, by_sign = FAIL_BY.get(self.verb, (-1, True))
        return side * sign if by_sign else side


def failures(systems: Any, *conditions: str | Iterable[str]) -> list[str]:
    """Say in a sentence each of which systems conditions hold: ``"nDCG@10 drops 1% p<0.05"``.

    For a test of a release: ``assert not comparison.failures(…)``.

    Args:
        systems: an `irbatch.Comparison`; or what `irbatch.evaluate` or `irbatch.evaluate_runs`
            returns, of which there are neither a baseline nor groups; or a leaderboard, whose
            conditions `irbatch.Leaderboard.failures` describes.
        *conditions: ``MEASURE drops|rises|changes|worsens|improves [AMOUNT[%]] [p<LEVEL]``,
            against the baseline, p being corrected; or
            ``MEASURE [lower bound|upper bound] < NUMBER``, of any mean but the baseline's, or of an
            end of its interval, which holds for all values in the measure's range (of results alone
            it is of 95 %); or ``missing queries > NUMBER``. ``in GROUP:`` before it looks at a
            group of queries, ``in every group:`` at each of two or more.

    Raises:
        InputError: if there is none; or one is not of this form, holds of what is good, has a p
            that cannot come out, or takes a baseline and there is none.

    >>> import irbatch
    >>> results = irbatch.evaluate_matrix([[1, 0], [0, 1], [1, 0]], "RR P@1")
    >>> failures(results, "P@1 < 0.7"), unmet(results, "RR >= 0.5", "RR lower bound >= 0.5")
    (['run: P@1 is 0.6667, < 0.7'], ['run: the lower bound of RR is 0.2144, not >= 0.5'])
    """
    return _failed(check(systems, conditions, required=False))


def unmet(systems: Any, *requirements: str | Iterable[str]) -> list[str]:
    """Say in a sentence which systems don't meet ``"nDCG@10 not worse than baseline by 1%"``.

    ``assert not comparison.unmet(…)`` fails unless the data show it: few queries don't pass.

    Args:
        systems: as in `failures`.
        *requirements: ``MEASURE not worse [than BASELINE] by AMOUNT[%] [p<LEVEL]``: with this
            margin `not_worse_p` is below the level, by default the comparison's; ``MEASURE
            equivalent [to BASELINE] within AMOUNT[%] [p<LEVEL]``: so is `equivalence_p`; or
            ``MEASURE [lower bound|upper bound] >= NUMBER[%]``. Groups as in `failures`.

    Raises:
        InputError: as `failures`.
    """
    return _failed(check(systems, requirements, required=True))


def _failed(outcomes: Iterable[Outcome]) -> list[str]:
    return [outcome.told for outcome in outcomes if not outcome.passed]


def check(systems: Any, texts: Iterable[Any], *, required: bool) -> list[Outcome]:
    """Judge systems by conditions, or by what is `required`; arguments and errors as `failures`."""
    conditions: list[Any] = []
    for text in texts:
        several = isinstance(text, Iterable) and not isinstance(text, (str, bytes))
        conditions += text if several else [text]
    if not conditions:
        raise InputError("there is no condition to check", source="conditions")
    judge = getattr(systems, "_judge", None) or functools.partial(_judge, systems)
    return [outcome for text in conditions for outcome in judge(text, required=required)]


def _judge(systems: Any, text: str, *, required: bool) -> Iterator[Outcome]:
    """Judge systems, or those of the groups that a condition names."""
    alone = isinstance(systems, Results | Mapping)
    group, form = parse_condition(text, required=required, alone=alone)
    for name, part in [("", systems)] if group is None else _groups_of(systems, group):
        scope = f"in {printable(name)}: " if name else ""
        if isinstance(form, Limit):
            judged = judge_limit(text, form, _values_of(part, form), required=required)
        else:
            judged = _judge_pairs(part, text, form, required=required)
        for outcome in judged:
            yield outcome._replace(told=scope + outcome.told)


# ---------------------------------------------------------------- what conditions say


def parse_condition(
    text: str, *, required: bool, alone: bool = False
) -> tuple[str | None, Limit | Verdict]:
    """Read a condition on measures: of which group of queries (None: all), and what it says.

    Raises:
        InputError: as `failures`; of systems `alone`, if it takes a baseline or groups.
    """
    scope, rest = split_scope(text, "in")
    form: Limit | Verdict | None = None
    for is_requirement, pattern in zip((False, True), VERDICTS, strict=True):
        if (verdict := pattern.fullmatch(rest)) is not None:
            check_purpose(text, is_requirement=is_requirement, required=required)
            form = _read_verdict(verdict, text)
    if form is None and (limit := read_limit(rest, share=True)) is not None:
        name = " ".join(limit.name.split())
        if name == MISSING or " " not in name:
            of = None if name == MISSING else measure(name)
            form = limit = limit._replace(name=MISSING if of is None else str(of))
            check_side(text, limit, -1 if of is None else of.sign, required=required)
    if form is None:
        forms = f"{FORMS[required]}; {PURPOSES[not required]}: {FORMS[not required]}"
        raise InputError(f"condition {shown(text)} is not of the form {forms}", value=text)
    if alone and (scope is not None or isinstance(form, Verdict)):
        needs, option = ("a baseline", "baseline") if scope is None else ("groups", "groups")
        problem = f"condition {shown(text)} needs {needs}, which irbatch.compare takes"
        raise InputError(f"{problem} (`irbatch compare --{option}`)", value=text)
    return scope, form


def split_scope(text: object, word: str) -> tuple[str | None, str]:
    """Return the group or the system that a condition begins with, and the rest of it."""
    text = text.strip() if isinstance(text, str) else ""
    form = SCOPE.fullmatch(text)
    if form is None or form["word"] != word:
        return None, text
    return form["scope"].rstrip(), form["rest"]


def read_limit(text: str, *, share: bool = False) -> Limit | None:
    """Read NAME [lower bound|upper bound] < NUMBER[%, if a share]; None of other texts."""
    matched = LIMIT.search(text)
    name = "" if matched is None else text[: matched.start()].strip()
    if matched is None or not name or (matched[3] and not share):
        return None
    number = float(matched[2]) / (100 if matched[3] else 1)
    bound = next((i for i, side in enumerate(BOUNDS) if name.endswith(f" {side} bound")), None)
    name = name if bound is None else name.removesuffix(f" {BOUNDS[bound]} bound").strip()
    if any(word in name for word in (*OPERATORS, " and ", " or ")):
        problem = f"{shown(text)} is more than one condition: give each by itself"
        raise InputError(problem, value=text)
    return Limit(name, bound, matched[1], number) if math.isfinite(number) else None


def check_side(text: str, limit: Limit, sign: int, *, required: bool) -> None:
    """Reject a condition to fail by that holds of what is good, or a requirement of what is bad."""
    right = HIGH if (sign > 0) is required else LOW
    if not sign or limit.operator not in (*HIGH, *LOW) or limit.operator in right:
        return
    better = f"{'higher' if sign > 0 else 'lower'} values of {limit.name} are better"
    raise InputError(f"{shown(text)} is {PURPOSES[not required]}: {better}", value=text)


def check_purpose(text: object, *, is_requirement: bool, required: bool) -> None:
    """Reject a condition to fail by where a requirement is asked for, and the other way round."""
    if is_requirement != required:
        problem = f"{shown(text)} is {PURPOSES[is_requirement]}, not {PURPOSES[required]}"
        raise InputError(problem, value=text)


def _read_verdict(form: re.Match[str], text: str) -> Verdict:
    """Read a verdict; reject one without a direction, and one that asks for no less than all."""
    relative = form["percent"] is not None
    amount = float(form["amount"] or 0.0) / (100 if relative else 1)
    p = None if form["p"] is None else float(form["p"])
    of, verb = measure(form["name"]), " ".join(form["verb"].split())
    verdict = Verdict(str(of), verb, Margin(amount, relative), p, form.groupdict().get("baseline"))
    required, (low, high) = verb not in FAIL_BY, of.range
    bounded = required or not relative or verdict.side(of.sign) < 0  # means rise by any share
    problem = ""
    if verb == "drops" and of.sign < 0:
        problem = f"lower values of {of} are better: say 'worsens', 'improves' or 'rises'"
    elif verb in ("worsens", "improves", "not worse") and not of.sign:
        problem = f"neither higher nor lower values of {of} are better: say 'drops' or 'rises'"
    elif bounded and amount >= (1.0 if relative else high - low):
        whole = f"the whole {'mean' if relative else 'range'} of {of}"
        problem = f"that is {whole} or more: is a point or a per cent sign missing?"
    elif required and not amount:
        problem = "a margin is above 0"
    elif p is not None and not 0 < p <= 1:
        problem = "p is above 0 and at most 1"
    if problem:
        raise InputError(f"condition {shown(text)}: {problem}", value=text)
    return verdict


# ---------------------------------------------------------------- whether they hold


def judge_limit(
    text: str, limit: Limit, values: Iterable[tuple[str, float, str]], *, required: bool
) -> Iterator[Outcome]:
    """Judge systems by their values; one that lacks it fails, as its third item says why.

    A value that is the limit but for rounding is the limit.
    """
    which = "" if limit.bound is None else f"the {BOUNDS[limit.bound]} bound of "
    than = f"{limit.operator} {repr(limit.limit).removesuffix('.0')}"
    for name, value, lack in values:
        near = math.isclose(value, limit.limit, rel_tol=ROUNDING, abs_tol=ROUNDING)
        known = not math.isnan(value)
        holds = known and OPERATORS[limit.operator](limit.limit if near else value, limit.limit)
        # As many digits as tell it from the limit.
        texts = [f"{value:.{digits}g}" for digits in (4, 6, 9, 17)]
        number = next((digits for digits in texts if float(digits) != limit.limit), texts[0])
        told = lack or f"{which}{limit.name} is {number}, {'' if holds else 'not '}{than}"
        told = f"{printable(name)}: {told}"
        yield Outcome(text, name, known and holds == required, value, limit.limit, None, told)


def _groups_of(systems: Comparison, scope: str) -> list[tuple[str, Comparison]]:
    """Return the groups of a comparison that a condition names."""
    names = [name for name in systems.groups if scope in (EVERY, name)]
    if not names:
        listed = join_words(list(map(shown, systems.groups))) or "none: give groups= to compare"
        problem = f"there is no group {shown(scope)} that is compared; there are {listed}"
        raise InputError(problem, source="groups", value=scope)
    return [(name, systems.groups[name]) for name in names]


def _values_of(systems: Any, limit: Limit) -> list[tuple[str, float, str]]:
    """Return each system but the baseline, and what a limit looks at; NaN where it has none."""
    if isinstance(systems, Results | Mapping):
        by_name = {systems.name or "run": systems} if isinstance(systems, Results) else systems
        return [(name, _value_of(results, limit), "") for name, results in by_name.items()]
    values: Any
    if limit.name == MISSING:
        lacking = systems.unanswered, systems.missing
        values = [sum(len(of.get(name, ())) for of in lacking) for name in systems.systems]
    else:
        column = systems.find_measure(limit.name)
        values = systems.means[:, column]
        if limit.bound is not None:
            values = _sure_intervals(systems, column)[:, limit.bound]
    of_systems = zip(systems.systems, map(float, values), strict=True)
    return [(name, value, "") for name, value in of_systems if name != systems.baseline]


def _sure_intervals(comparison: Comparison, column: int) -> Floats:
    """Return intervals of means ``(systems, 2)``; of a known range, whatever the values."""
    ranges = comparison.ranges[:, [column]]
    if not np.isfinite(ranges).all():
        return np.asarray(comparison.intervals[:, column])
    values = comparison.values[..., column].T
    lowest, highest = np.tile(ranges, len(comparison.systems))
    return bounded_intervals(values[~np.isnan(values[:, 0])], lowest, highest, comparison.level)


def _value_of(results: Results, limit: Limit) -> float:
    if limit.name == MISSING:
        return float(results.counts.missing)
    if limit.name not in results:
        problem = f"{limit.name} was not evaluated; there are: {', '.join(results)}"
        raise InputError(problem, source="measures", value=limit.name)
    if limit.bound is None:
        return results[limit.name]
    return find_interval(results, limit.name, "bounded", LEVEL)[limit.bound]


def _judge_pairs(
    comparison: Comparison, condition: str, form: Verdict, *, required: bool
) -> Iterator[Outcome]:
    """Judge whether means have not changed as they must not, or are shown to be as good."""
    if comparison.baseline is None:
        raise InputError("a condition needs a baseline to compare with", source="baseline")
    column = comparison.find_measure(form.name)
    level = comparison.level if form.p is None else form.p
    margin, p_values = form.margin, comparison.corrected
    side = form.side(int(comparison.signs[column]))
    if problem := _never(comparison, form, side):
        raise InputError(f"condition {shown(condition)}{problem}", value=condition)
    if required:
        tested = replace(comparison, margin=str(margin) if margin.relative else margin.amount)
        p_values = tested.equivalence_p if form.verb == "equivalent" else tested.not_worse_p
    for pair, (a, b) in enumerate(comparison.pairs):
        difference, share, p = (
            float(numbers[pair, column])
            for numbers in (comparison.differences, comparison.relative, p_values)
        )
        value = share if margin.relative else difference
        name, other = (printable(comparison.systems[system]) for system in (a, b))
        of_mean = "" if math.isnan(share) else f" ({share:+.1%})"
        text = f"{name}: {comparison.measures[column]} {difference:+.4f}{of_mean} against {other}, "
        if required:
            passed = p < level
            what = "apart" if form.verb == "equivalent" else "worse"
            text += f"{'' if passed else 'not '}shown to be less than {margin} {what}, "
            text += f"p {show_p(p, level)}"
        else:
            # Of a mean of 0 any difference is more than a share.
            size = math.copysign(math.inf, difference) if math.isnan(value) else value
            signed = size * side if side else abs(size)
            far = difference and signed > 0 and signed >= margin.amount - ROUNDING
            passed = not (far and (form.p is None or p < form.p))
            text += f"p {show_p(p, level)}" + (f"; not so: {condition}" if passed else "")
        yield Outcome(condition, comparison.systems[a], passed, value, margin.amount, p, text)


def _never(comparison: Comparison, form: Verdict, side: int) -> str:
    """Say why a condition is of another baseline, or can never hold; nothing if it can."""
    if form.baseline not in (None, "baseline", comparison.baseline):
        return f": the baseline is {shown(comparison.baseline)}"
    if form.verb not in FAIL_BY or form.p is None:
        return ""
    if form.p <= comparison.least_p:
        more = "; more draws= can" if comparison.test in DRAWN else ""
        return f" can never hold. {comparison.undecided}{more}"
    other_side = {"greater": -1, "less": 1}.get(comparison.alternative) == side
    alternative = f" can never hold: alternative={comparison.alternative!r} tests the other side"
    return alternative if other_side else ""
