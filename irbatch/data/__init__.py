"""The nouns of an evaluation: judgments, runs, ids, items, and tables of any framework.

`irbatch` itself has the usual ones; costs of documents and propensities are here.
"""

from typing import TYPE_CHECKING

from irbatch.on_demand import load_on_demand

if TYPE_CHECKING:
    from irbatch.data.items import DocumentCosts, label_propensities, popularity_propensities

__all__ = ["DocumentCosts", "label_propensities", "popularity_propensities"]

__getattr__, __dir__ = load_on_demand(
    __name__, {"items": ("DocumentCosts", "label_propensities", "popularity_propensities")}
)
