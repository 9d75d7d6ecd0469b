"""Generated files: all readers agree, on one piece or many, packed or not."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.file_readers import use_reader
from support.generating import composed, damaged, examples

import irbatch
from irbatch.errors import InputError
from irbatch.formats import bytes as kernels
from irbatch.formats.bytes import parse_bytes
from irbatch.formats.lines import ParsedLines, recognise
from irbatch.formats.reader import Piece

pytestmark = pytest.mark.filterwarnings("ignore::irbatch.InputWarning")

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
    *(b"q1 Q0 d1 1 0.5 t\n", b"q1 0 d1 1\n", b"q2\td3\t1\n", b"q 2\td 3\t1\n", b"#\t#\t1\n"),
    *(b"\n\n", b"\n \n", b"[" * 40, BOM, b"\x1f\x8b"),
)

KINDS = [*FRAGMENTS, *(kind for kind in FRAGMENTS if kind[0] == "trec")]


def files(most: int = 7, kinds: Any = KINDS, edits: int = 4) -> Any:
    """Return files of all forms: ``"qrels"`` or ``"run"``, and what stands in them."""
    return st.sampled_from(kinds).flatmap(
        lambda kind: st.tuples(
            st.just(kind[1]),
            damaged(composed(HEADS[kind[0]], FRAGMENTS[kind], most), TOKENS, edits),
        )
    )


# ---------------------------------------------------------------- lines

# What broke a reader once, and what is to be worked through in linear time.
KEPT = [
    # A query contradicts itself where it returns, not where the piece begins.
    ("run", b"q1 0 4 3 5 t\n3 0 7 1 -9 t\nq1 0 4 3 15 t\nq1 0 2 2 5 t"),
    ("run", b"q1 0 4 3 5 t\nq1 0 2 2 .5 t\nq1 0 4 3 1 t"),
    ("run", b"q1 0 4 3 15 t\nq1 Q 1 1 5 t\n0 0 1 1 7 t\nq1 0 4 3 5 t\nq1 0 2 2 .5 t"),
    ("qrels", b"query-id\tcorpus-id\tscore\n3\t3\t9007199254740993."),
    ("qrels", b"q1 0 d1 9007199254740992.0\nq1 0 d2 " + b"0" * 5000 + b"9007199254740992\n"),
    ("qrels", b"q1 0 d1 9007199254740993\n"),
    ("qrels", b"q1 0 d " + b"9" * 300_000 + b"_\n"),
    ("run", b"q2 0 7 . 5 t\nq2 0 1 3 1 u"),
    ("run", b"docno\tqid\tscore\n\n#"),
    ("run", b"\xef\xbb\xbfq1 Q0 d2 2 .25 t\r\n"),
    ("run", b"q1 Q0 d 1 " + b"0" * 300_000 + b"x t\n"),
    ("run", b'{"query-id":"\\ud800","corpus-id":"d","score":1}\n'),
    ("run", b'{"query-id":"q","corpus-id":"d","score":' + b"[" * 2000 + b"}\n"),
]


def readings(source: str, data: bytes) -> tuple[Any, ...] | None:
    """Return what the reader of lines and the byte parser make of a file that both read."""
    try:
        text = bytearray(data.removeprefix(BOM))
        form, header = recognise(text, source)
    except InputError:
        return None
    number = text.count(b"\n", 0, header)
    del text[:header]
    rows = ParsedLines(form, "file")
    rows.read(enumerate(io.BytesIO(text), number + 1))
    with pytest.MonkeyPatch.context() as patch:
        use_reader("lines", patch)
        slow = Piece.parse(text, form)
    parsed = parse_bytes(text, form)
    return None if parsed is None else (text, form, rows, parsed, slow)


def check_lines(source: str, data: bytes) -> None:
    """Compare what the byte parser found with what the reader of lines did."""
    if (found := readings(source, data)) is None:
        return
    text, form, rows, parsed, slow = found
    fast = Piece.from_bytes(text, parsed, form)
    assert not rows.problems, rows.problems
    assert fast.queries.tolist() == slow.queries.tolist()
    assert fast.firsts.tolist() == slow.firsts.tolist()
    assert fast.documents.tolist() == rows.documents
    assert fast.values.tobytes() == slow.values.tobytes()
    assert fast.tag == slow.tag


@pytest.mark.parametrize(("source", "data"), KEPT, ids=lambda each: str(each)[:40])
def test_files_that_broke_a_reader(source: str, data: bytes) -> None:
    check_lines(source, data)


@examples(400)
@given(files())
def test_lines(given: tuple[str, bytes]) -> None:
    check_lines(*given)


@examples(15)
@given(files(kinds=[kind for kind in KINDS if kind[0] != "json"], edits=0))
def test_the_parser_stays_inside_its_arrays(given: tuple[str, bytes]) -> None:
    """Parse by the kernel's own source: in it no place is outside of an array."""
    if (found := readings(*given)) is None:
        return
    text, form, _, parsed, _ = found
    data = np.frombuffer(text, np.uint8)
    room, last = kernels._make_room(len(parsed.values), form.width)
    layout = kernels.Layout(form.width, form.query_at, form.document_at, form.value_at, form.tag_at)
    count = kernels.parse_lines(data, data.size - kernels.SLACK, layout, room, last)
    assert count == len(parsed.values)
    for one, other in zip(room[:2], parsed[:2], strict=True):
        assert (one[:count] == other[:count]).all()
    groups = room.n_groups[0]
    assert groups == len(parsed.groups)
    assert (room.groups[:groups] == parsed.groups[:groups]).all()
    sure = np.ones(count, bool)
    sure[room.unsure[: room.n_unsure[0], 0]] = False
    assert (np.abs(room.values[:count][sure]) == np.abs(parsed.values[:count][sure])).all()


