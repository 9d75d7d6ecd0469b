"""Reading judgments and runs from files."""

from irbatch.formats.lines import QRELS, RUN, parse_table
from irbatch.formats.streams import numbered_lines
from irbatch.formats.trec import read_large_run, read_qrels, read_run

__all__ = [
    "QRELS",
    "RUN",
    "numbered_lines",
    "parse_table",
    "read_large_run",
    "read_qrels",
    "read_run",
]
