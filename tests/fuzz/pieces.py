"""Files that are read in pieces, compressed, or in another encoding: as the plain file at once."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random

import irbatch
from fuzz.lines import BOM, FRAGMENTS, HEADS, KINDS, TOKENS
from fuzz.mutation import compose, damage
from fuzz.target import Target
from irbatch.errors import InputError
from irbatch.formats import reader as file_reader
from irbatch.formats import streams

JUDGED = {"q1": {"d1": 1, "d2": 2}, "q2": {"d1": 1}, "q0": {"d0": 1}, "3": {"d1": 2}, "1": {"2": 1}}
# The byte parser doesn't compare the ranks of lines whose scores it leaves to Python.
LEFT_TO_PYTHON = re.compile(rb"[0-9]{16}|[eE]|inf", re.I)

_memory = Path("/dev/shm")
_folder = tempfile.TemporaryDirectory(
    prefix="irbatch-fuzz-", dir=_memory if _memory.is_dir() else None
)


class Pieces(Target):
    """A file in pieces of some bytes comes to what it does by lines."""

    name, share = "pieces", 5

    def generate(self, rng: Random) -> tuple[str, int, bytes]:
        form, source = rng.choice(KINDS)
        data = compose(rng, HEADS[form], FRAGMENTS[form, source], 16)
        data = damage(rng, data, TOKENS) if rng.random() < 0.5 else data
        entry = source if source == "qrels" or rng.random() < 0.5 else "evaluate"
        return entry, 16 + int(rng.random() ** 2 * 250), data

    def check(self, given: tuple[str, int, bytes]) -> None:
        entry, piece, data = given
        whole, said = read(data, entry)
        piece = max(piece, _first_data(data))  # the first piece tells the form
        parts, also_said = read(data, entry, piece)
        assert parts == whole, (parts, whole)
        # Ranks and scores are not compared with those of the piece before; a last line without an
        # end may be a piece of its own.
        whole_file = piece > len(data) and data.endswith(b"\n")
        if whole_file and not LEFT_TO_PYTHON.search(data) and not _mixes_ranks(data):
            also_said, said = (
                [each.partition(" and ")[0] for each in both] for both in (also_said, said)
            )
            assert also_said == said, (also_said, said)  # of other tags either names one


def _first_data(data: bytes) -> int:
    """Return where the first line ends that is neither blank nor a comment."""
    end = 0
    for line in re.findall(rb"[^\n]*\n|[^\n]+", data):
        end += len(line)
        words = re.findall(rb"[^ \t\r\n]+", line)
        if words and words[0].removeprefix(BOM)[:1] not in (b"#", b""):
            break
    return end


def _mixes_ranks(data: bytes) -> bool:
    """Tell whether only some ranks have a point: the byte parser looks at each query's first."""
    ranks = [words[3] for words in map(bytes.split, data.splitlines()) if len(words) > 3]
    return len({b"." in rank for rank in ranks}) > 1


def read(data: bytes, entry: str, piece: int = 0) -> tuple[tuple[object, ...], list[str]]:
    """Return what a file holds, or all that is wrong with it; and what is warned of.

    It is read by lines, or in pieces of so many bytes by the byte parser.
    """
    path = Path(_folder.name) / "file"
    path.write_bytes(data)
    before = file_reader.LARGE, file_reader.is_ready, streams.PIECE
    large = 1 if piece else 1 << 40
    file_reader.LARGE, file_reader.is_ready = large, lambda: False
    streams.PIECE = piece or 4 << 20
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            return _read(path, entry), [str(each.message) for each in said]
    except InputError as error:
        assert error.path == str(path)
        problems = [
            (each.line, each.query, each.document, repr(each.value), each.message)
            for each in error.problems
        ]
        return ("refused", *problems), []
    finally:
        file_reader.LARGE, file_reader.is_ready, streams.PIECE = before


