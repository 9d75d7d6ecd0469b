"""What the kernels of the scan are given: a request, rows, and memory to work in."""

from __future__ import annotations

from typing import NamedTuple

from irbatch.array_types import Codes, Floats, Ints


class KernelRequest(NamedTuple):
    """A `ScanRequest` as kernels read it, for the levels of a block."""

    cutoffs: Ints  # (cutoffs,)
    slots: Ints  # (ranks,): the number of the first cutoff that each rank is within
    lowest_relevant: Ints  # (thresholds,): the lowest relevant level at each
    gains: Floats  # (weightings, levels - PAD): by code less `PAD`
    ideal_order: Ints  # (weightings, levels): levels from the highest gain down
    divisors: Floats  # (weightings, ranks): the discounts


class Rows(NamedTuple):
    """A block as the scan reads it: cells to walk, or entries that are written down already."""

    codes: Codes  # (queries, depth); without columns where there are entries
    words: Ints  # the same memory
    code_shift: int  # a code has ``1 << code_shift`` bits
    blank: int  # the code that is passed over
    blank_word: int  # a word of it
    ones: int  # a word of codes that are 1
    starts: Ints  # this and the next two are `Entries`; empty where cells are walked
    ranks: Ints
    entry_codes: Ints
    complete: bool  # whether all retrieved documents are judged
    lengths: Ints  # (queries,): how many ranks to look at
    level_counts: Ints  # (queries, levels): the judged documents of each level


class Space(NamedTuple):
    """Memory that a thread works in: the documents of a batch of rows, and sums over them.

    A row's documents that are not blank are `starts[r]` to `starts[r + 1]`. The first of them
    stands for none: a cutoff before all others reads off its sums, which are 0.
    """

    words: Ints  # where a row's words hold documents
    starts: Ints  # (rows + 1,), uint32 like the next three
    places: Ints  # (documents,): ranks from 0
    codes: Ints  # less `PAD`, which makes them 0 or more
    last_within: Ints  # (rows, cutoffs): the last document within each cutoff
    counts: Ints  # (documents,)
    gained: Floats  # (documents,)
    terms: Floats
