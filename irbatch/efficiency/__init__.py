"""Beyond accuracy: what a system takes to answer queries, in time, memory, disk, energy and money.

An `EfficiencyRecord` says it of one system; `irbatch.leaderboard` puts it beside the accuracy of
several. `measure` is the old name of `measure_search`.
"""

from irbatch.efficiency.annotating import annotate_run
from irbatch.efficiency.hardware import Hardware
from irbatch.efficiency.interchange.run_header import read_header
from irbatch.efficiency.latency import Latency
from irbatch.efficiency.measuring import Measurement, measure_search
from irbatch.efficiency.quantities import FORMULAS, QUANTITIES, Quantity
from irbatch.efficiency.record import EfficiencyRecord

measure = measure_search

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
    "measure_search",
    "read_header",
]
