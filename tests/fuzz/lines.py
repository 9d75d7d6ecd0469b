"""Judgments and runs from bytes: the reader of lines, the byte parser and a slow twin agree."""

from __future__ import annotations

import io
import struct
from random import Random
from typing import Any

import numpy as np
from oracle import lines as twin

from fuzz.mutation import compose, damage
from fuzz.target import Target
from irbatch.errors import InputError
from irbatch.formats import bytes as kernels
from irbatch.formats.bytes import parse_bytes
from irbatch.formats.lines import LineForm, ParsedLines, raise_by_line, recognise
from irbatch.formats.reader import Piece

Given = tuple[str, bytes]  # "qrels" or "run", and what stands in the file

BOM = b"\xef\xbb\xbf"
HEADS = {
    "trec": (b"", b"", b"", b"# c\n", b"\n", BOM, b" \t\r\n"),
    "marco": (b"q0 d0 0\n", b"q0\td0\t1\r\n", BOM + b"q1 d9 2\n"),
    "header": (
        *(b"query-id\tcorpus-id\tscore\n", b"docno\tqid\tx\tscore\r\n", b"qid\tdocid\tlabel\n"),
        *(b"#\nquery_id\tdoc_id\trelevance\n", BOM + b"query-id\tcorpus-id\tscore\n"),
    ),
    "csv": (
        *(b"user_id,item_id,rating\n", b"userId,movieId,rating,timestamp\r\n", b"user,item\n"),
        *(b'"qid","docno","score"\n', b"# c\nitem,rank,user\n", BOM + b"user,item,timestamp\n"),
    ),
    "json": (
        b'{"query-id": "q0", "corpus-id": "d0", "score": 1}\n',
        b'# \n{"qid":1,"docno":2,"score":3}\n',
    ),
}  # fmt: skip
FRAGMENTS = {
    ("trec", "run"): (
        *(b"q1 Q0 d1 1 0.5 t\n", b"q1 Q0 d2 2 .25 t\r\n", b"q2\tQ0\td2 1 5e-1 t\n"),
        *(b"q1 Q0 d4 3 12.5 t\n", b"q1 Q0 d5 4 -1 t\n", b"q10 Q0 d1 1 7 t\n", b"q2 Q0 d1 3 1 u\n"),
        *(b"# c\n", b"#1 Q0 d4 1 1 t\n", b"#1 d\n", b"q1 Q0 d6 2 7 t x y\n", b"\n", b" \t\n"),
        *(b"q3 Q0 \xc2\xa0 1 0.12345678901234567890 u\n", b"q3 Q0 d7 1 -inf t\n"),
        *(b"q4 Q0 a-long-document-id 2.5 123456789012345678 t\n", b"q2 Q0 d7 1 1.75 t\n"),
    ),
    ("trec", "qrels"): (
        *(b"q1 0 d1 1\n", b"q2 0 d1 1\n", b"q1\t0 d2 2\r\n", b"# c\n", b"#1 0 d4 1\n", b"#1 d\n"),
        *(b"q1 0 d9 9007199254740992\n", b"q3 0 d6 -.5\n", b"q3 0 a-long-document-id 0\n"),
        *(b"q3 0 \xc3\xa9 +3\n", b"q2 0 d2 1e0\n", b"\n", b"q1 Q0 d8 2\n", b"q10 0 d10 12\n"),
    ),
    ("marco", "run"): (
        *(b"q1 d1 1\n", b"q2\td1\t1\n", b"q1 d2 2\r\n", b"# c\n", b"#1 d4 1\n", b"#1 d\n"),
        *(b"q1 d5 1.0\n", b"q2 d6 1e1\n", b"q2 d7 15\n", b"q1 d9 100\n", b"q1 d8 0\n"),
    ),
    ("header", "run"): (
        *(b"q1\td1\t1\n", b"q2\td1\t1\n", b"q1\td2\t2\r\n", b"q3\td4\t-.5\n", b"q1\td3\t0\n"),
        *(b"q2\td2\t1e3\n", b"q3\td3\t0.25\n", b"q10\td1\t7\n", b"q3\t\xc3\xa9\t3\n"),
    ),
    ("csv", "run"): (
        *(b"q1,d1,1\n", b"q2,d1,1\r\n", b"q1,d2,2\n", b'"q1","d3",3\n', b'q2,"d,""1",4\n'),
        *(b"q3,d1\n", b"q4,d1,3,96\n", b"q4,d2,1.5,97\n", b"d1,1,q1\n", b"q3,\xc3\xa9,2\n"),
        *(b"q1,d9\n", b'q5,"d\n'),
    ),
    ("json", "run"): (
        *(b"\n", b"# c\n", b'{"query-id":"a","corpus-id":"b","score":1e3}\n'),
        *(b'{"query-id": 1, "corpus-id": 2, "score": 2.5}\n',),
        *(b'{"query-id":"q1","corpus-id":"d1","score":"1"}\n', b'{"score":0,"corpus-id":"d2",'),
        *(b'"query-id":"q1"}\n', b'{"query-id":"q 1","corpus-id":"\\u00e9","score":-1e-3}\n'),
        b'{"query-id":"q3","corpus-id":"d1","score":0.5,"text":{"a":[1,{"b":null}]}}\n',
    ),
}  # fmt: skip
FRAGMENTS["header", "qrels"] = FRAGMENTS["header", "run"]
FRAGMENTS["csv", "qrels"] = FRAGMENTS["csv", "run"]
FRAGMENTS["json", "qrels"] = FRAGMENTS["json", "run"]
TOKENS = (
    *(b" ", b"\t", b"\n", b"\r\n", b"\r", b"\0", b"#", b"q1", b"d1", b"1", b"-1", b"x", b"\xe9"),
    *(b"\x0b", b"\x0c", b"\x1c", b"\x85", b"\xc2\xa0", b"\xe2\x80\xa8", b"\xed\xa0\x80", b"\xff"),
    *(b"inf", b"-Infinity", b"nan", b"1e5", b"1e400", b"1e-400", b"9007199254740993", b"."),
    *(b"0" * 25, b"123456789" * 3, b"+", b"-", b"e", b"_", b"1_0", b"\xd9\xa1", b"0x1p3"),
    *(b"{", b"}", b"[", b'"', b":", b",", b"\\u0000", b"\\", b"null", b"true", b"NaN", b"1.5"),
    *(
        b"q1 Q0 d1 1 0.5 t\n",
        b"q1 0 d1 1\n",
        b"q2\td3\t1\n",
        b"q 2\td 3\t1\n",
        b"#\t#\t1\n",
        b"\n\n",
        b"\n \n",
        b"[" * 40,
        BOM,
        b"\x1f\x8b",
    ),
)
# JSON takes longest, and no other reader reads it.
KINDS = tuple(FRAGMENTS) + tuple(each for each in FRAGMENTS if each[0] == "trec") * 2


