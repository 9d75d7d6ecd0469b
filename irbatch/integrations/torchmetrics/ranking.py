"""The metric that takes whole queries, and collections of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from irbatch.data.ids import read_query_ids
from irbatch.errors import InputError, shown
from irbatch.evaluation.batches import BatchEvaluator
from irbatch.evaluation.queries import with_weights
from irbatch.integrations.torchmetrics.exact import ExactMetric, torch, torchmetrics
from irbatch.measures import parse_measures
from irbatch.runtime.arrays import uncompiled
from irbatch.runtime.numbers import is_whole

BEYOND = 1 << 63  # one more than the largest int64
ADDITIVE = ("sums", "counted", "zeros", "counts")  # of the state of a BatchEvaluator


class RankingMetric(ExactMetric):
    """Measures of rankings over all batches of all processes.

    Every query is whole in one batch. In a `MetricCollection` metrics share a state if they are of
    the same measures and settings, and never otherwise. For Lightning's ``self.log_dict`` see
    `make_collection`.

    Args:
        measures, cutoffs, no_relevant: as in `irbatch.evaluate`. Of one measure `compute` returns
            a tensor, of several a dict of names to tensors.
        ties, nan: as in `irbatch.evaluate_scores`.
        keep: ``"sums"``, exact and of a fixed size; or ``"queries"``, the values of every query
            under its id, so that one that a DistributedSampler repeats counts once. Ids are whole
            numbers, such as places in the data set: processes exchange tensors, not text.
        report: the one of several measures that `compute` returns; default: all.
        names: how measures are called, see `irbatch.Results.mean`; ``"as given"``: as each was
            asked for, ``"MRR@10"``.
        **kwargs: torchmetrics' own, such as ``dist_sync_on_step``.

    Raises:
        InputError: if a measure or an option is not known; and from `update`, if scores or labels
            cannot be evaluated. The state is then as it was before.

    >>> import torch
    >>> metric = RankingMetric("nDCG@10 RR")
    >>> metric.update(torch.tensor([[0.1, 0.9, 0.4]]), torch.tensor([[0, 0, 1]]))
    >>> metric.compute()["RR"]
    tensor(0.5000, dtype=torch.float64)
    """

    def __init__(
        self,
        measures: Any,
        cutoffs: Any = None,
        *,
        ties: str = "expected",
        no_relevant: str = "zero",
        keep: str = "sums",
        report: Any = None,
        names: str = "irbatch",
        nan: str = "error",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        options: dict[str, Any] = {"keep": keep, "ties": ties, "no_relevant": no_relevant}
        options["nan"] = nan
        parsed = parse_measures(measures, cutoffs)
        self._evaluator = BatchEvaluator(parsed, **options)
        self._nothing = self._evaluator.state_dict()
        self._keep = keep
        by_name = {str(measure): measure for measure in parsed}
        self._names = {name: measure.spelled(names) for name, measure in by_name.items()}
        self._report = None if report is None else ", ".join(map(str, parse_measures(report)))
        if self._report is not None and self._report not in by_name:
            problem = f"{self._report} is not one of {', '.join(by_name)}"
            raise InputError(problem, source="report", value=report)
        # A collection merges metrics of states of the same names and first values.
        what = f"{', '.join(by_name)} (ties {ties}, no relevant {no_relevant}, NaN {nan})"
        columns = len(with_weights(list(by_name.values())))
        self._rows, self._sums = f"queries of {what}", dict[str, str]()
        if keep == "queries":
            self.widths[self._rows] = 2 + columns  # id, marks, values
            self.add_state(self._rows, [], dist_reduce_fx="cat")
            return
        for part, array in self._nothing.items():
            if part in ADDITIVE:
                self._sums[part] = f"{part} of {what}"
                self.add_state(self._sums[part], torch.tensor(array), dist_reduce_fx="sum")

    @uncompiled
    def update(
        self,
        scores: Any = None,
        relevance: Any = None,
        *,
        preds: Any = None,
        target: Any = None,
        positives: Any = None,
        mask: Any = None,
        lengths: Any = None,
        exclude: Any = None,
        n_relevant: Any = None,
        document_ids: Any = None,
        query_ids: Any = None,
    ) -> None:
        """Add a batch, perhaps without queries; arguments are as in `irbatch.evaluate_scores`.

        `query_ids`, for ``keep="queries"`` only, are whole numbers, the same in every process.
        `preds` and `target` are torchmetrics' words for scores and relevance, so that a collection
        with its metrics is called by keyword (it gives them alone the ``indexes=``).
        """
        scores = _either(scores, preds, "scores", "preds")
        relevance = _either(relevance, target, "relevance", "target")
        if scores is None:
            raise InputError("the score of each candidate is needed", source="scores")
        ids = self._check_ids(query_ids)
        self._evaluator.reset()
        results = self._evaluator.update(
            scores,
            relevance,
            positives=positives,
            mask=mask,
            lengths=lengths,
            exclude=exclude,
            n_relevant=n_relevant,
            document_ids=document_ids,
            query_ids=ids,
        )
        if self._keep == "queries":
            values = results.of_queries.values.view(np.int64)
            parts: list[Any] = [results.query_ids, results.marks, values]
            rows = torch.as_tensor(np.column_stack(parts).astype(np.int64), device=self.device)
            getattr(self, self._rows).append(rows)
            return
        state = self._evaluator.state_dict()
        for part, name in self._sums.items():
            added = torch.tensor(state[part], device=self.device)
            setattr(self, name, getattr(self, name) + added)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({' '.join(self._evaluator.measures)!r}, keep={self._keep!r})"

    @uncompiled
    def compute(self) -> Any:
        """Return the means over all queries of all processes; NaN if there are none.

        A float64 tensor, if one measure is reported; else name to tensor.

        Raises:
            InputError: if ``keep="queries"`` has a query twice, with different values.
        """
        if self._keep == "queries":
            self._load_queries(self.held(self._rows))
        else:
            sums = {part: getattr(self, name).cpu().numpy() for part, name in self._sums.items()}
            self._evaluator.load_state_dict(self._nothing | sums)
        names = self._evaluator.measures if self._report is None else [self._report]
        means: Any = dict.fromkeys(names, math.nan)
        if len(self._evaluator):
            means = self._evaluator.compute()
        return self.as_tensors({self._names[name]: means[name] for name in names})

    def _load_queries(self, rows: np.ndarray[Any, Any]) -> None:
        """Merge all queries into the evaluator, repeated ones after the others."""
        self._evaluator.reset()
        while len(rows):
            ids, first = np.unique(rows[:, 0], return_index=True)
            marks = rows[first, 1].astype(np.uint8)
            values = np.ascontiguousarray(rows[first, 2:]).view(np.float64)
            state = {"query_ids": ids.tolist(), "marks": marks, "values": values}
            self._evaluator.merge(self._nothing | state)
            rows = np.delete(rows, first, axis=0)

    def _check_ids(self, query_ids: Any) -> Any:
        """Return the ids of the queries; they are read with ``keep="queries"`` only."""
        if self._keep != "queries":
            return query_ids  # the evaluator refuses them
        if query_ids is None:
            raise InputError("keep='queries' needs the id of each query", source="query_ids")
        ids = read_query_ids(query_ids) or []
        for query_id in ids:
            if not is_whole(query_id) or not -BEYOND <= query_id < BEYOND:
                problem = f"id {shown(query_id)} is not a whole number of 64 bits"
                problem += ", such as a query's place in the data set"
                raise InputError(problem, source="query_ids", value=query_id)
        return ids


def _either(value: Any, other: Any, name: str, called: str) -> Any:
    """Return an argument that has two names."""
    if value is not None and other is not None:
        raise InputError(f"it is {name} as well: give one of them", source=called)
    return other if value is None else value


def make_collection(
    measures: Any,
    cutoffs: Any = None,
    *,
    prefix: str | None = None,
    names: str = "irbatch",
    **options: Any,
) -> Any:
    """Make a MetricCollection of a metric for each measure, of which only one does the work.

    It is what Lightning's ``self.log_dict`` takes. A dot in a measure's name, which no module's
    name may have, becomes a comma: ``RBP(p=0,8)``.

    Args:
        measures, cutoffs: as in `irbatch.evaluate`.
        prefix: put before the names.
        names: how measures are called, see `irbatch.Results.mean`; ``"as given"``: as each was
            asked for, so that a callback's ``monitor="val/MRR@10"`` finds it.
        **options: those of `RankingMetric`.

    Raises:
        InputError: if a measure or an option is not known.

    >>> list(make_collection("nDCG RR", [5, 10], prefix="val/"))
    ['val/nDCG@5', 'val/nDCG@10', 'val/RR@5', 'val/RR@10']
    >>> list(make_collection("MRR@10", names="as given"))
    ['MRR@10']
    """
    parsed = parse_measures(measures, cutoffs)
    called = {measure: measure.spelled(names).replace(".", ",") for measure in parsed}
    # torchmetrics' collections sort the keys of a dictionary; in groups only the first is updated.
    collection = torchmetrics.MetricCollection({}, prefix=prefix, compute_groups=True)
    for measure, name in called.items():
        collection.add_metrics({name: RankingMetric(parsed, report=measure, **options)})
    return collection
