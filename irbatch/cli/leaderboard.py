"""`irbatch leaderboard`: systems with their accuracy and what they take, on screen and in files."""

from __future__ import annotations

import argparse
import functools
import re
import sys
from pathlib import Path
from typing import Any

from irbatch.cli.gates import add_gate, list_conditions, tell
from irbatch.cli.settings import DEFAULT_MEASURES, add_measures
from irbatch.cli.writing import TABLES, WRITTEN, Output, add_output, add_paper
from irbatch.comparing.gate import parse_on_board
from irbatch.efficiency.quantities import HIGHER, LOWER
from irbatch.errors import InputError, shown
from irbatch.leaderboard import Leaderboard
from irbatch.leaderboard.study import find_failures, tell_passed
from irbatch.measures import parse_measures
from irbatch.report import axes
from irbatch.runtime.numbers import DECIMAL
from irbatch.statistics.resampling import check_draws, check_level

EXAMPLE = (
    '{"systems": [{"system": "bm25", "accuracy": {"RR@10": 0.187}, "latency": {"mean": 8}}, …]}'
)
NOT_SO = ": of no system"  # what is said of a condition to fail by that has passed
NEEDS = {  # words that say nothing without another
    "y": "x",
    "plot": "x",
    **dict.fromkeys(("level", "draws", "seed"), "qrels"),
}


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the words of the command."""
    parser.usage = "irbatch leaderboard SYSTEMS [--qrels QRELS] [-m MEASURE ...] [options]"
    parser.description = (
        "Show systems by accuracy, latency, throughput, memory, energy and cost; find those that "
        "no other beats. Of SYSTEMS' JSON each system has the keys of an efficiency record, "
        "and its accuracy, or a run to evaluate. AXIS is a measure or a quantity: latency_p95, "
        "throughput, peak_memory, index_disk, cost_per_million …"
    )
    parser.epilog = (
        "example: irbatch leaderboard systems.json --x cost_per_million --plot frontier.svg "
        "--where 'latency_p95 < 50'"
    )
    add = parser.add_argument
    add("systems", metavar="SYSTEMS", help=f"JSON, such as {EXAMPLE}; - is standard input")
    add("--qrels", metavar="QRELS", help="evaluate the runs that SYSTEMS names")
    of_qrels = f"with --qrels {' '.join(DEFAULT_MEASURES)}"
    add_measures(parser, f"all there are; {of_qrels}", names=False)
    _add_choices(parser)
    _add_studies(parser)
    add = add_output(
        parser, digits="measures", beside=WRITTEN, plot="draw --y against --x, and the frontier"
    )
    add("--x", metavar="AXIS", help="across the picture")
    add("--y", metavar="AXIS", help="along the picture (default: the first measure)")
    add("--intervals", action="store_true", help="show them in tables")
    add_gate(
        parser,
        "'latency_p95 > 50', 'of mine: dominated on RR@10, cost'",
        "'RR@10 lower bound >= 0.3'",
    )
    add_paper(parser)


def _add_choices(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose rows and columns."""
    add = parser.add_argument_group("systems and axes").add_argument
    repeated = functools.partial(add, action="append", default=[])
    told = "leave out systems that don't meet it: 'latency_p95 < 50'; repeat for more"
    repeated("--where", metavar="CONSTRAINT", help=told)
    told = "price per hour of an instance that systems were measured on; repeat for more"
    repeated("--price", dest="prices", metavar="INSTANCE=PRICE", help=told)
    add("--sort", metavar="AXIS", help="the best first (default: as they are given)")
    add("--columns", metavar="AXIS,AXIS", help="those shown; hardware is one, too")
    told = f"whether {HIGHER} or {LOWER} is better; repeat for more"
    repeated("--direction", dest="directions", metavar="AXIS=WAY", help=told)
    told = "mark the systems that no other beats (default: --y and --x)"
    add("--frontier", metavar="AXIS,AXIS", help=told)


def _add_studies(parser: argparse.ArgumentParser) -> None:
    """Add the options of intervals and tests."""
    add = parser.add_argument_group("how sure it is (with --qrels)").add_argument
    add("--level", type=float, metavar="P", help="chance that an interval misses (default: 0.05)")
    add("--draws", type=int, metavar="N", help="of the tests (default: 10000)")
    add("--seed", type=int, metavar="N", help="of the tests (default: 0)")
    told = "mark systems not significantly worse than the best (all pairs, Holm)"
    add("--significance", action="store_true", help=told)


def run(options: argparse.Namespace) -> int:
    """Read, filter, sort; then print and write, once everything is made."""
    output = _check(options)
    board = _find(_read(options), options)
    if options.sort is not None:
        board = board.sorted(options.sort)
    picture = None
    if options.plot is not None:
        picture = board.plot(options.x, options.y)
    verdicts: list[tuple[bool, str]] = []
    for text, required in list_conditions(options):
        passed = tell_passed(board, text, required=required) + ("" if required else NOT_SO)
        failed = find_failures(board, text, required=required)
        verdicts += [(False, each) for each in failed] or [(True, passed)]
    status = tell(verdicts)
    output.write(lambda form, **shaped: _report(board, options, form, shaped))
    if picture is not None:
        axes.save(picture, options.plot)
    return status


