"""Runs targets and says what was found."""

from __future__ import annotations

import argparse
import ast
import os
import resource
from collections.abc import Sequence

from fuzz.target import Outcome, guarded, run
from fuzz.targets import TARGETS

ROOM = 2 << 30  # bytes that may be taken beside what is there at the start


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; the status is 1 if an input breaks a property."""
    given = _parse(words)
    os.environ.setdefault("IRBATCH_JIT", "1")
    if given.replay:
        target, text = given.replay
        with guarded():
            TARGETS[target].check(ast.literal_eval(text))
        return 0
    chosen = [TARGETS[name] for name in given.target or TARGETS]
    shares = sum(each.share for each in chosen)
    for target in chosen:  # compiles before memory is limited
        run(target, 20, "warm-up")
    _limit_memory()
    outcomes: list[Outcome] = []
    print(f"{'target':12} {'executions':>10} {'seconds':>8} {'a second':>8}  findings", flush=True)
    for target in chosen:
        executions = -(-given.executions * target.share // shares)
        outcome = run(target, executions, given.seed)
        outcomes.append(outcome)
        _print(target.name, outcome)
        for finding in outcome.findings:
            print(finding, flush=True)
    _print("all", Outcome(*map(sum, zip(*[each[:2] for each in outcomes], strict=True)),
                          [found for each in outcomes for found in each.findings]))  # fmt: skip
    return int(any(each.findings for each in outcomes))


def _parse(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.fuzz", description=__doc__)
    parser.add_argument("--executions", type=int, default=100_000, help="of all targets together")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--target", action="append", choices=TARGETS, help="default: all")
    parser.add_argument("--replay", nargs=2, metavar=("TARGET", "INPUT"), help="check one input")
    return parser.parse_args(words)


def _print(name: str, outcome: Outcome) -> None:
    rate = outcome.executions / max(outcome.seconds, 1e-9)
    counted = f"{outcome.executions:10,} {outcome.seconds:8.1f} {rate:8,.0f}"
    print(f"{name:12} {counted}  {len(outcome.findings)}", flush=True)


def _limit_memory() -> None:
    """Make an execution that takes more memory than any should fail."""
    with open("/proc/self/statm") as file:  # noqa: PTH123
        there = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(
        resource.RLIMIT_AS, (there + ROOM, resource.getrlimit(resource.RLIMIT_AS)[1])
    )
