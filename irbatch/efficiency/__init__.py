"""Beyond accuracy: what a system takes to answer queries, in time, memory, disk, energy and money.

An `EfficiencyRecord` says it of one system; `irbatch.leaderboard` puts it beside the accuracy of
several. `measure_search` has one query come when the last one is answered (a closed loop),
`measure_load` has them come at a rate (an open loop). `measure` is the old name of the first.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from irbatch.efficiency.annotating import annotate_run
from irbatch.efficiency.hardware import Hardware
from irbatch.efficiency.indexing import Indexing, measure_indexing
from irbatch.efficiency.interchange.run_header import read_header
from irbatch.efficiency.latency import Latency
from irbatch.efficiency.measuring import Measurement, measure_search
from irbatch.efficiency.quantities import FORMULAS, QUANTITIES, Quantity
from irbatch.efficiency.record import EfficiencyRecord

if TYPE_CHECKING:
    from irbatch.efficiency.load.at_rate import LoadAtRate
    from irbatch.efficiency.load.load import Load
    from irbatch.efficiency.load.measuring import measure_load

measure = measure_search

# Loaded when they are asked for: with them come all forms of reports.
LATER = {"Load": "load.load", "LoadAtRate": "load.at_rate", "measure_load": "load.measuring"}

__all__ = [
    "FORMULAS",
    "QUANTITIES",
    "EfficiencyRecord",
    "Hardware",
    "Indexing",
    "Latency",
    "Load",
    "LoadAtRate",
    "Measurement",
    "Quantity",
    "annotate_run",
    "measure",
    "measure_indexing",
    "measure_load",
    "measure_search",
    "read_header",
]


def __getattr__(name: str) -> Any:
    if name not in LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{LATER[name]}"), name)
