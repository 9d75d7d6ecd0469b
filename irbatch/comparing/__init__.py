"""Comparing systems: intervals, tests, corrections, reports, plots and diagnosis.

`irbatch.compare` and `irbatch.compare_results` make a `Comparison`. Beside what it tells itself:
`irbatch.comparing.plots` draws, `irbatch.comparing.diagnosis` looks at single queries, and
`irbatch.comparing.rankings` at rankings and at the systems' order under different measures;
`irbatch.comparing.reproducibility` compares reproduced runs with the original ones.
"""

from irbatch.comparing.compare import compare, compare_results
from irbatch.comparing.comparison import Comparison, Difference

__all__ = ["Comparison", "Difference", "compare", "compare_results"]
