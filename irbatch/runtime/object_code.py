"""From a compiler's object file (ELF, x86-64) to an image that is copied into memory and runs."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple

SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
RELOCATION = struct.Struct("<QIIq")
SYMBOLS, WITHOUT_BYTES, RELOCATIONS = 2, 8, 4  # types of sections
IN_MEMORY = 2  # flag of a section that belongs into memory
UNDEFINED = 0  # stands for the section of a symbol that is elsewhere
ADDRESS = 1  # R_X86_64_64, a whole address: the large code model has no other kind
UNWINDING = ".eh_frame"  # tells how to leave functions by an error; kernels raise none


class Patch(NamedTuple):
    """An address to write into an image."""

    at: int  # where in the image
    symbol: str  # whose address; empty for the image itself
    addend: int  # what is added to it


class Image(NamedTuple):
    """Code and constants, one after the other."""

    code: bytes
    entry: int  # where the function begins
    patches: list[Patch]  # addresses that are known only when the image is in memory


def make_image(file: bytes, symbol: str) -> Image:
    """Lay out an object file that was compiled for any address (LLVM's large code model).

    Raises:
        RuntimeError: if the file has what is not known here, or no function of that name.
    """
    if file[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<HH", file, 16) != (1, 62):
        raise RuntimeError("this is no object file of x86-64")
    (begin,) = struct.unpack_from("<Q", file, 40)
    count, names_at = struct.unpack_from("<HH", file, 60)
    sections = [SECTION.unpack_from(file, begin + i * SECTION.size) for i in range(count)]
    names = _texts(file, sections[names_at])
    image = bytearray()
    places: dict[int, int] = {}  # of sections in the image
    for i, (name, kind, flags, _, offset, size, _, _, align, _) in enumerate(sections):
        if flags & IN_MEMORY and names(name) != UNWINDING:
            image += bytes(-len(image) % max(align, 1))
            places[i] = len(image)
            image += bytes(size) if kind == WITHOUT_BYTES else file[offset : offset + size]
    symbols = _symbols(file, sections)
    patches = []
    for _, kind, _, _, offset, size, _, target, _, _ in sections:
        if kind != RELOCATIONS or target not in places:
            continue
        for at in range(offset, offset + size, RELOCATION.size):
            place, how, which, addend = RELOCATION.unpack_from(file, at)
            name, section, value = symbols[which]
            if how != ADDRESS or (section not in places and section != UNDEFINED):
                raise RuntimeError(f"the address of {name} is relative, or of another kind")
            known = section in places
            addend += places[section] + value if known else 0
            patches.append(Patch(places[target] + place, "" if known else name, addend))
    entries = [places[s] + value for name, s, value in symbols if name == symbol and s in places]
    if len(entries) != 1:
        raise RuntimeError(f"there is no function {symbol}")
    return Image(bytes(image), entries[0], patches)


def _symbols(file: bytes, sections: list[tuple[int, ...]]) -> list[tuple[str, int, int]]:
    """Read each symbol's name, section and place in it."""
    for _, kind, _, _, offset, size, link, _, _, _ in sections:
        if kind == SYMBOLS:
            text = _texts(file, sections[link])
            found = [SYMBOL.unpack_from(file, offset + i) for i in range(0, size, SYMBOL.size)]
            return [(text(name), section, value) for name, _, _, section, value, _ in found]
    return []


def _texts(file: bytes, section: tuple[int, ...]) -> Callable[[int], str]:
    """Return what reads the texts of a section of texts, by their places in it."""
    offset = section[4]

    def text(at: int) -> str:
        return file[offset + at : file.index(b"\0", offset + at)].decode()

    return text
