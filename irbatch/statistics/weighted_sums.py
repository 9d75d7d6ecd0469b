"""Sums of many columns under many random weights, at once: matrix products with small integers.

Weights are bytes or bits, of which those of eight queries at a time are multiplied with every
column. As float64 for a product by BLAS they would take two to three times as long with four
columns; with 184 BLAS is up to a third faster, if its threads have all processors to themselves,
and many times slower if not, as they wait for each other (benchmarks/test_resampling.py).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from irbatch.array_types import Bytes, Bytes2, Floats, Floats2, Floats3
from irbatch.runtime.kernels import kernel

MANTISSA = 53
COLUMNS = 128  # whose sums are kept near the processor
LINE = 64  # bytes that it loads at once, if they start at a multiple


def as_whole(values: Floats) -> tuple[Floats, Callable[[Floats], Floats]]:
    """Return values ``(queries, columns)`` as whole numbers, and what makes means of their sums.

    Sums of as many as there are queries are exact, in whatever order, as none is beyond 2^53. What
    rounding leaves of values, less than 1e-10 of the largest for 10,000 queries, is the same for
    any draw: its mean.
    """
    n = len(values)
    bits = MANTISSA - n.bit_length()
    grain = _grain_of(np.abs(values).max(axis=0, initial=0.0), bits)
    with np.errstate(invalid="ignore"):
        whole = values / grain
        np.rint(whole, out=whole)
        left = whole * grain
        np.subtract(values, left, out=left)
        finer = _grain_of(grain, bits)
        left /= finer
        rest = np.rint(left, out=left).sum(axis=0) * finer

    def means(sums: Floats) -> Floats:
        return np.asarray((sums * grain[:, None] + rest[:, None]) / n)

    return whole, means


def _grain_of(largest: Floats, bits: int) -> Floats:
    """Return the power of two of which numbers up to the largest are so many bits."""
    grain = np.ldexp(1.0, np.frexp(largest)[1] - bits)
    return np.where(np.isfinite(largest) & (grain > 0), grain, 1.0)


def pad_rows(values: Floats) -> Floats:
    """Return values ``(queries, columns)`` with zeros up to eight queries and eight columns."""
    n, columns = values.shape
    padded = zeros(8 * -(-n // 8), 8 * -(-columns // 8))
    padded[:n, :columns] = values
    return padded


def pad_columns(values: Floats) -> Floats:
    """Return values ``(queries, columns)`` a row a column, with zeros up to eight queries."""
    n, columns = values.shape
    padded = np.zeros((columns, 8 * -(-n // 8)))
    padded[:, :n] = values.T
    return padded


def add_counted(counts: Bytes, columns: Floats, sums: Floats) -> None:
    """Add each query as often as uint8 ``(queries, draws)`` say to sums ``(columns, draws)``."""
    scratch = zeros(8, sums.shape[1])
    work = sums.size * len(counts)
    if not _add_counted.runs_compiled(work, counts, columns, scratch, sums):
        sums += columns @ counts.astype(np.float64)
        return
    for some in _share(sums):
        _add_counted.run(work, counts, columns[some], scratch, sums[some])


def add_chosen(choices: Bytes, columns: Floats, first: int, sums: Floats) -> None:
    """Add queries from `first` on to sums ``(columns, draws)`` where their bit is set.

    A byte of uint8 ``(queries / 8, draws)`` are the bits of eight queries, the highest first.
    """
    scratch = zeros(8, sums.shape[1])
    work = 8 * sums.size * len(choices)
    if not _add_chosen.runs_compiled(work, choices, columns, first, scratch, sums):
        bits = np.unpackbits(choices, axis=0).astype(np.float64)
        sums += columns[:, first : first + len(bits)] @ bits
        return
    for some in _share(sums):
        _add_chosen.run(work, choices, columns[some], first, scratch, sums[some])


def add_looked_up(choices: Bytes, rows: Floats, first: int, sums: Floats) -> None:
    """Do as `add_chosen` for values ``(queries, columns)`` and sums ``(draws, columns)``.

    What each choice among four queries adds up to is tabulated: from 20 columns on this is sooner
    done, and with 40 and more takes two thirds of the time.
    """
    columns = rows.shape[1]
    tables = zeros(2 * 16, columns).reshape(2, 16, columns)
    work = 8 * sums.size * len(choices)
    if _add_looked_up.runs_compiled(work, choices, rows, first, tables, sums):
        _add_looked_up.run(work, choices, rows, first, tables, sums)
    else:
        bits = np.unpackbits(choices, axis=0).astype(np.float64)
        sums += bits.T @ rows[first : first + len(bits)]


def zeros(rows: int, columns: int) -> Floats:
    """Make an array that starts where a line of memory does."""
    memory = np.zeros(rows * columns + LINE // 8)
    start = -memory.ctypes.data % LINE // 8
    return memory[start : start + rows * columns].reshape(rows, columns)


def _share(sums: Floats) -> list[slice]:
    return [slice(start, start + COLUMNS) for start in range(0, len(sums), COLUMNS)]


@kernel
def _add_counted(counts: Bytes2, columns: Floats2, weights: Floats2, sums: Floats2) -> None:
    """Add up what `add_counted` is for; `weights` is scratch for eight queries."""
    for first in range(0, counts.shape[0], 8):
        for k in range(8):
            for d in range(counts.shape[1]):
                weights[k, d] = counts[first + k, d]
        _add_eight(weights, columns, first, sums)


@kernel
def _add_chosen(
    choices: Bytes2, columns: Floats2, first: int, weights: Floats2, sums: Floats2
) -> None:
    """Add up what `add_chosen` is for; `weights` is scratch for eight queries."""
    for i in range(choices.shape[0]):
        for k in range(8):
            for d in range(choices.shape[1]):
                weights[k, d] = (choices[i, d] >> (7 - k)) & 1
        _add_eight(weights, columns, first + 8 * i, sums)


@kernel
def _add_looked_up(
    choices: Bytes2, rows: Floats2, first: int, tables: Floats3, sums: Floats2
) -> None:
    """Add up what `add_looked_up` is for; `tables` is scratch for two times four queries."""
    columns = rows.shape[1]
    for i in range(choices.shape[0]):
        for half in range(2):
            tables[half, 0] = 0.0
            for k in range(4):
                q = first + 8 * i + 4 * half + 3 - k
                for choice in range(1 << k):
                    for c in range(columns):
                        tables[half, choice + (1 << k), c] = tables[half, choice, c] + rows[q, c]
        for d in range(choices.shape[1]):
            high, low = int(choices[i, d]) >> 4, int(choices[i, d]) & 15
            for c in range(columns):
                sums[d, c] += tables[0, high, c] + tables[1, low, c]


@kernel
def _add_eight(weights: Floats, columns: Floats, first: int, sums: Floats) -> None:
    """Add eight queries' values, from the first on, times their weights."""
    for c in range(sums.shape[0]):
        v0 = columns[c, first]
        v1 = columns[c, first + 1]
        v2 = columns[c, first + 2]
        v3 = columns[c, first + 3]
        v4 = columns[c, first + 4]
        v5 = columns[c, first + 5]
        v6 = columns[c, first + 6]
        v7 = columns[c, first + 7]
        for d in range(sums.shape[1]):
            low = (weights[0, d] * v0 + weights[1, d] * v1) + (
                weights[2, d] * v2 + weights[3, d] * v3
            )
            high = (weights[4, d] * v4 + weights[5, d] * v5) + (
                weights[6, d] * v6 + weights[7, d] * v7
            )
            sums[c, d] += low + high
