"""What it costs to read documents, for measures of users who go by it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.data.items import ItemStatistics
from irbatch.errors import InputError, many, shown
from irbatch.runtime.numbers import check_number, missed_limit

SOURCE = "costs"  # what errors call them


class DocumentCosts:
    """What documents cost those who look at them: seconds, characters, or any other unit.

    Args:
        costs: document to cost, a number above 0; or, with `types`, type to cost.
        types: document to type, such as ``"web"`` or ``"news"``.
        highest: the cost of documents that have none and, as rankings go on to ``max_n``, of what
            is past their ends; default: the highest there is.
        lowest: what these cost at best, of which residuals take account; default: the lowest.

    Raises:
        InputError: naming the document or type whose cost is no number above 0.

    >>> import irbatch
    >>> costs = irbatch.DocumentCosts({"web": 1, "pdf": 2}, types={"d1": "web", "d2": "pdf"})
    >>> qrels, run = {"q": {"d1": 1}}, {"q": {"d2": 2.0, "d1": 1.0}}
    >>> irbatch.evaluate(qrels, run, "BPM(number={ETU,ETC})", costs=costs).mean()
    {'BPM(number=ETU)': 1.0, 'BPM(number=ETC)': 3.0}
    """

    def __init__(
        self,
        costs: Mapping[Any, float],
        *,
        types: Mapping[Any, Any] | None = None,
        lowest: float | None = None,
        highest: float | None = None,
    ) -> None:
        known = _read_costs(costs, "document" if types is None else "type")
        if types is not None:
            if not isinstance(types, Mapping):
                problem = f"types are a mapping of documents to types, not {shown(types)}"
                raise InputError(problem, source=SOURCE)
            found = {each: known.get(kind) for each, kind in types.items()}
            known_documents = {each: cost for each, cost in found.items() if cost is not None}
            if not known_documents:
                problem = f"no document is of a type that has a cost, such as {shown(min(known))}"
                raise InputError(problem, source=SOURCE)
        else:
            known_documents = known
        least, most = min(known.values()), max(known.values())
        self.lowest = least if lowest is None else check_number("lowest", lowest, above=0.0)
        self.highest = most if highest is None else check_number("highest", highest, above=0.0)
        if self.lowest > self.highest:
            problem = f"lowest={self.lowest:g} is above the highest cost, {self.highest:g}"
            raise InputError(problem, source=SOURCE, value=self.lowest)
        self.documents = ItemStatistics(list(known_documents), outside="ignore")
        # One more than documents: NaN, of those that have none.
        self._costs: Floats = np.array([*known_documents.values(), np.nan])

    def __repr__(self) -> str:
        return f"<DocumentCosts: {many(len(self.documents), 'document')}>"

    @property
    def fingerprint(self) -> str:
        """What results say of them."""
        others = f"{self.lowest:g} to {self.highest:g}"
        return f"of {len(self.documents)} documents; {others} of others"

    def of_items(self, rows: Any) -> Floats:
        """Return the costs of items, NaN of those below 0: float64, shaped as they."""
        return self._costs[np.maximum(rows, -1)]


def as_costs(costs: object) -> DocumentCosts:
    """Return costs, which may come as a mapping of documents."""
    if isinstance(costs, DocumentCosts):
        return costs
    if isinstance(costs, Mapping):
        return DocumentCosts(costs)
    problem = f"costs are a mapping of documents to costs, or DocumentCosts, not {shown(costs)}"
    raise InputError(problem, source=SOURCE, value=costs)


def _read_costs(costs: object, of_what: str) -> dict[Any, float]:
    if not isinstance(costs, Mapping) or not costs:
        problem = f"costs are a mapping of {of_what}s to numbers above 0, not {shown(costs)}"
        raise InputError(problem, source=SOURCE, value=costs)
    for each, cost in costs.items():
        if (wanted := missed_limit(cost, above=0.0)) is not None:
            place = {"document": each} if of_what == "document" else {}
            named = "" if place else f" of type {each!r}"
            problem = f"cost {shown(cost)}{named} must be {wanted}"
            raise InputError(problem, source=SOURCE, value=cost, **place)
    return {each: float(cost) for each, cost in costs.items()}
