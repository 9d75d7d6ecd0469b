"""Gates: conditions on what is printed, by which a command ends with a status of its own."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from functools import partial
from typing import Any

from irbatch.cli.terminal import say

GATE_FAILED = 3  # exit status: a condition of --fail-if holds, or one of --require doesn't


def add_gate(parser: argparse.ArgumentParser, fail_if: str, require: str) -> None:
    """Add the options of a gate, with examples of both: each a text, and whether it is required."""
    group = parser.add_argument_group(
        f"gate (exit status {GATE_FAILED}; several may follow one option)"
    )
    for option, required, text in (
        ("--fail-if", False, f"fail if it holds: {fail_if}"),
        ("--require", True, f"fail if it isn't met: {require}"),
    ):
        group.add_argument(
            option, dest="conditions", metavar="CONDITION", action="append", default=[], help=text,
            type=partial(_condition, required),
        )  # fmt: skip


def _condition(required: bool, text: str) -> tuple[str, bool]:
    return text, required


def judge(options: argparse.Namespace, systems: Any) -> list[Any]:
    """Return the outcomes of all conditions for results or a comparison."""
    if not options.conditions:
        return []
    from irbatch.comparing.gate import check  # for those who have a gate

    return [
        outcome
        for text, required in options.conditions
        for outcome in check(systems, [text], required=required)
    ]


def tell(verdicts: Iterable[tuple[bool, str]]) -> int:
    """Say what has passed, then what failed, and return the exit status."""
    status = 0
    for passed, text in sorted(verdicts, key=lambda verdict: not verdict[0]):
        say("passed" if passed else "failed", text)
        status = status if passed else GATE_FAILED
    return status
