"""The rows: scores, ids, sets of queries, grades, names of measures, and files byte by byte."""

from __future__ import annotations

import gzip
import math
import random
from dataclasses import replace
from typing import Any

import numpy as np

from bad_input.problem import Problem, Rejected, Row, Triple, Values

BASE = Problem()
GOOD = Values({"q1": 1.0, "q2": 0.5})
FIRST = Values({"q1": 1.0, "q2": 1.0})
PARSED = "pytrec_eval's parse_qrel and parse_run"
ADAPTERS = ("pytrec_eval", "ir_measures", "BEIR")
LOG3 = 1 / math.log2(3)


def dcg(*gains: float) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def ranked(*scores: Any) -> Problem:
    """Return the problem with other scores of q1's and q2's documents d1 and d2."""
    places = [("q1", "d1"), ("q1", "d2"), ("q2", "d1"), ("q2", "d2")]
    return Problem(ranked=tuple((*at, x) for at, x in zip(places, scores, strict=True)))


def all_of(kind: type, *numbers: int) -> Problem:
    """Return the problem with all scores of one type."""
    return ranked(*map(kind, numbers or (0, 1, 1, 0)))


def tied(count: int) -> Problem:
    """Return a query of so many documents of one score, the first of which is relevant."""
    return Problem(
        (*(("q1", f"d{i}", int(i == 0)) for i in range(count)), ("q2", "d1", 1)),
        (*(("q1", f"d{i}", 0.5) for i in range(count)), ("q2", "d1", 1.0)),
    )


def line_with(score: bytes) -> Problem:
    """Return a run file whose second line has a score, as text."""
    return run(b"q1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 %s t\nq2 Q0 d2 1 1 t\n" % score)


def run(data: bytes) -> Problem:
    return Problem(run_file=data)


def qrels(data: bytes) -> Problem:
    return Problem(qrels_file=data)


SCORES = [
    Row("score NaN", BASE.scored(math.nan, 1.0), Rejected("(?i)nan|missing", 2)),
    Row("score inf", BASE.scored(math.inf, 1e308), FIRST),
    Row("score -inf", BASE.scored(-1e308, -math.inf), FIRST),
    Row("two infinite scores", BASE.scored(math.inf, math.inf), GOOD),
    Row("score None", BASE.scored(None, 1.0), Rejected("None|null|nan|missing", 2)),
    Row("a text among scores", BASE.scored("3", 1.0), Rejected("'3'", 2)),
    Row("scores of text", all_of(str), Rejected("number")),
    Row("scores of bools", all_of(bool), FIRST),
    Row("a bool among scores", BASE.scored(True, 0.5), FIRST),
    *(
        Row(f"scores of {kind.__name__}", all_of(kind), FIRST)
        for kind in (np.float32, np.float16, np.uint8)
    ),
    Row("one score of float32", BASE.scored(np.float32(1), 0.5), FIRST),
    Row("score 10^400", BASE.scored(10**400, 1.0), Rejected("overflows float64|too large", 2)),
    Row("scores of 2^53+1 as whole numbers", ranked(2**53, 2**53 + 4, 2**53 + 1, 2**53), GOOD),
    Row("scores 1+1e-9 and 1", BASE.scored(1 + 1e-9, 1.0), FIRST),
    Row("scores 2^24+1 and 2^24", BASE.scored(2**24 + 1, 2**24), FIRST),
    Row("scores 2e39 and 1e39", BASE.scored(2e39, 1e39), FIRST),
    Row("a tie of three", tied(3), Values({"q1": 1 / 3, "q2": 1.0})),
    Row("one score for all", tied(10), Values({"q1": 0.1, "q2": 1.0})),
    Row("scores 0.0 and -0.0", BASE.scored(0.0, -0.0), GOOD),
    Row("scores -0.0 and 0.0", BASE.scored(-0.0, 0.0), GOOD),
    Row("scores of int8, -128 the lowest", all_of(np.int8, 0, 127, -127, -128), FIRST),
    Row("complex scores", all_of(complex), Rejected("complex|number")),
    *(
        Row(f"score {text!r} in a file", line_with(text.encode()), Rejected(says, line=2))
        for text, says in {
            "1,5": "'1,5'", "0x10": "'0x10'", "1_0.5": "'1_0.5'", "١٢": "not a number",
            "１": "not a number", "1e400": "overflows float64", "abc": "'abc'",
        }.items()
    ),
]  # fmt: skip


