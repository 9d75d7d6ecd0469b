"""Show systems by accuracy, latency and cost, and those that no other beats.

Of SYSTEMS' JSON each system has the keys of an efficiency record, and its accuracy, or a run to
evaluate. AXIS is a measure or a quantity: latency_p95, throughput, peak_memory, index_disk,
cost_per_million …

example: irbatch leaderboard systems.json --x cost_per_million --plot frontier.svg
--where 'latency_p95 < 50'
"""

from __future__ import annotations

import argparse
import functools
import re
import sys
from pathlib import Path

from irbatch.cli.options import DEFAULT_MEASURES, add_gate, add_measures, judge
from irbatch.cli.writing import SHAPING, TABLES, Output, add_output, add_paper, chosen
from irbatch.errors import InputError
from irbatch.leaderboard import Leaderboard
from irbatch.leaderboard.board import parse_on_board, split_axes
from irbatch.measures import parse_measures
from irbatch.report import axes
from irbatch.runtime.numbers import DECIMAL

EXAMPLE = (
    '{"systems": [{"system": "bm25", "accuracy": {"RR@10": 0.187}, "latency": {"mean": 8}}, …]}'
)
NEEDS = {"y": "x", "plot": "x", "level": "qrels", "significance": "qrels"}
"""Options that say nothing without another."""
SHAPED = {**SHAPING, "columns": TABLES, "frontier": TABLES}


def declare(parser: argparse.ArgumentParser) -> None:
    parser.usage = "irbatch leaderboard SYSTEMS [--qrels QRELS] [-m MEASURE ...] [options]"
    add = parser.add_argument
    add("systems", metavar="SYSTEMS", help=f"JSON, such as {EXAMPLE}; - is standard input")
    add("--qrels", metavar="QRELS", help="evaluate the runs that SYSTEMS names")
    of_qrels = f"with --qrels {' '.join(DEFAULT_MEASURES)}"
    add_measures(parser, f"all there are; {of_qrels}", names=False)
    add = parser.add_argument_group("systems and axes").add_argument
    repeated = functools.partial(add, action="append", default=[])
    text = "leave out systems that don't meet it: 'latency_p95 < 50'; repeat for more"
    repeated("--where", metavar="CONSTRAINT", help=text)
    text = "price per hour of an instance that systems were measured on; repeat for more"
    repeated("--price", dest="prices", metavar="INSTANCE=PRICE", type=_price, help=text)
    add("--sort", metavar="AXIS", help="the best first (default: as they are given)")
    text = "those shown; hardware is one, too"
    add("--columns", metavar="AXIS,AXIS", type=split_axes, help=text)
    text = "mark the systems that no other beats (default: --y and --x)"
    add("--frontier", metavar="AXIS,AXIS", type=split_axes, help=text)
    add = parser.add_argument_group("how sure it is (with --qrels)").add_argument
    add("--level", type=float, metavar="P", help="chance that an interval misses (default: 0.05)")
    text = "mark systems not significantly worse than the best (all pairs, Holm)"
    add("--significance", action="store_true", default=None, help=text)
    text = "draw --y against --x, and the frontier"
    add = add_output(parser, digits="measures", plot=text)
    add("--x", metavar="AXIS", help="across the picture")
    add("--y", metavar="AXIS", help="along the picture (default: the first measure)")
    add("--intervals", action="store_true", help="show them in tables")
    of_mine = "'latency_p95 > 50', 'of mine: dominated on RR@10, cost'"
    add_gate(parser, of_mine, "'RR@10 lower bound >= 0.3'")
    add_paper(parser)


def _price(text: str) -> tuple[str, float]:
    instance, _, price = (part.strip() for part in text.rpartition("="))
    if not instance or not re.fullmatch(DECIMAL, price):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form c6g.xlarge=0.136")
    return instance, float(price)


def run(options: argparse.Namespace) -> int:
    for text, required in options.conditions:
        parse_on_board(text, required=required)
    for name, other in NEEDS.items():
        if getattr(options, name) is not None and getattr(options, other) is None:
            raise InputError(f"--{name} needs --{other}")
    if options.qrels is not None:
        options.measures = parse_measures(options.measures or DEFAULT_MEASURES)
    inputs = {"leaderboard": [options.systems], "qrels": [*filter(None, [options.qrels])]}
    output = Output(options, inputs, shaping=SHAPED)
    board = _read(options)
    if options.prices:
        board = board.priced(dict(options.prices))
    board = board.where(*options.where)
    if options.significance:
        board = board.tested(**chosen(options, ["level"]))
    picture = None if options.plot is None else board.plot(options.x, options.y)
    outcomes, status = judge(options, board)
    if options.frontier is None and options.x is not None:
        options.frontier = [options.y or board.measures[0], options.x]
    page = {"x": options.x, "y": options.y}
    output.write(board, {"html": page, "json": {"gates": outcomes}})
    if picture is not None:
        axes.save(picture, options.plot)
    return status


def _read(options: argparse.Namespace) -> Leaderboard:
    settings = chosen(options, ("qrels", "measures", "level"))
    try:
        if options.systems != "-":
            return Leaderboard.from_json(Path(options.systems), **settings)
        text = sys.stdin.buffer.read().decode("utf-8-sig", "replace")
        if not text.lstrip().startswith(("{", "[")):  # or it would be taken for a path
            raise InputError("is no JSON object or list", source="leaderboard", path="-")
        return Leaderboard.from_json(text, **settings)
    except OSError as problem:
        reason, path = problem.strerror or str(problem), str(problem.filename or options.systems)
        raise InputError(reason, source="leaderboard", path=path) from None
