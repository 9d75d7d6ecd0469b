"""Gates: conditions on what is printed, by which a command ends with a status of its own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from irbatch.errors import printable

GATE_FAILED = 3  # exit status: a condition of --fail-if holds, or one of --require doesn't


def add_gate(parser: argparse.ArgumentParser, fail_if: str, require: str) -> None:
    """Add the options of a gate, with examples of both."""
    group = parser.add_argument_group(f"gate (exit status {GATE_FAILED}; repeat for more)")
    add = group.add_argument
    told = f"fail if it holds: {fail_if}"
    add("--fail-if", dest="conditions", metavar="CONDITION", action="append", default=[], help=told)
    told = f"fail if it isn't met: {require}"
    add("--require", dest="required", metavar="CONDITION", action="append", default=[], help=told)


def say_failures(failures: Sequence[str]) -> int:
    """Say what failed, and return the exit status."""
    for each in failures:
        print(f"irbatch: failed: {printable(each)}", file=sys.stderr)
    return GATE_FAILED if failures else 0