def twice(side: str, number: Any) -> Problem:
    """Return the problem with the first triple of a side again at its end, with a number."""
    triples: tuple[Triple, ...] = getattr(BASE, side)
    return replace(BASE, **{side: (*triples, (*triples[0][:2], number))})


def near(judged: Any, retrieved: Any) -> Problem:
    """Return a problem whose run has a document of nearly the name of the judged one."""
    other = "other" if isinstance(judged, str) else 99
    return Problem(
        (("q1", judged, 1), ("q2", other, 1)), (("q1", retrieved, 1.0), ("q2", other, 1.0))
    )


def named(query: Any) -> Values:
    return Values({"q1": 1.0, query: 0.5})


def called(query: Any, document: Any = "d1") -> Problem:
    """Return the problem with another name of q2 and of its relevant document, on both sides."""
    return BASE.renamed({"q2": query, "d1": document})


def line_of(document: bytes) -> Problem:
    lines = b"q1 Q0 d2 1 2 t\nq1 Q0 d1 2 1 t\nq2 Q0 %s 1 0.5 t\nq2 Q0 d1 2 0.25 t\n"
    return run(lines % document)


AGAIN = "twice|before|in rows"
APART = Values({"q1": 0.0, "q2": 1.0})
NO_ID = "id|text or whole numbers|float|bool|null|missing|bytes|None"
BINARY = Rejected("decode|bytes|binary")
UNPAIRED = {"evaluate_ids, lists": None}  # queries have no ids there
NUMBERED = {"q1": 1, "q2": 2, "d1": 11, "d2": 12}
ONCE = {"BatchEvaluator.update_columns": None}  # ids are given once
OTHER_QUERIES = {"merge_partials": None, **dict.fromkeys(ADAPTERS)}  # see "nothing in common"
IDS = [
    replace(row, about="ids")
    for row in (
        Row("a document twice", twice("ranked", 7.0), Rejected(AGAIN, 4)),
        Row("a document twice, far below", twice("ranked", -7.0), Rejected(AGAIN, 4)),
        Row("a document twice, with its score", twice("ranked", 1.0), Rejected(AGAIN, 4),
            {"BatchEvaluator.update_columns": GOOD}),  # what a sampler repeats counts once
        Row("a judgment twice", twice("judged", 0), Rejected(AGAIN, 4, "qrels")),
        Row("two judgments that differ", twice("judged", 1), Rejected(AGAIN, 4, "qrels")),
        Row("interleaved queries",
            Problem(tuple(BASE.judged[i] for i in (0, 2, 1, 3)),
                    tuple(BASE.ranked[i] for i in (2, 0, 3, 1))), GOOD),
        Row("whole numbers as queries", BASE.renamed({"q1": 1, "q2": 2}),
            Values({1: 1.0, 2: 0.5})),
        Row("whole numbers as documents", BASE.renamed({"d1": 11, "d2": 12}), GOOD),
        Row("text in the qrels, numbers in the run", BASE.renamed(NUMBERED, judged=False),
            Rejected("str|text"), ONCE | OTHER_QUERIES),
        Row("the same, of documents alone", BASE.renamed({"d1": 11, "d2": 12}, judged=False),
            Rejected("str|text"), ONCE),
        Row("-1 and -2, of one hash", near(-1, -2), APART),
        Row("2^53 and 2^53+1", near(2**53, 2**53 + 1), APART),
        Row("document 1.0", BASE.renamed({"d1": 1.0}), Rejected(NO_ID, None, "qrels")),
        Row("document True", BASE.renamed({"d1": True}), Rejected(NO_ID, None, "qrels")),
        Row("query 1.0", BASE.renamed({"q1": 1.0}), Rejected(NO_ID, None, "qrels"), UNPAIRED),
        Row("documents of bytes", BASE.renamed({"d1": b"d1", "d2": b"d2"}), BINARY),
        Row("queries of bytes", BASE.renamed({"q1": b"q1", "q2": b"q2"}), BINARY, UNPAIRED),
        Row("document None", BASE.renamed({"d1": None}, judged=False), Rejected(NO_ID)),
        Row("query None", BASE.renamed({"q1": None}, judged=False), Rejected(NO_ID)),
        Row("query NaN", BASE.renamed({"q1": math.nan}, judged=False), Rejected(NO_ID)),
        Row("letters beyond ASCII", called("ц2", "документ-1"), named("ц2")),
        Row("composed and decomposed", near("é", "e\u0301"), APART),
        Row("a space in an id", called("my query", "my document"), named("my query")),
        Row("a line break in an id", called("q\n2", "d\n1"), named("q\n2")),
        Row("NUL in an id", near("a", "a\0x"), APART, {"text": Rejected("NUL byte")}),
        Row("NUL at the end of an id", near("a", "a\0"), APART, {"text": Rejected("NUL byte")}),
        Row("a lone surrogate", called("q\ud800", "d\ud801"), named("q\ud800")),
        Row("an empty id", called("", ""), named(""), {"text": Rejected("an id is empty")}),
        Row("an id of 100,000 characters", near("x" * 10**5, "x" * 10**5 + "y"), APART),
        Row("words of other tools", called("no query", "ceci_nest_pas_un_docno"),
            named("no query")),
        Row("a query called '#1'", called("#1"), named("#1")),
        Row("ids 'NA', 'null', '007'", BASE.renamed({"q1": "NA", "q2": "null", "d1": "007"}),
            Values({"NA": 1.0, "null": 0.5})),
        Row("a space in a line", line_of(b"my d2"), Rejected("7 columns where 6", line=3)),
        Row("NUL in a line", line_of(b"d\x002"), Rejected("NUL byte", line=3)),
        Row("a surrogate in a line", line_of(b"d\xed\xa0\x80"), Rejected("not UTF-8", line=3)),
    )
]  # fmt: skip


