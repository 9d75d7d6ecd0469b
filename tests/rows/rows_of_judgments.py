"""Rows 49 to 72: sets of queries, and judgments."""

from __future__ import annotations

import math
from typing import Any

from rows.problem import Problem, Refused, Row, Values

BASE = Problem()
GOOD = {"q1": 1.0, "q2": 0.5}
AS_9 = "as trec_eval 9, queries that are not answered, or have no judgments, are left out"
JUDGED = (*BASE.judged, ("q3", "d1", 1))
RANKED = (*BASE.ranked, ("q3", "d1", 1.0))
TWO = ("RR", "AP", "nDCG")


def alike(value: float, *measures: str) -> dict[str, dict[str, float]]:
    return {each: {"q1": 1.0, "q2": value} for each in measures}


def grade_file(text: bytes) -> Problem:
    return Problem(qrels_file=b"q1 0 d1 1\nq2 0 d1 %s\n" % text)


def one(grades: dict[str, Any], *measures: Any) -> Problem:
    """Return a problem with a second query of other judgments, of which d1, d2, d3 are ranked."""
    return Problem(
        judged=(("q1", "d1", 1), *(("q2", d, grade) for d, grade in grades.items())),
        ranked=(("q1", "d1", 1.0), *(("q2", f"d{i}", -float(i)) for i in (1, 2, 3))),
        measures=measures,
    )


PARSED = "pytrec_eval's parse_qrel and parse_run"
THEIRS = {"their names": "ir_measures has no such measure"}
LOG3 = 1 / math.log2(3)


def dcg(*gains: float) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


