"""Reports of a comparison: for a terminal, a README, a paper, a browser, and for programs."""

from irbatch.comparing.report.data import means_to_pandas, to_csv, to_json, to_means_csv, to_pandas
from irbatch.comparing.report.html import to_html
from irbatch.comparing.report.latex import to_latex
from irbatch.comparing.report.markdown import to_markdown
from irbatch.comparing.report.text import to_text

__all__ = [
    "means_to_pandas",
    "to_csv",
    "to_html",
    "to_json",
    "to_latex",
    "to_markdown",
    "to_means_csv",
    "to_pandas",
    "to_text",
]
