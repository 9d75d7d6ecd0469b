"""Hashes of ids, by numbers that are secret: ids that clash cannot be chosen.

Multiply-shift: the highest bits of sums of products modulo 2^64. Plain Python has more bits than
these, which are not looked at.
"""

from __future__ import annotations

import os

import numpy as np

from irbatch.array_types import Bytes, Ints
from irbatch.runtime.kernels import inlined_kernel, kernel
from irbatch.runtime.ragged import load_word

SEEDS: Ints = np.frombuffer(os.urandom(24), np.int64) | 1  # of this process
LOW = (1 << 32) - 1
MASKS = np.array([(1 << (8 * i)) - 1 for i in range(8)] + [-1])  # of so many bytes of a word


@kernel
def slot_of(number: int, factor: int, shift: int, slots: int) -> int:
    """Choose a slot by the bits of the number times an odd seed; see `shift_for`.

    The highest bits alone would crowd numbers that follow each other, by some seeds.
    """
    product = number * factor
    return ((product >> shift) ^ (product >> 29)) & (slots - 1)


@kernel
def shift_for(slots: int) -> int:
    """Return how many of 64 bits are left beside those that tell so many slots apart."""
    shift = 64
    while slots > 1:
        slots >>= 1
        shift -= 1
    return shift


@inlined_kernel
def hash_text(text: Bytes, start: int, length: int, first: int, low: int, high: int) -> int:
    """Hash a text to 31 bits, with the three seeds."""
    at = start
    left = int(length)
    value = left
    while left > 0:
        if at + 8 <= text.size:
            word = load_word(text, at) & int(MASKS[min(left, 8)])
        else:  # at the end of the text
            word = 0
            for i in range(min(left, 8)):
                word |= int(text[at + i]) << (8 * i)
        total = value * first + (word & LOW) * low + ((word >> 32) & LOW) * high
        value = (total >> 33) & 0x7FFFFFFF
        at += 8
        left -= 8
    return value
