"""What conditions on a comparison say: their grammar, and what none can mean.

What must not be: ``nDCG@10 drops 1% p<0.05``, ``nDCG@10 < 0.35``. What must be: ``nDCG@10 not worse
than baseline by 1%``, ``nDCG@10 equivalent to baseline within 1%``, ``nDCG@10 >= 0.35``. Either may
begin with ``in GROUP:`` or ``in every group:``.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from irbatch.comparing.limits import Limit, check_range, check_side, read_limit
from irbatch.errors import InputError, shown
from irbatch.measures import Measure, measure
from irbatch.statistics.margins import Margin

NUMBER = r"(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)"  # no two ways to read one: so time is linear
AMOUNT = rf"(?P<amount>{NUMBER})(?:\s*(?P<percent>%))?"
BELOW = rf"(?:\s+p\s*<\s*(?P<p>{NUMBER}))?"
FORM = re.compile(
    r"(?P<measure>\S+)\s+(?P<change>drops|rises|changes|worsens|improves)"
    rf"(?:\s+{AMOUNT})?{BELOW}"
)
WITHIN = [  # not worse, and equivalent
    re.compile(
        rf"(?P<measure>\S+)\s+{how}(?:\s+{than}\s+(?P<baseline>\S.*?))?\s+(?:by|within)\s+"
        rf"{AMOUNT}{BELOW}"
    )
    for how, than in ((r"not\s+worse", "than"), ("equivalent", "to"))
]
CONDITIONS = (
    "'nDCG@10 drops 1% p<0.05' (or rises, changes, worsens, improves; 1% or 0.01; with p or "
    "without) or 'nDCG@10 < 0.35'"
)
REQUIREMENTS = (
    "'nDCG@10 not worse than baseline by 1%', 'nDCG@10 equivalent to baseline within 1%' or "
    "'nDCG@10 >= 0.35'"
)

HINTS = [  # what is near a form, and what it is there
    (re.compile(r"\sp\s*<="), "; p stands before '<', as in 'p<0.05'"),
    (re.compile(r"\s(falls|decreases|declines)\b"), "; did you mean 'drops'?"),
    (re.compile(r"\s(increases|grows)\b"), "; did you mean 'rises'?"),
]


class Condition(NamedTuple):
    """What must not happen to a mean."""

    measure: str  # its canonical name
    change: str
    amount: float  # at least
    relative: bool  # whether that is a share of the baseline's mean
    p: float | None  # above the corrected p-value
    group: str | None = None  # of queries; all of them


class Within(NamedTuple):
    """What must be shown: that a mean isn't worse than the baseline's by a margin.

    Or that it is neither worse nor better, where they are to be equivalent.
    """

    measure: str
    baseline: str | None
    margin: Margin
    p: float | None
    group: str | None = None
    equivalent: bool = False


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
        if any(each.fullmatch(said) for each in WITHIN):
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
    _check_amount(text, change, form["amount"], amount, relative, wanted)
    return Condition(name, change, amount / 100 if relative else amount, relative, p, group)


def _check_amount(
    text: str, change: str, given: str, amount: float, relative: bool, wanted: Measure
) -> None:
    """Refuse a change by all there is, or more: a per cent sign is missing, or a point."""
    low, high = wanted.range
    most = 100 if relative else high - low
    if amount < most or (relative and side_of(change, wanted.sign) >= 0):
        return
    problem = "asks for what cannot be"
    if amount == most and relative:
        problem = f"asks for no less than all: 100% is the whole mean of {wanted}"
    elif amount == most:
        problem = f"asks for no less than all: {given} is the whole range of {wanted}"
        problem += f"; did you mean {given}%?"
    raise InputError(f"condition {shown(text)} {problem}", value=text)


def parse_requirement(text: str) -> Within | Level:
    """Read what must be, as `Comparison.unmet` takes it.

    >>> parse_requirement("P@5 not worse by 0.01").margin
    Margin(amount=0.01, relative=False)
    """
    group, said = _split_group(text, required=True)
    not_worse, equivalent = (each.fullmatch(said) for each in WITHIN)
    form = not_worse or equivalent
    if form is None:
        if FORM.fullmatch(said):
            raise InputError(f"{shown(text)} is a condition to fail by, not a requirement",
                             value=text)  # fmt: skip
        return _read_level(text, group, said, required=True)
    name, amount, p = _read(form, text)
    if not_worse and not measure(name).sign:
        problem = f"neither higher nor lower values of {name} are worse"
        raise InputError(f"condition {shown(text)}: {problem}", value=text)
    relative = form["percent"] is not None
    low, high = measure(name).range
    if not 0 < amount < (100 if relative else high - low):
        raise InputError(f"condition {shown(text)} asks for what cannot be", value=text)
    margin = Margin(amount / 100 if relative else amount, relative)
    return Within(name, form["baseline"], margin, p, group, equivalent is not None)


def _other_form(text: object, *, required: bool) -> InputError:
    """Make the error that shows all forms, those of the purpose first."""
    said, other = f"a requirement: {REQUIREMENTS}", f"a condition to fail by: {CONDITIONS}"
    forms = f"{REQUIREMENTS}; {other}" if required else f"{CONDITIONS}; {said}"
    hint = next((hint for form, hint in HINTS if form.search(str(text))), "")
    return InputError(f"condition {shown(text)} is not of the form {forms}{hint}", value=text)


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


def side_of(change: str, sign: int) -> int:
    """Return 1 for a change that is a rise, -1 for one that isn't, 0 for either."""
    turned = {"drops": -1, "rises": 1, "changes": 0}
    return turned.get(change, sign if change == "improves" else -sign)
