"""Rows 99 to 123: files in TREC's forms, byte by byte."""

from __future__ import annotations

import bz2
import gzip
import random

from rows.problem import Problem, Refused, Row, Values

JUDGED = b"q1 0 d1 0\nq1 0 d2 1\nq2 0 d1 1\nq2 0 d2 0\n"
RANKED = b"q1 Q0 d2 1 2.5 t\nq1 Q0 d1 2 1.5 t\nq2 Q0 d2 1 0.5 t\nq2 Q0 d1 2 0.25 t\n"
GOOD = Values({"q1": 1.0, "q2": 0.5})
LINES = "it is given lines, not a file"
PARSED = "pytrec_eval's parse_qrel and parse_run"


def run(data: bytes) -> Problem:
    return Problem(run_file=data)


def qrels(data: bytes) -> Problem:
    return Problem(qrels_file=data)


def bad_line(line: bytes, says: str) -> tuple[Problem, Refused]:
    """Return a run with a bad line behind the others."""
    return run(RANKED + line), Refused(says, line=5)


KEPT = "pytrec_eval's parsers take a mark for a part of the id"
NOT_OF_LINES = {PARSED: LINES}
QUIET = {"trec names": (GOOD, "trec_eval looks at neither ranks nor tags")}
NOT_PACKED = {**NOT_OF_LINES, "gzip": "it would be packed twice"}
PACKED = {"gzip": (Refused("no text"), "a mark is looked for in what is not packed")}
SHORT = {PARSED: (Refused("columns where"), "lines are not the end of a file")}
NO_DATA = {PARSED: (Refused("no data lines|no queries"), "")}
ROWS = [
    Row(99, "5 columns", *bad_line(b"q1 Q0 d3 1 0.5\n", "5 columns where 6")),
    Row(
        99,
        "3 columns of judgments",
        qrels(JUDGED + b"q1 0 d3\n"),
        Refused("3 columns where 4", line=5),
    ),
    Row(100, "7 columns", *bad_line(b"q1 Q0 my d 1 0.5 t\n", "7 columns where 6.*a space")),
    Row(
        100,
        "5 columns of judgments",
        qrels(JUDGED + b"q1 0 my d 1\n"),
        Refused("5 columns where 4.*a space", line=5),
    ),
    Row(
        101,
        "rank and score swapped",
        run(b"q1 Q0 d2 2.5 1 t\nq1 Q0 d1 1.5 2 t\nq2 Q0 d2 0.5 1 t\nq2 Q0 d1 0.25 2 t\n"),
        Values({"q1": 0.5, "q2": 1.0}, warns="are rank and score swapped"),
        {
            "trec names": (Values({"q1": 0.5, "q2": 1.0}), QUIET["trec names"][1]),
            PARSED: (Values({"q1": 0.5, "q2": 1.0}), "pytrec_eval doesn't look at ranks"),
        },
    ),
    Row(
        102,
        "ranks that contradict scores",
        run(b"q1 Q0 d2 2 2.5 t\nq1 Q0 d1 1 1.5 t\nq2 Q0 d2 1 0.5 t\nq2 Q0 d1 2 0.25 t\n"),
        Values(GOOD.values, warns="ranks and scores contradict each other"),
        {**QUIET, PARSED: (GOOD, "pytrec_eval doesn't look at ranks")},
    ),
    Row(103, "CRLF", run(RANKED.replace(b"\n", b"\r\n")), GOOD),
    Row(103, "CRLF in judgments", qrels(JUDGED.replace(b"\n", b"\r\n")), GOOD),
    Row(104, "CR alone", run(RANKED.replace(b"\n", b"\r")), Refused("old Macs", line=1)),
    Row(
        104,
        "CR alone in judgments",
        qrels(JUDGED.replace(b"\n", b"\r")),
        Refused("old Macs", line=1),
    ),
    Row(
        105,
        "a byte order mark",
        run(b"\xef\xbb\xbf" + RANKED),
        GOOD,
        {PARSED: (Values({"q1": 0.0, "q2": 0.5}), KEPT)},
    ),
    Row(
        105,
        "a byte order mark in judgments",
        qrels(b"\xef\xbb\xbf" + JUDGED),
        GOOD,
        {PARSED: (Values({"\ufeffq1": 0.0, "q1": 1.0, "q2": 0.5}), KEPT)},
    ),
    Row(
        105,
        "UTF-16",
        run(RANKED.decode().encode("utf-16")),
        Refused("UTF-16"),
        PACKED,
        NOT_OF_LINES,
    ),
    Row(
        105,
        "UTF-32",
        run(RANKED.decode().encode("utf-32")),
        Refused("UTF-32"),
        PACKED,
        NOT_OF_LINES,
    ),
    Row(106, "tabs", run(RANKED.replace(b" ", b"\t")), GOOD),
    Row(106, "tabs in judgments", qrels(JUDGED.replace(b" ", b"\t")), GOOD),
    Row(107, "no-break spaces", *bad_line("q1\xa0Q0\xa0d3 1 2 t\n".encode(), "4 columns where 6")),
    Row(107, "U+2028", *bad_line("q1 Q0 d3\u20281 2 t\n".encode(), "5 columns where 6")),
    Row(107, "a separator of ASCII's", *bad_line(b"q1 Q0 d3\x1c1 2 t\n", "5 columns where 6")),
    Row(108, "blank lines", run(b"\n \t\n" + RANKED.replace(b"t\n", b"t\n\n")), GOOD),
    Row(109, "comments", run(b"# a comment\n" + RANKED + b"#another of these\n"), GOOD),
    Row(
        109,
        "a comment of as many words as a line has",
        run(RANKED + b"# a 2 3 4 5\n"),
        Values(GOOD.values),
    ),
    Row(
        110,
        "blank lines and comments alone",
        run(b"\n# one\n\n#\n \n"),
        Refused("no data lines"),
        NO_DATA,
    ),
    Row(
        111,
        "nothing",
        run(b""),
        Refused("no data lines"),
        {PARSED: (Values({"q1": 0.0, "q2": 0.0}, warns="is empty"), "pytrec_eval parses no lines")},
    ),
    Row(111, "no judgments", qrels(b""), Refused("no data lines"), NO_DATA),
    Row(112, "a NUL byte", *bad_line(b"q1 Q0 d\x003 1 2 t\nq9 Q0 d1 1 1 t\n", "NUL byte.*no text")),
    Row(
        112,
        "a NUL byte in judgments",
        qrels(JUDGED + b"q1 0 d\x003 1\n"),
        Refused("NUL byte.*no text", line=5),
    ),
    Row(113, "a truncated last line", *bad_line(b"q1 Q0 d3 1 0.", "5 columns.*truncated"), SHORT),
    Row(
        113,
        "a truncated line of judgments",
        qrels(JUDGED + b"q3 0"),
        Refused("2 columns.*truncated", line=5),
        SHORT,
    ),
    Row(114, "no end of the last line", run(RANKED.rstrip()), GOOD),
    Row(
        115,
        "a truncated gzip file",
        run(gzip.compress(RANKED * 1)[:-9]),
        Refused("cannot be read|truncated|end"),
        cannot=NOT_PACKED,
    ),
    Row(116, "gzip without .gz", run(gzip.compress(RANKED)), GOOD, cannot=NOT_PACKED),
    Row(116, "bzip2", run(bz2.compress(RANKED)), GOOD, cannot=NOT_PACKED),
    Row(
        117,
        "random bytes",
        run(b"\x01\x02" + random.Random(1).randbytes(500)),
        Refused("NUL|UTF-8|column"),
    ),
    Row(118, "Latin-1", *bad_line(b"q1 Q0 d\xe9 1 2 t\n", "not UTF-8")),
    Row(
        118, "Latin-1 in judgments", qrels(JUDGED + b"q\xe9 0 d3 1\n"), Refused("not UTF-8", line=5)
    ),
    Row(
        119,
        "a giant line",
        run(RANKED + b"q1 Q0 " + b"d" * (1 << 21) + b" 1 1 t\n"),
        Refused("1 MiB", line=5),
    ),
    Row(
        123,
        "tags of two systems",
        run(RANKED + b"q2 Q0 d9 3 0.1 other\n"),
        Values(GOOD.values, warns="lines of several systems"),
        {**QUIET, PARSED: (GOOD, "pytrec_eval doesn't look at tags")},
    ),
]
