"""The byte parser of large files: what it reads is what the reader of lines reads, or nothing."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator

import numpy as np
import pytest
from support.file_readers import use_reader

from irbatch.formats.bytes import parse_bytes
from irbatch.formats.lines import MARCO_RUN, QRELS, RUN, LineForm, ParsedLines
from irbatch.formats.reader import Piece
from irbatch.runtime.kernels import Kernel


@pytest.fixture(params=["plain", "compiled"])
def _both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IRBATCH_JIT", "0" if request.param == "plain" else "1")
    use_reader("parser", monkeypatch)
    for each in Kernel._entries if request.param == "plain" else ():
        monkeypatch.setattr(each, "_code", {})


def numbers() -> Iterator[str]:
    """Numbers of all lengths and sizes, and such as lie in the middle of two neighbours."""
    rng = random.Random(3)
    for _ in range(4000):
        digits = str(rng.randrange(10 ** rng.randint(1, 19)))
        point = rng.randint(0, len(digits))
        exponent = rng.choice(["", "", f"e{rng.randint(-30, 30)}", f"E+{rng.randint(0, 9)}"])
        yield rng.choice(["", "-", "+"]) + digits[:point] + "." + digits[point:] + exponent
        value = rng.choice([rng.random(), rng.gauss(0, 1e3), rng.expovariate(1e3), 2**-20])
        yield repr(value)
        yield repr(float(np.float32(value)))
        yield f"{value:.{rng.randint(0, 18)}f}"
        whole = rng.randrange(2**53, 2**59)
        yield str(whole + (whole & 1))
        yield str(2 * whole + 1)
    for power in range(60):  # halfway cases, exactly
        yield str((2**53 + 1) * 2**power)[:18]
        yield str(2**53 + 1 + power)


@pytest.mark.usefixtures("_both_ways")
def test_numbers_are_rounded_correctly() -> None:
    texts = list(dict.fromkeys(numbers()))
    data = "".join(f"q Q0 d{i} 1 {text} t\n" for i, text in enumerate(texts)).encode()
    assert parse_bytes(bytearray(data), RUN) is not None
    scores = Piece.parse(bytearray(data), RUN, "run").values.tolist()
    for text, score in zip(texts, scores, strict=True):
        assert score == float(text), text


# ---------------------------------------------------------------- lines like the one before

TABBED = LineForm("run", 4, 1, 2, 3, "score", separator=b"\t")
FORMS = {"run": RUN, "by rank": RUN.by_rank(), "qrels": QRELS, "MARCO": MARCO_RUN, "tabs": TABBED}
IDS = ["d", "doc1234", "doc12345", "doc123456", "clueweb09-en0000-00-00000", "é", "日本語のid", "#"]
SCORES = ["1", "0", "-0", "-1.5", ".5", "5.", "+2", "1e3", "12.345678", "1234567.25", "-inf"]
SCORES += ["12.34567890123456789", "9007199254740993", "123456789012345678", "7" * 30]


def line(form: LineForm, query: str, rng: random.Random) -> bytes:
    """A line of a form, mostly written as the one before."""
    words = ["Q0"] * form.width
    words[form.query_at], words[form.document_at] = (
        query,
        rng.choice(IDS[: -1 if form.separator else None]) + str(rng.random())[2:9],
    )
    whole = form.largest != float("inf")
    words[form.value_at] = str(rng.randrange(10**6)) if whole else rng.choice(SCORES)
    if form.rank_at >= 0:
        words[form.rank_at] = rng.choice(["1", "23", "456", "1.0", "x"])
    if form.tag_at >= 0:
        words[form.tag_at] = rng.choice(["tag"] * 9 + ["a-long-name-of-a-system"])
    blank = "\t" if form.separator or rng.random() < 0.1 else " "
    if not form.separator and rng.random() < 0.05:
        blank *= 2
    return (blank.join(words) + rng.choice(["\n"] * 9 + ["\r\n"])).encode()


def texts(form: LineForm, seed: int) -> Iterator[bytearray]:
    rng = random.Random(seed)
    for _ in range(60):
        made = bytearray()
        for query in rng.sample(["q", "7", "q" * 7, "q" * 8, "#1", "ü", "query-" * 9], 3):
            if form.separator and "#" in query:
                continue
            for _ in range(rng.randrange(1, 9)):
                made += line(form, query, rng)
            made += rng.choice(
                [b"", b"", b"\n", b" \t\n", b"# a comment\n"] if not form.separator else [b""]
            )
        yield made[: rng.choice([len(made), len(made) - 1])]


@pytest.mark.usefixtures("_both_ways")
@pytest.mark.parametrize("name", FORMS)
def test_as_the_reader_of_lines(name: str) -> None:
    form = FORMS[name]
    parsed = 0
    for text in texts(form, len(name)):
        rows = ParsedLines(form, "file")
        rows.read(enumerate(io.BytesIO(text), 1))
        piece = Piece.parse(text, form, "file")
        parsed += parse_bytes(bytearray(text), form) is not None
        firsts = rows.firsts()
        assert piece.documents.tolist() == rows.documents
        assert list(map(repr, piece.values.tolist())) == list(map(repr, rows.values))
        assert piece.firsts.tolist() == firsts.tolist()
        assert piece.queries.tolist() == [rows.queries[first] for first in firsts]
        assert piece.tag == rows.tag
        assert [str(each) for each in piece.problems] == [str(each) for each in rows.problems]
        copied = piece.compact()
        assert copied.documents.tolist() == rows.documents
        assert copied.documents.text.size == sum(map(len, map(str.encode, rows.documents)))
    assert parsed > 20


@pytest.mark.usefixtures("_both_ways")
@pytest.mark.parametrize("size", [*range(1, 20), 200])
def test_what_repeats_is_compared_to_its_last_byte(size: int) -> None:
    """Query and tag of any length, and another one that differs in one byte only."""
    first = b"x" * size
    for place in {0, size // 2, size - 1}:
        other = bytearray(first)
        other[place] += 1
        for queries, tags in (([first, other], [b"t", b"t"]), ([b"q", b"q"], [first, other])):
            lines = [b"%s Q0 d%d 1 2.5 %s\n" % (queries[i % 2], i, tags[i % 2]) for i in range(4)]
            piece = Piece.parse(bytearray(b"".join(lines)), RUN, "file")
            groups = 4 if len(set(map(bytes, queries))) > 1 else 1
            assert len(piece.queries) == groups
            assert piece.tag == tags[1]
            assert piece.documents.tolist() == ["d0", "d1", "d2", "d3"]
