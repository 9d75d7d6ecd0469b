"""The counts of `irbatch.pack.counting` where the scores are: on an accelerator.

Written with the methods that torch's tensors bring along; what comes back is as small as the list
of relevant candidates.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from irbatch.array_types import Ints
from irbatch.data.cells import GradedCandidates
from irbatch.pack.candidates import Candidates, part_of
from irbatch.pack.counting import refuse_nan
from irbatch.runtime.arrays import to_numpy

BLOCK_CELLS = 64 << 20  # of scores compared at once: the temporary masks are of this many bytes

# Graded candidates a query from which sorting the row takes less time than counting for each: for
# 2,000 x 20,000 an H100 takes 4.1 ms to sort, 0.75 to count for one; of 1,000, 0.2 and 0.07.
SORTED_FROM = 5


def count_on_accelerator(candidates: Candidates, graded: GradedCandidates) -> tuple[Ints, Ints]:
    """Count as `irbatch.pack.counting.count_candidates`, where scores are a tensor."""
    above, equal = np.zeros((2, graded.columns.size), np.int64)
    at_once = max(BLOCK_CELLS // max(candidates.shape[1], 1), 1)
    for start in range(0, candidates.shape[0], at_once):
        stop = min(start + at_once, candidates.shape[0])
        part, starts = part_of(graded.starts, start, stop)
        found = _count_block(candidates, start, stop, starts, graded.columns[part])
        above[part], equal[part] = found
    return above, equal


def _count_block(
    candidates: Candidates, start: int, stop: int, starts: Ints, columns: Ints
) -> tuple[Ints, Ints]:
    """Count in some rows; all of them at once for the first graded of each, then for the next."""
    scores: Any = candidates.scores[start:stop]
    there = _candidates(candidates, start, stop)
    nan = scores != scores
    suspects = (nan if there is None else nan & there).any(dim=1)
    for row in np.flatnonzero(to_numpy(suspects, "scores")).tolist():
        refuse_nan(candidates, start + row, to_numpy(scores[row], "scores"))
    counts = np.diff(starts)
    most = int(counts.max(initial=0))
    real = np.arange(most) < counts[:, None]
    padded = np.zeros(real.shape, np.int64)
    padded[real] = columns
    wanted = scores.gather(1, scores.new_tensor(padded, dtype=_torch().int64))
    count = _count_by_sorting if most > SORTED_FROM else _count_by_comparing
    above, equal = (to_numpy(each, "scores")[real] for each in count(scores, there, wanted))
    return above, equal


def _count_by_comparing(scores: Any, there: Any, wanted: Any) -> tuple[Any, Any]:
    higher: list[Any] = []
    same: list[Any] = []
    for place in range(wanted.shape[1]):
        score = wanted[:, place : place + 1]
        for counts, cells in ((higher, scores > score), (same, scores == score)):
            counts.append((cells if there is None else cells & there).sum(dim=1))
    if not higher:
        return wanted.long(), wanted.long()
    return _torch().stack(higher, dim=1), _torch().stack(same, dim=1)


def _count_by_sorting(scores: Any, there: Any, wanted: Any) -> tuple[Any, Any]:
    """Sort; what is not a candidate goes below the candidates, and is passed over there."""
    hidden = scores != scores if there is None else ~there
    floating = scores.dtype.is_floating_point
    lowest = -float("inf") if floating else _torch().iinfo(scores.dtype).min
    ordered = scores.masked_fill(hidden, lowest).sort(dim=1).values
    wanted = wanted.contiguous()
    end = _torch().searchsorted(ordered, wanted, right=True)
    begin = _torch().searchsorted(ordered, wanted)
    begin = begin.maximum(hidden.sum(dim=1, keepdim=True))
    return scores.shape[1] - end, end - begin


def _candidates(candidates: Candidates, start: int, stop: int) -> Any:
    """Return which cells are candidates, a tensor beside the scores, or None if all are."""
    whole = (candidates.widths[start:stop] == candidates.shape[1]).all()
    if candidates.there is None and candidates.excluded is None and whole:
        return None
    scores: Any = candidates.scores
    return scores.new_tensor(candidates.are_candidates(start, stop), dtype=_torch().bool)


def _torch() -> Any:
    """Return the module that a tensor came from: it is loaded, since there is a tensor."""
    return sys.modules["torch"]