class Lines(Target):
    """A small file, by every reader that there is for it."""

    name, share = "lines", 260

    def __init__(self) -> None:
        self._count = 0

    def generate(self, rng: Random) -> Given:
        form, source = KINDS[int(rng.random() * len(KINDS))]
        data = compose(rng, HEADS[form], FRAGMENTS[form, source], 7)
        return source, damage(rng, data, TOKENS)

    def check(self, given: Given) -> None:
        source, data = given
        expected = of_twin(data, source)
        try:
            text = bytearray(data.removeprefix(BOM))
            form, header = recognise(text, source)
        except InputError as error:
            assert expected == ("refused", error.line), expected
            return
        number = text.count(b"\n", 0, header)
        del text[:header]
        rows = ParsedLines(form, "file")
        rows.read(enumerate(io.BytesIO(text), number + 1))
        assert of_lines(rows) == expected, (of_lines(rows), expected)
        parsed = parse_bytes(text, form)
        if parsed is not None:
            _compare(text, parsed, form, rows)
            self._count += 1
            if self._count % 64 == 0:
                _run_plain(text, parsed, form)


def of_twin(data: bytes, source: str) -> object:
    """Return what the slow reader says: rows, their values bit by bit, or the first wrong line."""
    try:
        rows = twin.read(data, source)
    except twin.RefusedError as refused:
        return "refused", refused.args[0]
    queries, documents, values = zip(*rows, strict=True)
    return list(queries), list(documents), bits(values)


def of_lines(rows: ParsedLines) -> object:
    try:
        raise_by_line([*rows.problems, *rows.repeats()])
    except InputError as error:
        return "refused", error.problems[0].line
    if not rows.queries:
        return "refused", None
    return rows.queries, rows.documents, bits(rows.values)


def bits(values: Any) -> bytes:
    return struct.pack(f"{len(values)}d", *values)


def _compare(text: bytearray, parsed: kernels.Parsed, form: LineForm, rows: ParsedLines) -> None:
    """Compare what the byte parser found with what the reader of lines did."""
    fast = Piece.from_bytes(text, parsed, form)
    assert not rows.problems, rows.problems
    slow = Piece.from_lines(rows, fast.lines)
    assert fast.queries == slow.queries
    assert fast.firsts.tolist() == slow.firsts.tolist()
    assert fast.documents.tolist() == rows.documents
    assert fast.values.tobytes() == slow.values.tobytes()
    assert fast.last_tag == slow.last_tag
    assert fast.fractional or not slow.fractional  # of a query the first line is looked at
    if not parsed.unsure.size:  # what Python converts is not compared with ranks
        assert set(fast.contradicting) == set(slow.contradicting)
        assert fast.reversed == slow.reversed
    assert fast.tags[:1] == slow.tags[:1]
    assert len(fast.tags) == len(slow.tags)


def _run_plain(text: bytearray, parsed: kernels.Parsed, form: LineForm) -> None:
    """Parse once more by the kernel's own source; in it no place is outside of an array."""
    data = np.frombuffer(text, np.uint8)
    room, last = kernels._make_room(len(parsed.values), form.width)
    layout = kernels.Layout(
        form.width, form.query_at, form.document_at, form.value_at, form.rank_at, form.tag_at
    )
    count = kernels.parse_lines(data, data.size - kernels.SLACK, layout, room, last)
    assert count == len(parsed.values)
    for one, other in zip(room[:2], parsed[:2], strict=True):
        assert (one[:count] == other[:count]).all()
    groups = room.n_groups[0]
    assert groups == len(parsed.groups)
    assert (room.groups[:groups] == parsed.groups[:groups]).all()
    sure = np.ones(count, bool)
    sure[room.unsure[: room.n_unsure[0], 0]] = False
    assert room.values[:count][sure].tobytes() == np.abs(parsed.values[:count])[sure].tobytes() or (
        room.values[:count][sure].tobytes() == parsed.values[:count][sure].tobytes()
    )
