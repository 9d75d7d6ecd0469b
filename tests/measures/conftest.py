"""What the tests of relations record of themselves."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from support import relations
from support.counts import number_of


@pytest.fixture(autouse=True)
def _counted(
    request: pytest.FixtureRequest,
    record_property: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Count the values that a numbered relation compares."""
    if re.match(r"test_\d\d_", request.node.name):
        counted: list[int] = []
        monkeypatch.setattr(relations, "COUNTED", counted)
        found = number_of(request.node.name), len(relations.MEASURES), counted
        record_property("relation", found)
