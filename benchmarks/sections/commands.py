"""Commands in processes of their own, against trec_eval's: wall time from start to exit."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator
from functools import partial

import irbatch
from benchmarks.names import trec_names, trec_options, usual
from benchmarks.processes import Paths, output_of, trec_eval_program
from benchmarks.report import Agreement, Table
from benchmarks.sections.files import no_trec_eval
from benchmarks.settings import Settings
from benchmarks.turns import Timed, in_turn
from irbatch.cli import main

__all__ = ["tables"]

IRBATCH = [sys.executable, "-m", "irbatch"]
ALL = ["-q", "-c", "-m", "all_trec"]
TWO = ["-m", "map", "-m", "ndcg_cut.10"]


def tables(settings: Settings) -> Iterator[Table]:
    """Compare on large files, and on a pair of the size that TREC's tracks have."""
    irbatch.runtime.warmup()
    judged = settings.judged[-1]
    problem = settings.problem(settings.queries, settings.depth, judged)
    files = settings.files(problem, f"commands{judged}")
    names = usual(settings.depth)
    table = settings.table(
        f"commands: {settings.size(judged)}; a typical pair of 50 × 1,000, 460 judged"
    )
    _evaluate(table, files, names, settings.rounds)
    _compare(table, "trec_eval, 2 measures", "commands, trec_eval", TWO, files, settings.rounds)
    typical = settings.files(settings.problem(50, 1_000, 460), "typical")
    rounds = 2 * settings.rounds + 1
    command = _compare(table, "typical pair, trec_eval", "commands, typical", ALL, typical, rounds)
    _warm(table, [*ALL, *map(str, typical)], command, rounds)
    yield table


def _evaluate(table: Table, files: Paths, names: list[str], rounds: int) -> None:
    """Compare `irbatch eval` and trec_eval, each asked for the same measures."""
    paths = [str(path) for path in files]
    command = [*IRBATCH, "eval", *paths, *(word for name in names for word in ("-m", name))]
    works = {"ours": partial(output_of, command)}
    program = trec_eval_program()
    if program:
        works["theirs"] = partial(output_of, [program, *trec_options(names), *paths])
    timed = in_turn(works, rounds)
    printed = [line.split("\t") for line in timed["ours"].result.splitlines()[1:]]
    ours = _with({name: float(value) for *_, name, value in printed}, timed["ours"])
    work, key = f"eval, {len(names)} measures", "commands, eval"
    if program:
        spelled = trec_names(names, "_")
        lines = [line.split() for line in timed["theirs"].result.splitlines()]
        values = {spelled[name]: float(value) for name, _, value in lines if name in spelled}
        theirs = _with(values, timed["theirs"])
        table.compare(work, ours, "trec_eval", theirs, key=key, tolerance=6e-5)
    else:
        table.skip(work, "trec_eval", no_trec_eval() or "", ours, key=key)


def _compare(
    table: Table, work: str, key: str, options: list[str], files: Paths, rounds: int
) -> Timed:
    """Compare what both print, to the byte; return ours."""
    arguments = [*options, *map(str, files)]
    works = {"ours": partial(output_of, [*IRBATCH, "trec_eval", *arguments])}
    program = trec_eval_program()
    if program:
        works["theirs"] = partial(output_of, [program, *arguments])
    timed = in_turn(works, rounds)
    ours = timed["ours"]
    if program:
        lines = {name: _by_line(each) for name, each in timed.items()}
        table.compare(work, lines["ours"], "trec_eval", lines["theirs"], key=key)
    else:
        table.skip(work, "trec_eval", no_trec_eval() or "", ours, key=key)
    return ours


def _warm(table: Table, arguments: list[str], command: Timed, rounds: int) -> None:
    """Run the command again and again in this process."""

    def work() -> str:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            main(["trec_eval", *arguments])
        return printed.getvalue()

    timed = in_turn({"warm": work}, 2 * rounds)["warm"]
    same = timed.result == command.result
    agreement = Agreement(same, "same output" if same else "DIFFERENT output")
    table.check("warm", agreement)
    key = "commands, typical, warm"
    table.alone("the same in a warm process", timed, key=key, note=agreement.text)


def _with(values: dict[str, float], timed: Timed) -> Timed:
    return Timed(values, timed.rounds)


def _by_line(timed: Timed) -> Timed:
    """Return lines as names whose values are equal where all is equal."""
    return _with(dict.fromkeys(timed.result.splitlines(), 0.0), timed)
