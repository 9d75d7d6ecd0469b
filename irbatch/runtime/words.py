"""Eight bytes of a text at a time."""

from __future__ import annotations

from irbatch.array_types import Bytes
from irbatch.runtime.jit import kernel


@kernel
def load_word(text: Bytes, at: int) -> int:
    """Return eight bytes as a whole number; compilers make one instruction of this."""
    at &= 0xFFFFFFFFFFF  # not negative, which would count from the end
    low = int(text[at]) | int(text[at + 1]) << 8 | int(text[at + 2]) << 16 | int(text[at + 3]) << 24
    high = int(text[at + 4]) | int(text[at + 5]) << 8 | int(text[at + 6]) << 16
    # With its sign: plain Python has no end of bits.
    return low | (high | ((int(text[at + 7]) ^ 128) - 128) << 24) << 32
