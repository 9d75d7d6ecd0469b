"""The byte parser of large files: what it reads is what the reader of lines reads, or nothing."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import pickle
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.file_readers import READERS, use_reader
from support.random_problems import Run, nasty_problems

import irbatch
from irbatch import InputError
from irbatch.data.columns import QueryTable
from irbatch.formats import reader as file_reader
from irbatch.formats import streams
from irbatch.formats.lines import RUN, ParsedLines, raise_by_line
from irbatch.formats.reader import Piece, assemble
from irbatch.runtime.kernels import Kernel

MEASURES = "nDCG@10 nDCG AP RR P@5 Bpref InfAP Judged@10 NumRet RBP"


def read(data: bytes) -> tuple[QueryTable, str] | None:
    """What the byte parser makes of it, None where it leaves it to the reader of lines."""
    given: list[ParsedLines] = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ParsedLines, "read", lambda self, lines: given.append(self))
        piece = Piece.parse(bytearray(data), RUN, "run")
    if given or not piece.values.size:
        return None
    table = assemble([piece])
    return (
        None if table.repeated >= 0 else (table, piece.tags[-1].decode(errors="backslashreplace"))
    )


def read_lines(data: bytes) -> tuple[dict[str, dict[str, float]], str] | None:
    """What the reader of lines makes of it, None where it refuses."""
    try:
        rows = ParsedLines(RUN, "run")
        rows.read(enumerate(io.BytesIO(data), 1))
        raise_by_line([*rows.problems, *rows.repeats()])
    except InputError:
        return None
    if not rows.queries:
        return None
    table: dict[str, dict[str, float]] = {}
    for (query, document), value in zip(rows.pairs(), rows.values, strict=True):
        table.setdefault(query, {})[document] = value
    return table, [*rows.tags][-1].decode(errors="backslashreplace")


def assert_same_or_nothing(data: bytes) -> bool:
    """Compare both readers; tell whether the parser read it at all."""
    found = read(data)
    if found is None:
        return False
    rankings, tag = found
    expected = read_lines(data)
    assert expected is not None
    assert (dict(rankings), tag) == expected
    assert list(rankings) == list(expected[0])
    assert [list(each) for each in rankings.values()] == [list(e) for e in expected[0].values()]
    return True


@pytest.fixture(params=["plain", "compiled"])
def _both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IRBATCH_JIT", "0" if request.param == "plain" else "1")
    for each in Kernel._entries if request.param == "plain" else ():
        monkeypatch.setattr(each, "_code", {})


GOOD = (
    b"q1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 1.5 t\n",
    b"q1 Q0 d1 1 2.5 t\r\nq1\tQ0\td2\t2\t1.5\tt\r\n",
    b"  q1  Q0 \t d1 1 2.5 t  \n\n \t\n\r\nq2 Q0 d1 1 -0 u",
    b"q1 Q0 d1 1 2.5 t\nq2 Q0 d1 1 1e-3 t\nq1 Q0 d2 1 +.5E+2 last\n",
    "q1 Q0 é\u00a0ü 1 2.5 t\nß Q0 d1 1 1 t\n".encode(),
    b'q1 Q0 "d1 1 inf t\nq1 Q0 NA 1 -Infinity t\n',
    b"q1 Q0 d1 1 0.12345678901234567890123 t\nq1 Q0 d2 1 9007199254740993 t\n",
)
ODD = (
    b"", b"\n", b"q1 Q0 d1 1 2.5\n", b"q1 Q0 d1 1 2.5 t x\n", b"# q1 Q0 d1 1 2.5 t\n",
    b"q1 Q0 d1 1 x t\n", b"q1 Q0 d1 1 1.2.3 t\n",
    b"q1 Q0 d1 1 1e t\n", b"q1 Q0 d1 1 nan t\n", b"q1 Q0 d1 1 1e999 t\n", b"q1 Q0 d\xff 1 1 t\n",
    b"q1 Q0 d1 1 2.5 t\nq1 Q0 d1 2 1.5 t\n", b"q1 Q0 d\0 1 1 t\n", b"q1 Q0 d1\x0b 1 1 t\n",
    b"q1 Q0 d1 1 1 t\rq1 Q0 d2 1 1 t\n", b"q1 Q0 d1 1 2,5 t\n", b"q1 Q0 d1 1 1_0 t\n",
    b"q1 Q0 d1 1 1 t\nq2 Q0 d1 1 1 t\nq1 Q0 d1 1 3 t\n",
)  # fmt: skip


@pytest.mark.usefixtures("_both_ways")
@pytest.mark.parametrize("data", GOOD)
def test_good_lines_are_read(data: bytes) -> None:
    assert assert_same_or_nothing(data)


@pytest.mark.usefixtures("_both_ways")
@pytest.mark.parametrize("data", ODD)
def test_odd_lines_are_left_to_the_reader_of_lines(data: bytes) -> None:
    assert read(data) is None


PIECES = [
    *(b" ", b"\t", b"\n", b"\r\n", b"\r", b"\0", b"#", b"q1", b"d1", b"1", b"-1.5e-3", b"nan"),
    *(b"inf", b"\x0b", b"\xc2\xa0", b"\xe9", b"Q0", b"t", b"+", b".", b"e"),
    *(b"q1 Q0 d1 1 0.5 t\n", b"q2 Q0 d1 1 0.25 t\n", b"q1 Q0 d2 1 0.5 t\n", b"q1 Q0 d3 1 "),
]


@settings(max_examples=500, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join))
def test_any_lines_are_read_alike_or_not_at_all(data: bytes) -> None:
    assert_same_or_nothing(data)


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
    found = read(data)
    assert found is not None
    scores = found[0].numbers.tolist()
    for text, score in zip(texts, scores, strict=True):
        assert score == float(text), text


@pytest.mark.parametrize("reader", READERS)
def test_zeros_in_front_do_not_count(
    reader: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    use_reader(reader, monkeypatch)
    path = tmp_path / "qrels"
    path.write_bytes(b"q1 0 d1 " + b"0" * 4990 + b"9007199254740992\n")
    assert irbatch.read_qrels(path).to_dict() == {"q1": {"d1": 2**53}}


def written(run: Run, rng: random.Random) -> bytes:
    """Write a run, its lines in any order."""
    rows = [(q, d, s) for q, each in run.items() for d, s in each.items()]
    rng.shuffle(rows)
    return "".join(f"{q} Q0 {d} 0 {s!r} t\n" for q, d, s in rows).encode()


def test_evaluations_are_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Ties, float32, missing and extra queries, ids beyond ASCII: as from a dictionary."""
    monkeypatch.setattr(file_reader, "LARGE", 1)
    rng = random.Random(1)
    compared = 0
    for qrels, run in nasty_problems(seed=31, count=120):
        judged = {q: {d: g for d, g in each.items() if fits(d)} for q, each in qrels.items()}
        ranked = {
            q: {d: float(s) for d, s in each.items() if fits(d)}
            for q, each in run.items() if fits(q)
        }  # fmt: skip
        ranked = {q: each for q, each in ranked.items() if each}
        if not ranked.keys() & judged.keys():
            continue
        path = tmp_path / "run"
        path.write_bytes(written(ranked, rng))
        read = irbatch.read_run(path)
        if not isinstance(read.rankings, QueryTable):
            continue
        for score_dtype in ("float64", "float32"):
            ours = irbatch.evaluate(judged, read, MEASURES, score_dtype=score_dtype)
            plain = irbatch.evaluate(judged, ranked, MEASURES, score_dtype=score_dtype)
            assert ours.values.tobytes() == plain.values.tobytes()
            assert ours.counts == plain.counts
            compared += 1
    assert compared > 150


