"""irbatch: ranking evaluation for large batches.

Every measure at every cutoff comes out of one pass over padded relevance matrices
(queries x ranks). Start with `evaluate`; `irbatch measures` on the command line lists what there
is to measure. What is asked for less often stands in `irbatch.data`, `irbatch.evaluation`,
`irbatch.measures`, `irbatch.partial`, `irbatch.comparing`, `irbatch.efficiency`,
`irbatch.leaderboard` and `irbatch.integrations`.
"""

from typing import TYPE_CHECKING

from irbatch.on_demand import load_on_demand
from irbatch.version import __version__

if TYPE_CHECKING:
    from irbatch.comparing.compare import Comparison, compare
    from irbatch.comparing.explain import explain
    from irbatch.data.groups import Groups
    from irbatch.data.items import Items
    from irbatch.data.qrels import Qrels
    from irbatch.data.runs import Run
    from irbatch.efficiency import EfficiencyRecord
    from irbatch.errors import InputError, InputWarning
    from irbatch.evaluation.batches import BatchEvaluator
    from irbatch.evaluation.embeddings import evaluate_embeddings
    from irbatch.evaluation.ranked import evaluate_ids, evaluate_matrix
    from irbatch.evaluation.results import Results
    from irbatch.evaluation.runs import evaluate, evaluate_runs
    from irbatch.evaluation.scores import evaluate_scores
    from irbatch.formats.files import read_qrels, read_run
    from irbatch.leaderboard import Leaderboard
    from irbatch.measures import define_measure, measure

__all__ = [
    "BatchEvaluator", "Comparison", "EfficiencyRecord", "Groups", "InputError", "InputWarning",
    "Items", "Leaderboard", "Qrels", "Results", "Run", "__version__", "compare",
    "define_measure", "evaluate", "evaluate_embeddings", "evaluate_ids",
    "evaluate_matrix", "evaluate_runs", "evaluate_scores", "explain", "measure", "read_qrels",
    "read_run",
]  # fmt: skip

# A command chooses how NumPy is loaded, and a process that evaluates nothing loads nothing.
__getattr__, __dir__ = load_on_demand(
    __name__,
    {
        "comparing.compare": ("Comparison", "compare"),
        "comparing.explain": ("explain",),
        "data.groups": ("Groups",),
        "data.items": ("Items",),
        "data.qrels": ("Qrels",),
        "data.runs": ("Run",),
        "efficiency.record": ("EfficiencyRecord",),
        "errors": ("InputError", "InputWarning"),
        "evaluation.batches": ("BatchEvaluator",),
        "evaluation.embeddings": ("evaluate_embeddings",),
        "evaluation.ranked": ("evaluate_ids", "evaluate_matrix"),
        "evaluation.results": ("Results",),
        "evaluation.runs": ("evaluate", "evaluate_runs"),
        "evaluation.scores": ("evaluate_scores",),
        "formats.files": ("read_qrels", "read_run"),
        "leaderboard.board": ("Leaderboard",),
        "measures": ("define_measure", "measure"),
    },
)
