"""Comparing systems: intervals, tests, corrections, reports and plots.

`irbatch.compare` makes a `Comparison`, `irbatch.explain` an `Explanation`. Beside what they tell
themselves: `irbatch.comparing.plots` draws, `irbatch.comparing.rankings` looks at rankings;
`irbatch.comparing.reproducibility` compares reproduced runs with the original ones.
"""

from typing import TYPE_CHECKING

from irbatch.on_demand import load_on_demand

if TYPE_CHECKING:
    from irbatch.comparing.compare import Comparison, Difference
    from irbatch.comparing.explain import Explanation

__all__ = ["Comparison", "Difference", "Explanation"]

__getattr__, __dir__ = load_on_demand(
    __name__, {"compare": ("Comparison", "Difference"), "explain": ("Explanation",)}
)
