"""Print a script that completes irbatch's commands, options, measures and files.

example: eval "$(irbatch completion bash)", in ~/.bashrc
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from irbatch.cli.parser import parser_of_all
from irbatch.errors import InputError, imported, join_words
from irbatch.measures import CATALOGUE

FILES = ("QRELS", "RUN", "A", "B", "FILE", "SYSTEMS")  # what is a file is called in help texts


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", metavar="SHELL", help="bash, zsh, tcsh; newer shtabs know more")


def run(options: argparse.Namespace) -> None:
    shtab = imported("completions", "cli", "shtab")
    if options.shell not in shtab.SUPPORTED_SHELLS:
        problem = f"completions are for {join_words(shtab.SUPPORTED_SHELLS)}"
        raise InputError(problem, source="shell", value=options.shell)
    whole = parser_of_all()
    for action in _actions_of(whole):
        if action.metavar in FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        if action.dest == "measures" and action.option_strings:
            action.choices = list(CATALOGUE)  # to be completed; cutoffs are typed
    print(shtab.complete(whole, options.shell))


def _actions_of(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the arguments of a parser and of its commands, which argparse tells nowhere else."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions_of(command)
