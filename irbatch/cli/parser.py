"""The parser of the command line."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from importlib import import_module
from types import ModuleType
from typing import NoReturn

from irbatch.errors import InputError, printable
from irbatch.measures import parse_measures
from irbatch.version import __version__


class Parser(argparse.ArgumentParser):
    """A parser whose errors show control characters of words, not send them."""

    def error(self, message: str) -> NoReturn:
        """Print usage and what is wrong, and leave."""
        super().error(printable(message))


# Commands, each of a module of this package that declares what it takes and does it. The first line
# of the module's text is the command's in the list of all, the last paragraph an example.
COMMANDS = (
    "eval", "compare", "explain", "overlap", "judges", "leaderboard", "reproducibility",
    "trec_eval", "ndeval", "sample_eval", "measures", "completion", "warmup",
)  # fmt: skip


def complete(parser: argparse.ArgumentParser, module: ModuleType) -> None:
    """Declare what a command takes; `command` becomes what does it and may return a status."""
    parser.description, _, parser.epilog = (module.__doc__ or "").rpartition("\n\n")
    module.declare(parser)
    parser.set_defaults(command=module.run)


def parse_words(words: Sequence[str]) -> argparse.Namespace:
    """Parse the words after ``irbatch``, importing no more than the command they begin with."""
    if words and words[0] in COMMANDS:
        parser = Parser(prog=f"irbatch {words[0]}")
        complete(parser, import_module(f"irbatch.cli.{words[0]}"))
        own = words[1:] if words[0] == "trec_eval" else list(_one_by_one(words[1:]))
        return parser.parse_intermixed_args(own)  # runs may stand anywhere
    return parser_of_all().parse_args(words)


def _one_by_one(words: Sequence[str]) -> Iterator[str]:
    """Yield words with the option before each of several measures: ``-m AP nDCG@10 bm25.run``."""
    values = -1  # since the option; below 0 where something else came between
    for word in words:
        if word in ("-m", "--measure"):
            values = 0
        elif values > 0 and _is_measure(word):
            yield "-m"
        else:
            values = 1 if values == 0 else -1
        yield word


def _is_measure(word: str) -> bool:
    """Tell a measure from options and files; reject a word that is nothing of these."""
    if word.startswith("-") or os.path.exists(word):  # noqa: PTH110 - pathlib takes 5 ms to import
        return False
    try:
        return bool(parse_measures(word))
    except InputError as problem:
        from irbatch.formats.files import is_pattern  # here: for those whose words are wrong

        name, equals, _ = word.partition("=")
        if os.sep in word or is_pattern(word) or (equals and "(" not in name):  # or NAME=RUN
            return False
        raise InputError(f"neither a file nor a measure: {problem.message}") from None


def parser_of_all() -> argparse.ArgumentParser:
    """Return the parser of every command; `parse_words` imports no more than one."""
    parser = Parser(prog="irbatch", description="Ranking evaluation: every measure from one pass.")
    parser.add_argument("--version", action="version", version=f"irbatch {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name in COMMANDS:
        module = import_module(f"irbatch.cli.{name}")
        summary = (module.__doc__ or "").partition("\n")[0]
        complete(commands.add_parser(name, help=summary), module)
    return parser
