"""Where the project and the reference data are."""

from __future__ import annotations

import os
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


# Real runs and judgments with reference outputs; too large, and not free enough, to ship.
REFERENCE_DATA = Path(os.environ.get("IRBATCH_DATA", REPOSITORY.parent / "shared" / "data"))
# And with outputs of other tools, of measures that trec_eval doesn't have.
MORE_REFERENCE_DATA = REFERENCE_DATA.parent / "data_more"
