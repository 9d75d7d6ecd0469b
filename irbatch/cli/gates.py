"""Gates: conditions on what is printed, by which a command ends with a status of its own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from irbatch.errors import InputError, printable, shown
from irbatch.measures import measure

GATE_FAILED = 3  # exit status: a condition of --fail-if holds, or one of --require doesn't
NOT_SO = ": of no system"  # what is said of a condition to fail by that has passed


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


def judge(
    options: argparse.Namespace,
    find: Callable[[str, bool], Sequence[str]],
    tell: Callable[[str, bool], str] = lambda text, required: text,
) -> int:
    """Say of each condition what failed, or that it passed, and return the exit status.

    Args:
        options: of the command.
        find: returns what fails of a condition, and is told whether it is required.
        tell: returns what to say of one that has passed.
    """
    failed: list[str] = []
    for text, required in list_conditions(options):
        if failures := find(text, required):
            failed += failures
        else:
            passed = tell(text, required) + ("" if required else NOT_SO)
            print(f"irbatch: passed: {printable(passed)}", file=sys.stderr)
    for failure in failed:
        print(f"irbatch: failed: {printable(failure)}", file=sys.stderr)
    return GATE_FAILED if failed else 0


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
