"""Rows 1 to 21: scores."""

from __future__ import annotations

import math

import numpy as np

from rows.problem import Problem, Refused, Row, Values

BASE = Problem(about="scores")
FIRST, SECOND = Values({"q1": 1.0, "q2": 1.0}), Values({"q1": 1.0, "q2": 0.5})
WITHOUT_IDS = "without ids: the expected value over all orders"
FLOAT32 = {"float32": (SECOND, "scores are compared as float32, as trec_eval 9 does")}
OTHER = ("q2", "d1", 1)
THREE = Problem(
    judged=(("q1", "d1", 1), ("q1", "d2", 0), ("q1", "d3", 0), OTHER),
    ranked=(*(("q1", f"d{i}", 0.5) for i in (1, 2, 3)), ("q2", "d1", 1.0)),
    about="scores",
)
TEN = Problem(
    judged=(*(("q1", f"d{i}", int(i == 0)) for i in range(10)), OTHER),
    ranked=(*(("q1", f"d{i}", 0.5) for i in range(10)), ("q2", "d1", 1.0)),
    about="scores",
)
FILE = b"q1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 %s t\nq2 Q0 d2 1 1 t\n"


def tied(by_id: Values, expected: float, query: str = "q2") -> dict[str, tuple[Values, str]]:
    """Say what comes of a query whose candidates are all tied."""
    averaged = {**by_id.values, query: expected}
    return {
        "expected": (Values(averaged), WITHOUT_IDS),
        "candidates": (Values(averaged), WITHOUT_IDS),
    }


def all_of(kind: type) -> Problem:
    """Return the problem with all scores of one type, the relevant documents first."""
    return Problem(
        ranked=tuple(
            (q, d, kind(x))
            for q, d, x in [("q1", "d1", 0), ("q1", "d2", 1), ("q2", "d1", 1), ("q2", "d2", 0)]
        ),
        about="scores",
    )


def score_file(text: bytes, says: str) -> tuple[Problem, Refused]:
    return Problem(run_file=FILE % text, about="scores"), Refused(says, line=2)


LARGE = Problem(
    ranked=tuple(
        (q, d, 2**53 + x)
        for q, d, x in [("q1", "d1", 0), ("q1", "d2", 4), ("q2", "d1", 1), ("q2", "d2", 0)]
    ),
    about="scores",
)
THIRD = Values({"q1": 1 / 3, "q2": 1.0})
TENTH = Values({"q1": 0.1, "q2": 1.0})
ROWS = [
    Row(1, "NaN", BASE.scored(math.nan, 1.0), Refused("(?i)nan|missing", at=2)),
    Row(2, "inf", BASE.scored(math.inf, 1e308), FIRST, FLOAT32),
    Row(2, "-inf", BASE.scored(-1e308, -math.inf), FIRST, FLOAT32),
    Row(2, "two infinities", BASE.scored(math.inf, math.inf), SECOND, tied(SECOND, 0.75)),
    Row(3, "None", BASE.scored(None, 1.0), Refused("None|null|nan|missing", at=2)),
    Row(
        4,
        "text among numbers",
        BASE.scored("3", 1.0),
        Refused("'3'", at=2),
        {
            "evaluate_scores, lists": (
                Refused("not text"),
                "NumPy makes text of numbers beside text",
            )
        },
    ),
    Row(4, "text", all_of(str), Refused("number", at=None)),
    Row(5, "bools", all_of(bool), FIRST),
    Row(5, "a bool among numbers", BASE.scored(True, 0.5), FIRST),
    Row(6, "float32 scalars", all_of(np.float32), FIRST),
    Row(6, "one float32 scalar", BASE.scored(np.float32(1), 0.5), FIRST),
    Row(
        7,
        "10^400",
        BASE.scored(10**400, 1.0),
        Refused("overflows float64", at=2),
        cannot={"evaluate, pandas": "before version 3 pandas refuses it itself"},
    ),
    Row(
        7,
        "2^53+1 as int64",
        LARGE,
        SECOND,
        {
            "candidates": (FIRST, "scores are compared in their own precision"),
            "candidates with ids": (FIRST, "scores are compared in their own precision"),
            "torchmetrics, RetrievalMetric": (
                Values({"q1": 1.0, "q2": 0.75}),
                "compared as float64",
            ),
            "expected": (Values({"q1": 1.0, "q2": 0.75}), WITHOUT_IDS),
        },
    ),
    Row(8, "1+1e-9 and 1", BASE.scored(1 + 1e-9, 1.0), FIRST, FLOAT32),
    Row(9, "2^24+1 and 2^24", BASE.scored(2**24 + 1, 2**24), FIRST, FLOAT32),
    Row(10, "2e39 and 1e39", BASE.scored(2e39, 1e39), FIRST, FLOAT32),
    Row(11, "a tie of three", THREE, THIRD, tied(THIRD, 11 / 18, "q1")),
    # Where ids decide nobody is warned: trec_eval does so, and results are sure.
    Row(
        12,
        "one score for all",
        TEN,
        TENTH,
        tied(TENTH, math.fsum(1 / i for i in range(1, 11)) / 10, "q1"),
    ),
    Row(13, "0.0 and -0.0", BASE.scored(0.0, -0.0), SECOND, tied(SECOND, 0.75)),
    Row(13, "-0.0 and 0.0", BASE.scored(-0.0, 0.0), SECOND, tied(SECOND, 0.75)),
    Row(14, "float16", all_of(np.float16), FIRST),
    Row(16, "uint8", all_of(np.uint8), FIRST),
    Row(16, "int8 of -128 and -127", BASE.scored(np.int8(-127), np.int8(-128)), FIRST),
    Row(
        16,
        "int8",
        Problem(
            ranked=tuple(
                (q, d, np.int8(x))
                for q, d, x in [
                    ("q1", "d1", 0),
                    ("q1", "d2", 127),
                    ("q2", "d1", -127),
                    ("q2", "d2", -128),
                ]
            ),
            about="scores",
        ),
        FIRST,
    ),
    Row(17, "complex", all_of(complex), Refused("complex|number", at=None)),
    Row(18, "decimal comma", *score_file(b"1,5", "'1,5' is not a number.*decimal comma")),
    Row(19, "0x10", *score_file(b"0x10", "'0x10' is not a number")),
    Row(19, "1_0.5", *score_file(b"1_0.5", "'1_0.5' is not a number")),
    Row(19, "Arabic digits", *score_file("١٢".encode(), "is not a number")),
    Row(19, "wide digits", *score_file("１".encode(), "is not a number")),
    Row(20, "1e400", *score_file(b"1e400", "1e400 overflows float64")),
    Row(21, "abc", *score_file(b"abc", "'abc' is not a number")),
]
