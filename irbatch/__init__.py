"""irbatch: ranking evaluation for large batches.

Every measure at every cutoff comes out of one pass over padded relevance matrices
(queries x ranks). Start with `evaluate`; `irbatch measures` on the command line lists what there
is to measure.
"""

from typing import TYPE_CHECKING, Any

from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.engine.matrix import RelevanceMatrix
from irbatch.engine.prefix import PrefixStatistics
from irbatch.errors import InputError, InputWarning
from irbatch.evaluation.counts import Counts
from irbatch.evaluation.means import Means
from irbatch.evaluation.results import Results
from irbatch.evaluation.runs import evaluate, evaluate_runs
from irbatch.formats import read_qrels, read_run
from irbatch.measures import (
    Measure,
    define_discount,
    define_gain,
    define_measure,
    measure,
    parse_measures,
)
from irbatch.version import __version__
from irbatch.warmup import warmup

if TYPE_CHECKING:
    from irbatch.comparing import Comparison, compare, compare_results
    from irbatch.efficiency import EfficiencyRecord
    from irbatch.evaluation.batches import BatchEvaluator
    from irbatch.evaluation.embeddings import evaluate_embeddings
    from irbatch.evaluation.rankings import evaluate_ids, evaluate_matrix
    from irbatch.evaluation.scores import evaluate_scores, evaluate_triples
    from irbatch.leaderboard import Leaderboard

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
    "BatchEvaluator": "evaluation.batches",
    "Comparison": "comparing",
    "EfficiencyRecord": "efficiency",
    "Leaderboard": "leaderboard",
    "compare": "comparing",
    "compare_results": "comparing",
    "evaluate_embeddings": "evaluation.embeddings",
    "evaluate_ids": "evaluation.rankings",
    "evaluate_matrix": "evaluation.rankings",
    "evaluate_scores": "evaluation.scores",
    "evaluate_triples": "evaluation.scores",
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
