"""The options of evaluation that commands share: `irbatch.evaluate` says more of each."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import fields
from shlex import quote
from typing import Any

from irbatch.data.column_names import WORDS
from irbatch.errors import InputError
from irbatch.evaluation.settings import Settings
from irbatch.formats.files import ORDERS
from irbatch.measures import Measure, measure, styles
from irbatch.runtime.numbers import DECIMAL

SETTINGS = (*(row.name for row in fields(Settings)), "order_by", "columns")


DEFAULT_MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@100")


def add_measures(parser: argparse.ArgumentParser, default: str = "", *, names: bool = True) -> Any:
    """Add the options that choose measures, and the `names` they have; return what adds others."""
    add = parser.add_argument_group("measures").add_argument
    default = default or " ".join(DEFAULT_MEASURES)
    text = "e.g. nDCG@10, 'P@{5,10}', ndcg_cut_10; several as in -m AP nDCG@10 or -m AP,nDCG@10 "
    text = f"{text}(default: {default})"
    add("-m", "--measure", dest="measures", metavar="MEASURE", action="append", help=text)
    if names:
        text = f"how measures are called: {', '.join(styles())} (default: irbatch)"
        add("--names", choices=styles(), default="irbatch", metavar="TOOL", help=text)
    return add


def check_sort(sort: str | None, measures: Sequence[Measure]) -> None:
    """Reject a --sort that is not by one of the measures, before a file is read."""
    if sort is not None and measure(sort) not in measures:
        problem = f"--sort: {sort} is not among the measures: add -m {quote(sort)}"
        raise InputError(problem, value=sort)


def add_rows(group: Any, rows: Any) -> None:
    """Add the option of each field of a class of settings; of what is so by default, its "no"."""
    for row in fields(rows):
        option = row.metadata["option"]
        no = "no-" if option.get("action") == "store_false" else ""
        group.add_argument(f"--{no}{row.name.replace('_', '-')}", dest=row.name, **option)


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add the options that shape values."""
    group = parser.add_argument_group("what shapes values")
    add_rows(group, Settings)
    text = "what orders the documents of a run that has both (default: score)"
    group.add_argument("--order-by", choices=ORDERS, default=ORDERS[0], help=text)
    add_columns(parser)


def add_columns(parser: argparse.ArgumentParser) -> None:
    """Add the option that says what tables call their columns."""
    text = (
        "columns of tables, where their names are not known: user=uid,item=iid,grade=stars,"
        "score=yhat; qrels.user=uid,run.user=who where they differ; grade=1 where all have that"
    )
    parser.add_argument("--columns", metavar="ROLE=NAME,…", action=_Columns, help=text)


class _Columns(argparse.Action):
    """Collects names of columns, as ``columns=`` of `irbatch.evaluate` takes them."""

    def __call__(
        self, parser: object, namespace: argparse.Namespace, text: Any, option: str | None = None
    ) -> None:
        """Add those of one option."""
        columns = getattr(namespace, self.dest) or {}
        for pair in text.split(","):
            word, equals, name = (part.strip() for part in pair.partition("="))
            source, point, role = word.rpartition(".")
            if not (role and equals and name and bool(source) == bool(point)):
                raise argparse.ArgumentError(self, f"{pair!r} is no ROLE=NAME, such as user=uid")
            is_number = WORDS.get(role, role) == "grade" and re.fullmatch(DECIMAL, name)
            own = columns.setdefault(source, {}) if source else columns
            own[role] = float(name) if is_number else name
        setattr(namespace, self.dest, columns)
