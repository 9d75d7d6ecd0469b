"""`irbatch reproducibility`: how close reproduced runs come to the original ones."""

from __future__ import annotations

import argparse
from dataclasses import replace

from irbatch.cli.evaluate import DEFAULT_MEASURES
from irbatch.cli.settings import SETTINGS, add_settings
from irbatch.cli.writing import add_written, check_written, files_asked
from irbatch.comparing.reproducibility import Reproducibility, reproducibility
from irbatch.comparing.tau_union import UNIONS
from irbatch.errors import InputError
from irbatch.measures import parse_measures
from irbatch.report.numbers import check_digits

FORMS = ("text", "markdown", "latex", "csv", "json")
WITH_DIGITS = ("text", "markdown", "latex", "html")


def add_reproducibility(parser: argparse.ArgumentParser) -> None:
    """Declare what `irbatch reproducibility` takes."""
    parser.description = (
        "Compare reproduced runs with the original ones: rankings (Kendall's tau union, RBO), "
        "values (RMSE, t-test), and the improvement of an advanced run on a baseline (effect "
        "ratio, delta relative improvement)."
    )
    parser.epilog = (
        "example: irbatch reproducibility qrels.txt --baseline bm25.run my_bm25.run --advanced "
        "rm3.run my_rm3.run -m nDCG@10"
    )
    add = parser.add_argument
    add("qrels", metavar="QRELS", help="lines of: query iter document grade")
    pair = ("ORIGINAL", "REPRODUCED")
    add("--baseline", nargs=2, metavar=pair, required=True, help="two runs of the baseline")
    add("--advanced", nargs=2, metavar=pair, help="two runs of what improves on it")
    told = "judgments of the reproduced runs, if they are of another collection"
    add("--reproduced-qrels", metavar="QRELS", help=told)
    told = "repeat for more (default: as irbatch eval)"
    add("-m", "--measure", dest="measures", metavar="MEASURE", action="append", help=told)
    told = "rankings are compared down to this one (default: 1000)"
    add("--depth", metavar="RANK", type=int, default=1000, help=told)
    told = "persistence of RBO (default: 0.95)"
    add("-p", "--persistence", metavar="P", type=float, default=0.95, help=told)
    told = "order of tau's union: by rank, or by document id, as repro_eval has it (default: rank)"
    add("--union", choices=UNIONS, default=UNIONS[0], help=told)
    add_settings(parser)
    add("--format", choices=FORMS, default="text")
    add("--digits", type=int, default=4, metavar="N", help="decimals, in tables (default: 4)")
    add_written(parser)
    parser.set_defaults(command=run_reproducibility)


def run_reproducibility(options: argparse.Namespace) -> int:
    """Compare, print, and write files."""
    measures = parse_measures(options.measures or DEFAULT_MEASURES)
    check_digits(options.digits)
    given = [options.qrels, *options.baseline, *(options.advanced or [])]
    if options.reproduced_qrels is not None:
        given.append(options.reproduced_qrels)
    if given.count("-") > 1:
        raise InputError("standard input cannot be two files", path="-")
    check_written(options, given)
    found = reproducibility(
        options.qrels,
        options.baseline,
        options.advanced,
        measures,
        reproduced_qrels=options.reproduced_qrels,
        depth=options.depth,
        p=options.persistence,
        union=options.union,
        **{name: getattr(options, name) for name in SETTINGS},
    )
    found = replace(found, measures=[each.spelled(options.names) for each in measures])
    print(_write(found, options.format, options), end="")
    for form, path in files_asked(options).items():
        _write(found, form, options, path=path)
    return 0


def _write(
    found: Reproducibility, form: str, options: argparse.Namespace, path: str | None = None
) -> str:
    """Return a form of the report, or also write it."""
    more = {"digits": options.digits} if form in WITH_DIGITS else {}
    return str(getattr(found, f"to_{form}")(path, **more))
