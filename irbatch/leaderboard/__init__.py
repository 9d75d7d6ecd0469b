"""Systems on one leaderboard: accuracy beside latency, memory and cost, and what to make of it.

A `Leaderboard` joins results and efficiency records; it sorts, filters, finds the Pareto frontier,
weighs, tests accuracy, draws queries anew, and writes itself as a table, a page and a picture.
"""

from irbatch.leaderboard.board import Leaderboard
from irbatch.leaderboard.pareto import Pareto
from irbatch.leaderboard.scores import Scores, Stretch
from irbatch.leaderboard.significance import Significance
from irbatch.leaderboard.stability import Stability

__all__ = ["Leaderboard", "Pareto", "Scores", "Significance", "Stability", "Stretch"]
