"""Show the queries that changed most from one run to another, and why.

These are the documents that moved, were lost or missed, and what each adds to the value.

example: irbatch explain qrels.txt old.run new.run -m nDCG@10
--topics queries.tsv --documents corpus.jsonl -o why.html
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from irbatch.cli.options import SETTINGS, add_measures, add_settings
from irbatch.cli.writing import Output, add_output, chosen
from irbatch.comparing.explain import explain
from irbatch.measures import measure

FORMS = ("text", "markdown", "html", "json")
OPTIONS = ("queries", "most", "depth", "topics", "documents", *SETTINGS)


def declare(parser: argparse.ArgumentParser) -> None:
    parser.usage = "irbatch explain QRELS A B [-m MEASURE] [options]"
    add = parser.add_argument
    add("qrels", metavar="QRELS", help="lines of: query iter document grade")
    add("a", metavar="A", help="a run: lines of query Q0 document rank score tag")
    add("b", metavar="B", help="another, compared with it")
    add_measures(parser, "nDCG@10", one=True)
    add = parser.add_argument_group("what is shown").add_argument
    text = "so many queries at most, those that changed most (default: 10)"
    add("-n", "--most", metavar="N", type=int, help=text)
    text = "this query, whether it changed or not; repeat for more"
    add("--query", dest="queries", metavar="ID", action="append", help=text)
    text = "ranks of both rankings that are shown (default: to the cutoff, 20 at most)"
    add("--depth", metavar="RANK", type=int, help=text)
    text = "texts of {}: lines of an id, a tab and the text, or of JSON as BEIR has them"
    add("--topics", metavar="FILE", help=text.format("queries"))
    add("--documents", metavar="FILE", help=text.format("documents"))
    add_output(parser, FORMS)
    add_settings(parser)


def run(options: argparse.Namespace) -> None:
    parsed = measure(",".join(options.measures or ["nDCG@10"]))
    texts = {name: [path] for name, path in chosen(options, ("topics", "documents")).items()}
    inputs = {"qrels": [options.qrels], "run": [options.a, options.b], **texts}
    output = Output(options, inputs, FORMS)
    settings = chosen(options, OPTIONS)
    explanation = explain(options.qrels, options.a, options.b, parsed, **settings)
    output.write(replace(explanation, measure=parsed.spelled(options.names)))
