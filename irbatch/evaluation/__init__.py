"""The public verbs: from judgments and rankings to results.

`irbatch` itself has the usual ones; groups of documents, sequences of rankings and sessions are
evaluated here.
"""

from typing import TYPE_CHECKING

from irbatch.on_demand import load_on_demand

if TYPE_CHECKING:
    from irbatch.evaluation.queries import Counts
    from irbatch.evaluation.results import SystemResults
    from irbatch.evaluation.sequences import evaluate_groups, evaluate_sequences, session_dcg

__all__ = ["Counts", "SystemResults", "evaluate_groups", "evaluate_sequences", "session_dcg"]

__getattr__, __dir__ = load_on_demand(
    __name__,
    {
        "queries": ("Counts",),
        "results": ("SystemResults",),
        "sequences": ("evaluate_groups", "evaluate_sequences", "session_dcg"),
    },
)
