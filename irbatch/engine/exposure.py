"""The attention that groups of items get in rankings: what measures of fairness are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.engine.groups import GroupShares
from irbatch.engine.items import OUTSIDE, ItemRanks, Items, JudgedItems
from irbatch.runtime.jit import kernel


@dataclass(eq=False)
class RankingsInTurn:
    """Several rankings of each query, as a system returns that doesn't rank alike each time.

    Each of `rankings` has the same queries in the same order; an empty one is no ranking.
    """

    rankings: Sequence[ItemRanks]

    def at(self, cutoff: int | None, rel: float = 1.0) -> RankingsInTurn:
        """Return the same up to a cutoff (None: none), with a least relevant grade."""
        return RankingsInTurn([each.at(cutoff, rel) for each in self.rankings])

    @property
    def items(self) -> Items:
        """What is known of the items."""
        return self.rankings[0].items

    @property
    def queries(self) -> Sequence[Any]:
        """The queries' ids."""
        return self.rankings[0].queries

    @property
    def judged(self) -> JudgedItems:
        """All judged documents of the queries."""
        return self.rankings[0].judged

    @property
    def cutoff(self) -> float:
        """The rank up to which documents count."""
        return self.rankings[0].cutoff

    @property
    def rel(self) -> float:
        """The least relevant grade."""
        return self.rankings[0].rel

    @property
    def retrieved(self) -> Ints:
        """Documents of each query's longest ranking, int64 ``(queries,)``."""
        return np.max([each.retrieved for each in self.rankings], axis=0)


Ranks = ItemRanks | RankingsInTurn


def expose(
    groups: GroupShares, r: Ranks, attention: Floats, *, only_relevant: bool = False
) -> Floats:
    """Add up what each group gets, the mean over a query's rankings: float64 ``(queries, groups)``.

    Args:
        attention: float64 ``(depth,)`` or more, what an item gets at each rank.
        only_relevant: others get nothing.
    """
    rankings = r.rankings if isinstance(r, RankingsInTurn) else [r]
    exposure = np.zeros((len(r.queries), len(groups.names)))
    for each in rankings:
        rows = np.ascontiguousarray(each.rows)
        if only_relevant:
            rows = np.full_like(rows, OUTSIDE)
            rows[each.there] = np.where(each.relevant, each.listed, OUTSIDE)
        work = rows.size * (1 + len(groups.names))
        _expose.run(work, rows, groups.codes, groups.vectors, attention, exposure)
    if len(rankings) == 1:
        return exposure
    number = np.sum([each.retrieved > 0 for each in rankings], axis=0)
    exposure /= np.maximum(number, 1)[:, None]
    return exposure


@kernel
def _expose(rows: Ints, codes: Ints, vectors: Floats, attention: Floats, exposure: Floats) -> None:
    """Add to the groups of each ranking's items what each of these gets at its rank."""
    for ranking in range(rows.shape[0]):
        for rank in range(rows.shape[1]):
            row = rows[ranking, rank]
            if row >= 0 and codes[row] >= 0:
                for group in range(exposure.shape[1]):
                    exposure[ranking, group] += attention[rank] * vectors[codes[row], group]
