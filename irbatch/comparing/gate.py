"""When conditions on a comparison hold, for a test or a release."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from irbatch.comparing.compared import Compared
from irbatch.comparing.conditions import (
    Condition,
    Level,
    Within,
    parse_condition,
    parse_requirement,
    side_of,
)
from irbatch.comparing.limits import Limit
from irbatch.comparing.lookups import find_measure
from irbatch.errors import InputError, join_words, printable, shown
from irbatch.statistics.significance import DRAWN, least_p, margin_correction

ROUNDING = 1e-12  # a mean that drops from 1 to 0.9 drops 10%
EVERY = "every group"


def find_failures(comparison: Compared, text: str) -> list[str]:
    """Say in a sentence for each of which systems a condition holds, see `Comparison.failures`."""
    condition = parse_condition(text)
    if isinstance(condition, Level):
        return _in_groups(comparison, condition, lambda each: _held(each, condition.limit, True))
    return _in_groups(comparison, condition, lambda each: _changed(each, condition, text))


def find_unmet(comparison: Compared, text: str) -> list[str]:
    """Say in a sentence which systems do not meet a requirement, see `Comparison.unmet`."""
    required = parse_requirement(text)
    if isinstance(required, Level):
        return _in_groups(comparison, required, lambda each: _held(each, required.limit, False))
    return _in_groups(comparison, required, lambda each: _not_shown(each, required, text))


def _in_groups(
    comparison: Compared,
    condition: Condition | Within | Level,
    find: Callable[[Compared], Iterator[str]],
) -> list[str]:
    """Look at all queries, or at those of a group or each, and say which."""
    if condition.group is None:
        return list(find(comparison))
    names = [*comparison.groups, *comparison.alone]
    if condition.group != EVERY:
        if condition.group not in names:
            known = join_words([shown(name) for name in names]) or "none"
            problem = f"there is no group {shown(condition.group)} that is compared; there are: "
            raise InputError(problem + known, source="groups", value=condition.group)
        names = [condition.group]
    if not names:
        raise InputError("there are no groups: give groups= to compare", source="groups")
    of_means = isinstance(condition, Level) and condition.limit.bound is None
    said: list[str] = []
    for name in names:
        found: Iterable[str]
        if name in comparison.groups:
            found = find(comparison.groups[name])
        elif of_means:  # which are all that is looked at
            found = find(replace(comparison, means=comparison.alone[name]))
        else:
            found = ["it has one query, which says nothing of others"]
        said += [f"in {printable(name)}: {each}" for each in found]
    return said


def _candidates(comparison: Compared) -> list[int]:
    """Return the places of all systems but the baseline."""
    return [i for i, name in enumerate(comparison.systems) if name != comparison.baseline]


def _held(comparison: Compared, limit: Limit, wrong: bool) -> Iterator[str]:
    """Yield what is said of systems for which it is `wrong` whether the limit holds."""
    column = find_measure(comparison.measures, limit.name)
    for i in _candidates(comparison):
        mean = float(comparison.means[i, column])
        bounds = comparison.intervals[i, column].tolist()
        value = mean if limit.bound is None else bounds[limit.bound]
        if limit.holds(value) == wrong or math.isnan(value):
            yield tell_limit(comparison.systems[i], value, limit, wrong)


def tell_limit(system: str, value: float, limit: Limit, wrong: bool) -> str:
    """Say of a system's value that a limit holds, or doesn't."""
    return f"{printable(system)}: {limit.told(value)}, {'' if wrong else 'not '}{limit}"


def _changed(comparison: Compared, condition: Condition, text: str) -> Iterator[str]:
    """Yield what is said of systems whose means have changed as they must not."""
    column = find_measure(comparison.measures, condition.measure)
    side = side_of(condition.change, comparison.sign_of(column))
    _check_baseline(comparison)
    if condition.p is not None:
        if condition.p <= comparison.least_p:
            more = "; more draws= can" if comparison.test in DRAWN else ""
            problem = f"condition {shown(text)} can never hold. {comparison.undecided}{more}"
            raise InputError(problem, value=text)
        if side == {"greater": -1, "less": 1}.get(comparison.alternative):
            problem = f"condition {shown(text)} can never hold: alternative="
            raise InputError(f"{problem}{comparison.alternative!r} tests the other side",
                             value=text)  # fmt: skip
    for position, _ in comparison.pairs:
        name = comparison.systems[position]
        told = comparison.difference(name, comparison.baseline or "", condition.measure)
        change = told.difference
        if condition.relative:  # of a mean of 0 any difference is more than a share
            change = math.copysign(math.inf, change) if math.isnan(told.relative) else told.relative
        signed = change * side if side else abs(change)
        certain = condition.p is None or told.corrected < condition.p
        if told.difference and signed > 0 and signed >= condition.amount - ROUNDING and certain:
            yield f"{_tell_change(comparison, name, condition.measure)}, p {told.corrected:.3g}"


def _not_shown(comparison: Compared, required: Within, text: str) -> Iterator[str]:
    """Yield what is said of systems that are not shown to be as good, within the margin."""
    baseline = _check_baseline(comparison)
    if required.baseline not in (None, "baseline", baseline):
        problem = f"condition {shown(text)}: the baseline is {shown(baseline)}"
        raise InputError(problem, source="baseline", value=required.baseline)
    level = comparison.level if required.p is None else required.p
    correction = margin_correction(comparison.test, comparison.correction)
    sizes = comparison.family_size, len(comparison.query_ids), comparison.draws
    if comparison.margin_test != "t" and level <= least_p(
        comparison.margin_test, correction, *sizes, "greater"
    ):
        problem = f"condition {shown(text)} can never be met with so few queries"
        raise InputError(f"{problem}; margin_test='t' can tell", value=text)
    column = find_measure(comparison.measures, required.measure)
    margin = str(required.margin) if required.margin.relative else required.margin.amount
    test = comparison.equivalent_to if required.equivalent else comparison.not_worse_than
    p_values = test(margin)[:, column].tolist()
    what = "apart" if required.equivalent else "worse"
    for (position, _), p in zip(comparison.pairs, p_values, strict=True):
        if not p < level:
            name = comparison.systems[position]
            said = _tell_change(comparison, name, required.measure)
            yield f"{said}, not shown to be less than {required.margin} {what}, p {p:.3g}"


def _tell_change(comparison: Compared, name: str, measure: str) -> str:
    """Say by how much a system differs from the baseline."""
    baseline = comparison.baseline or ""
    told = comparison.difference(name, baseline, measure)
    share = "" if math.isnan(told.relative) else f" ({told.relative:+.1%})"
    change = f"{told.difference:+.4f}{share}"
    return f"{printable(name)}: {measure} {change} against {printable(baseline)}"


def _check_baseline(comparison: Compared) -> str:
    if comparison.baseline is None:
        raise InputError("a condition needs a baseline to compare with", source="baseline")
    return comparison.baseline
