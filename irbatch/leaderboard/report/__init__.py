"""Reports of a leaderboard: for a terminal, a README, a paper, a browser, and for programs."""

from irbatch.leaderboard.report.data import to_csv, to_json, to_pandas
from irbatch.leaderboard.report.html import to_html
from irbatch.leaderboard.report.latex import to_latex
from irbatch.leaderboard.report.markdown import to_markdown
from irbatch.leaderboard.report.text import to_text

__all__ = ["to_csv", "to_html", "to_json", "to_latex", "to_markdown", "to_pandas", "to_text"]
