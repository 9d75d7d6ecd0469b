"""torchmetrics: rankings as metrics, for Lightning and other loops, on one process or many.

    from irbatch.integrations.torchmetrics import RankingMetric, RetrievalMetric, make_collection

    metric = RankingMetric("nDCG@10 RR")
    metric.update(scores, labels)  # (queries, candidates), as often as there are batches
    metric.compute()  # {'nDCG@10': tensor(0.51, dtype=torch.float64), 'RR': …}

`RankingMetric` takes whole queries, and keeps half a kilobyte a measure however many there are.
`RetrievalMetric` takes flat columns, as torchmetrics' own Retrieval metrics do. Both give the same
bits on any number of processes, batches and orders of them, and all of what they keep is int64:
no ``.to(torch.bfloat16)`` of a model reaches it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

import numpy as np

from irbatch.array_types import Ints
from irbatch.data.ids import read_query_ids
from irbatch.errors import InputError, imported, shown, warnings_kept
from irbatch.evaluation.accumulator import Sums
from irbatch.evaluation.batches import BatchEvaluator
from irbatch.evaluation.queries import with_weights
from irbatch.integrations.score_batches import evaluator_without_ids, pad_queries
from irbatch.measures import parse_measures
from irbatch.runtime.arrays import uncompiled
from irbatch.runtime.numbers import LARGEST_WHOLE, check_choice, grade_problem, number_problem

__all__ = ["RankingMetric", "RetrievalMetric", "make_collection"]

torch = imported("torchmetrics' metrics", "torchmetrics", "torch")
torchmetrics = imported("torchmetrics' metrics", "torchmetrics", "torchmetrics")
Metric: Any = torchmetrics.Metric

ADDITIVE = ("sums", "counted", "zeros", "counts")  # of the state of a BatchEvaluator
EMPTY_TARGET = {"neg": 0.0, "pos": 1.0, "skip": None, "error": None}
AGGREGATIONS = ("mean", "median", "min", "max")


class ExactMetric(Metric):  # type: ignore[misc]
    """A metric whose states are int64, and stay as they were when an update fails."""

    is_differentiable = False
    higher_is_better = True
    full_state_update = False

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        # Of each list state the columns of its tensors; not annotated in the class, where
        # torch.jit.script would read it.
        self.widths: dict[str, int] = {}

    @torch.jit.unused  # type: ignore[untyped-decorator]
    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Update with a batch; return the values of the batch alone."""
        before = dict(self.__dict__)
        lists = {name: list(getattr(self, name)) for name in self.widths}
        try:
            return super().forward(*args, **kwargs)
        except Exception:  # it has put the state aside, and would leave it there
            self.__dict__.update(before)
            self.__dict__.update(lists)
            raise

    def sync(self, *args: Any, **kwargs: Any) -> None:
        """Synchronize; a process without a batch has empty states of the others' shape."""
        for name, width in self.widths.items():
            if isinstance(getattr(self, name), list) and not getattr(self, name):
                nothing = torch.empty((0, width), dtype=torch.int64, device=self.device)
                getattr(self, name).append(nothing)
        super().sync(*args, **kwargs)

    def set_dtype(self, dst_type: Any) -> Any:
        """Leave the states as they are: whole numbers of 64 bits."""
        return self

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Plot values of `compute`, by default the one now, as torchmetrics' metrics do."""
        return self._plot(val, ax)

    def held(self, name: str) -> Ints:
        """Return a list state, synchronized or not, as one matrix."""
        state = getattr(self, name)
        parts = state if isinstance(state, list) else [state]
        nothing = np.empty((0, self.widths[name]), np.int64)
        return np.concatenate([nothing, *(part.cpu().numpy() for part in parts)])

    def as_tensors(self, values: Mapping[str, float]) -> Any:
        """Return numbers as tensors, float64 where the device has that; of one number, it alone."""
        dtype = torch.float32 if self.device.type == "mps" else torch.float64
        make = functools.partial(torch.tensor, dtype=dtype, device=self.device)
        tensors = {name: make(value) for name, value in values.items()}
        return tensors if len(tensors) > 1 else tensors.popitem()[1]


