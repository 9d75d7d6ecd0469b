"""How much is generated, and damage to what is: `IRBATCH_EXAMPLES=50` tries as many times more."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

Text = TypeVar("Text", str, bytes)
TIMES = int(os.environ.get("IRBATCH_EXAMPLES", "1"))


def examples(count: int) -> Callable[[Any], Any]:
    """Let Hypothesis try so many examples, the same every time; or many more, and always others."""
    return settings(
        max_examples=count * TIMES,
        deadline=None,
        derandomize=TIMES == 1,
        suppress_health_check=list(HealthCheck),
    )


@st.composite
def damaged(
    draw: st.DrawFn, source: st.SearchStrategy[Text], tokens: Sequence[Text], most: int = 4
) -> Text:
    """Insert, replace, delete and repeat parts of a text."""
    data = draw(source)
    for _ in range(draw(st.integers(0, most))):
        at = draw(st.integers(0, len(data)))
        end = min(len(data), at + draw(st.integers(0, 9)))
        token = draw(st.sampled_from(tokens))
        rests = data[at:], data[end:], data[:end] + data[at:]
        way = draw(st.integers(0, 4))
        ways = token + rests[0], token + rests[1], rests[1], data[at:end] + rests[0], data[:0]
        data = data[:at] + ways[way]
    return data


def composed(heads: Sequence[Text], fragments: Sequence[Text], most: int = 7) -> Any:
    """Put fragments one after the other, behind a head."""
    parts = st.lists(st.sampled_from(fragments), max_size=most)
    return st.builds(
        lambda head, parts: head[:0].join([head, *parts]), st.sampled_from(heads), parts
    )
