"""Tell how close reproduced runs come to the original ones.

That is by rankings (Kendall's tau union, RBO), values (RMSE, t-test), and the improvement of an
advanced run on a baseline (effect ratio, delta relative improvement).

example: irbatch reproducibility qrels.txt --baseline bm25.run my_bm25.run
--advanced rm3.run my_rm3.run -m nDCG@10
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from irbatch.cli.options import DEFAULT_MEASURES, SETTINGS, add_measures, add_settings
from irbatch.cli.writing import Output, add_output, chosen
from irbatch.comparing.reproducibility import reproducibility
from irbatch.measures import parse_measures


def declare(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        "irbatch reproducibility QRELS --baseline ORIGINAL REPRODUCED\n"
        "                               [--advanced ORIGINAL REPRODUCED] [options]"
    )
    add = parser.add_argument
    add("qrels", metavar="QRELS", help="lines of: query iter document grade")
    pair = ("ORIGINAL", "REPRODUCED")
    add("--baseline", nargs=2, metavar=pair, required=True, help="two runs of the baseline")
    add("--advanced", nargs=2, metavar=pair, help="two runs of what improves on it")
    add_measures(parser)
    add = parser.add_argument_group("rankings").add_argument
    text = "rankings are compared down to this one (default: 1000)"
    add("--depth", metavar="RANK", type=int, default=1000, help=text)
    add("-p", metavar="P", type=float, default=0.95, help="persistence of RBO (default: 0.95)")
    add_output(parser)
    add_settings(parser)


def run(options: argparse.Namespace) -> None:
    measures = parse_measures(options.measures or DEFAULT_MEASURES)
    pairs = options.baseline, options.advanced
    runs = [path for pair in filter(None, pairs) for path in pair]
    output = Output(options, {"qrels": [options.qrels], "run": runs})
    settings = chosen(options, ("depth", "p", *SETTINGS))
    comparison = reproducibility(options.qrels, *pairs, measures, **settings)
    names = [measure.spelled(options.names) for measure in measures]
    output.write(replace(comparison, measures=names))
