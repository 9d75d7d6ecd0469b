"""What the documents of packed rankings cost, judged or not: they are looked up in rank order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from irbatch.array_types import Positions
from irbatch.data.items import DocumentCosts, as_costs
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.engine.matrix import Costs
from irbatch.engine.ties import Ordering
from irbatch.errors import InputError
from irbatch.pack import Block
from irbatch.pack.items import Wanted, rank_run

DECIDED = ("id", "id_ascending", "index")  # policies of ties that make one ranking, by whatever


def read_costs(costs: object, ties: str, marks: str | None) -> DocumentCosts:
    """Return costs; refuse them beside what leaves open, or takes no part in, who costs what.

    `marks` are what measures read of judgments besides grades.
    """
    if ties not in DECIDED:
        problem = f"ties={ties!r} leaves open in which order documents cost; give one of"
        raise InputError(f"{problem} {', '.join(DECIDED)}", source="ties", value=ties)
    if marks is not None:
        raise InputError(f"no measure of {marks} reads costs", source="costs", value=costs)
    return as_costs(costs)


def add_costs(
    blocks: Iterable[Block],
    known: DocumentCosts,
    qrels: Qrels,
    rows: Positions,
    run: Run,
    ordering: Ordering,
) -> Iterator[Block]:
    """Add what documents cost to blocks of the queries at `rows` of the judgments."""
    wanted = Wanted((None,), in_order=True)
    for block in blocks:
        queries = [qrels.queries[row] for row in rows[block.rows].tolist()]
        costs = np.full((len(queries), block.matrix.depth), np.nan)
        try:
            for places, items in rank_run(known.documents, run, queries, wanted, ordering):
                costs[places, : items.shape[1]] = known.of_items(items)
        except InputError as problem:
            source = "costs" if problem.source == "items" else problem.source
            raise problem.with_fields(source=source) from None
        found = Costs(costs, known.lowest, known.highest)
        yield replace(block, matrix=replace(block.matrix, costs=found))
