"""Reading judgments and runs from files."""

from irbatch.formats.files import ORDERS, open_run, read_qrels, read_run
from irbatch.formats.forms import QRELS, RUN
from irbatch.formats.lines import parse_table
from irbatch.formats.reading import Reader
from irbatch.formats.streams import numbered_lines

__all__ = [
    "ORDERS",
    "QRELS",
    "RUN",
    "Reader",
    "numbered_lines",
    "open_run",
    "parse_table",
    "read_qrels",
    "read_run",
]
