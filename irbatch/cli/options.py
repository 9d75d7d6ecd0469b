"""The options that commands share: what shapes values, and conditions."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from functools import partial
from shlex import quote
from typing import Any

from irbatch.cli import say
from irbatch.data.column_names import WORDS
from irbatch.engine.ties import ORDERS
from irbatch.errors import InputError
from irbatch.evaluation.settings import OPTIONS, Settings
from irbatch.measures import Measure, measure, parse_measures, styles
from irbatch.runtime.numbers import DECIMAL

SETTINGS = (*OPTIONS, "order_by", "columns")
GATE_FAILED = 3  # exit status: a condition of --fail-if holds, or one of --require doesn't
DEFAULT_MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@100")


def add_measures(
    parser: argparse.ArgumentParser, default: str = "", *, names: bool = True, one: bool = False
) -> None:
    """Add the options that choose measures, and the `names` they have."""
    add = parser.add_argument_group("measures").add_argument
    several = "" if one else ", 'P@{5,10}'; several as in -m AP nDCG@10 or -m AP,nDCG@10"
    default = default or " ".join(DEFAULT_MEASURES)
    text = f"e.g. nDCG@10, ndcg_cut_10{several} (default: {default})"
    add("-m", "--measure", dest="measures", metavar="MEASURE", action="append", help=text)
    if names:
        text = f"how measures are called: {', '.join(styles())} (default: irbatch)"
        add("--names", choices=styles(), default="irbatch", metavar="TOOL", help=text)


def check_sort(sort: str | None, measures: Sequence[Measure]) -> None:
    """Reject a --sort that is not by one of the measures, before a file is read."""
    if sort is not None and measure(sort) not in measures:
        problem = f"--sort: {sort} is not among the measures: add -m {quote(sort)}"
        raise InputError(problem, value=sort)


def add_rows(group: Any, rows: Mapping[str, Mapping[str, Any]]) -> None:
    """Add the option of each setting, by name; of what is so by default, its "no"."""
    for name, option in rows.items():
        no = "no-" if option.get("action") == "store_false" else ""
        group.add_argument(f"--{no}{name.replace('_', '-')}", dest=name, **option)


def add_settings(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what shapes values")
    defaults = Settings._field_defaults
    add_rows(group, {
        name: option if "action" in option else {"default": defaults[name], **option}
        for name, option in OPTIONS.items()
    })  # fmt: skip
    text = "what orders the documents of a run that has both (default: score)"
    group.add_argument("--order-by", choices=ORDERS, default=ORDERS[0], help=text)
    add_columns(parser)


def add_columns(parser: argparse.ArgumentParser) -> None:
    text = (
        "columns of tables, where their names are not known: user=uid,item=iid,grade=stars,"
        "score=yhat; qrels.user=uid,run.user=who where they differ; grade=1 where all have that"
    )
    parser.add_argument("--columns", metavar="ROLE=NAME,…", type=_columns, help=text)


def _columns(text: str) -> dict[str, Any]:
    """Read names of columns, as ``columns=`` of `irbatch.evaluate` takes them."""
    columns: dict[str, Any] = {}
    for pair in text.split(","):
        word, equals, name = (part.strip() for part in pair.partition("="))
        source, point, role = word.rpartition(".")
        if not (role and equals and name and bool(source) == bool(point)):
            raise argparse.ArgumentTypeError(f"{pair!r} is not ROLE=NAME, such as user=uid")
        is_number = WORDS.get(role, role) == "grade" and re.fullmatch(DECIMAL, name)
        own = columns.setdefault(source, {}) if source else columns
        own[role] = float(name) if is_number else name
    return columns


def add_gate(parser: argparse.ArgumentParser, fail_if: str, require: str) -> None:
    """Add the options of a gate, with examples of both: each a text, and whether it is required."""
    group = parser.add_argument_group(f"gate (exit status {GATE_FAILED}; options may be repeated)")
    add = partial(
        group.add_argument, dest="conditions", metavar="CONDITION", action="append", default=[]
    )
    add("--fail-if", type=lambda text: (text, False), help=f"fail if it holds: {fail_if}")
    add("--require", type=lambda text: (text, True), help=f"fail if it isn't met: {require}")


def measures_of(options: argparse.Namespace, *, alone: bool = False) -> tuple[Measure, ...]:
    """Return the measures asked for, then those that conditions are on; see `parse_condition`."""
    names = list(options.measures or DEFAULT_MEASURES)
    if options.conditions:
        from irbatch.comparing.gate import MISSING, parse_condition  # for those who have a gate

        for text, required in options.conditions:
            _, form = parse_condition(text, required=required, alone=alone)
            names += [] if form.name == MISSING else [form.name]
    return parse_measures(names)


def judge(options: argparse.Namespace, systems: Any) -> tuple[list[Any], int]:
    """Check conditions, say what has passed, then what failed; return outcomes and exit status."""
    if not options.conditions:
        return [], 0
    from irbatch.comparing.gate import check  # for those who have a gate

    outcomes = [
        outcome
        for text, required in options.conditions
        for outcome in check(systems, [text], required=required)
    ]
    for outcome in sorted(outcomes, key=lambda outcome: not outcome.passed):
        say("passed" if outcome.passed else "failed", outcome.told)
    return outcomes, 0 if all(outcome.passed for outcome in outcomes) else GATE_FAILED