# ---------------------------------------------------------------- pieces, archives, encodings

JUDGED = {"q1": {"d1": 1, "d2": 2}, "q2": {"d1": 1}, "q0": {"d0": 1}, "3": {"d1": 2}, "1": {"2": 1}}
# The byte parser doesn't compare the ranks of lines whose scores it leaves to Python.
LEFT_TO_PYTHON = re.compile(rb"[0-9]{16}|[eE]|inf", re.I)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("generated") / "file"


def read(path: Path, data: bytes, entry: str, piece: int = 0) -> tuple[Any, list[str]]:
    """Return what a file holds, or all that is wrong with it; and what is warned of.

    It is read by lines, or in pieces of so many bytes by the byte parser.
    """
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        use_reader("pieces" if piece else "lines", patch, piece)
        try:
            return contents(path, entry), [str(each.message) for each in said]
        except InputError as error:
            assert error.path == str(path)
            return [
                (each.line, each.query, each.document, repr(each.value), each.message)
                for each in error.problems
            ], []


def contents(path: Path, entry: str) -> Any:
    if entry == "qrels":
        return irbatch.read_qrels(path).to_dict()
    if entry == "run":
        run = irbatch.read_run(path)
        return run.to_dict(), run.tag
    results = irbatch.evaluate(JUDGED, path, "nDCG@3 AP RR NumRet")
    return results.query_ids, results.values.tobytes()


def first_data(data: bytes) -> int:
    """Return where the first line ends that is neither blank nor a comment."""
    end = 0
    for line in re.findall(rb"[^\n]*\n|[^\n]+", data):
        end += len(line)
        words = re.findall(rb"[^ \t\r\n]+", line)
        if words and words[0].removeprefix(BOM)[:1] not in (b"#", b""):
            break
    return end


def mixes_ranks(data: bytes) -> bool:
    """Tell whether only some ranks have a point: the byte parser looks at each query's first."""
    ranks = [words[3] for words in map(bytes.split, data.splitlines()) if len(words) > 3]
    return len({b"." in rank for rank in ranks}) > 1


REMARKS = b"\n#1 Q0 d4 1 1 q1 Q0 d1 1 0.5 t\nq1 Q0 d1 1 0.5 t\n"  # after ids that are like comments
RETURNING = b" q 1 Q0 d1 1 0.5 t\nq2 Q0 d2 1 1 t\nq1 Q0 d1 1 0.5 t\nq2 Q0 d2 1 1 t\n"


