"""An evaluator of batches, called in any order: as one evaluation of the updates that count."""

from __future__ import annotations

import copy
import json
import pickle
from random import Random
from typing import Any

import numpy as np

import irbatch
from fuzz.target import Target
from irbatch.errors import InputError

MEASURES = "nDCG@3 RR AP NumRelRet"
Step = tuple[Any, ...]  # what is done, and with what numbers

KINDS = ("update", "update", "update", "bad", "compute", "pickle", "state", "json", "merge", "copy",
         "reset", "ids", "add", "fail")  # fmt: skip


class Batches(Target):
    """Calls of one evaluator, and what a list of the updates that count says."""

    name, share = "batches", 1

    def generate(self, rng: Random) -> list[Step]:
        steps: list[Step] = [(rng.choice(("queries", "queries", "sums")), rng.random() < 0.5)]
        for _ in range(rng.randrange(1, 9)):
            kind = KINDS[int(rng.random() * len(KINDS))]
            if kind == "reset" and rng.random() < 0.6:
                kind = "update"
            steps.append((kind, rng.randrange(1 << 30), rng.randrange(1, 4)))
        return steps

    def check(self, given: list[Step]) -> None:
        if not given or len(given[0]) != 2:
            return
        keep, named = given[0][0] or "queries", bool(given[0][1]) and given[0][0] != "sums"
        evaluator = irbatch.BatchEvaluator(MEASURES, keep=keep, repeated="error")
        model: list[tuple[Any, Any, list[str] | None]] = []
        for place, step in enumerate(given[1:]):
            kind, seed, rows = step
            if kind in ("update", "bad", "fail", "ids", "merge", "add"):
                evaluator = _change(evaluator, model, kind, seed, max(1, rows), place, named)
            elif kind == "reset":
                evaluator.reset()
                model.clear()
            else:
                evaluator = _keep(evaluator, kind)
            _compare(evaluator, model, named, keep)


def _batch(seed: int, rows: int, place: int, named: bool) -> tuple[Any, Any, list[str] | None]:
    rng = np.random.default_rng(seed)
    scores = rng.permuted(np.tile(np.arange(6.0), (rows, 1)), axis=1)
    labels = rng.integers(0, 3, (rows, 6))
    ids = [f"q{place}-{row}" for row in range(rows)] if named else None
    return scores, labels, ids


def _change(
    evaluator: irbatch.BatchEvaluator, model: list[Any], kind: str, seed: int, rows: int,
    place: int, named: bool,
) -> irbatch.BatchEvaluator:  # fmt: skip
    scores, labels, ids = batch = _batch(seed, rows, place, named)
    more = {} if ids is None else {"query_ids": ids}
    if kind == "bad":
        damaged = scores.copy()
        damaged[seed % rows, seed % 6] = np.nan
        _refused(evaluator, damaged, labels, more)
        _refused(evaluator, scores, labels[:, :5], more)
        _refused(evaluator, scores, labels.astype(object), {"query_ids": [b"x"] * rows})
        return evaluator
    if kind == "fail":
        _refused(evaluator, Failing(), labels, more, RuntimeError)
        return evaluator
    if kind == "merge":
        other = irbatch.BatchEvaluator(MEASURES, keep=evaluator._options["keep"])
        other.update(scores, labels, **more)
        evaluator.merge(other)
    elif kind == "add" and evaluator._options["keep"] == "queries":
        evaluator.add(irbatch.evaluate_scores(scores, labels, MEASURES, **more))
    elif kind == "ids":
        order = np.argsort(-scores, axis=1)
        relevant = [dict(enumerate(row)) for row in labels.tolist()]
        evaluator.update_ids(order.tolist(), relevant, **more)
    else:
        before = scores.copy(), labels.copy()
        evaluator.update(scores, labels, **more)
        if ids is not None and seed % 3 == 0:
            evaluator.update(scores, labels, **more)  # the same again counts once
        assert (scores == before[0]).all()
        assert (labels == before[1]).all()
    model.append(batch)
    return evaluator


class Failing:
    """Scores that cannot be read."""

    shape = (2, 6)
    ndim = 2

    def __array__(self, *_: object, **__: object) -> Any:
        raise RuntimeError("no memory on the device")


def _refused(evaluator: Any, scores: Any, labels: Any, more: Any, error: type = InputError) -> None:
    before = len(evaluator), evaluator.repeats
    try:
        evaluator.update(scores, labels, **more)
    except (InputError, error):
        assert (len(evaluator), evaluator.repeats) == before
    else:
        raise AssertionError("a batch without meaning was taken")


def _keep(evaluator: irbatch.BatchEvaluator, kind: str) -> irbatch.BatchEvaluator:
    """Go on with what was written and read again."""
    if kind == "pickle":
        return pickle.loads(pickle.dumps(evaluator))  # type: ignore[no-any-return]
    if kind == "copy":
        return copy.deepcopy(evaluator)
    if kind in ("state", "json"):
        state = evaluator.state_dict()
        state = json.loads(json.dumps(state)) if kind == "json" else state
        fresh = irbatch.BatchEvaluator(MEASURES, keep=evaluator._options["keep"])
        fresh.load_state_dict(state)
        return fresh
    if len(evaluator):
        evaluator.compute()
    return evaluator


def _compare(evaluator: irbatch.BatchEvaluator, model: list[Any], named: bool, keep: str) -> None:
    assert len(evaluator) == sum(len(scores) for scores, _, _ in model)
    if not model:
        return
    scores, labels = (np.concatenate([each[at] for each in model]) for at in (0, 1))
    ids = [each for batch in model for each in batch[2]] if named else None
    whole = irbatch.evaluate_scores(scores, labels, MEASURES, query_ids=ids)
    found = evaluator.compute()
    assert found.mean() == whole.mean(), (found.mean(), whole.mean())
    assert found.counts == whole.counts
    if keep == "queries":
        assert found.values.tobytes() == whole.values.tobytes()
        assert found.query_ids == whole.query_ids
