"""From what callers have to relevance matrices, in bounded blocks."""