@pytest.mark.portable
@examples(120)
@example(
    given=("run", RETURNING), piece=19, evaluate=True
)  # a bad line, and a query that comes again
@example(given=("run", REMARKS), piece=16, evaluate=False)
@given(files(16), st.integers(16, 260), st.booleans())
def test_pieces(path: Path, given: tuple[str, bytes], piece: int, evaluate: bool) -> None:
    """A file in pieces of some bytes comes to what it does by lines."""
    source, data = given
    entry = "evaluate" if evaluate and source == "run" else source
    whole, said = read(path, data, entry)
    piece = max(piece, first_data(data))  # the first piece tells the form
    parts, also_said = read(path, data, entry, piece)
    assert parts == whole
    # Ranks and scores are not compared with those of the piece before; a last line without an
    # end may be a piece of its own.
    whole_file = piece > len(data) and data.endswith(b"\n")
    if whole_file and not LEFT_TO_PYTHON.search(data) and not mixes_ranks(data):
        one, other = ([each.partition(" and ")[0] for each in each] for each in (said, also_said))
        assert one == other  # of other tags either names one


def gzip_with_a_name(data: bytes) -> bytes:
    packed = gzip.compress(data, 1, mtime=0)
    return packed[:3] + bytes([8]) + packed[4:10] + b"name\0" + packed[10:]


PACKS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda data: gzip.compress(data, 1, mtime=0),
    "gzip with a name": gzip_with_a_name,
    "gzip in two": lambda data: gzip.compress(data[:40]) + gzip.compress(data[40:]),
    "bzip2": bz2.compress,
    "xz": lzma.compress,
}
try:
    from backports import zstd

    CHECKED = {zstd.CompressionParameter.checksum_flag: 1}
    PACKS["zstd"] = lambda data: zstd.compress(data, options=CHECKED)
except ImportError:
    pass
PLACES = st.tuples(st.integers(-30, 60), st.sampled_from([1 << bit for bit in range(8)]))


@examples(200)
@given(
    files(12, list(FRAGMENTS)[:2], 0), st.sampled_from([*PACKS]), st.lists(PLACES, max_size=2),
    st.integers(0, 60),
)  # fmt: skip
def test_archives(
    path: Path, given: tuple[str, bytes], name: str, flips: list[tuple[int, int]], cut: int
) -> None:
    """A damaged archive is rejected, or read as what was packed; a part of one is rejected."""
    source, data = given
    packed = bytearray(PACKS[name](data))
    for where, bit in flips:
        packed[max(-len(packed), min(where, len(packed) - 1))] ^= bit
    cut = 0 if flips else cut
    del packed[max(0, len(packed) - cut) :]
    found, _ = read(path, bytes(packed), source)
    if (flips or cut) and isinstance(found, list):
        return
    if cut and name == "gzip in two":
        return  # of which one is whole
    assert not cut, found
    assert found == read(path, data, source)[0], found


ENCODINGS = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be", "latin-1", "utf-7", "cp037")
LINES = ("q1 Q0 d1 1 0.5 t\n", "q1 Q0 dé 2 .25 t\r\n", "q2 Q0 検索 1 1 t\n", "q3 Q0 \xa0 1 2 t\n")


@examples(80)
@given(
    st.sampled_from(ENCODINGS),
    st.lists(st.sampled_from(LINES), min_size=1, unique=True),
    st.booleans(),
)
def test_encodings(path: Path, encoding: str, lines: list[str], marked: bool) -> None:
    """Text that is not UTF-8 is rejected, unless it happens to be the same bytes."""
    data = "".join(lines).encode(encoding, errors="replace")
    found, _ = read(path, (BOM if marked else b"") + data, "run")
    expected, _ = read(path, data.decode(errors="backslashreplace").encode(), "run")
    if not isinstance(found, list):
        assert data.isascii() or data.decode().encode() == data
        assert found == expected
