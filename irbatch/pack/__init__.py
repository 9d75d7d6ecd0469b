"""From what callers have to relevance matrices, in bounded blocks."""

from irbatch.pack.block import Block
from irbatch.pack.labels import pack_labels
from irbatch.pack.rows import LabelRows
from irbatch.pack.run import pack_run
from irbatch.pack.scores import TIES, rank_by_score

__all__ = [
    "TIES",
    "Block",
    "LabelRows",
    "pack_labels",
    "pack_run",
    "rank_by_score",
]
