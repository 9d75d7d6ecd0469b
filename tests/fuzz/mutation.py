"""Making inputs: fragments of a grammar in any order, and damage to what comes of them."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

Text = TypeVar("Text", str, bytes)

EDITS = (0, 0, 0, 1, 1, 2, 3, 5)  # how often an input is damaged


def compose(rng: Random, heads: Sequence[Text], fragments: Sequence[Text], most: int) -> Text:
    """Put fragments one after the other, behind a head."""
    parts = rng.choices(fragments, k=int(rng.random() * (most + 1)))
    return rng.choice(heads) + fragments[0][:0].join(parts)


def damage(rng: Random, data: Text, tokens: Sequence[Text], edits: int | None = None) -> Text:
    """Insert, replace, delete, repeat and move parts of a text."""
    random = rng.random
    for _ in range(rng.choice(EDITS) if edits is None else edits):
        size = len(data)
        at = int(random() * (size + 1))
        end = at + int(random() * random() * 12)
        kind = int(random() * 7)
        if kind <= 1:
            data = data[:at] + tokens[int(random() * len(tokens))] + data[at:]
        elif kind == 2:
            data = data[:at] + tokens[int(random() * len(tokens))] + data[end:]
        elif kind == 3:
            data = data[:at] + data[end:]
        elif kind == 4:
            data = data[:end] + data[at:]
        elif kind == 5:
            to = int(random() * (size + 1))
            data = data[:to] + data[at:end] + data[to:]
        else:
            data = data[:at] if random() < 0.2 else data[:at] + data[at + 1 :]
    return data
