"""irbatch: ranking evaluation for large batches.

Every measure at every cutoff comes out of one pass over padded relevance matrices
(queries x ranks). Start with `evaluate`; `irbatch measures` on the command line lists what there
is to measure.
"""

from typing import TYPE_CHECKING, Any

from irbatch.errors import InputError, InputWarning
from irbatch.evaluate import evaluate, evaluate_runs
from irbatch.formats import read_qrels, read_run
from irbatch.matrix import RelevanceMatrix
from irbatch.means import Counts, Means
from irbatch.measures import (
    Measure,
    define_discount,
    define_gain,
    define_measure,
    measure,
    parse_measures,
)
from irbatch.prefix import PrefixStatistics
from irbatch.qrels import Qrels
from irbatch.results import Results
from irbatch.runs import Run
from irbatch.version import __version__
from irbatch.warmup import warmup

if TYPE_CHECKING:
    from irbatch.accumulate import BatchEvaluator
    from irbatch.comparing import Comparison, compare, compare_results
    from irbatch.efficiency import EfficiencyRecord
    from irbatch.embeddings import evaluate_embeddings
    from irbatch.evaluate_arrays import evaluate_ids, evaluate_matrix
    from irbatch.leaderboard import Leaderboard
    from irbatch.score_matrices import evaluate_scores, evaluate_triples

__all__ = [
    "BatchEvaluator",
    "Comparison",
    "Counts",
    "EfficiencyRecord",
    "InputError",
    "InputWarning",
    "Leaderboard",
    "Means",
    "Measure",
    "PrefixStatistics",
    "Qrels",
    "RelevanceMatrix",
    "Results",
    "Run",
    "__version__",
    "compare",
    "compare_results",
    "define_discount",
    "define_gain",
    "define_measure",
    "evaluate",
    "evaluate_embeddings",
    "evaluate_ids",
    "evaluate_matrix",
    "evaluate_runs",
    "evaluate_scores",
    "evaluate_triples",
    "measure",
    "parse_measures",
    "read_qrels",
    "read_run",
    "warmup",
]

# Loaded when they are asked for: a tenth of the time of importing irbatch.
LATER = {
    "BatchEvaluator": "accumulate",
    "Comparison": "comparing",
    "EfficiencyRecord": "efficiency",
    "Leaderboard": "leaderboard",
    "compare": "comparing",
    "compare_results": "comparing",
    "evaluate_embeddings": "embeddings",
    "evaluate_ids": "evaluate_arrays",
    "evaluate_matrix": "evaluate_arrays",
    "evaluate_scores": "score_matrices",
    "evaluate_triples": "score_matrices",
}


def __getattr__(name: str) -> Any:
    """Load what evaluates arrays."""
    if name not in LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    globals()[name] = getattr(import_module(f"irbatch.{LATER[name]}"), name)
    return globals()[name]


def __dir__() -> list[str]:
    """Name what is for users, loaded or not."""
    return [*__all__, "__doc__", "__name__", "__path__"]
