"""Archives cut off and with a bit flipped, at every byte: refused, or read whole, but no less."""

from __future__ import annotations

import bz2
import gc
import gzip
import lzma
import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

import irbatch
from irbatch import InputError
from irbatch.runtime.files import replacing

try:
    from backports import zstd
except ImportError:
    zstd = None

Pack = Callable[[bytes], bytes]
RANDOM = random.Random(1)
LINES = [b"q%d Q0 d%d 1 %d t\n" % (i // 9, RANDOM.randrange(10**6), i) for i in range(36)]
TEXT = b"".join(LINES)


def twice(pack: Pack) -> Pack:
    """Pack as parallel packers do, in streams one behind the other."""
    return lambda data: pack(data[: len(data) // 2]) + pack(data[len(data) // 2 :])


PACKERS: dict[str, Pack] = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}
PACKERS |= {f"{name} twice": twice(pack) for name, pack in PACKERS.items()}


@pytest.mark.parametrize("name", PACKERS)
def test_what_a_refused_archive_took_is_free_at_once(name: str, tmp_path: Path) -> None:
    """Not only when garbage is looked for: pieces and decompressors have some megabytes each."""
    path = tmp_path / "run"
    path.write_bytes(PACKERS[name](TEXT)[:-5])
    gc.collect()
    gc.disable()
    try:
        for call in (irbatch.read_run, lambda path: irbatch.evaluate({"q1": {"d": 1}}, path, "RR")):
            with pytest.raises(InputError):
                call(path)
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        frames = [each.f_code.co_name for each in gc.garbage if isinstance(each, FrameType)]
        assert not {"pieces", "_read_into"} & set(frames)  # they hold what was read
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


@pytest.fixture
def read(tmp_path: Path) -> Callable[[bytes], object]:
    path = tmp_path / "file"

    def run(data: bytes) -> object:
        path.write_bytes(data)
        try:
            return irbatch.read_run(path).to_dict()
        except InputError:
            return None

    return run


def refused(data: bytes, read: Callable[[bytes], object], ends: tuple[int, ...] = ()) -> int:
    """Damage an archive at each byte; check what is read, and return how often it was refused."""
    whole = read(data)
    assert isinstance(whole, dict)
    assert sum(map(len, whole.values())) == len(LINES)
    found = [read(data[:i]) for i in range(len(data)) if i not in ends]
    for i in range(len(data)):
        flipped = bytearray(data)
        flipped[i] ^= 1 << RANDOM.randrange(8)
        found.append(read(bytes(flipped)))
    assert all(each is None or each == whole for each in found)
    return found.count(None)


@pytest.mark.parametrize("name", PACKERS)
def test_damage_is_noticed(name: str, read: Callable[[bytes], object]) -> None:
    data = PACKERS[name](TEXT)
    ends = (len(PACKERS[name.split()[0]](TEXT[: len(TEXT) // 2])),) if "twice" in name else ()
    # Dates and names in a head say nothing of the content.
    assert refused(data, read, ends) >= 2 * len(data) - 20
    assert read(data + b"garbage") is None
    assert read(data + bytes(16)) == read(data)


def test_damage_is_noticed_by_gzip_of_python(
    read: Callable[[bytes], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "isal.igzip", None)
    data = gzip.compress(TEXT)
    assert refused(data, read) >= 2 * len(data) - 20


@pytest.mark.skipif(zstd is None, reason="needs zstd")
def test_damage_is_noticed_in_zstd_that_irbatch_writes(
    read: Callable[[bytes], object], tmp_path: Path
) -> None:
    path = tmp_path / "run.zst"
    with replacing(path, pack=True) as file:
        file.write(TEXT)
    data = path.read_bytes()
    assert refused(data, read) >= 2 * len(data) - 20


@pytest.mark.skipif(zstd is None, reason="needs zstd")
def test_zstd_without_a_checksum_is_never_read_in_part(read: Callable[[bytes], object]) -> None:
    """What is damaged within may be read as something else, which nothing tells."""
    data = zstd.compress(TEXT)
    assert all(read(data[:i]) is None for i in range(len(data)))