ROWS = [
    Row(
        49,
        "no judgments",
        Problem(judged=()),
        Refused("no queries|no judgments|no data|qrels|no common"),
        {
            "pytrec_eval": (Values({}), "pytrec_eval returns an empty dictionary"),
            "ir_measures": (Values({}), "ir_measures returns no values"),
        },
    ),
    Row(
        49,
        "an empty file of judgments",
        Problem(qrels_file=b""),
        Refused("no data lines|no queries"),
    ),
    Row(
        50,
        "an empty run",
        Problem(ranked=()),
        Values({"q1": 0.0, "q2": 0.0}, warns="is empty"),
        {
            "pytrec_eval": (Values({}), AS_9),
            "ir_measures": (Values({"q1": 0.0, "q2": 0.0}), "ir_measures fills up what is missing"),
            "BEIR, evaluate": (Refused("no rankings"), "there is nothing to divide by"),
        },
    ),
    Row(
        51,
        "a query judged without documents",
        Problem(judged_empty=("q3",), ranked=RANKED),
        Values({**GOOD, "q3": 0.0}),
        {"answered queries": (Values(GOOD), AS_9)},
    ),
    Row(
        52,
        "a query answered without documents",
        Problem(judged=JUDGED, ranked_empty=("q3",)),
        Values({**GOOD, "q3": 0.0}),
    ),
    Row(53, "a query of the run alone", Problem(ranked=RANKED), Values(GOOD)),
    Row(
        54,
        "a query of the judgments alone",
        Problem(judged=JUDGED),
        Values({**GOOD, "q3": 0.0}),
        {
            "answered queries": (Values(GOOD), AS_9),
            "irbatch trec_eval --as 9": (Values(GOOD), "9 prints the queries that are answered"),
        },
    ),
    Row(
        55,
        "no query in common",
        BASE.renamed({"q1": "a", "q2": "b"}, judged=False),
        Refused("'a'.*'q1'|'q1'.*'a'", side=None),
        {
            "pytrec_eval": (Values({}), "pytrec_eval returns an empty dictionary"),
            "ir_measures": (Values({"q1": 0.0, "q2": 0.0}), "ir_measures fills up what is missing"),
            "irbatch trec_eval --as 10": (Values({"q1": 0.0, "q2": 0.0}), "-c scores them 0"),
            "irbatch trec_eval --as 9": (Refused("no query"), ""),
        },
    ),
    Row(
        56,
        "a query without relevant documents",
        Problem(judged=(*BASE.judged[:2], ("q2", "d1", 0), ("q2", "d2", 0)), measures=TWO),
        Values({"q1": 1.0, "q2": 0.0}, alike(0.0, "AP", "nDCG")),
    ),
    Row(
        57,
        "keys in another order",
        Problem(judged=BASE.judged[::-1], ranked=(*BASE.ranked[2:], *BASE.ranked[:2])),
        Values(GOOD),
    ),
    Row(
        59,
        "Bpref without documents judged not relevant",
        one({"d2": 1}, "Bpref"),
        Values({"q1": 1.0, "q2": 1.0}),
    ),
    Row(
        60,
        "all grades negative",
        one({"d1": -1, "d2": -2}, *TWO),
        Values({"q1": 1.0, "q2": 0.0}, alike(0.0, "AP", "nDCG")),
    ),
    Row(
        61,
        "grades -1 and 1",
        one({"d1": -1, "d2": 1}, *TWO, "P@1"),
        Values(
            {"q1": 1.0, "q2": 0.5},
            {
                "AP": {"q1": 1.0, "q2": 0.5},
                "nDCG": {"q1": 1.0, "q2": LOG3},
                "P@1": {"q1": 1.0, "q2": 0.0},
            },
        ),
    ),
    Row(
        62,
        "fractional grades and nDCG",
        one({"d1": 0.9, "d2": 1.9}, "nDCG"),
        Values({"q1": 1.0, "q2": dcg(0.9, 1.9) / dcg(1.9, 0.9)}),
        {
            "trec names": (Values({"q1": 1.0, "q2": LOG3}), "trec_eval drops fractions of grades"),
            PARSED: (Refused("0.9 is not a whole number"), "pytrec_eval takes whole grades"),
            "pytrec_eval": (Values({"q1": 1.0, "q2": dcg(0.9, 1.9) / dcg(1.9, 0.9)}), ""),
            "BEIR, evaluate": (Refused("0.9"), "it has binary measures, too"),
        },
    ),
    Row(
        62,
        "fractional grades and a binary measure",
        one({"d1": 0.9, "d2": 1.9}, "RR"),
        Refused(r"0\.9|1\.9", side="qrels"),
        {
            "trec names": (Values({"q1": 1.0, "q2": 0.5}), "trec_eval drops fractions of grades"),
            PARSED: (Refused("0.9 is not a whole number"), "pytrec_eval takes whole grades"),
            **{
                each: (Values({"q1": 1.0, "q2": 0.5}), "the level is 1 unless said otherwise")
                for each in ("pytrec_eval", "ir_measures")
            },
        },
    ),
    Row(
        63,
        "a word as grade",
        BASE.graded("yes"),
        Refused("'yes'", at=2, side="qrels"),
        {
            each: (Refused("not text"), "NumPy makes text of numbers beside text")
            for each in (
                "evaluate_matrix, array",
                "evaluate_matrix, rows",
                "evaluate_scores, lists",
            )
        },
    ),
    Row(63, "a word as grade, in a file", grade_file(b"yes"), Refused("'yes' is not", line=2)),
    Row(
        64,
        "a grade that is NaN",
        BASE.graded(math.nan),
        Refused("(?i)nan|missing", at=2, side="qrels"),
    ),
    Row(64, "NaN as grade, in a file", grade_file(b"nan"), Refused("'nan'", line=2)),
    Row(
        65,
        "a grade of 10^6",
        BASE.graded(10**6, measures=("nDCG",)),
        Values({"q1": 1.0, "q2": dcg(0, 10**6) / 10**6}),
    ),
    *(
        Row(
            66,
            what,
            BASE.graded(grade, measures=("nDCG", "RR")),
            Values({"q1": 1.0, "q2": dcg(0, grade) / grade}, {"RR": GOOD}),
        )
        for what, grade in (
            ("2^31", 2**31),
            ("2^32+1", 2**32 + 1),
            ("2^40", 2**40),
            ("2^53", 2**53),
        )
    ),
    Row(
        66,
        "a grade of 2^53+1",
        BASE.graded(2**53 + 1),
        Refused("2.53|no grade|not a grade", at=2, side="qrels"),
    ),
    Row(
        67,
        "exponential gain of a grade of 2000",
        BASE.graded(2000, measures=("nDCG(gain=exp)",)),
        Refused(r"2\^2000", side=None),
        cannot=THEIRS,
    ),
    Row(
        69,
        "relevant from grade 0 on",
        Problem(measures=("P(rel=0)@2",)),
        Values({"q1": 1.0, "q2": 1.0}),
    ),
    Row(
        69,
        "relevant from grade -1 on",
        Problem(measures=("P(rel=-1)@2",)),
        Refused("rel", side=None),
        cannot=THEIRS,
    ),
    Row(
        69,
        "relevant from grade 5 on",
        Problem(measures=("P(rel=5)@2",)),
        Values({"q1": 0.0, "q2": 0.0}),
    ),
    Row(
        69,
        "relevant from grade 10^8 on",
        Problem(measures=("AP(rel=100000000)",)),
        Values({"q1": 0.0, "q2": 0.0}),
    ),
    Row(
        70,
        "RBP of grades",
        one({"d1": 3, "d2": 3}, "RBP(p=0.5)"),
        Values({"q1": 0.5, "q2": 0.75}),
        cannot=THEIRS,
    ),
    Row(
        71,
        "nDCG with a level",
        one({"d1": 1, "d2": 2}, "nDCG(rel=2)"),
        Values({"q1": 0.0, "q2": LOG3}),
        cannot=THEIRS,
    ),
    Row(
        72,
        "relevant documents that are not candidates",
        Problem(judged=(*BASE.judged, ("q2", "d9", 1)), measures=("AP", "R@5")),
        Values({"q1": 1.0, "q2": 0.25}, {"R@5": {"q1": 1.0, "q2": 0.5}}),
    ),
]
