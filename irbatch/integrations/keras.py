"""Keras: measures of rankings at the end of an epoch, where other callbacks see them.

from irbatch.integrations.keras import EvaluateRanking

ranking = EvaluateRanking((features, labels), "nDCG@10 RR@10")
stopping = keras.callbacks.EarlyStopping("val_nDCG@10", mode="max", patience=3)
history = model.fit(…, callbacks=[ranking, stopping])  # in this order
history.history["val_nDCG@10"]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from irbatch.errors import InputError, imported, kind_of
from irbatch.evaluation.results import Results
from irbatch.integrations.score_batches import evaluator_without_ids, without_last_axis

__all__ = ["EvaluateRanking"]

Callback: Any = imported("Keras' callbacks", "keras", "keras").callbacks.Callback


class EvaluateRanking(Callback):  # type: ignore[misc]
    """Evaluates rankings after an epoch and adds the means to its logs.

    List it before the callbacks that read them, such as EarlyStopping and ModelCheckpoint,
    which need ``mode="max"``: Keras doesn't know which way our measures go.

    Args:
        validation: ``(inputs, labels)``, weights may follow; or batches of those, in anything that
            can be iterated over once an epoch, which ``model.predict`` scores; or a function from
            the model to ``(scores, labels)``. Labels are ``(queries, candidates)``, -100 where
            there is no candidate; scores are of the same shape or with a last axis of 1.
        measures, cutoffs, **settings: as in `irbatch.BatchEvaluator`.
        prefix: put before the names.
        names: how measures are called: see `irbatch.Results.mean`.

    Attributes:
        results: the `irbatch.Results` of the last evaluation, per query; None before.

    Raises:
        InputError: if a measure or an option is not known; and from ``fit``, if scores or labels
            cannot be evaluated.

    >>> ranking = EvaluateRanking(lambda model: ([[0.1, 0.9]], [[1, 0]]), "RR", prefix="test_")
    >>> logs = {}
    >>> ranking.on_epoch_end(0, logs)
    >>> logs
    {'test_RR': 0.5}
    """

    def __init__(
        self,
        validation: Any,
        measures: Any,
        cutoffs: Any = None,
        *,
        prefix: str = "val_",
        names: str = "irbatch",
        **settings: Any,
    ) -> None:
        super().__init__()
        self._evaluator = evaluator_without_ids(measures, cutoffs, **settings)
        again = callable(validation) or isinstance(validation, Iterable)
        if not again or isinstance(validation, Iterator):
            problem = f"{kind_of(validation)} is neither inputs and labels, nor a function, nor "
            problem += "batches that can be had in every epoch, as in a list"
            raise InputError(problem, source="validation")
        self._validation = validation
        self._prefix, self._names = prefix, names
        self.results: Results | None = None

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Evaluate, and add the means to the logs."""
        self.results = self.evaluate()
        if logs is not None:
            means = self.results.mean(self._names)
            logs.update({self._prefix + name: value for name, value in means.items()})

    def evaluate(self) -> Results:
        """Evaluate the model as it is; return the results of all queries."""
        self._evaluator.reset()
        for scores, labels in self._scored():
            self._evaluator.update(without_last_axis(scores, labels), labels)
        return self._evaluator.compute()

    def _scored(self) -> Iterator[tuple[Any, Any]]:
        """Yield scores and labels, batch by batch."""
        if callable(self._validation):
            yield self._validation(self.model)
            return
        whole = isinstance(self._validation, tuple)
        for inputs, labels, *_ in [self._validation] if whole else self._validation:
            yield self.model.predict(inputs, verbose=0), labels
