"""The parser of the command line."""

from __future__ import annotations

import argparse

import irbatch
from irbatch.cli.catalogue import add_measures
from irbatch.cli.compare import add_compare
from irbatch.cli.evaluate import add_eval
from irbatch.cli.leaderboard import add_leaderboard
from irbatch.cli.trec_eval import add_trec_eval


def make_parser() -> argparse.ArgumentParser:
    """Build the parser; each command sets `command` to the function that carries it out."""
    parser = argparse.ArgumentParser(
        prog="irbatch", description="Ranking evaluation: every measure from one pass."
    )
    parser.add_argument("--version", action="version", version=f"irbatch {irbatch.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_eval(commands.add_parser("eval", help="evaluate runs against judgments"))
    add_compare(commands.add_parser("compare", help="tell which differences are more than chance"))
    add_leaderboard(commands.add_parser("leaderboard", help="accuracy beside latency and cost"))
    add_trec_eval(commands.add_parser("trec_eval", help="print what trec_eval prints"))
    add_measures(commands.add_parser("measures", help="list the measures, or explain one"))
    warmup = commands.add_parser("warmup", help="compile everything once, e.g. in an image")
    warmup.set_defaults(command=_warm_up, parser=warmup)
    return parser


def _warm_up(options: argparse.Namespace) -> int:
    print(f"{len(irbatch.warmup())} kernels are compiled and cached")
    return 0