def _read(path: Path, entry: str) -> tuple[object, ...]:
    if entry == "qrels":
        return "qrels", irbatch.read_qrels(path).to_dict()
    if entry == "run":
        run = irbatch.read_run(path)
        return "run", run.to_dict(), run.tag
    results = irbatch.evaluate(JUDGED, path, "nDCG@3 AP RR NumRet")
    return "results", results.query_ids, results.values.tobytes()


def _zstd() -> Callable[[bytes], bytes] | None:
    try:
        from backports import zstd
    except ImportError:
        return None

    def compress(data: bytes) -> bytes:
        return zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})

    return compress


PACKS: dict[str, Callable[[bytes], bytes] | None] = {
    "gzip": lambda data: gzip.compress(data, 1, mtime=0),
    "gzip with a name": lambda data: _gzip_with(data, 8, b"name\0"),
    "gzip in two": lambda data: gzip.compress(data[:40]) + gzip.compress(data[40:]),
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": _zstd(),
}
# Encodings that are refused, unless all that is written in them is ASCII.
ENCODINGS = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be", "latin-1", "utf-7", "cp037")


def _gzip_with(data: bytes, flags: int, extra: bytes) -> bytes:
    packed = gzip.compress(data, 1, mtime=0)
    return packed[:3] + bytes([flags]) + packed[4:10] + extra + packed[10:]


class Archives(Target):
    """A damaged archive is refused, or read as what was packed; a part of one is refused."""

    name, share = "archives", 10

    def generate(self, rng: Random) -> tuple[str, bytes, list[tuple[int, int]], int]:
        form, source = rng.choice(KINDS[:1] + KINDS[1:2])
        data = compose(rng, HEADS[form], FRAGMENTS[form, source], 12)
        pack = rng.choice([name for name, each in PACKS.items() if each is not None])
        flips = []
        for _ in range(rng.choice((0, 0, 1, 1, 2))):
            where = int(rng.random() ** 2 * 60) if rng.random() < 0.7 else -1 - rng.randrange(30)
            flips.append((where, 1 << rng.randrange(8)))
        cut = 0 if flips or rng.random() < 0.3 else 1 + int(rng.random() ** 2 * 60)
        return f"{source} {pack}", data, flips, cut

    def check(self, given: tuple[str, bytes, list[tuple[int, int]], int]) -> None:
        kind, data, flips, cut = given
        source, _, name = kind.partition(" ")
        pack = PACKS[name]
        assert pack is not None
        packed = bytearray(pack(data))
        for where, bit in flips:
            packed[max(-len(packed), min(where, len(packed) - 1))] ^= bit
        del packed[max(0, len(packed) - cut) :]
        found, _ = read(bytes(packed), source)
        if flips or cut:
            # A stream that is marked as the last one may be followed by what is ignored.
            if found[0] == "refused":
                return
            if cut and name == "gzip in two":
                return  # of which one is whole
            assert not cut, found
        assert found == read(data, source)[0], found


class Encodings(Target):
    """Text that is not UTF-8 is refused, unless it happens to be the same bytes."""

    name, share = "encodings", 20

    def generate(self, rng: Random) -> tuple[str, str, bool]:
        rows = rng.choices(("q1 Q0 d1 1 0.5 t\n", "q1 Q0 dé 2 .25 t\r\n", "q2 Q0 検索 1 1 t\n",
                            "q3 Q0 \xa0 1 2 t\n"), k=rng.randint(1, 4))  # fmt: skip
        return rng.choice(ENCODINGS), "".join(dict.fromkeys(rows)), rng.random() < 0.2

    def check(self, given: tuple[str, str, bool]) -> None:
        encoding, text, marked = given
        data = text.encode(encoding, errors="replace")
        found, _ = read((BOM if marked else b"") + data, "run")
        expected, _ = read(data.decode(errors="backslashreplace").encode(), "run")
        if found[0] != "refused":
            assert data.isascii() or data.decode().encode() == data
            assert found == expected
