"""The options of tables for a paper that commands share."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from typing import Any

from irbatch.errors import InputError

PAPER = ("caption", "label", "environment")
ENVIRONMENTS = ("table", "table*")


def add_paper(parser: argparse.ArgumentParser) -> Any:
    """Add the options that shape LaTeX; return what adds others."""
    add = parser.add_argument_group("LaTeX").add_argument
    add("--caption", metavar="TEXT", help="what the caption begins with")
    add("--label", metavar="NAME", help=r"what \ref calls the table")
    told = "table* is across both columns of a paper (default: table)"
    add("--environment", choices=ENVIRONMENTS, help=told)
    return add


def paper_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return what is given of the options, as ``to_latex`` takes it."""
    return {name: getattr(options, name) for name in PAPER if getattr(options, name) is not None}


def check_paper(options: argparse.Namespace, forms: Collection[str]) -> None:
    """Reject options of LaTeX where none is written."""
    for name in PAPER:
        if getattr(options, name) is not None and "latex" not in forms:
            raise InputError(f"--{name.replace('_', '-')} is for latex", value=options.format)
