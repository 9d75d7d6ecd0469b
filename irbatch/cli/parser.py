"""The parser of the command line."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import NamedTuple, NoReturn

import irbatch
from irbatch.cli.messages import say
from irbatch.errors import InputError, printable
from irbatch.measures import parse_measures
from irbatch.runtime.kernels import Kernel


class Parser(argparse.ArgumentParser):
    """A parser whose refusals show control characters of words, not send them."""

    def error(self, message: str) -> NoReturn:
        """Print usage and what is wrong, and leave."""
        super().error(printable(message))


class Command(NamedTuple):
    """A command: the function, in a module of this package, that declares what it takes."""

    module: str
    declare: str
    summary: str
    measures: bool = False  # whether -m may be followed by several

    def complete(self, parser: argparse.ArgumentParser) -> None:
        """Declare its arguments; `command` becomes the function that carries it out."""
        module = import_module(f"irbatch.cli.{self.module}")
        declare: Callable[[argparse.ArgumentParser], None] = getattr(module, self.declare)
        declare(parser)


COMMANDS = {
    "eval": Command("evaluate", "add_eval", "evaluate runs against judgments", True),
    "compare": Command(
        "compare", "add_compare", "tell which differences are more than chance", True
    ),
    "explain": Command("explain", "add_explain", "show the queries that changed, and why"),
    "overlap": Command("overlap", "add_overlap", "tell how alike two runs are, without judgments"),
    "judges": Command("judges", "add_judges", "compare people's judgments and models'", True),
    "leaderboard": Command(
        "leaderboard", "add_leaderboard", "accuracy beside latency and cost", True
    ),
    "reproducibility": Command(
        "reproducibility", "add_reproducibility", "tell how close reproduced runs come"
    ),
    "trec_eval": Command("trec_eval", "add_trec_eval", "print what trec_eval prints"),
    "ndeval": Command("ndeval", "add_ndeval", "print what ndeval prints, of diversity"),
    "sample_eval": Command(
        "sample_eval", "add_sample_eval", "print what sample_eval prints, of sampled judgments"
    ),
    "measures": Command("catalogue", "add_measures", "list the measures, or explain one"),
    "completion": Command("completion", "add_completion", "print completions for a shell"),
    "warmup": Command("parser", "add_warmup", "compile everything once, e.g. in an image"),
}


def parse_words(words: Sequence[str]) -> argparse.Namespace:
    """Parse the words after ``irbatch``, importing no more than the command that they begin with.

    Raises:
        SystemExit: after printing help, or what is wrong with them.
    """
    if words and words[0] in COMMANDS:
        parser = Parser(prog=f"irbatch {words[0]}")
        command = COMMANDS[words[0]]
        command.complete(parser)
        if words[0] == "explain" and len([*_repeat_m(words)]) > len(words):
            parser.error("explain takes one measure")
        if not command.measures:
            return parser.parse_args(words[1:])
        # Runs may stand anywhere: behind the measures, and some before them and some behind.
        return parser.parse_intermixed_args([*_repeat_m(words[1:])])
    return parser_of_all().parse_args(words)


def _repeat_m(words: Sequence[str]) -> Iterator[str]:
    """Yield words with a -m before each of several measures that follow one: ``-m AP nDCG@10``.

    Files may follow, too: what is a file, or could not be a measure, is none.
    """
    taken = -1  # words since the last -m; below 0 where other options or files came between
    for word in words:
        if word in ("-m", "--measure"):
            taken = 0
        elif taken == 0:
            taken = 1
        elif taken > 0 and _may_be_measure(word):
            yield "-m"
        else:
            taken = -1
        yield word


def _may_be_measure(word: str) -> bool:
    if word.startswith("-") or os.path.exists(word):  # noqa: PTH110 - pathlib takes 5 ms to import
        return False
    try:
        return bool(parse_measures(word))
    except InputError:
        return "@" in word and "=" not in word.partition("@")[0]  # to be refused as a measure


def parser_of_all() -> argparse.ArgumentParser:
    """Return the parser of every command; `parse_words` imports no more than one."""
    parser = Parser(prog="irbatch", description="Ranking evaluation: every measure from one pass.")
    parser.add_argument("--version", action="version", version=f"irbatch {irbatch.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        command.complete(commands.add_parser(name, help=command.summary))
    return parser


def add_warmup(parser: argparse.ArgumentParser) -> None:
    """Declare what `irbatch warmup` takes."""
    parser.description = "Compile everything once and keep it, beside the package or in the cache."
    parser.epilog = "example: RUN irbatch warmup, in a Dockerfile, behind the installation"
    parser.set_defaults(command=_warm_up)


def _warm_up(options: argparse.Namespace) -> int:
    compiled = len(irbatch.runtime.warmup())
    if not compiled:
        print("the kernels are compiled already: there is nothing to do")
    elif Kernel.is_kept:
        print(f"{compiled} kernels are compiled and cached")
    else:
        say("error", "nothing can be kept; NUMBA_CACHE_DIR= names a folder that can be written to")
    return int(not Kernel.is_kept)
