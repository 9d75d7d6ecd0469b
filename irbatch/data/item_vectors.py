"""Vectors of items whose cosine is their similarity."""

from __future__ import annotations

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.engine.items import Vectors
from irbatch.runtime.ragged import offsets_of


def unit_vectors(embeddings: Floats) -> Vectors:
    """Return float64 ``(items, dimensions)`` at length 1; zeros stay zeros."""
    # Divided by the largest first: squares of enormous or tiny numbers would leave float64.
    largest = np.abs(embeddings).max(axis=1, initial=0.0, keepdims=True)
    scaled = embeddings / np.where(largest == 0, 1.0, largest)
    lengths = np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    numbers = scaled / np.where(lengths == 0, 1.0, lengths)
    width = embeddings.shape[1]
    starts = np.arange(len(embeddings) + 1) * width
    squares = (numbers * numbers).sum(axis=1)
    return Vectors(starts, np.empty(0, np.int64), numbers.reshape(-1), width, squares)


def cooccurrence_of(users: Ints, items: Ints, n_items: int, n_users: int) -> Vectors:
    """Return each item's users, distinct pairs, as a vector of length 1.

    The cosine of two items' is n_ij / sqrt(n_i n_j), where n_ij users had both.
    """
    order = np.argsort(items, kind="stable")
    sizes = np.bincount(items, minlength=n_items)
    numbers = 1.0 / np.sqrt(sizes[items[order]])
    # As the kernel adds up: of the same terms, so that a list of one item is like no other.
    squares = np.bincount(items[order], numbers * numbers, n_items).astype(np.float64)
    return Vectors(offsets_of(sizes), users[order], numbers, n_users, squares)
