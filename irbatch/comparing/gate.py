"""Conditions on a comparison, for a test or a release.

What must not be: ``nDCG@10 drops 1% p<0.05``, ``nDCG@10 < 0.35``. What must be: ``nDCG@10 not worse
than baseline by 1%``, ``nDCG@10 >= 0.35``. Either may begin with ``in GROUP:`` or ``in every
group:``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from irbatch.comparing.compared import Compared
from irbatch.comparing.limits import Limit, check_range, check_side, read_limit
from irbatch.comparing.lookups import find_measure
from irbatch.errors import InputError, join_words, printable, shown
from irbatch.measures import measure
from irbatch.statistics.margins import Margin
from irbatch.statistics.significance import DRAWN, least_p, margin_correction

NUMBER = r"(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)"  # no two ways to read one: so time is linear
AMOUNT = rf"(?P<amount>{NUMBER})(?:\s*(?P<percent>%))?"
BELOW = rf"(?:\s+p\s*<\s*(?P<p>{NUMBER}))?"
FORM = re.compile(
    r"(?P<measure>\S+)\s+(?P<change>drops|rises|changes|worsens|improves)"
    rf"(?:\s+{AMOUNT})?{BELOW}"
)
NOT_WORSE = re.compile(
    r"(?P<measure>\S+)\s+not\s+worse(?:\s+than\s+(?P<baseline>\S.*?))?\s+by\s+"
    rf"{AMOUNT}{BELOW}"
)
ROUNDING = 1e-12  # a mean that drops from 1 to 0.9 drops 10%
CONDITIONS = (
    "'nDCG@10 drops 1% p<0.05' (or rises, changes, worsens, improves; 1% or 0.01; with p or "
    "without) or 'nDCG@10 < 0.35'"
)
REQUIREMENTS = "'nDCG@10 not worse than baseline by 1%' or 'nDCG@10 >= 0.35'"
EVERY = "every group"


class Condition(NamedTuple):
    """What must not happen to a mean."""

    measure: str  # its canonical name
    change: str
    amount: float  # at least
    relative: bool  # whether that is a share of the baseline's mean
    p: float | None  # above the corrected p-value
    group: str | None = None  # of queries; all of them


class NotWorse(NamedTuple):
    """What must be shown: that a mean isn't worse than the baseline's by a margin."""

    measure: str
    baseline: str | None
    margin: Margin
    p: float | None
    group: str | None = None


class Level(NamedTuple):
    """What a mean must, or must not, be."""

    limit: Limit
    group: str | None = None

    @property
    def measure(self) -> str:
        """The canonical name."""
        return self.limit.name


def parse_condition(text: str) -> Condition | Level:
    """Read what must not be, as `Comparison.failures` takes it.

    >>> parse_condition("ndcg_cut_10 drops 1% p<0.05")
    Condition(measure='nDCG@10', change='drops', amount=0.01, relative=True, p=0.05, group=None)
    """
    group, said = _split_group(text, required=False)
    form = FORM.fullmatch(said)
    if form is None:
        if NOT_WORSE.fullmatch(said):
            raise InputError(f"{shown(text)} is a requirement, not a condition to fail by",
                             value=text)  # fmt: skip
        return _read_level(text, group, said, required=False)
    name, amount, p = _read(form, text)
    change, relative = form["change"], form["percent"] is not None
    wanted = measure(name)
    if change == "drops" and wanted.sign < 0:
        problem = f"lower values of {name} are better: say 'worsens', 'improves' or 'rises'"
        raise InputError(f"condition {shown(text)}: {problem}", value=text)
    if change in ("worsens", "improves") and not wanted.sign:
        problem = f"neither higher nor lower values of {name} are better: say 'drops' or 'rises'"
        raise InputError(f"condition {shown(text)}: {problem}", value=text)
    low, high = wanted.range
    lost = relative and amount > 100 and _side(change, wanted.sign) < 0
    if lost or (not relative and amount > high - low):
        raise InputError(f"condition {shown(text)} asks for what cannot be", value=text)
    return Condition(name, change, amount / 100 if relative else amount, relative, p, group)


def parse_requirement(text: str) -> NotWorse | Level:
    """Read what must be, as `Comparison.unmet` takes it.

    >>> parse_requirement("P@5 not worse by 0.01").margin
    Margin(amount=0.01, relative=False)
    """
    group, said = _split_group(text, required=True)
    form = NOT_WORSE.fullmatch(said)
    if form is None:
        if FORM.fullmatch(said):
            raise InputError(f"{shown(text)} is a condition to fail by, not a requirement",
                             value=text)  # fmt: skip
        return _read_level(text, group, said, required=True)
    name, amount, p = _read(form, text)
    if not measure(name).sign:
        problem = f"neither higher nor lower values of {name} are worse"
        raise InputError(f"condition {shown(text)}: {problem}", value=text)
    relative = form["percent"] is not None
    low, high = measure(name).range
    if not 0 < amount < (100 if relative else high - low):
        raise InputError(f"condition {shown(text)} asks for what cannot be", value=text)
    margin = Margin(amount / 100 if relative else amount, relative)
    return NotWorse(name, form["baseline"], margin, p, group)


def _other_form(text: object, *, required: bool) -> InputError:
    """Make the error that shows all forms, those of the purpose first."""
    said, other = f"a requirement: {REQUIREMENTS}", f"a condition to fail by: {CONDITIONS}"
    forms = f"{REQUIREMENTS}; {other}" if required else f"{CONDITIONS}; {said}"
    return InputError(f"condition {shown(text)} is not of the form {forms}", value=text)


def _split_group(text: str, *, required: bool) -> tuple[str | None, str]:
    """Return the group that a condition begins with, and the rest of it."""
    if not isinstance(text, str):
        raise _other_form(text, required=required)
    said = text.strip()
    before, colon, rest = said.rpartition(": ")
    if colon and before.startswith("in ") and before[3:].strip():
        return before[3:].strip(), rest.strip()
    return None, said


def _read(form: re.Match[str], text: str) -> tuple[str, float, float | None]:
    """Return the measure, the amount and the level of a condition."""
    amount = float(form["amount"] or 0.0)
    p = None if form["p"] is None else float(form["p"])
    if not math.isfinite(amount) or (p is not None and not 0 < p <= 1):
        raise InputError(f"condition {shown(text)} asks for what cannot be", value=text)
    return str(measure(form["measure"])), amount, p


def _read_level(text: str, group: str | None, said: str, *, required: bool) -> Level:
    limit = read_limit(said)
    if limit is None or " " in " ".join(limit.name.split()):
        raise _other_form(text, required=required)
    wanted = measure(limit.name)
    limit = limit._replace(name=str(wanted))
    check_side(text, limit, wanted.sign, required=required)
    check_range(text, limit, *wanted.range)
    return Level(limit, group)


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
    return _in_groups(comparison, required, lambda each: _worse(each, required, text))


def _in_groups(
    comparison: Compared,
    condition: Condition | NotWorse | Level,
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
            told = limit.told(value)
            yield f"{printable(comparison.systems[i])}: {told}, {'' if wrong else 'not '}{limit}"


def _side(change: str, sign: int) -> int:
    """Return 1 for a change that is a rise, -1 for one that isn't, 0 for either."""
    turned = {"drops": -1, "rises": 1, "changes": 0}
    return turned.get(change, sign if change == "improves" else -sign)


def _changed(comparison: Compared, condition: Condition, text: str) -> Iterator[str]:
    """Yield what is said of systems whose means have changed as they must not."""
    column = find_measure(comparison.measures, condition.measure)
    side = _side(condition.change, comparison.sign_of(column))
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


def _worse(comparison: Compared, required: NotWorse, text: str) -> Iterator[str]:
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
    p_values = comparison.not_worse_than(margin)[:, column].tolist()
    for (position, _), p in zip(comparison.pairs, p_values, strict=True):
        if not p < level:
            name = comparison.systems[position]
            said = _tell_change(comparison, name, required.measure)
            yield f"{said}, not shown to be less than {required.margin} worse, p {p:.3g}"


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
