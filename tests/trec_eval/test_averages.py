"""Which topics `irbatch trec_eval` averages, in which order, and how it ranks and rounds.

Numbers after § are the sections of trec_eval-exactness.md, facts about trec_eval's sources.
"""

from __future__ import annotations

import pytest
from support.trec_eval_command import AP, BOTH, MISSING, QRELS, Command


@pytest.mark.parametrize(
    ("options", "wish", "of_missing", "of_all"),
    [
        # One unjudged document is ranked there; what it adds is taken away from these two names
        # only (§4.5). b x 1, c x R and d x (N - 1 - R), R being 1; under -J nothing is ranked.
        ("", "utility", "0.0000", f"{2 / 3:.4f}"),
        ("", "utility.1,-1,0,0", "-1.0000", f"{(1 + 1 - 1) / 3:.4f}"),
        ("-J", "utility.1,-1,0,0", "0.0000", f"{(2 + 1 + 0) / 3:.4f}"),
        ("-N 9", "utility.0,0,3,.5", f"{3 + 0.5 * (9 - 1 - 1):.4f}", None),
        ("-J -N 9", "utility.0,0,3,.5", f"{3 + 0.5 * (9 - 1):.4f}", None),
        ("-l 2", "utility.0,-1,3,0", "-1.0000", None),
        ("", "relstring", "''", None),
        ("", "relstring.5", "'-'", None),
        ("", "relstring.0", "''", None),
        ("-J", "relstring.5", "''", None),
    ],
)
def test_what_version_10_makes_up_of_missing_topics(
    trec_eval: Command, options: str, wish: str, of_missing: str, of_all: str | None
) -> None:
    printed = trec_eval("-q", "-c", *options.split(), "-m", wish, qrels=MISSING)
    assert list(printed.of("q3").values()) == [of_missing]
    if of_all is not None:
        assert list(printed.of().values()) == [of_all]


@pytest.mark.parametrize(("first", "topics"), [("q3", ["q1", "q2"]), ("q0", []), ("q1b", ["q1"])])
def test_version_10_stops_at_a_missing_topic(
    trec_eval: Command, first: str, topics: list[str]
) -> None:
    printed = trec_eval("-q", "-m", "map", qrels=f"{first} 0 f 1\n{QRELS}q4 0 g 1\n")
    assert printed.status == 4
    assert printed.rows == [("map", topic, f"{AP[topic]:.4f}") for topic in topics]
    assert len(printed.err.splitlines()) == 1
    assert f"(query '{first}'): it is judged and missing" in printed.err


@BOTH
def test_topics_are_in_the_order_of_their_bytes(trec_eval: Command, version: str) -> None:
    topics = ["10", "2", "A", "a", "é", "\ufffd", "\U0001f600"]  # the last two: not in UTF-16
    shuffled = [topics[place] for place in (3, 6, 1, 4, 0, 5, 2)]
    qrels = "".join(f"{topic} 0 d 1\n" for topic in shuffled)
    run = "".join(f"{topic} Q0 d 1 1 t\n" for topic in reversed(shuffled))
    printed = trec_eval("-q", "-n", "-m", "num_ret", qrels=qrels, run=run, version=version)
    assert [topic for _, topic, _ in printed.rows] == topics


@pytest.mark.parametrize(
    ("better", "worse"),
    [("1.0000000001", "1.0"), ("16777217", "16777216"), ("2e39", "1e39"), ("-1e39", "-2e39")],
)
def test_version_9_compares_scores_as_float32(trec_eval: Command, better: str, worse: str) -> None:
    """§4.1: what is equal then is in the order of ids, and b stands above a."""
    qrels = "q 0 a 1\n"
    run = f"q Q0 a 1 {better} t\nq Q0 b 2 {worse} t\n"
    options = ("-m", "recip_rank")
    assert trec_eval(*options, qrels=qrels, run=run, version="9").of() == {"recip_rank": "0.5000"}
    assert trec_eval(*options, qrels=qrels, run=run).of() == {"recip_rank": "1.0000"}
