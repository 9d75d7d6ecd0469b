"""Comparing systems: intervals, tests, corrections, reports, plots and diagnosis.

`irbatch.compare` makes a `Comparison`, `irbatch.explain` an `Explanation`. Beside what they tell
themselves: `irbatch.comparing.plots` draws, `irbatch.comparing.diagnosis` looks at single queries,
`irbatch.comparing.rankings` at rankings and at the systems' order under different measures;
`irbatch.comparing.reproducibility` compares reproduced runs with the original ones.
"""

from typing import TYPE_CHECKING

from irbatch.on_demand import load_on_demand

if TYPE_CHECKING:
    from irbatch.comparing.compare import compare_results
    from irbatch.comparing.comparison import Comparison, Difference
    from irbatch.comparing.explanation import Explanation

__all__ = ["Comparison", "Difference", "Explanation", "compare_results"]

__getattr__, __dir__ = load_on_demand(
    __name__,
    {
        "compare": ("compare_results",),
        "comparison": ("Comparison", "Difference"),
        "explanation": ("Explanation",),
    },
)
