"""The other tools on judgments and runs in memory, each called as its own manual says."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.names import ir_measures_objects, ranx_names, trec_names

__all__ = ["IR_MEASURES", "PEERS", "PYTREC_EVAL", "RANX", "Peer", "means_by_query", "ranx_values"]

Values = dict[str, float]


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
