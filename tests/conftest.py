"""What several test modules share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.register_assert_rewrite("refusal", "relations")

REPOSITORY = Path(__file__).parent.parent
# Real runs and judgments with reference outputs; too large, and not free enough, to ship.
REFERENCE_DATA = Path(os.environ.get("IRBATCH_DATA", REPOSITORY.parent / "shared" / "data"))


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """The folder of real evaluation data; tests that need it skip where it is absent."""
    if not REFERENCE_DATA.is_dir():
        pytest.skip(f"no reference data at {REFERENCE_DATA} (set IRBATCH_DATA)")
    return REFERENCE_DATA


@pytest.fixture
def digits() -> Path:
    """The example data set that ships with the project."""
    return REPOSITORY / "examples" / "data"
