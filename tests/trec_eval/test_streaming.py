"""`irbatch trec_eval` on a large run, which it evaluates while it reads it."""

from __future__ import annotations

import gzip
import random

import pytest
from support.trec_eval_command import BOTH, Command

from irbatch.formats import streams
from irbatch.formats.bytes import parse_lines

RNG = random.Random(4)
QUERIES = [f"q{i:02}" for i in range(12)]
QRELS = "".join(
    f"{query} 0 d{document} {RNG.randint(-1, 2)}\n"
    for query in [*QUERIES, "q99"] for document in RNG.sample(range(60), 12)
)  # fmt: skip
RUN = "".join(
    f"{query} Q0 d{document} 0 {RNG.randint(0, 9) / 4} {query}\n"
    for query in [*QUERIES, "other"] for document in RNG.sample(range(60), 40)
)  # fmt: skip
# Of one query every other line stands at the end.
LINES = RUN.splitlines(keepends=True)
MOVED = [line for line in LINES if line.startswith("q07 ")][::2]
RETURNING = "".join([line for line in LINES if line not in MOVED] + MOVED)


@BOTH
@pytest.mark.parametrize("run", [RUN, RETURNING], ids=["in order", "a query returns"])
@pytest.mark.parametrize("options", [["-q", "-c"], ["-n", "-q", "-J", "-M", "5"]])
def test_the_same_is_printed(
    monkeypatch: pytest.MonkeyPatch, trec_eval: Command, version: str, run: str, options: list[str]
) -> None:
    words = ["--as", version, *options, "-m", "all_trec", "-m", "relstring.5"]
    small = trec_eval(*words, qrels=QRELS, run=run)
    monkeypatch.setattr(parse_lines, "run_compiled", parse_lines.run)
    monkeypatch.setattr(streams, "PIECE", 2000)
    large = trec_eval(*words, qrels=QRELS, run=run)
    packed = trec_eval(*words, qrels=QRELS, run=gzip.compress(run.encode()))
    assert (large.status, large.out) == (small.status, small.out)
    assert (packed.status, packed.out) == (small.status, small.out)
    assert small.out
