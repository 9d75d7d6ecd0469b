"""Conditions on a comparison, for a test or a release: "nDCG@10 drops 1% p<0.05"."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from irbatch.comparing.compared import Compared
from irbatch.errors import InputError, printable, shown
from irbatch.measures import measure
from irbatch.statistics.significance import DRAWN

NUMBER = r"(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)"  # no two ways to read one: so time is linear
FORM = re.compile(
    r"(?P<measure>\S+)\s+(?P<change>drops|rises|changes)"
    rf"(?:\s+(?P<amount>{NUMBER})(?:\s*(?P<percent>%))?)?"
    rf"(?:\s+p\s*<\s*(?P<p>{NUMBER}))?"
)
ROUNDING = 1e-12  # a mean that drops from 1 to 0.9 drops 10%
EXAMPLE = "'nDCG@10 drops 1% p<0.05'"


class Condition(NamedTuple):
    """What must not happen."""

    measure: str  # its canonical name
    change: str
    amount: float  # at least
    relative: bool  # whether that is a share of the baseline's mean
    p: float | None  # above the corrected p-value


def parse_condition(text: str) -> Condition:
    """Read a condition: MEASURE drops|rises|changes [AMOUNT[%]] [p<LEVEL].

    >>> parse_condition("ndcg_cut_10 drops 1% p<0.05")
    Condition(measure='nDCG@10', change='drops', amount=0.01, relative=True, p=0.05)
    """
    form = FORM.fullmatch(text.strip()) if isinstance(text, str) else None
    if form is None:
        raise InputError(f"condition {shown(text)} is not of the form {EXAMPLE}", value=text)
    amount = float(form["amount"] or 0.0)
    p = None if form["p"] is None else float(form["p"])
    relative = form["percent"] is not None
    lost = relative and form["change"] == "drops" and amount > 100
    if not math.isfinite(amount) or lost or (p is not None and not 0 < p <= 1):
        raise InputError(f"condition {shown(text)} asks for what cannot be", value=text)
    name = str(measure(form["measure"]))
    return Condition(name, form["change"], amount / 100 if relative else amount, relative, p)


def find_failures(comparison: Compared, text: str) -> list[str]:
    """Say in a sentence for each of which systems a condition holds, see `Comparison.failures`."""
    condition = parse_condition(text)
    if comparison.baseline is None:
        raise InputError("a condition needs a baseline to compare with", source="baseline")
    if condition.p is not None and condition.p <= comparison.least_p:
        more = "; more draws= can" if comparison.test in DRAWN else ""
        problem = f"condition {shown(text)} can never hold. {comparison.undecided}{more}"
        raise InputError(problem, value=text)
    found = []
    for position, _ in comparison.pairs:
        name = comparison.systems[position]
        told = comparison.difference(name, comparison.baseline, condition.measure)
        change = told.difference
        if condition.relative:  # of a mean of 0 any difference is more than a share
            change = math.copysign(math.inf, change) if math.isnan(told.relative) else told.relative
        signed = {"drops": -change, "rises": change, "changes": abs(change)}[condition.change]
        certain = condition.p is None or told.corrected < condition.p
        if told.difference and signed > 0 and signed >= condition.amount - ROUNDING and certain:
            share = "" if math.isnan(told.relative) else f" ({told.relative:+.1%})"
            found.append(
                f"{printable(name)}: {condition.measure} {told.difference:+.4f}{share} "
                f"against {printable(comparison.baseline)}, p {told.corrected:.3g}"
            )
    return found
