"""Beyond accuracy: what a system takes to answer queries, in time, memory, disk, energy and money.

An `EfficiencyRecord` says it of one system; `irbatch.leaderboard` puts it beside the accuracy of
several. `measure_search` has one query come when the last one is answered (a closed loop),
`measure_load` has them come at a rate (an open loop). `measure` is the old name of the first.
"""

from irbatch.efficiency.annotating import annotate_run
from irbatch.efficiency.hardware import Hardware
from irbatch.efficiency.indexing import Indexing, measure_indexing
from irbatch.efficiency.interchange.run_header import read_header
from irbatch.efficiency.latency import Latency
from irbatch.efficiency.load.at_rate import LoadAtRate
from irbatch.efficiency.load.load import Load
from irbatch.efficiency.load.measuring import measure_load
from irbatch.efficiency.measuring import Measurement, measure_search
from irbatch.efficiency.quantities import FORMULAS, QUANTITIES, Quantity
from irbatch.efficiency.record import EfficiencyRecord

measure = measure_search

__all__ = [
    "FORMULAS", "QUANTITIES", "EfficiencyRecord", "Hardware", "Indexing", "Latency", "Load",
    "LoadAtRate", "Measurement", "Quantity", "annotate_run", "measure", "measure_indexing",
    "measure_load", "measure_search", "read_header",
]  # fmt: skip
