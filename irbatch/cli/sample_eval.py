"""Print what sample_eval.pl prints, TREC's program for pools sampled by strata.

It estimates infAP, infNDCG and others from the judgments of such a pool.

example: irbatch sample_eval -q qrels.xinfap.txt bm25.run
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from irbatch.cli.ndeval import by_number
from irbatch.errors import warnings_kept
from irbatch.evaluation.runs import evaluate
from irbatch.formats.files import read_qrels, read_run
from irbatch.measures import Measure, measure
from irbatch.measures.catalogue.documents import ELEVEN_POINTS

DEEPEST = 1000  # of ranks that it looks at
CUTOFFS = {"nist": (10, 50, DEEPEST), "trecvid": (5, 10, 15, 20, 30, 100, 200, 500, DEEPEST)}
# What it prints, of a name and, in its turn, of a topic and a value.
SHARE = "{}\t\t{{}}\t\t{{:6.4f}}"
COUNT = "{}\t{{}}\t{{:14.4f}}"
RETRIEVED = "num_ret\t\t{}\t{:9d}"


def declare(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    text = "lines of: topic iter document stratum grade, -1 where a document was not sampled"
    add("qrels", metavar="QRELS", help=text)
    add("run", metavar="RUN", help="lines of: topic Q0 document rank score tag")
    add("-q", "--per-query", action="store_true", help="print each topic's values, too")
    text = "the program's version: NIST's of 2011 (default), or TRECVID's of 2012 and 2016"
    add("--version", choices=tuple(CUTOFFS), default="nist", help=text)


def run(options: argparse.Namespace) -> None:
    with warnings_kept():  # of ranks and tags, and of strata
        run = read_run(options.run)
        qrels = read_qrels(options.qrels, marks="strata")
    lines = [*_lines(options.version, of_all=False)]
    of_all = [*_lines(options.version, of_all=True)]
    columns = [column for _, column in of_all]
    results = evaluate(qrels, run, columns, missing="skip", max_depth=DEEPEST)
    retrieved = {topic: len(run.rankings[topic]) for topic in results.query_ids}
    if options.per_query:
        values = {column: results.per_query(column) for _, column in lines}
        for topic in sorted(retrieved, key=by_number):
            for line, column in lines:
                print(line.format(topic, values[column][topic]))
            print(RETRIEVED.format(topic, retrieved[topic]))
    judged = evaluate(qrels, run, "InfNumRel")  # of all topics, also of those not in the run
    for line, column in of_all:
        print(line.format("all", (judged if column.name == "InfNumRel" else results)[column]))
    print(RETRIEVED.format("all", sum(min(count, DEEPEST) for count in retrieved.values())))


def _lines(version: str, *, of_all: bool) -> Iterator[tuple[str, Measure]]:
    """List what is printed, and the measures, in the program's order."""
    for name, shown in (("xInfAP", "infAP"), ("InfNDCG", "infNDCG")):
        yield SHARE.format(shown), measure(name)(version=version) @ DEEPEST
    for point in ELEVEN_POINTS if of_all else ():
        shown = f"iprec@rec{point:.2f}\t{{}}\t\t{{:6.4f}}"
        yield shown, measure("InfIPrec")(recall=point) @ DEEPEST
    for cutoff in CUTOFFS[version]:
        yield SHARE.format(f"iP{cutoff}"), measure("InfP") @ cutoff
    yield COUNT.format("inum_rel_ret"), measure("InfNumRelRet") @ DEEPEST
    yield COUNT.format("inum_rel"), measure("InfNumRel")
