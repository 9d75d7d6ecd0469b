"""Gates: conditions on what is printed, by which a command ends with a status of its own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import Any

from irbatch.errors import InputError, printable, shown
from irbatch.measures import measure

GATE_FAILED = 3  # exit status: a condition of --fail-if holds, or one of --require doesn't


def add_gate(parser: argparse.ArgumentParser, fail_if: str, require: str) -> None:
    """Add the options of a gate, with examples of both."""
    group = parser.add_argument_group(f"gate (exit status {GATE_FAILED}; repeat for more)")
    add = group.add_argument
    told = f"fail if it holds: {fail_if}"
    add("--fail-if", dest="conditions", metavar="CONDITION", action="append", default=[], help=told)
    told = f"fail if it isn't met: {require}"
    add("--require", dest="required", metavar="CONDITION", action="append", default=[], help=told)


def list_conditions(options: argparse.Namespace) -> list[tuple[str, bool]]:
    """List the conditions, and whether each is required."""
    return [
        *((text, False) for text in options.conditions),
        *((text, True) for text in options.required),
    ]


def tell(verdicts: Iterable[tuple[bool, str]]) -> int:
    """Say what has passed, then what failed, and return the exit status."""
    said: dict[bool, list[str]] = {True: [], False: []}
    for passed, told in verdicts:
        said[passed].append(told)
    for passed, sentences in said.items():
        for told in sentences:
            verdict = "passed" if passed else "failed"
            print(f"irbatch: {verdict}: {printable(told)}", file=sys.stderr)
    return GATE_FAILED if said[False] else 0


def judge(options: argparse.Namespace, systems: Any) -> list[Any]:
    """Return the outcomes of all conditions for results or a comparison."""
    if not list_conditions(options):
        return []
    from irbatch.comparing.gate import check  # for those who have a gate

    return [
        outcome
        for text, required in list_conditions(options)
        for outcome in check(systems, [text], required=required)
    ]


def tell_outcomes(outcomes: Iterable[Any]) -> int:
    """Say what came of conditions, and return the exit status."""
    return tell((each.passed, each.told) for each in outcomes)


def check_axes(options: argparse.Namespace) -> None:
    """Reject conditions on what a system takes, such as latency: they are for leaderboards."""
    from irbatch.comparing.gate import read_limit  # for those who have a gate

    for text, _ in list_conditions(options):
        limit = read_limit(text)
        try:
            measure("AP" if limit is None else limit.name)
        except InputError:
            from irbatch.efficiency.quantities import ALIASES, QUANTITIES

            if limit is not None and "_".join(limit.name.split()) in (*QUANTITIES, *ALIASES):
                problem = f"condition {shown(text)}: `irbatch leaderboard` takes {limit.name}"
                raise InputError(problem, value=text) from None
