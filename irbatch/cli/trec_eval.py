"""Print what trec_eval prints, byte for byte, faster. QRELS and RUN may be compressed.

example: irbatch trec_eval -q -m map -m P.5,10 -m ndcg_cut.10 qrels.txt bm25.run
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import math
import re
from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from irbatch.cli import say
from irbatch.data.qrels import Qrels
from irbatch.errors import InputError, warnings_kept
from irbatch.formats.files import open_run, read_qrels
from irbatch.formats.streams import numbered_lines
from irbatch.measures import NICKNAMES, VERSIONS
from irbatch.runtime.numbers import DECIMAL
from irbatch.trec_eval import MissingQueryError, TrecEval, ZScores, print_lines
from irbatch.version import __version__

VERSION = f"irbatch {__version__}, as trec_eval 9.0.8 or 10.0"
MISSING_QUERY = 4  # trec_eval's exit status for it
LINES = 10_000  # written at once: a fifth of the time of line by line


def declare(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("-v", "--version", action="version", version=VERSION)
    add("qrels", metavar="QRELS", help="lines of: query iter document grade")
    add("run", metavar="RUN", help="lines of: query Q0 document rank score tag")
    flag = functools.partial(add, action="store_true")
    number = functools.partial(add, metavar="N", type=whole_number)
    repeated = functools.partial(add, action="append", default=[])
    text = "the version to be like: 9 (9.0.8, as pytrec_eval) or 10 (default)"
    add("--as", dest="version", choices=VERSIONS, default=VERSIONS[-1], help=text)
    flag("-q", "--query_eval_wanted", dest="per_query", help="values of each query, too")
    flag("-n", "--nosummary", help="no averages")
    names = f"one of {', '.join(NICKNAMES)} (default official)"
    text = f"a measure with its parameters, P.5,10, or {names}; repeat for more"
    repeated("-m", "--measure", dest="measures", metavar="MEASURE", help=text)
    text = "average over all judged queries; those missing from the run score 0"
    flag("-c", "--complete_rel_info_wanted", dest="complete", help=text)
    text = "the least relevant grade (default 1)"
    number("-l", "--level_for_rel", dest="level", default=1, help=text)
    text = "ranks looked at (default all)"
    number("-M", "--Max_retrieved_per_topic", dest="ranks", help=text)
    text = "remove unjudged documents first"
    flag("-J", "--Judged_docs_only", dest="judged_only", help=text)
    text = "documents in the collection, for utility (default 0)"
    number("-N", "--Number_docs_in_coll", dest="docs", default=0, help=text)
    text = "print deviations from the means in FILE, lines of: query measure mean deviation"
    add("-Z", "--Zscore", dest="zscores", metavar="FILE", help=text)
    text = "the only format of judgments known here"
    add("-R", "--Rel_info_format", choices=["qrels"], default="qrels", help=text)
    text = "the only format of runs known here"
    add("-T", "--Results_format", choices=["trec_results"], default="trec_results", help=text)
    flag("-o", "--Output_old_results_format", help="nothing; trec_eval accepts it, too")


def whole_number(text: str) -> int:
    """Read an option's number: digits and a sign, nothing else that Python would take."""
    if not re.fullmatch(r"[+-]?[0-9]{1,300}", text):
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a whole number")
    return int(text)


def run(options: argparse.Namespace) -> int:
    fields = [field.name for field in dataclasses.fields(TrecEval)]
    evaluation = TrecEval(**{name: getattr(options, name) for name in fields})
    # What they reject is rejected before anything is read.
    _ = evaluation.values(), evaluation.settings()
    with warnings_kept():  # trec_eval does not look at ranks and tags
        qrels = _with_whole_grades(read_qrels(options.qrels))
        zscores = None if options.zscores is None else read_zscores(options.zscores)
        with open_run(options.run) as run:
            shown = {"per_query": options.per_query, "summary": not options.nosummary}
            return _print(print_lines(evaluation, qrels, run, zscores=zscores, **shown))


def _print(lines: Iterable[str]) -> int:
    """Print lines, many at once; return the exit status."""
    printed: list[str] = []
    status = 0
    try:
        for line in lines:
            printed.append(line + "\n")
            if len(printed) == LINES:
                print("".join(printed), end="")
                printed.clear()
    except MissingQueryError as problem:
        say("error", str(problem))
        status = MISSING_QUERY
    print("".join(printed), end="")
    return status


def _with_whole_grades(qrels: Qrels) -> Qrels:
    """Drop fractions of grades, as trec_eval does when it reads them."""
    grades = np.trunc(qrels.grades)
    return qrels if (grades == qrels.grades).all() else qrels.regraded(grades)


def read_zscores(path: str) -> ZScores:
    """Read lines of query, measure, mean and standard deviation."""
    zscores: dict[str, dict[str, tuple[float, float]]] = defaultdict(dict)
    for number, line in numbered_lines(path, "zscores"):
        words = line.decode(errors="backslashreplace").split()
        if not words:
            continue
        if len(words) != 4 or not all(map(_is_number, words[2:])):
            problem = f"{' '.join(words)[:80]!r} is not query, measure, mean, deviation"
            raise InputError(problem, source="zscores", path=path, line=number)
        zscores[words[0]][words[1]] = float(words[2]), float(words[3])
    return zscores


def _is_number(text: str) -> bool:
    return re.fullmatch(rf"{DECIMAL}|-?nan", text) is not None and not math.isinf(float(text))
