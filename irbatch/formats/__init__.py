"""Reading judgments and runs from files."""

from irbatch.formats.trec import read_qrels, read_run

__all__ = ["read_qrels", "read_run"]