def fits(name: str) -> bool:
    return not set(" \t\n\r\0") & set(name) and not name.startswith("#") and name != ""


def test_runs_in_pieces(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Pieces end in the middle of queries, and a query comes back after others."""
    monkeypatch.setattr(streams, "PIECE", 64)
    lines = [f"q{i % 7} Q0 d{i} 1 {i / 7} t\n" for i in range(300)]
    lines += [f"q{i // 50} Q0 e{i} 1 {i} t\n" for i in range(300)]
    assert_large_is_read_like_small(monkeypatch, tmp_path, "".join(lines).encode())
    refused = "".join([*lines[:-1], lines[0]]).encode()
    with pytest.raises(InputError, match="given before, in line 1") as caught:
        assert_large_is_read_like_small(monkeypatch, tmp_path, refused)
    assert caught.value.line == 600


def assert_large_is_read_like_small(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data: bytes
) -> None:
    path = tmp_path / "run"
    path.write_bytes(data)
    monkeypatch.setattr(file_reader, "LARGE", 1)
    large = irbatch.read_run(path)
    assert isinstance(large.rankings, QueryTable)
    monkeypatch.setattr(file_reader, "LARGE", 1 << 30)
    monkeypatch.setattr(file_reader, "is_ready", lambda: False)
    small = irbatch.read_run(path)
    assert dict(large.rankings) == small.rankings
    assert list(large.rankings) == list(small.rankings)
    assert large.tag == small.tag


def test_rankings_read_like_a_mapping() -> None:
    found = read(GOOD[0] + b"q2 Q0 d1 1 1 t\n")
    assert found is not None
    rankings = found[0]
    assert len(rankings) == 2
    assert "q2" in rankings
    assert "q3" not in rankings
    assert rankings["q1"] == {"d1": 2.5, "d2": 1.5}
    assert rankings.get("q3") is None
    with pytest.raises(KeyError):
        rankings["q3"]
    assert dict(pickle.loads(pickle.dumps(rankings))) == dict(rankings)
    assert repr(irbatch.Run(rankings, "mine")) == "<Run 'mine': 2 queries>"


def test_integer_judgments_are_refused_as_ever() -> None:
    found = read(GOOD[0])
    assert found is not None
    with pytest.raises(
        InputError, match="document id 'd1' is text, but the qrels' ids are whole numbers"
    ):
        irbatch.evaluate({"q1": {7: 1}}, irbatch.Run(found[0]), "AP")


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_files_are_read_as_columns(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "run"
    path.write_bytes(pack(GOOD[0]))
    monkeypatch.setattr(file_reader, "LARGE", 1)
    run = irbatch.read_run(path)
    assert isinstance(run.rankings, QueryTable)
    assert run.tag == "t"
    assert dict(run.rankings) == {"q1": {"d1": 2.5, "d2": 1.5}}


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_problems_of_large_files_are_named_by_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr(file_reader, "LARGE", 1)
    path = tmp_path / "run"
    path.write_bytes(pack(GOOD[0] + b"q1 Q0 d3 1 x t\n" + GOOD[0]))
    with pytest.raises(InputError) as caught:
        irbatch.read_run(path)
    assert [each.line for each in caught.value.problems] == [3, 4, 5]
    path.write_bytes(pack(GOOD[0] * 2)[:-9])
    with pytest.raises(InputError):
        irbatch.read_run(path)
    with pytest.raises(InputError, match="No such file"):
        irbatch.read_run(tmp_path / "none")
