"""irbatch: ranking evaluation for large batches.

Every measure at every cutoff comes out of one pass over padded relevance matrices
(queries x ranks). Start with `evaluate`; `irbatch measures` on the command line lists what there
is to measure.
"""

from typing import TYPE_CHECKING, Any

from irbatch.version import __version__

if TYPE_CHECKING:
    from irbatch.comparing.compare import compare, compare_results
    from irbatch.comparing.comparison import Comparison
    from irbatch.comparing.explain import explain
    from irbatch.comparing.explanation import Explanation
    from irbatch.data.about_items import Groups, label_propensities, popularity_propensities
    from irbatch.data.items import DocumentCosts, ItemStatistics
    from irbatch.data.marked import ProbabilityQrels, StratumQrels, SubtopicQrels
    from irbatch.data.qrels import Qrels
    from irbatch.data.runs import Run
    from irbatch.efficiency import EfficiencyRecord
    from irbatch.engine.judged import JudgedRanks
    from irbatch.engine.matrix import RelevanceMatrix
    from irbatch.engine.scan import PrefixStatistics
    from irbatch.errors import InputError, InputWarning
    from irbatch.evaluation.batches import BatchEvaluator
    from irbatch.evaluation.embeddings import evaluate_embeddings
    from irbatch.evaluation.partial import PartialResult, evaluate_partition, merge_partials
    from irbatch.evaluation.queries import Counts
    from irbatch.evaluation.ranked import evaluate_ids, evaluate_matrix
    from irbatch.evaluation.results import Results
    from irbatch.evaluation.runs import evaluate, evaluate_runs, session_dcg
    from irbatch.evaluation.scores import evaluate_scores, evaluate_triples
    from irbatch.evaluation.sequences import evaluate_sequences
    from irbatch.evaluation.systems import SystemResults
    from irbatch.formats.files import (
        read_probability_qrels,
        read_qrels,
        read_run,
        read_stratum_qrels,
        read_subtopic_qrels,
    )
    from irbatch.leaderboard import Leaderboard
    from irbatch.measures import (
        Measure,
        define_discount,
        define_gain,
        define_measure,
        measure,
        parse_measures,
    )
    from irbatch.runtime.build_kernels import warmup

__all__ = [
    "BatchEvaluator", "Comparison", "Counts", "DocumentCosts", "EfficiencyRecord",
    "Explanation", "Groups", "InputError", "InputWarning", "ItemStatistics", "JudgedRanks",
    "Leaderboard",
    "Measure", "PartialResult", "PrefixStatistics", "ProbabilityQrels", "Qrels",
    "RelevanceMatrix", "Results", "Run", "StratumQrels", "SubtopicQrels", "SystemResults",
    "__version__", "compare", "compare_results", "define_discount", "define_gain",
    "define_measure", "evaluate", "evaluate_embeddings", "evaluate_ids", "evaluate_matrix",
    "evaluate_partition", "evaluate_runs", "evaluate_scores", "evaluate_sequences",
    "evaluate_triples", "explain", "label_propensities", "measure", "merge_partials",
    "parse_measures", "popularity_propensities", "read_probability_qrels", "read_qrels",
    "read_run", "read_stratum_qrels", "read_subtopic_qrels", "session_dcg", "warmup",
]  # fmt: skip

# Where each name is. Everything is loaded when it is asked for: a command chooses how NumPy is
# loaded, and a process that evaluates nothing loads nothing.
PLACES = {
    "comparing": ("Comparison", "compare", "compare_results"),
    "comparing.explain": ("explain",),
    "comparing.explanation": ("Explanation",),
    "data.about_items": ("Groups", "label_propensities", "popularity_propensities"),
    "data.items": ("DocumentCosts", "ItemStatistics"),
    "data.qrels": ("Qrels",),
    "data.runs": ("Run",),
    "data.marked": ("ProbabilityQrels", "StratumQrels", "SubtopicQrels"),
    "efficiency": ("EfficiencyRecord",),
    "engine.judged": ("JudgedRanks",),
    "engine.matrix": ("RelevanceMatrix",),
    "engine.scan": ("PrefixStatistics",),
    "errors": ("InputError", "InputWarning"),
    "evaluation.batches": ("BatchEvaluator",),
    "evaluation.embeddings": ("evaluate_embeddings",),
    "evaluation.partial": ("PartialResult", "evaluate_partition", "merge_partials"),
    "evaluation.queries": ("Counts",),
    "evaluation.ranked": ("evaluate_ids", "evaluate_matrix"),
    "evaluation.results": ("Results",),
    "evaluation.runs": ("evaluate", "evaluate_runs", "session_dcg"),
    "evaluation.scores": ("evaluate_scores", "evaluate_triples"),
    "evaluation.sequences": ("evaluate_sequences",),
    "evaluation.systems": ("SystemResults",),
    "formats.files": ("read_probability_qrels", "read_qrels", "read_run", "read_stratum_qrels",
                "read_subtopic_qrels"),
    "leaderboard": ("Leaderboard",),
    "measures": ("Measure", "define_discount", "define_gain", "define_measure", "measure",
                 "parse_measures"),
    "runtime.build_kernels": ("warmup",),
}  # fmt: skip
PACKAGES = {"integrations", *(place.partition(".")[0] for place in PLACES)}


def __getattr__(name: str) -> Any:
    """Load what is asked for."""
    from importlib import import_module

    for place, names in PLACES.items():
        if name in names:
            globals()[name] = found = getattr(import_module(f"irbatch.{place}"), name)
            return found
    if name in PACKAGES:
        return import_module(f"irbatch.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Name what is for users, loaded or not."""
    return [*__all__, "__doc__", "__name__", "__path__"]
