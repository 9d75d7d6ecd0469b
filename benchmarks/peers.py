"""The other tools on what is in memory, each called as its own manual says."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.names import ir_measures_objects, ranx_names, trec_names
from benchmarks.report import absence

__all__ = [
    "IR_MEASURES",
    "PEERS",
    "PYTREC_EVAL",
    "RANX",
    "SENTENCE_TRANSFORMERS_NAMES",
    "Peer",
    "left_out",
    "means_by_query",
    "ranx_values",
    "sentence_transformers_work",
    "torchmetrics_work",
]

Values = dict[str, float]
Matrix = npt.NDArray[Any]
Work = Callable[[], Values]

TORCHMETRICS = {"AP": "RetrievalMAP", "RR": "RetrievalMRR", "nDCG": "RetrievalNormalizedDCG",
                "R": "RetrievalRecall"}  # fmt: skip
SENTENCE_TRANSFORMERS = {"accuracy@k": "Success", "precision@k": "P", "recall@k": "R",
                         "ndcg@k": "nDCG", "mrr@k": "RR", "map@k": "AP(norm=min)"}  # fmt: skip
# Those that its evaluator computes unless told otherwise.
SENTENCE_TRANSFORMERS_NAMES = (
    "Success@{1,3,5,10} P@{1,3,5,10} R@{1,3,5,10} nDCG@10 RR@10 AP(norm=min)@100"
)
SLOW_IMPORTS = ("torchmetrics", "sklearn", "sentence_transformers")


@dataclass(frozen=True)
class Peer:
    """A tool to compare with.

    Attributes:
        name: what it is called.
        module, package: what is imported, and what is installed.
        evaluate: ``(qrels, run, names)`` to what the tool returns.
        means: that and the names, to name and mean; not timed.
    """

    name: str
    module: str
    package: str
    evaluate: Callable[[Any, Any, list[str]], Any]
    means: Callable[[Any, list[str]], Values]


def means_by_query(found: dict[str, dict[str, float]], names: list[str]) -> Values:
    """Average pytrec_eval's values, which it leaves to its callers."""
    spelled = trec_names(names, "_")
    return {
        name: sum(values[theirs] for values in found.values()) / len(found)
        for theirs, name in spelled.items()
    }


def _pytrec_eval(qrels: Any, run: Any, names: list[str]) -> Any:
    pytrec_eval = importlib.import_module("pytrec_eval")
    return pytrec_eval.RelevanceEvaluator(qrels, set(trec_names(names, "."))).evaluate(run)


def _ir_measures(qrels: Any, run: Any, names: list[str]) -> Any:
    package = importlib.import_module("ir_measures")
    return package.calc_aggregate(list(ir_measures_objects(names)), qrels, run)


def _by_object(found: Any, names: list[str]) -> Values:
    return {name: float(found[theirs]) for theirs, name in ir_measures_objects(names).items()}


def ranx_values(qrels: Any, run: Any, names: list[str]) -> Any:
    """Evaluate what ranx has prepared, on all threads."""
    ranx = importlib.import_module("ranx")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Numba's, of casts in ranx
        return ranx.evaluate(qrels, run, list(ranx_names(names)), make_comparable=False)


def _ranx(qrels: Any, run: Any, names: list[str]) -> Any:
    ranx = importlib.import_module("ranx")
    return ranx_values(ranx.Qrels(qrels), ranx.Run(run), names)


def _by_ranx_name(found: Any, names: list[str]) -> Values:
    return {name: float(found[theirs]) for theirs, name in ranx_names(names).items()}


PYTREC_EVAL = Peer(
    "pytrec_eval", "pytrec_eval", "pytrec_eval-terrier", _pytrec_eval, means_by_query
)
IR_MEASURES = Peer("ir_measures", "ir_measures", "ir_measures", _ir_measures, _by_object)
RANX = Peer("ranx, from dicts", "ranx", "ranx", _ranx, _by_ranx_name)
PEERS = (PYTREC_EVAL, IR_MEASURES, RANX)


def left_out(module: str, package: str, *, quick: bool) -> str | None:
    """Say why there is no comparison with a tool, if there is none."""
    missing = absence(module, package)
    if missing is None and quick and module in SLOW_IMPORTS:
        return "left out by --quick"
    return missing


def torchmetrics_work(scores: Matrix, labels: Matrix, names: list[str]) -> Work:
    """Return what torchmetrics does for a batch, from tensors: update and compute."""
    torch, package = map(importlib.import_module, ("torch", "torchmetrics"))
    metrics = {}
    for name in names:
        family, _, cutoff = name.partition("@")
        kind = getattr(package.retrieval, TORCHMETRICS[family])
        metrics[name] = kind(top_k=int(cutoff)) if cutoff else kind()
    collection = package.MetricCollection(metrics)
    rows = np.repeat(np.arange(len(scores))[:, None], scores.shape[1], axis=1)
    batch = [torch.from_numpy(each) for each in (scores, labels.astype(np.int64), rows)]

    def work() -> Values:
        collection.reset()
        collection.update(batch[0], batch[1], indexes=batch[2])
        return {name: float(value) for name, value in collection.compute().items()}

    return work


def sentence_transformers_work(scores: Matrix, labels: Matrix) -> Work:
    """Return what sentence-transformers computes from the best 100 of each query.

    It finds them as it scores; here they are ready for it, as it keeps them.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # later versions have it elsewhere, too
        package = importlib.import_module("sentence_transformers.evaluation")
    queries, documents = ([str(i) for i in range(size)] for size in scores.shape)
    relevant = {query: {documents[column] for column in np.flatnonzero(row)}
                for query, row in zip(queries, labels, strict=True)}  # fmt: skip
    texts = dict.fromkeys(queries, ""), dict.fromkeys(documents, "")
    evaluator = package.InformationRetrievalEvaluator(*texts, relevant, write_csv=False)
    order = np.argsort(-scores, axis=1)[:, :100]
    best = np.take_along_axis(scores, order, axis=1)
    hits = [
        [{"corpus_id": documents[column], "score": score}
         for column, score in zip(columns, values, strict=True)]
        for columns, values in zip(order.tolist(), best.tolist(), strict=True)
    ]  # fmt: skip

    def work() -> Values:
        return {
            f"{SENTENCE_TRANSFORMERS[family]}@{cutoff}": float(value)
            for family, values in evaluator.compute_metrics(hits).items()
            for cutoff, value in values.items()
        }

    return work
