"""Comparing systems: intervals, tests, corrections, reports, plots and diagnosis.

`irbatch.compare` and `irbatch.compare_results` make a `Comparison`. Beside what it tells itself:
`irbatch.comparing.plots` draws, `irbatch.comparing.diagnosis` looks at single queries, and
`irbatch.comparing.correlation` at rankings and at the systems' order under different measures;
`irbatch.comparing.reproducibility` compares reproduced runs with the original ones.
"""

from irbatch.comparing.compared import Difference
from irbatch.comparing.comparison import Comparison
from irbatch.comparing.verbs import compare, compare_results

__all__ = ["Comparison", "Difference", "compare", "compare_results"]
