"""Hugging Face's Trainer: measures of rankings as its ``compute_metrics``.

    from irbatch.integrations.transformers import ComputeMetrics

    TrainingArguments(…, metric_for_best_model="nDCG@10", load_best_model_at_end=True)
    Trainer(model, args, compute_metrics=ComputeMetrics("nDCG@10 RR@10"), …)

The Trainer puts ``eval_`` before the names. Works with ``batch_eval_metrics=True``, where nothing
but values is kept of a batch, and with ``eval_do_concat_batches=False``. Nothing is imported from
transformers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from irbatch.errors import InputError, many, shown
from irbatch.evaluation.results import Results
from irbatch.integrations.score_batches import evaluator_without_ids, pad_queries, without_last_axis
from irbatch.runtime.arrays import to_numpy

__all__ = ["ComputeMetrics"]

PADDING = -100  # what the Trainer fills rows of labels up with


class ComputeMetrics:
    """A ``compute_metrics`` of transformers' Trainer that evaluates rankings.

    The shape of the labels decides how the Trainer's arrays are read:

    - ``(queries, candidates)``: a row is a query. Predictions are the scores, of the same shape or
      with a last axis of 1. A label of -100 is not a candidate, whatever its score.
    - ``(rows,)`` or ``(rows, 1)``, with `query_ids`: a row is a query and a document. Predictions
      are the scores, ``(rows,)`` or ``(rows, 1)``, or the logits of two classes, ``(rows, 2)``,
      whose difference is the score. Rows of a query may be anywhere.

    Of tuples, predictions or labels, the first is meant.

    Args:
        measures, cutoffs, **settings: as in `irbatch.BatchEvaluator`.
        names: how measures are called: see `irbatch.Results.mean`. With ``"as given"``
            ``ComputeMetrics("MRR@10")`` has the name that ``metric_for_best_model="MRR@10"`` means.
        query_ids: which query each row is of: a function from transformers' EvalPrediction to ids,
            or the ids of all rows in the order of the dataset. Surest is to name a column of ids
            among the labels, ``TrainingArguments(label_names=["labels", "query"])``, that the
            model's forward takes and leaves aside, and to read it from there,
            ``query_ids=lambda prediction: prediction.label_ids[1]``: it is gathered from all
            processes as scores are, and in batches, too.

    Attributes:
        results: the `irbatch.Results` of the last whole evaluation, per query; None before.

    Raises:
        InputError: if a measure or an option is not known; and when called, if scores or labels
            cannot be evaluated. All batches of such an evaluation are forgotten.

    >>> from types import SimpleNamespace
    >>> prediction = SimpleNamespace(predictions=[[0.1, 0.9, 5.0]], label_ids=[[1, 0, -100]])
    >>> ComputeMetrics("RR P@1")(prediction)
    {'RR': 0.5, 'P@1': 0.0}
    """

    def __init__(
        self,
        measures: Any,
        cutoffs: Any = None,
        *,
        names: str = "irbatch",
        query_ids: Callable[[Any], Any] | Sequence[Any] | None = None,
        **settings: Any,
    ) -> None:
        self._evaluator = evaluator_without_ids(measures, cutoffs, **settings)
        self._query_ids = query_ids
        self._names = names
        self.results: Results | None = None
        self.reset()

    def __call__(self, prediction: Any, compute_result: bool | None = None) -> dict[str, float]:
        """Evaluate an EvalPrediction of arrays or tensors: name to mean, nothing before the last.

        `compute_result` is None if this is everything; else whether this is the last batch.
        """
        if compute_result is None:
            self.reset()
        try:
            for batch in _batches(prediction):
                self._update(batch)
            if compute_result is not None and not compute_result:
                return {}
            self._rank_pairs()
            results: Any = self._evaluator.compute()
        except BaseException:
            self.reset()
            raise
        self.reset()
        self.results = results
        return results.mean(self._names)

    def reset(self) -> None:
        """Forget the batches of an evaluation that was not finished; `results` stay."""
        self._evaluator.reset()
        self._rows = 0
        self._queries: list[Any] = []  # of pairs, the query of each
        self._pairs: list[tuple[Any, Any]] = []  # scores and grades

    def _update(self, batch: Any) -> None:
        if batch.label_ids is None:
            problem = "the Trainer passed no labels: TrainingArguments(label_names=[…]) names them"
            raise InputError(problem, source="label_ids")
        scores = _array(batch.predictions, "predictions")
        labels = _array(batch.label_ids, "label_ids")
        ids = self._ids(batch, len(labels))
        self._rows += len(labels)
        if ids is not None and labels.shape[1:] in ((), (1,)):
            self._update_pairs(scores, labels.reshape(-1), ids)
            return
        if labels.ndim != 2:
            shape = f"labels of shape {tuple(labels.shape)}"
            raise InputError(f"{shape} need query_ids=, the query of each row", source="label_ids")
        self._evaluator.update(without_last_axis(scores, labels), labels, query_ids=ids)

    def _update_pairs(self, scores: Any, labels: Any, ids: list[Any]) -> None:
        """Add rows of one query and one document."""
        scores = to_numpy(scores, "predictions").astype(np.float64)
        grades = to_numpy(labels, "labels")
        if scores.shape[1:] == (2,):
            scores = scores[:, 1] - scores[:, 0]
        if scores.shape not in ((len(labels),), (len(labels), 1)):
            shapes = f"predictions of shape {tuple(scores.shape)} for {len(labels)} labels"
            raise InputError(f"{shapes}: one score a row, or two logits", source="predictions")
        kept = np.flatnonzero(grades != PADDING)
        self._queries += [ids[row] for row in kept.tolist()]
        self._pairs.append((scores.reshape(-1)[kept], grades[kept]))

    def _rank_pairs(self) -> None:
        """Put the rows of each query together, if there are any, and evaluate them."""
        if not self._pairs:
            return
        place_of: dict[Any, int] = {}
        places = [place_of.setdefault(query, len(place_of)) for query in self._queries]
        queries, index = list(place_of), np.array(places, np.int64)
        scores, grades = (np.concatenate(column) for column in zip(*self._pairs, strict=True))
        for group, cells, lengths in pad_queries(index):
            ids = [queries[place] for place in group.tolist()]
            self._evaluator.update(scores[cells], grades[cells], lengths=lengths, query_ids=ids)

    def _ids(self, batch: Any, rows: int) -> list[Any] | None:
        """Return the query id of each row."""
        if self._query_ids is None:
            return None
        if callable(self._query_ids):
            raw_ids = self._query_ids(batch)
        else:
            raw_ids = self._query_ids[self._rows : self._rows + rows]
        ids = raw_ids.reshape(-1).tolist() if hasattr(raw_ids, "reshape") else list(raw_ids)
        if len(ids) != rows:
            raise InputError(f"{many(len(ids), 'id')} for {many(rows, 'row')}", source="query_ids")
        return ids


def _batches(prediction: Any) -> Iterator[Any]:
    """Yield batches as they are, or those of the lists of ``eval_do_concat_batches=False``."""
    several = prediction.predictions
    listed = several if isinstance(several, list) else []
    if not listed or not isinstance(listed[0], tuple | np.ndarray):
        yield prediction
        return
    inputs = prediction.inputs or [None] * len(several)
    for scores, labels, model_inputs in zip(several, prediction.label_ids, inputs, strict=True):
        yield type(prediction)(predictions=scores, label_ids=labels, inputs=model_inputs)


def _array(value: Any, name: str) -> Any:
    """Return the first array of a tuple, or the array; tensors as they are."""
    first = value[0] if isinstance(value, tuple) else value
    if first is None or not hasattr(first, "ndim"):
        first = np.asarray(first)
    if not first.ndim:
        raise InputError(f"{shown(value)} is no array of rows", source=name)
    return first
