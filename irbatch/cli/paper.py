"""The options of tables for a paper that commands share: `irbatch.SystemResults` says more."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from typing import Any

from irbatch.errors import InputError

PAPER = ("caption", "label", "environment", "line_width")
ENVIRONMENTS = ("table", "table*")


def add_paper(parser: argparse.ArgumentParser) -> None:
    """Add the options that shape LaTeX."""
    add = parser.add_argument_group("LaTeX").add_argument
    add("--caption", metavar="TEXT", help="that LaTeX's begins with")
    add("--label", metavar="NAME", help=r"that \ref takes, of LaTeX")
    told = "of LaTeX; table* is across both columns of a paper (default: table)"
    add("--environment", choices=ENVIRONMENTS, help=told)
    told = "that LaTeX's tables fit into (default: 345, of table* 455)"
    add("--line-width", metavar="POINTS", type=float, help=told)


def paper_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return what is given of the options, as ``to_latex`` takes it."""
    given = {name: getattr(options, name) for name in PAPER if getattr(options, name) is not None}
    if "line_width" in given:
        given["width"] = given.pop("line_width")
    return given


def check_paper(options: argparse.Namespace, forms: Collection[str]) -> None:
    """Refuse options of LaTeX where none is written."""
    for name in PAPER:
        if getattr(options, name) is not None and "latex" not in forms:
            raise InputError(f"--{name.replace('_', '-')} is for latex", value=options.format)