def _check(options: argparse.Namespace) -> Output:
    """Reject what can be rejected without reading anything."""
    for text, required in list_conditions(options):
        parse_on_board(text, required=required)
    for name, other in NEEDS.items():
        value = getattr(options, name)
        if value is not None and getattr(options, other) is None:
            raise InputError(f"--{name} needs --{other}")
    inputs = [path for path in (options.systems, options.qrels) if path is not None]
    output = Output(options, inputs)
    for word in ("columns", "frontier"):
        if getattr(options, word):
            output.check_written(word, TABLES)
    if options.significance and options.qrels is None:
        raise InputError("--significance needs --qrels, of which queries have values")
    if options.level is not None:
        check_level(options.level)
    check_draws(options.draws or 0, options.seed or 0, least=0)
    return output


def _read(options: argparse.Namespace) -> Leaderboard:
    """Read the systems, and evaluate their runs if there are qrels."""
    given = {
        name: getattr(options, name)
        for name in ("qrels", "measures", "level")
        if getattr(options, name) is not None
    }
    if options.qrels is not None:
        given["measures"] = parse_measures(options.measures or DEFAULT_MEASURES)
    if options.directions:
        words = [each for text in options.directions for each in _split(text)]
        given["directions"] = dict(_pairs(words, "--direction", "latency_p95=lower"))
    try:
        source = _standard_input() if options.systems == "-" else Path(options.systems)
        return Leaderboard.from_json(source, **given)
    except OSError as problem:
        said, path = problem.strerror or str(problem), str(problem.filename or options.systems)
        raise InputError(said, source="leaderboard", path=path) from None


def _standard_input() -> str:
    """Read JSON from standard input; paths of its runs start from the current folder."""
    try:
        text = sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("is no UTF-8 text", source="leaderboard", path="-") from None
    if not text.lstrip().startswith(("{", "[")):  # or it would be taken for a path
        raise InputError("is no JSON object or list", source="leaderboard", path="-")
    return text


def _find(board: Leaderboard, options: argparse.Namespace) -> Leaderboard:
    """Price, filter and test."""
    if options.prices:
        example = "c6g.xlarge=0.136"
        board = board.priced(_numbers(options.prices, "--price", example))
    board = board.where(*options.where)
    given = {
        name: getattr(options, name)
        for name in ("level", "draws", "seed")
        if getattr(options, name) is not None
    }
    if options.significance:
        board = board.tested(**given)
    return board


def _frontier(board: Leaderboard, options: argparse.Namespace) -> list[str] | None:
    """Return the axes of the frontier that is marked."""
    if options.frontier is not None:
        return _split(options.frontier)
    return None if options.x is None else [options.y or board.measures[0], options.x]


def _report(
    board: Leaderboard, options: argparse.Namespace, form: str, shaped: dict[str, Any]
) -> str:
    """Make a report of one form."""
    if form in ("csv", "json"):
        return str(getattr(board, f"to_{form}")())
    choices = {**shaped, "frontier": _frontier(board, options)}
    if options.columns is not None:
        choices["columns"] = _split(options.columns)
    if form == "html":
        choices |= {"x": options.x, "y": options.y}
    return str(getattr(board, f"to_{form}")(**choices))


def _numbers(texts: list[str], word: str, example: str) -> dict[str, float]:
    """Read AXIS=NUMBER, each."""
    found = {}
    for axis, number in _pairs(texts, word, example).items():
        if not re.fullmatch(DECIMAL, number):
            problem = f"{word} takes numbers, such as {example}, not {shown(number)}"
            raise InputError(problem, value=number)
        found[axis] = float(number)
    return found


def _pairs(texts: list[str], word: str, example: str) -> dict[str, str]:
    """Read what is given as AXIS=SOMETHING; the name of an axis may have an = of its own."""
    found: dict[str, str] = {}
    for text in texts:
        axis, sign, value = (each.strip() for each in text.rpartition("="))
        if not (axis and sign and value):
            raise InputError(f"{word} is of the form {example}, not {shown(text)}", value=text)
        if axis in found:
            raise InputError(f"{word} has {axis} twice", value=axis)
        found[axis] = value
    return found


def _split(text: str) -> list[str]:
    """Split at commas, but for those in the parentheses of a measure."""
    parts = [""]
    for place, piece in enumerate(re.split(r"(\([^()]*\))", text)):
        first, *others = [piece] if place % 2 else piece.split(",")
        parts[-1] += first
        parts += others
    return [each.strip() for each in parts]
