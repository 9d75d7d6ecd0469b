"""A leaderboard as a table for a paper."""

from __future__ import annotations

from typing import Any, Unpack

from irbatch.leaderboard.document import TableOptions, make_document
from irbatch.leaderboard.systems import Systems
from irbatch.report.latex import LatexOptions, write_document


class PaperOptions(TableOptions, LatexOptions):
    """What the table has, and how it stands in a paper."""


def write_paper(board: Systems, **options: Unpack[PaperOptions]) -> str:
    """Write the report in LaTeX; see `Leaderboard.to_latex`."""
    given: dict[str, Any] = {"label": "tab:leaderboard", **options}
    of_table = {name: given.pop(name) for name in TableOptions.__annotations__ if name in given}
    return write_document(make_document(board, **of_table), **given)
