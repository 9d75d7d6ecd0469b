"""What the tests of relations record of themselves."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from support.counts import number_of
from support.relations import COUNTED, MEASURES


@pytest.fixture(autouse=True)
def _counted(
    request: pytest.FixtureRequest, record_property: Callable[..., None]
) -> Iterator[None]:
    """Count the values that a numbered relation compares."""
    COUNTED.clear()
    yield
    if re.match(r"test_\d\d_", request.node.name):
        counts = number_of(request.node.name), len(MEASURES), sum(COUNTED)
        record_property("relation", counts)
