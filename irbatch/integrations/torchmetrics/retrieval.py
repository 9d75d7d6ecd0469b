"""The metric that takes flat columns, as torchmetrics' own Retrieval metrics do."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from irbatch.errors import InputError, shown, warnings_kept
from irbatch.integrations.score_batches import evaluator_without_ids, pad_queries
from irbatch.integrations.torchmetrics.exact import ExactMetric, as_whole, torch
from irbatch.runtime.arrays import uncompiled
from irbatch.runtime.numbers import check_choice

EMPTY_TARGET = {"neg": 0.0, "pos": 1.0, "skip": None, "error": None}
AGGREGATIONS = ("mean", "median", "min", "max")


class RetrievalMetric(ExactMetric):
    """Measures of rankings given as flat columns, for torchmetrics' ``Retrieval`` metrics.

    The documents of a query may be spread over batches and processes: all are kept, 24 bytes each,
    and ranked when `compute` is called. Values are those of torchmetrics on rankings without equal
    scores, but that it takes what scores 0 or less for not relevant. `RetrievalMAP(top_k=k)` is
    ``AP(norm=found)@k``, and `RetrievalPrecision(top_k=k, adaptive_k=True)` is
    ``P(norm=retrieved)@k``.

    Args:
        measures, cutoffs: as in `irbatch.evaluate`.
        ties: as in `irbatch.evaluate_scores`; ``"index"`` is the order of arrival.
        empty_target_action: what a query without relevant documents counts as: ``"neg"``, 0;
            ``"pos"``, 1; ``"skip"``, nothing; ``"error"`` rejects it.
        ignore_index: documents of this target are left out.
        aggregation: ``"mean"``, ``"median"``, ``"min"`` or ``"max"`` over queries, or a function
            from their values, float64 ``(queries,)``, to a tensor without dimensions.
        **kwargs: torchmetrics' own, such as ``dist_sync_on_step``.

    Raises:
        InputError: if a measure or an option is not known; and from `update`, if columns differ in
            shape or are not numbers. The state is then as it was before.

    >>> metric = RetrievalMetric("RR")
    >>> metric.update(preds=[0.2, 0.3, 0.5], target=[0, 1, 0], indexes=[7, 7, 7])
    >>> metric.compute()
    tensor(0.5000, dtype=torch.float64)
    """

    def __init__(
        self,
        measures: Any,
        cutoffs: Any = None,
        *,
        ties: str = "expected",
        empty_target_action: str = "neg",
        ignore_index: int | None = None,
        aggregation: str | Callable[[Any], Any] = "mean",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._evaluator = evaluator_without_ids(measures, cutoffs, ties=ties, no_relevant="skip")
        check_choice("empty_target_action", empty_target_action, EMPTY_TARGET)
        if not callable(aggregation):
            check_choice("aggregation", aggregation, AGGREGATIONS)
        if ignore_index is not None and not isinstance(ignore_index, int):
            problem = f"{shown(ignore_index)} is not a whole number"
            raise InputError(problem, source="ignore_index", value=ignore_index)
        self._empty, self._ignored = empty_target_action, ignore_index
        self._aggregation = aggregation
        # The metrics of a collection may share this state: it is the input itself.
        self.add_state("rows", [], dist_reduce_fx="cat")
        self.widths["rows"] = 3

    @uncompiled
    def update(self, preds: Any, target: Any, indexes: Any) -> None:
        """Add documents: scores, labels and queries (whole numbers), of any one shape."""
        if indexes is None:
            raise InputError("the query of each document is needed", source="indexes")
        arguments = {"indexes": indexes, "preds": preds, "target": target}
        columns = [as_whole(value, name, self.device) for name, value in arguments.items()]
        shapes = [tuple(column.shape) for column in columns]
        if len(set(shapes)) > 1:
            raise InputError(f"indexes, preds and target of shapes {shapes}", source="preds")
        self.rows.append(torch.stack([column.reshape(-1) for column in columns], 1))

    @uncompiled
    def compute(self) -> Any:
        """Return the measures over all queries: a float64 tensor, or name to tensor of several.

        0 where every query is skipped; NaN of no queries.

        Raises:
            InputError: if a query has no relevant document and the action is ``"error"``.
        """
        columns = self.held("rows").T.copy()
        index, scores, grades = columns[0], columns[1].view(float), columns[2].view(float)
        if self._ignored is not None:
            kept = grades != self._ignored
            index, scores, grades = index[kept], scores[kept], grades[kept]
        self._evaluator.reset()
        for queries, cells, lengths in pad_queries(index):
            ids = queries.tolist()
            self._evaluator.update(scores[cells], grades[cells], lengths=lengths, query_ids=ids)
        aggregated = dict.fromkeys(self._evaluator.measures, math.nan)
        if len(self._evaluator):
            # What such queries count as was said, unless by default.
            with nullcontext() if self._empty == "neg" else warnings_kept():
                results: Any = self._evaluator.compute()
            for measure, column in zip(results.columns, results.values.T, strict=True):
                if measure.aggregate == "weighted" and self._aggregation == "mean":
                    column = np.array([results[measure]])  # queries without pairs weigh nothing
                elif (undefined := measure.declaration.undefined) is not None:
                    rel = measure["rel"] if "rel" in measure.declaration.parameters else None
                    relevant = index[grades >= (1 if rel is None else rel)]
                    has_relevant = np.isin(results.query_ids, relevant)  # but nothing else: no pair
                    column = np.where(np.isnan(column) & has_relevant, undefined, column)
                aggregated[str(measure)] = self._aggregate(results.query_ids, column)
        return self.as_tensors(aggregated)

    def _aggregate(self, queries: list[int], values: np.ndarray[Any, Any]) -> float:
        """Aggregate the values of queries; NaN marks a query without relevant documents."""
        empty = np.isnan(values)
        if self._empty == "error" and empty.any():
            raise InputError("there is no relevant document", query=queries[int(empty.argmax())])
        instead = EMPTY_TARGET[self._empty]
        values = values[~empty] if instead is None else np.where(empty, instead, values)
        if not values.size:
            return 0.0
        if self._aggregation == "mean":
            return math.fsum(values.tolist()) / values.size
        tensor = torch.tensor(values)
        if callable(self._aggregation):
            return float(self._aggregation(tensor))
        return float(getattr(tensor, self._aggregation)())
