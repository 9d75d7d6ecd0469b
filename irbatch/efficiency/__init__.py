"""Beyond accuracy: what a system takes to answer queries, in time, memory, disk, energy and money.

An `EfficiencyRecord` says it of one system; `irbatch.leaderboard` puts it beside the accuracy of
several.
"""

from irbatch.efficiency.hardware import Hardware
from irbatch.efficiency.latency import Latency
from irbatch.efficiency.measuring import Measurement, measure
from irbatch.efficiency.quantities import QUANTITIES, Quantity
from irbatch.efficiency.record import FORMULAS, EfficiencyRecord
from irbatch.efficiency.run_header import annotate_run, read_header

__all__ = [
    "FORMULAS",
    "QUANTITIES",
    "EfficiencyRecord",
    "Hardware",
    "Latency",
    "Measurement",
    "Quantity",
    "annotate_run",
    "measure",
    "read_header",
]
