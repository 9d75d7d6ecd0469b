"""Reading judgments and runs from files.

What reads them is loaded when a file is read: it costs a third of importing irbatch.
"""

from irbatch.formats.parts import is_file
from irbatch.formats.read_files import (
    MARKED_QRELS,
    ORDERS,
    check_parts,
    open_run,
    read_marked_qrels,
    read_probability_qrels,
    read_qrels,
    read_rankings,
    read_run,
    read_stratum_qrels,
    read_subtopic_qrels,
    why_not,
)

__all__ = [
    "MARKED_QRELS",
    "ORDERS",
    "check_parts",
    "is_file",
    "open_run",
    "read_marked_qrels",
    "read_probability_qrels",
    "read_qrels",
    "read_rankings",
    "read_run",
    "read_stratum_qrels",
    "read_subtopic_qrels",
    "why_not",
]
