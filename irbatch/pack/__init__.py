"""From what callers have to relevance matrices, in bounded blocks."""

from irbatch.pack.block import Block
from irbatch.pack.run import pack_run
from irbatch.pack.shortening import shortened

__all__ = ["Block", "pack_run", "shortened"]