def alike(value: float, *measures: str) -> dict[str, dict[str, float]]:
    return {name: {"q1": 1.0, "q2": value} for name in measures}


def one(grades: dict[str, Any], *measures: str) -> Problem:
    """Return a problem with a second query of other judgments, of which d1, d2, d3 are ranked."""
    return Problem(
        (("q1", "d1", 1), *(("q2", d, grade) for d, grade in grades.items())),
        (("q1", "d1", 1.0), *(("q2", f"d{i}", -float(i)) for i in (1, 2, 3))),
        measures,
    )


TWO = ("RR", "AP", "nDCG")
THREE = (*BASE.judged, ("q3", "d1", 1))
ANSWERED = {"answered queries": GOOD, "irbatch trec_eval --as 9": GOOD}
# What these return of nothing has tests of its own, in tests/integrations.
NO_ADAPTERS = dict.fromkeys(ADAPTERS)
WHOLE = {"trec_eval": None, PARSED: None}  # trec_eval drops fractions of grades
QUERIES = [
    Row("no judgments", Problem(judged=()), Rejected("no queries|no judgments|qrels|no common"),
        NO_ADAPTERS),
    Row("an empty run", Problem(ranked=()), Values({"q1": 0.0, "q2": 0.0}, warns="is empty"),
        NO_ADAPTERS),
    Row("a query judged without documents", Problem(judged_empty=("q3",), ranked=(
        *BASE.ranked, ("q3", "d1", 1.0))), Values({**GOOD.values, "q3": 0.0}), ANSWERED),
    Row("a query answered without documents", Problem(THREE, ranked_empty=("q3",)),
        Values({**GOOD.values, "q3": 0.0})),
    Row("a query of the run alone", Problem(ranked=(*BASE.ranked, ("q3", "d1", 1.0))), GOOD),
    Row("a query of the judgments alone", Problem(THREE), Values({**GOOD.values, "q3": 0.0}),
        ANSWERED),
    Row("no query in common", BASE.renamed({"q1": "a", "q2": "b"}, judged=False),
        Rejected("'a'.*'q1'|'q1'.*'a'"),
        {**NO_ADAPTERS, "irbatch trec_eval --as 10": Values({"q1": 0.0, "q2": 0.0}),
         "irbatch trec_eval --as 9": Rejected("no query")}),
    Row("a query without relevant documents",
        Problem((*BASE.judged[:2], ("q2", "d1", 0), ("q2", "d2", 0)), measures=TWO),
        Values({"q1": 1.0, "q2": 0.0}, alike(0.0, "AP", "nDCG"))),
    Row("keys in another order",
        Problem(BASE.judged[::-1], (*BASE.ranked[2:], *BASE.ranked[:2])), GOOD),
    Row("no document judged not relevant", one({"d2": 1}, "Bpref"), FIRST,
        {"matrix": None, "BatchEvaluator.update_columns": None}),
    Row("negative grades", one({"d1": -1, "d2": -2}, *TWO),
        Values({"q1": 1.0, "q2": 0.0}, alike(0.0, "AP", "nDCG"))),
    Row("grades -1 and 1", one({"d1": -1, "d2": 1}, *TWO, "P@1"),
        Values({"q1": 1.0, "q2": 0.5}, alike(0.5, "AP") | alike(LOG3, "nDCG") | alike(0, "P@1"))),
    Row("fractional grades and nDCG", one({"d1": 0.9, "d2": 1.9}, "nDCG"),
        Values({"q1": 1.0, "q2": dcg(0.9, 1.9) / dcg(1.9, 0.9)}),
        {"trec_eval": Values({"q1": 1.0, "q2": LOG3}), PARSED: Rejected("0.9"),
         "BEIR": Rejected("0.9"), "pytrec_eval": Rejected("0.9")}),
    Row("fractional grades and a level", one({"d1": 0.9, "d2": 1.9}, "RR"),
        Rejected(r"0\.9|1\.9", side="qrels"),
        {"trec_eval": GOOD, PARSED: Rejected("0.9"), "ir_measures": GOOD}),
    Row("grade 'yes'", BASE.graded("yes"), Rejected("'yes'", 2, "qrels"),
        {"evaluate_matrix, rows": Rejected("not text")}),
    Row("grade 'yes' in a file", qrels(b"q1 0 d1 1\nq2 0 d1 yes\n"), Rejected("'yes'", line=2)),
    Row("grade NaN", BASE.graded(math.nan), Rejected("(?i)nan|missing", 2, "qrels")),
    Row("grade 'nan' in a file", qrels(b"q1 0 d1 1\nq2 0 d1 nan\n"), Rejected("'nan'", line=2)),
    *(
        Row(f"grade {grade}", BASE.graded(grade, measures=("nDCG", "RR")),
            Values({"q1": 1.0, "q2": dcg(0, grade) / grade}, {"RR": GOOD.values}))
        for grade in (10**6, 2**31, 2**32 + 1, 2**40, 2**53)
    ),
    Row("grade 2^53+1", BASE.graded(2**53 + 1), Rejected("2.53|no(t a)? grade", 2, "qrels")),
    Row("exponential gain of 2000", BASE.graded(2000, measures=("nDCG(gain=exp)",)),
        Rejected(r"2\^2000")),
    Row("relevant from 0 on", Problem(measures=("P(rel=0)@2",)), FIRST),
    Row("relevant from -1 on", Problem(measures=("P(rel=-1)@2",)), Rejected("rel")),
    Row("relevant from 10^8 on", Problem(measures=("AP(rel=100000000)",)),
        Values({"q1": 0.0, "q2": 0.0})),
    Row("RBP of grades", one({"d1": 3, "d2": 3}, "RBP(p=0.5)"), Values({"q1": 0.5, "q2": 0.75}),
        {"ir_measures": None}),
    Row("nDCG with a level", one({"d1": 1, "d2": 2}, "nDCG(rel=2)"),
        Values({"q1": 0.0, "q2": LOG3})),
    Row("relevant documents that are not candidates",
        Problem((*BASE.judged, ("q2", "d9", 1)), measures=("AP", "R@5")),
        Values({"q1": 1.0, "q2": 0.25}, {"R@5": {"q1": 1.0, "q2": 0.5}})),
    Row("rankings of several lengths",
        Problem((("q1", "d1", 1), ("q2", "d3", 1), ("q3", "d2", 1)),
                (("q1", "d1", 1.0), *(("q2", f"d{i}", -float(i)) for i in (1, 2, 3)),
                 ("q3", "d2", 2.0), ("q3", "d9", 3.0))),
        Values({"q1": 1.0, "q2": 1 / 3, "q3": 0.5})),
    Row("one document", Problem((("q1", "d1", 1), ("q2", "d1", 0)),
                                (("q1", "d1", 0.5), ("q2", "d1", 0.5))),
        Values({"q1": 1.0, "q2": 0.0})),
    Row("grades 2^24 and 2^24+1",
        Problem((("q1", "d1", 2**24), ("q1", "d2", 2**24 + 1), ("q2", "d1", 1)),
                (("q1", "d1", 2.0), ("q1", "d2", 1.0), ("q2", "d1", 1.0)),
                (f"RR(rel={2**24 + 1})",)), Values({"q1": 0.5, "q2": 0.0})),
]  # fmt: skip

