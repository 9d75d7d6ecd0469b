"""What there is to say of scores and labels that are probably not what their owner meant."""

from __future__ import annotations

from typing import Any

import numpy as np

from irbatch.data.cells import GradedCandidates
from irbatch.measures import Plan
from irbatch.pack.candidates import Candidates
from irbatch.runtime.arrays import to_numpy

CERTAIN = ("R", "Success")  # 1 at full depth, where nothing relevant is unranked
FIRST_CELLS = 4096  # which tell how scores were rounded
ROUNDED_OFF = np.uint32(0x1FFF)  # bits of a float32 that float16 has not, nor bfloat16
LIKE_LABELS = np.arange(5)


def say_certain(plan: Plan) -> list[str]:
    """Say that measures at full depth are 1, as all candidates are ranked.

    Not of our own names among those of other measures: there they may be asked for knowingly.
    """
    found = [each for each in plan.measures if each.name in CERTAIN and each.cutoff is None]
    alone = len(found) == len(plan.measures)
    return [
        f"{each.asked or each} is 1 for every query with a relevant candidate, as all candidates "
        f"are ranked: give it a cutoff, such as {each}@10"
        for each in found
        if alone or each.asked.partition("(")[0] not in ("", each.name)
    ]


def say_hidden(given: GradedCandidates, shown: GradedCandidates, *, labels: bool) -> list[str]:
    """Say that what is relevant is hidden: of labels, which may be of other purposes, only most."""
    hidden = "masked, excluded or beyond lengths"
    hint = "mask= is True for a candidate, exclude= for none"
    if not labels:
        problem = f"some positives are no candidates, being {hidden}: they don't count as relevant"
        return [f"{problem}; {hint}"]
    had = np.diff(given.starts) > 0
    lost = had & (np.diff(shown.starts) == 0)
    if 2 * lost.sum() <= had.sum():
        return []
    return [f"most queries have no relevant candidate left, all being {hidden}; {hint}"]


def say_swapped(candidates: Candidates, graded: GradedCandidates) -> list[str]:
    """Say that scores and relevance may have changed places: no label is whole, all scores are."""
    scores, grades = candidates.scores, graded.grades
    if candidates.on_accelerator or not grades.size or grades[0] % 1 == 0:
        return []
    some = scores[:1], scores  # a row tells mostly
    if (grades % 1 == 0).any() or not all(np.isin(each, LIKE_LABELS).all() for each in some):
        return []
    if not (np.diff(np.sort(scores, axis=1)) == 0).any():
        return []
    said = "relevance is like scores, and scores are like labels (0, 1, 2 …)"
    return [f"{said}: are scores and labels swapped? Scores come first, then relevance"]


def were_16_bits(scores: Any) -> bool:
    """Tell whether wider scores hold no more than 16 bits did, by those of the first query.

    Counts and marks, multiples of 1/64, are no rounded products.
    """
    row = to_numpy(scores[0, :FIRST_CELLS], "scores")
    if row.dtype not in (np.float32, np.float64):
        return False
    row = row[np.isfinite(row)]
    with np.errstate(over="ignore"):
        narrow = row.astype(np.float32)
    rounded = (narrow == row).all() and not (narrow.view(np.uint32) & ROUNDED_OFF).any()
    return bool(rounded and (row * 64 % 1 != 0).any())
