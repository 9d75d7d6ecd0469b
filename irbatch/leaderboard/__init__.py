"""Systems on one leaderboard: accuracy beside latency, memory and cost, and what to make of it.

A `Leaderboard` joins results and efficiency records; it sorts, filters, finds the Pareto frontier,
tests accuracy, and writes itself as a table, a page and a picture.
"""

from irbatch.leaderboard.board import Leaderboard
from irbatch.leaderboard.rows import Pareto, Significance

__all__ = ["Leaderboard", "Pareto", "Significance"]
