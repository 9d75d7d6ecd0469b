"""The command line's words and what they mean."""

from __future__ import annotations

import argparse

import irbatch
from irbatch.cli.catalogue import show_measures
from irbatch.cli.compare import add_compare
from irbatch.cli.evaluate import DEFAULT_MEASURES, FORMATS, run_eval
from irbatch.cli.leaderboard import add_leaderboard
from irbatch.cli.trec_eval import add_trec_eval
from irbatch.evaluation.settings import OPTIONS, TIES
from irbatch.formats import ORDERS
from irbatch.measures import VERSIONS, styles

__all__ = ["make_parser"]


def make_parser() -> argparse.ArgumentParser:
    """Build the parser; each command sets `command` to the function that carries it out."""
    parser = argparse.ArgumentParser(
        prog="irbatch", description="Ranking evaluation: every measure from one pass."
    )
    parser.add_argument("--version", action="version", version=f"irbatch {irbatch.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_eval(commands.add_parser("eval", help="evaluate runs against judgments"))
    add_compare(commands.add_parser("compare", help="tell which differences are more than chance"))
    add_leaderboard(commands.add_parser("leaderboard", help="accuracy beside latency and cost"))
    add_trec_eval(commands.add_parser("trec_eval", help="print what trec_eval prints"))
    _add_measures(commands.add_parser("measures", help="list the measures, or explain one"))
    warmup = commands.add_parser("warmup", help="compile everything once, e.g. in an image")
    warmup.set_defaults(command=_warm_up, parser=warmup)
    return parser


def _add_eval(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Evaluate run files against a qrels file, in TREC's, BEIR's or MS MARCO's form, JSON lines "
        "or parquet. Files may be compressed (gzip, bzip2, xz, zstd); - is standard input. All "
        "queries of the qrels are averaged."
    )
    parser.epilog = 'example: irbatch eval qrels.txt bm25.run -m nDCG@10 -m "P@{5,10}" -q'
    parser.add_argument("qrels", metavar="QRELS", help="lines of: query iter document grade")
    parser.add_argument(
        "runs", metavar="RUN", nargs="+", help="lines of: query Q0 document rank score tag"
    )
    parser.add_argument(
        "-m", "--measure", dest="measures", metavar="MEASURE", action="append",
        help="e.g. nDCG@10, 'P@{5,10}', ndcg_cut_10; repeat for more "
        f"(default: {' '.join(DEFAULT_MEASURES)}; with -k, these at its cutoffs)",
    )  # fmt: skip
    parser.add_argument(
        "-k",
        "--cutoffs",
        metavar="K,K",
        action="append",
        default=[],
        help="for every measure given without a cutoff",
    )
    parser.add_argument("-q", "--per-query", action="store_true", help="values of each query too")
    parser.add_argument(
        "--format", choices=FORMATS, help="default: table on a terminal, tsv in a pipe"
    )
    parser.add_argument(
        "--names", choices=styles(), default="irbatch", help="whose names of measures to print"
    )
    parser.add_argument(
        "--missing", choices=OPTIONS["missing"],
        help="what a judged query missing from a run does (default: zero)",
    )  # fmt: skip
    parser.add_argument(
        "--rel", metavar="GRADE", type=float,
        help="least relevant grade of measures without a rel= of their own (default: 1)",
    )  # fmt: skip
    parser.add_argument(
        "--max-depth", metavar="RANK", type=int, help="leave out documents beyond this rank"
    )
    parser.add_argument(
        "--no-relevant", choices=OPTIONS["no_relevant"], default="zero",
        help="what a query without relevant documents does (default: zero)",
    )  # fmt: skip
    parser.add_argument(
        "--judged-only", action="store_true", help="remove unjudged documents first"
    )
    parser.add_argument(
        "--score-dtype", choices=OPTIONS["score_dtype"],
        help="precision of score comparison; float32 as trec_eval 9 (default: float64)",
    )  # fmt: skip
    parser.add_argument(
        "--ties", choices=TIES, default="id",
        help="what becomes of documents that share a score (default: id, descending)",
    )  # fmt: skip
    parser.add_argument(
        "--order-by", choices=ORDERS, default=ORDERS[0],
        help="what orders the documents of a run that has both (default: score)",
    )  # fmt: skip
    parser.add_argument(
        "--trec-eval", choices=VERSIONS,
        help="be as this version of trec_eval in what isn't said otherwise",
    )  # fmt: skip
    parser.set_defaults(command=run_eval, parser=parser)


def _add_measures(parser: argparse.ArgumentParser) -> None:
    parser.description = "List all measures, or say all about one."
    parser.add_argument("name", metavar="NAME", nargs="?", help="in any accepted spelling")
    parser.add_argument("--format", choices=("text", "markdown"), default="text")
    parser.set_defaults(command=show_measures, parser=parser)


def _warm_up(options: argparse.Namespace) -> int:
    print(f"{len(irbatch.warmup())} kernels are compiled and cached")
    return 0
