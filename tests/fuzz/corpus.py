"""Inputs that broke a property once, by target; and some that must go on being looked at."""

from __future__ import annotations

from typing import Any

CORPUS: dict[str, list[Any]] = {
    "lines": [
        # A query contradicts itself where it returns, not where the piece begins.
        ("run", b"q1 0 4 3 5 t\n3 0 7 1 -9 t\nq1 0 4 3 15 t\nq1 0 2 2 5 t"),
        ("run", b"q1 0 4 3 5 t\nq1 0 2 2 .5 t\nq1 0 4 3 1 t"),
        ("run", b"q1 0 4 3 15 t\nq1 Q 1 1 5 t\n0 0 1 1 7 t\nq1 0 4 3 5 t\nq1 0 2 2 .5 t"),
        ("qrels", b"query-id\tcorpus-id\tscore\n3\t3\t9007199254740993."),
        (
            "qrels",
            b"q1 0 d1 9007199254740992.0\n" + b"q1 0 d2 " + b"0" * 5000 + b"9007199254740992\n",
        ),
        ("run", b"q2 0 7 . 5 t\nq2 0 1 3 1 u"),
        ("run", b"docno\tqid\tscore\n\n#"),
        ("run", b"\xef\xbb\xbfq1 Q0 d2 2 .25 t\r\n"),
        ("run", b"q1 Q0 d 1 " + b"0" * 300_000 + b"x t\n"),  # quadratic where digits are read twice
        ("qrels", b"q1 0 d " + b"9" * 300_000 + b"_\n"),
        ("qrels", b"q1 0 d1 9007199254740993\n"),
        ("run", b'{"query-id":"\\ud800","corpus-id":"d","score":1}\n'),
        ("run", b'{"query-id":"q","corpus-id":"d","score":' + b"[" * 2000 + b"}\n"),
    ],
    "names": [
        "R()@9999999999999999",
        "ndcg_cut_109999999999999999999999999999993",
        "iprec_at_recall(rounding='up')",
        "Rprecmult.5,-0",
        "0" * 300_000 + "!",
        "P@{" + " " * 300_000,
        "map(gain=" + "_1" * 300_000,
        "nDCGrel.5," + "9" * 300_000,
    ],
    "conditions": [
        ("condition", "nDCG@10 drops " + "0" * 300_000 + "!"),
        ("constraint", "latency_p95 == " + "9" * 300_000 + "!"),
        ("constraint", "latency_p95 " + " " * 300_000 + "!"),
        ("constraint", "a < b < 5"),
        ("constraint", "a << 5"),
    ],
    "objects": [
        (
            [(("str", ""), [(("of text", ""), ("floating", "0")), (("str", "é"), ("power", 64))])],
            [],
        ),
        ([], [(("str", ""), [(("str", ""), ("power", 20000))])]),
    ],
}
