"""The parser of the command line."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import NoReturn

from irbatch.errors import InputError, printable
from irbatch.measures import parse_measures
from irbatch.version import __version__


class Parser(argparse.ArgumentParser):
    """A parser whose errors show control characters of words, not send them."""

    def error(self, message: str) -> NoReturn:
        """Print usage and what is wrong, and leave."""
        super().error(printable(message))


# Commands, each of a module of this package: what it takes is declared there, and done.
COMMANDS = {
    "eval": "evaluate runs against judgments",
    "compare": "tell which differences are more than chance",
    "explain": "show the queries that changed, and why",
    "overlap": "tell how alike two runs are, without judgments",
    "judges": "compare people's judgments and models'",
    "leaderboard": "accuracy beside latency and cost",
    "reproducibility": "tell how close reproduced runs come",
    "trec_eval": "print what trec_eval prints",
    "ndeval": "print what ndeval prints, of diversity",
    "sample_eval": "print what sample_eval prints, of sampled judgments",
    "measures": "list the measures, or explain one",
    "completion": "print completions for a shell",
    "warmup": "compile everything once, e.g. in an image",
}


def complete(parser: argparse.ArgumentParser, command: str) -> None:
    """Declare what a command takes; `command` becomes the function that carries it out."""
    module = import_module(f"irbatch.cli.{command}")
    module.declare(parser)
    parser.set_defaults(command=module.run)


def parse_words(words: Sequence[str]) -> argparse.Namespace:
    """Parse the words after ``irbatch``, importing no more than the command they begin with."""
    if words and words[0] in COMMANDS:
        parser = Parser(prog=f"irbatch {words[0]}")
        complete(parser, words[0])
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
    """Tell whether a word is a measure, perhaps a wrong one, and neither option nor file."""
    if word.startswith("-") or os.path.exists(word):  # noqa: PTH110 - pathlib takes 5 ms to import
        return False
    try:
        return bool(parse_measures(word))
    except InputError:
        return "@" in word and "=" not in word.partition("@")[0]


def parser_of_all() -> argparse.ArgumentParser:
    """Return the parser of every command; `parse_words` imports no more than one."""
    parser = Parser(prog="irbatch", description="Ranking evaluation: every measure from one pass.")
    parser.add_argument("--version", action="version", version=f"irbatch {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, summary in COMMANDS.items():
        complete(commands.add_parser(name, help=summary), name)
    return parser