class RankingMetric(ExactMetric):
    """Measures of rankings over all batches of all processes.

    Every query is whole in one batch. In a `MetricCollection` metrics share a state if they are of
    the same measures and settings, and never otherwise. For Lightning's ``self.log_dict`` see
    `make_collection`.

    Args:
        measures, cutoffs, no_relevant: as in `irbatch.evaluate`. Of one measure `compute` returns
            a tensor, of several a dict of names to tensors.
        ties, nan: as in `irbatch.evaluate_scores`.
        by_id: whether the values of every query are kept under its id, so that one that a
            DistributedSampler repeats counts once, not exact sums of a fixed size. Ids are whole
            numbers, such as places in the data set: processes exchange tensors, not text.
        repeated: of ``by_id=True``, what becomes of a query that comes again with other values: an
            ``"error"`` of `compute`, or the ``"first"`` stays.
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
        by_id: bool = False,
        repeated: str = "error",
        report: Any = None,
        names: str = "irbatch",
        nan: str = "error",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        parsed = parse_measures(measures, cutoffs)
        check_choice("by_id", by_id, (False, True))
        shared: Any = {"ties": ties, "no_relevant": no_relevant, "nan": nan, "repeated": repeated}
        self._evaluator = BatchEvaluator(parsed, keep="queries" if by_id else "sums", **shared)
        self._nothing = self._evaluator.state_dict()
        self._by_id = by_id
        by_name = {str(measure): measure for measure in parsed}
        self._names = {name: measure.spelled(names) for name, measure in by_name.items()}
        self._report = None if report is None else ", ".join(map(str, parse_measures(report)))
        if self._report is not None and self._report not in by_name:
            problem = f"{self._report} is not one of {', '.join(by_name)}"
            raise InputError(problem, source="report", value=report)
        # A collection merges metrics of states of the same names and first values.
        what = f"{', '.join(by_name)} ({', '.join(map(' '.join, shared.items()))})"
        columns = len(with_weights(list(by_name.values())))
        self._rows, self._sums = f"queries of {what}", dict[str, str]()
        if by_id:
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
        preds: Any,
        target: Any = None,
        *,
        positives: Any = None,
        mask: Any = None,
        lengths: Any = None,
        exclude: Any = None,
        n_relevant: Any = None,
        document_ids: Any = None,
        query_ids: Any = None,
    ) -> None:
        """Add a batch, perhaps without queries; arguments are as in `irbatch.evaluate_scores`.

        `preds` and `target` are torchmetrics' words for scores and relevance. `query_ids`, for
        ``by_id=True`` only, are whole numbers, the same in every process.
        """
        if query_ids is not None and not self._by_id:
            raise InputError("they are for by_id=True, which counts each once", source="query_ids")
        ids: Any = _read_ids(query_ids) if self._by_id else None
        self._evaluator.reset()
        results = self._evaluator.update(
            preds,
            target,
            positives=positives,
            mask=mask,
            lengths=lengths,
            exclude=exclude,
            n_relevant=n_relevant,
            document_ids=document_ids,
            query_ids=ids,
        )
        if self._by_id:
            values = results.of_queries.values.view(np.int64)
            rows = np.column_stack([ids, results.marks, values]).astype(np.int64)
            getattr(self, self._rows).append(torch.as_tensor(rows, device=self.device))
            return
        sums = Sums.of(results.columns, results.of_queries).arrays
        for part, name in self._sums.items():
            setattr(self, name, getattr(self, name) + torch.from_numpy(sums[part]).to(self.device))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({' '.join(self._evaluator.measures)!r}, by_id={self._by_id})"

    @uncompiled
    def compute(self) -> Any:
        """Return the means over all queries of all processes; NaN if there are none.

        A float64 tensor, if one measure is reported; else name to tensor.

        Raises:
            InputError: if ``by_id=True`` has a query twice, with different values.
        """
        if self._by_id:
            rows = self.held(self._rows)
            ids, marks, values = rows[:, 0].tolist(), rows[:, 1], rows[:, 2:].view(np.float64)
            state: dict[str, Any] = {"query_ids": ids, "marks": marks, "values": values}
        else:
            state = {part: getattr(self, name).cpu().numpy() for part, name in self._sums.items()}
        self._evaluator.load_state_dict(self._nothing | state)
        names = self._evaluator.measures if self._report is None else [self._report]
        means: Any = dict.fromkeys(names, math.nan)
        if len(self._evaluator):
            means = self._evaluator.compute()
        return self.as_tensors({self._names[name]: means[name] for name in names})


def _read_ids(query_ids: Any) -> Ints:
    """Return the ids of queries, which processes exchange: whole numbers."""
    if query_ids is None:
        raise InputError("by_id=True needs the id of each query", source="query_ids")
    ids = np.array(read_query_ids(query_ids))
    if ids.size and ids.dtype.kind != "i":
        problem = f"{shown(query_ids)} are not whole numbers of 64 bits, such as places of queries"
        raise InputError(f"{problem} in the data set", source="query_ids", value=query_ids)
    return ids.astype(np.int64)


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
        self._empty, self._ignored = empty_target_action, ignore_index
        self._aggregation = aggregation
        # The metrics of a collection may share this state: it is the input itself.
        self.add_state("rows", [], dist_reduce_fx="cat")
        self.widths["rows"] = 3

    @uncompiled
    def update(self, preds: Any, target: Any, indexes: Any) -> None:
        """Add documents: scores, labels and queries (whole numbers), of any one shape."""
        arguments = {"indexes": indexes, "preds": preds, "target": target}
        columns = [_as_whole(value, name, self.device) for name, value in arguments.items()]
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


def _as_whole(values: Any, name: str, device: Any) -> Any:
    """Return an int64 tensor: ``"indexes"`` as they are, of others the bits of their float64."""
    whole = name == "indexes"
    try:
        column = torch.as_tensor(values).detach()
    except (TypeError, ValueError, RuntimeError):
        raise InputError(f"{shown(values)} are no numbers", source=name) from None
    kind = column.dtype
    if kind.is_complex or (whole and (kind.is_floating_point or kind == torch.bool)):
        needed = "whole numbers" if whole else "real numbers"
        raise InputError(f"{kind} are no {needed}", source=name)
    if whole:
        return column.to(device, torch.int64)
    if column.device.type == "mps":  # it has no float64
        column = column.cpu()
    numbers = column.to(torch.float64)
    # The largest grade may have been rounded to it.
    sure = numbers.abs() < LARGEST_WHOLE if name == "target" else ~numbers.isnan()
    for number in () if sure.all() else column[~sure].tolist():
        if problem := (grade_problem if name == "target" else number_problem)(number):
            raise InputError(problem, source=name, value=number)
    return numbers.view(torch.int64).to(device)
