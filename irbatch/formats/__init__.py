"""Reading judgments and runs from files.

What reads them is loaded when a file is read: it costs a third of importing irbatch.
"""

from irbatch.formats.read_files import (
    ORDERS,
    open_run,
    read_qrels,
    read_run,
    read_subtopic_qrels,
    why_no_run,
)

__all__ = [
    "ORDERS",
    "open_run",
    "read_qrels",
    "read_run",
    "read_subtopic_qrels",
    "why_no_run",
]
