"""Reading judgments and runs from files."""

from irbatch.formats.streams import open_input
from irbatch.formats.trec import QRELS, RUN, parse_table, read_qrels, read_run

__all__ = ["QRELS", "RUN", "open_input", "parse_table", "read_qrels", "read_run"]