MEASURES = [
    *(
        Row(f"measure {name}", replace(BASE, measures=(name,)), Rejected(says),
            {"ir_measures": None})  # which reads names itself
        for name, says in {
            "P@0": "P[@.]0|cutoff", "P@-1": "P[@.]-1|cutoff", "P@2.5": r"P@2\.5",
            "P_2.5": r"2\.5", "P@abc": "P[@.]abc|'abc' of trec_eval's P", "P@True": "P@True",
            "nDGC": "nDGC",
        }.items()
    ),
    Row("an unknown measure among others", replace(BASE, measures=("RR", "zzz")), Rejected("zzz")),
    *(
        Row(f"cutoff {k}", replace(BASE, measures=(f"R@{k}",)), FIRST)
        for k in ("10", "1" + "0" * 15, "1" + "0" * 30)
    ),
    Row("a cutoff beyond the ranking", replace(BASE, measures=("P@5",)),
        Values({"q1": 0.2, "q2": 0.2})),
    Row("a cutoff twice", replace(BASE, measures=("R@5", "R@5")), FIRST),
    Row("a cutoff in two spellings", replace(BASE, measures=("P@2", "P@{2}")),
        Values({"q1": 0.5, "q2": 0.5})),
]  # fmt: skip

JUDGED = b"q1 0 d1 0\nq1 0 d2 1\nq2 0 d1 1\nq2 0 d2 0\n"
RANKED = b"q1 Q0 d2 1 2.5 t\nq1 Q0 d1 2 1.5 t\nq2 Q0 d2 1 0.5 t\nq2 Q0 d1 2 0.25 t\n"
SWAPPED = b"q1 Q0 d2 2.5 1 t\nq1 Q0 d1 1.5 2 t\nq2 Q0 d2 0.5 1 t\nq2 Q0 d1 0.25 2 t\n"
AGAINST = b"q1 Q0 d1 1 1.5 t\nq1 Q0 d2 2 2.5 t\nq2 Q0 d2 1 0.5 t\nq2 Q0 d1 2 0.25 t\n"
# trec_eval and pytrec_eval look at neither ranks nor tags.
QUIET = {"trec_eval": GOOD, PARSED: GOOD}
LATER = Values({"q1": 0.5, "q2": 1.0})
ONLY_PLAIN = {"packed": None, PARSED: None}
CUT_SHORT = {PARSED: Rejected("columns where")}  # lines are not the end of a file
LINES = [
    Row(f"a line {line!r}", run(RANKED + line), Rejected(says, line=5), but)
    for line, says, but in (
        (b"q1 Q0 my d 1 0.5 t\n", "7 columns where 6", {}),
        ("q1\xa0Q0\xa0d3 1 2 t\n".encode(), "4 columns where 6", {}),
        (b"q1 Q0 d\x003 1 2 t\nq9 Q0 d1 1 1 t\n", "NUL byte", {}),
        (b"q1 Q0 d3 1 0.", "5 columns", CUT_SHORT),
        (b"q1 Q0 d\xe9 1 2 t\n", "not UTF-8", {}),
    )
] + [
    Row(f"a line of judgments {line!r}", qrels(JUDGED + line), Rejected(says, line=5), but)
    for line, says, but in (
        (b"q1 0 my d 1\n", "5 columns where 4", {}),
        (b"q1 0 d\x003 1\n", "NUL byte", {}),
        (b"q3 0", "2 columns", CUT_SHORT),
        (b"q\xe9 0 d3 1\n", "not UTF-8", {}),
    )
]
FILES = [
    *LINES,
    Row("a giant line", run(RANKED + b"q1 Q0 " + b"d" * (1 << 21) + b" 1 1 t\n"),
        Rejected("1 MiB", line=5)),
    Row("rank and score swapped", run(SWAPPED), replace(LATER, warns="rank and score swapped"),
        {"trec_eval": LATER, PARSED: LATER}),
    Row("ranks against scores", run(AGAINST), replace(GOOD, warns="contradict each other"), QUIET),
    *(
        Row(f"{what}, in {name}", make(change(data)), GOOD)
        for name, make, data in (("a run", run, RANKED), ("judgments", qrels, JUDGED))
        for what, change in (
            ("CRLF", lambda data: data.replace(b"\n", b"\r\n")),
            ("tabs", lambda data: data.replace(b" ", b"\t")),
            ("blank lines", lambda data: b"\n \t\n" + data.replace(b"\n", b"\n\n")),
            ("comments", lambda data: b"# a comment\n" + data + b"#another of these\n"),
            ("a comment as long as a line", lambda data: data + b"# a 2 3 4 5\n# a 2 3\n"),
            ("no end of the last line", bytes.rstrip),
        )
    ),
    Row("CR alone", run(RANKED.replace(b"\n", b"\r")), Rejected("columns where 6", line=1),
        {"irbatch leaderboard": Rejected("not a line of a run")}),
    Row("CR alone in judgments", qrels(JUDGED.replace(b"\n", b"\r")),
        Rejected("columns where 4", line=1)),
    Row("a byte order mark", run(b"\xef\xbb\xbf" + RANKED), GOOD,
        {PARSED: Values({"q1": 0.0, "q2": 0.5})}),  # pytrec_eval's parsers keep it in the id
    Row("a byte order mark in judgments", qrels(b"\xef\xbb\xbf" + JUDGED), GOOD,
        {PARSED: Values({"\ufeffq1": 0.0, "q1": 1.0, "q2": 0.5})}),
    *(
        Row(name, run(RANKED.decode().encode(name)), Rejected(name.upper()),
            {"packed": Rejected("not? text"), PARSED: None})
        for name in ("utf-16", "utf-32")
    ),
    Row("blank lines and comments alone", run(b"\n# one\n\n#\n \n"), Rejected("no data lines"),
        {PARSED: Rejected("no data lines|no queries")}),
    Row("an empty run file", run(b""), Rejected("no data lines"),
        {PARSED: Values({"q1": 0.0, "q2": 0.0}, warns="is empty")}),
    Row("an empty file of judgments", qrels(b""), Rejected("no data lines|no queries")),
    Row("a gzip file cut short", run(gzip.compress(RANKED)[:-9]),
        Rejected("cannot be read|truncated|end"), ONLY_PLAIN),
    Row("gzip without .gz", run(gzip.compress(RANKED)), GOOD, ONLY_PLAIN),
    Row("random bytes", run(b"\x01\x02" + random.Random(1).randbytes(500)),
        Rejected("NUL|UTF-8|column"), {"irbatch leaderboard": Rejected("not a line of a run")}),
]  # fmt: skip

ROWS = [*(replace(row, about="scores") for row in SCORES), *IDS, *QUERIES, *MEASURES, *FILES]
