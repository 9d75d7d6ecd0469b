"""Beyond accuracy: what a system takes to answer queries, in time, memory, disk, energy and money.

An `EfficiencyRecord` says it of one system; `irbatch.leaderboard` puts it beside the accuracy of
several. `measure_search` has one query come when the last one is answered (a closed loop),
`measure_load` has them come at a rate (an open loop).
"""

from irbatch.efficiency.interchange import Quantity, annotate_run
from irbatch.efficiency.load import Load, LoadAtRate, measure_load
from irbatch.efficiency.measure import Measurement, measure_search
from irbatch.efficiency.record import QUANTITIES, EfficiencyRecord, Hardware, Latency

__all__ = [
    "QUANTITIES", "EfficiencyRecord", "Hardware", "Latency", "Load", "LoadAtRate", "Measurement",
    "Quantity", "annotate_run", "measure_load", "measure_search",
]  # fmt: skip
