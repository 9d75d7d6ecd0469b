"""Rows 22 to 48: identifiers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from rows.problem import Problem, Refused, Row, Values

BASE = Problem(about="ids")
GOOD = {"q1": 1.0, "q2": 0.5}
NUMBERED = {"q1": 1, "q2": 2, "d1": 11, "d2": 12}
RUN_FILE = b"q1 Q0 d2 1 2 t\nq1 Q0 d1 2 1 t\nq2 Q0 %s 1 0.5 t\nq2 Q0 d1 2 0.25 t\n"


def twice(side: str, place: int, number: Any) -> Problem:
    """Return the problem with a triple of a side again at its end, with a number."""
    triples = getattr(BASE, side)
    return replace(BASE, **{side: (*triples, (*triples[place][:2], number))})


def near(judged: Any, retrieved: Any) -> Problem:
    """Return a problem whose run has a document of nearly the name of the judged one."""
    other = "other" if isinstance(judged, str) else 99
    return Problem(
        judged=(("q1", judged, 1), ("q2", other, 1)),
        ranked=(("q1", retrieved, 1.0), ("q2", other, 1.0)),
        about="ids",
    )


def called(query: Any = "q2", document: Any = "d1") -> Problem:
    """Return the problem with another name of q2 and of its relevant document, on both sides."""
    return BASE.renamed({"q2": query, "d1": document})


def file(document: bytes, says: str) -> tuple[Problem, Refused]:
    return Problem(run_file=RUN_FILE % document, about="ids"), Refused(says, line=3)


def named(query: Any) -> Values:
    return Values({"q1": 1.0, query: 0.5})


PAIRED = {"evaluate_ids, lists": "queries have no ids here"}
IN_FILES = {"text": (Refused("NUL byte.*no text"), "a file with a NUL byte is no text")}
EMPTY = {"text": (Refused("an id is empty"), "a line of a file has all its columns")}
FRAMES = {"evaluate, pandas": "its texts are Arrow's, which are UTF-8"}
TABBED = {"header": "a line would end there"}
AGAIN = "twice|before|in rows"
APART = Values({"q1": 0.0, "q2": 1.0})
NO_ID = "document id|query id|id|text or whole numbers|float|bool|null|missing|bytes|None"

ROWS = [
    Row(22, "a document twice", twice("ranked", 0, 7.0), Refused(AGAIN, at=4)),
    Row(23, "a document twice, below any cutoff", twice("ranked", 0, -7.0), Refused(AGAIN, at=4)),
    Row(
        24,
        "a document twice, with the same score",
        twice("ranked", 0, 1.0),
        Refused(AGAIN, at=4),
        {"BatchEvaluator.update_columns": (Values(GOOD), "what a sampler repeats counts once")},
    ),
    Row(25, "a judgment twice", twice("judged", 0, 0), Refused(AGAIN, at=4, side="qrels")),
    Row(26, "two judgments that differ", twice("judged", 0, 1), Refused(AGAIN, at=4, side="qrels")),
    Row(
        27,
        "interleaved queries",
        Problem(
            judged=tuple(BASE.judged[i] for i in (0, 2, 1, 3)),
            ranked=tuple(BASE.ranked[i] for i in (2, 0, 3, 1)),
            about="ids",
        ),
        Values(GOOD),
    ),
    Row(
        28,
        "whole numbers as ids of queries",
        BASE.renamed({"q1": 1, "q2": 2}),
        Values({1: 1.0, 2: 0.5}),
    ),
    Row(29, "whole numbers as ids of documents", BASE.renamed({"d1": 11, "d2": 12}), Values(GOOD)),
    Row(
        30,
        "text in the qrels, whole numbers in the run",
        BASE.renamed(NUMBERED, judged=False),
        Refused("str|text"),
        cannot={
            "BatchEvaluator.update_columns": "ids are given once",
            "BatchEvaluator.add": "the harness pairs queries by id",
            "pytrec_eval": "queries of another kind are queries that are not judged: see row 55",
            "ir_measures": "queries of another kind are queries that are not judged: see row 55",
        },
    ),
    Row(
        30,
        "documents text in the qrels, whole numbers in the run",
        BASE.renamed({"d1": 11, "d2": 12}, judged=False),
        Refused("str|text"),
        cannot={"BatchEvaluator.update_columns": "ids are given once"},
    ),
    Row(31, "-1 and -2, of one hash", near(-1, -2), APART),
    Row(32, "2^53 and 2^53+1", near(2**53, 2**53 + 1), APART),
    Row(
        33,
        "1.0 as id of a document",
        BASE.renamed({"d1": 1.0}),
        Refused(NO_ID, at=None, side="qrels"),
    ),
    Row(33, "True as id of a document", BASE.renamed({"d1": True}), Refused(NO_ID, side="qrels")),
    Row(
        33,
        "1.0 as id of a query",
        BASE.renamed({"q1": 1.0}),
        Refused(NO_ID, side="qrels"),
        cannot=PAIRED,
    ),
    Row(
        34,
        "bytes as id of a document",
        BASE.renamed({"d1": b"d1", "d2": b"d2"}),
        Refused(r"decode|bytes|binary"),
    ),
    Row(
        34,
        "bytes as id of a query",
        BASE.renamed({"q1": b"q1", "q2": b"q2"}),
        Refused(r"decode|bytes|binary"),
        cannot=PAIRED,
    ),
    Row(35, "letters beyond ASCII", called("ц2", "документ-1"), named("ц2")),
    Row(36, "composed and decomposed", near("é", "e\u0301"), APART),
    Row(37, "a space in an id", called("my query", "my document"), named("my query")),
    Row(38, "a space in an id, in a file", *file(b"my d2", "7 columns.*space")),
    Row(39, "a line break in an id", called("q\n2", "d\n1"), named("q\n2"), cannot=TABBED),
    Row(40, "NUL in an id", near("a", "a\0x"), APART, IN_FILES),
    Row(40, "NUL at the end of an id", near("a", "a\0"), APART, IN_FILES),
    Row(40, "NUL in an id, in a file", *file(b"d\x002", "NUL byte")),
    Row(41, "a lone surrogate", called("q\ud800", "d\ud801"), named("q\ud800"), cannot=FRAMES),
    Row(41, "a lone surrogate, in a file", *file(b"d\xed\xa0\x80", "not UTF-8")),
    Row(42, "an empty id", called("", ""), named(""), EMPTY),
    Row(43, "an id of 100,000 characters", near("x" * 10**5, "x" * 10**5 + "y"), APART),
    Row(44, "a query called 'no query'", called("no query"), named("no query")),
    Row(
        45,
        "a document called 'ceci_nest_pas_un_docno'",
        called("q2", "ceci_nest_pas_un_docno"),
        Values(GOOD),
    ),
    Row(46, "a query called '#1'", called("#1"), named("#1")),
    Row(
        47,
        "ids 'NA', 'null', '007'",
        BASE.renamed({"q1": "NA", "q2": "null", "d1": "007"}),
        Values({"NA": 1.0, "null": 0.5}),
    ),
    Row(48, "None as id of a document", BASE.renamed({"d1": None}, judged=False), Refused(NO_ID)),
    Row(48, "None as id of a query", BASE.renamed({"q1": None}, judged=False), Refused(NO_ID)),
    Row(48, "NaN as id of a query", BASE.renamed({"q1": math.nan}, judged=False), Refused(NO_ID)),
]
