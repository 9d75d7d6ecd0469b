"""Print what ndeval 4.5 prints: measures of novelty and diversity, as CSV.

example: irbatch ndeval -c -traditional qrels.diversity.txt bm25.run
"""

from __future__ import annotations

import argparse
import itertools
import math

from irbatch.cli import say
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.errors import InputError, warnings_kept
from irbatch.evaluation.queries import QueryMark
from irbatch.evaluation.runs import evaluate
from irbatch.formats.files import read_qrels, read_run
from irbatch.measures import Measure, measure

CUTOFFS = (5, 10, 20)
AT_CUTOFFS = ("ERR_IA", "nERR_IA", "alpha_DCG", "alpha_nDCG")
AT_CUTOFFS_LAST = ("P_IA", "StRecall")
NNRBP_AT = 13  # among the columns


def declare(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("qrels", metavar="QRELS", help="lines of: topic subtopic document grade")
    add("run", metavar="RUN", help="lines of: topic Q0 document rank score tag")
    text = "what a subtopic loses by each document of it above, 0 to 1 (default 0.5)"
    add("-alpha", "--alpha", metavar="A", type=float, default=0.5, help=text)
    text = "the patience of NRBP, 0 to 1 (default 0.5)"
    add("-beta", "--beta", metavar="B", type=float, default=0.5, help=text)
    text = "order documents by score, then by id, both descending (default: by rank)"
    add("-traditional", "--traditional", action="store_true", help=text)
    text = "average over all judged topics; those missing from the run are 0"
    add("-c", "--complete", action="store_true", help=text)
    text = "ranks looked at (default all)"
    add("-M", "--max-depth", metavar="N", type=int, help=text)


def run(options: argparse.Namespace) -> int:
    columns = _columns(options.alpha, options.beta)
    order_by = "score" if options.traditional else "rank"
    run = _read(options.run, order_by)
    qrels = read_qrels(options.qrels, marks="subtopics")
    values = _values(qrels, run, columns=columns, max_depth=options.max_depth)
    counted = len(qrels) if options.complete else len(values.keys() & set(qrels.queries))
    if not counted:
        say("error", "no topic of the run is judged")
        return 1
    titles = [column._replace(parameters=()).spelled("ndeval") for column in columns]
    print(",".join(["runid", "topic", *titles]))
    for topic in sorted(values, key=by_number):
        print(",".join([f"{run.tag},{topic}", *map(_spelled, values[topic])]))
    sums = [math.fsum(column) / counted for column in zip(*values.values(), strict=True)]
    print(",".join([f"{run.tag},amean", *map(_spelled, sums)]))
    return 0


def _columns(alpha: float, beta: float) -> list[Measure]:
    """List the measures in ndeval's order."""
    novel = [measure(name)(alpha=alpha) @ k for name in AT_CUTOFFS for k in CUTOFFS]
    whole = [measure(name)(alpha=alpha, beta=beta) for name in ("NRBP", "nNRBP")]
    last = [measure(name) @ k for name in AT_CUTOFFS_LAST for k in CUTOFFS]
    return [*novel, *whole, measure("AP_IA"), *last]


def _read(path: str, order_by: str) -> Run:
    """Read a run; what stands before a topic's number, as in ``wt09-``, is dropped."""
    with warnings_kept():  # of ranks and tags
        run = read_run(path, order_by=order_by)
    rankings = {}
    for query, ranking in run.rankings.items():
        topic = query if query[:1].isdigit() else query.partition("-")[2] or query
        if topic in rankings:
            problem = f"topic {topic!r} stands there under two names"
            raise InputError(problem, source="run", path=path, query=query)
        if order_by == "rank" and len(set(ranking.values())) < len(ranking):
            raise InputError("a rank occurs twice", source="run", path=path, query=query)
        rankings[topic] = ranking
    return Run(rankings, path, run.tag)


def _values(
    qrels: Qrels, run: Run, *, columns: list[Measure], max_depth: int | None
) -> dict[str, list[float]]:
    """Return the values of all topics of a run, 0 of those that are not judged."""
    values = {topic: [0.0] * len(columns) for topic in run.rankings}
    if values.keys() & set(qrels.queries):
        results = evaluate(qrels, run, columns, missing="skip", max_depth=max_depth)
        values |= dict(zip(results.query_ids, results.values.tolist(), strict=True))
        empty = QueryMark.NO_RELEVANT.holds(results.marks)
        for topic in itertools.compress(results.query_ids, empty):
            values[topic][NNRBP_AT] = math.nan  # 0 / 0
    return values


def by_number(topic: str) -> tuple[bool, int, str]:
    """Sort topics as ndeval does; those that are not numbers come last."""
    return not topic.isdigit(), int(topic) if topic.isdigit() else 0, topic


def _spelled(value: float) -> str:
    return "-nan" if math.isnan(value) else f"{value:.6f}"  # as C prints 0 / 0
