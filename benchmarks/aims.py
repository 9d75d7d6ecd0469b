"""What rows of the tables are to reach, each under the key of its row.

All are of the whole sizes. A unit of "× faster" is how many times as long as irbatch the other tool
takes, of "×" how many times as long as the other irbatch takes.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["AIMS", "SMALL", "Aim"]

UNITS = {"× faster": 1, "×": 1, "ms": 1e-3, "s": 1, "MB": 1e6, "GiB": 2**30, "M rows/s": 1e6}


@dataclass(frozen=True)
class Aim:
    """A bound that a figure is to keep.

    Attributes:
        bound, unit: such as 12, "× faster"; `UNITS` says what one of it is.
        least: whether figures are to be at least the bound, or at most.
    """

    bound: float
    unit: str
    least: bool = False

    def __str__(self) -> str:
        return f"{'≥' if self.least else '≤'} {self.bound:g} {self.unit.removesuffix(' faster')}"

    def reached(self, figure: float) -> bool:
        """Tell whether a figure keeps the bound: a ratio, seconds, bytes, or rows a second."""
        value = figure / UNITS[self.unit]
        return value >= self.bound if self.least else value <= self.bound


def faster(times: float) -> Aim:
    """Be at least so many times as fast as the other."""
    return Aim(times, "× faster", least=True)


def seconds(most: float) -> Aim:
    """Take so many seconds at most."""
    return Aim(most, "s")


# Collections of the usual size: queries, documents of each, measures, and how many times faster
# than pytrec_eval the adapter is to be after its first call.
SMALL = ((43, 100, 3, 3), (43, 1_000, 3, 4), (43, 1_000, 34, 4), (250, 1_000, 4, 8))

AIMS: dict[str, Aim] = {
    "dicts, 1 judged, pytrec_eval": faster(18),
    "dicts, 20 judged, pytrec_eval": faster(15),
    "dicts, 60 judged, pytrec_eval": faster(12),
    "dicts, 1 judged, prepared, ranx": faster(60),
    "dicts, 20 judged, prepared, ranx": faster(40),
    "adapter, 1 judged": faster(15),
    "adapter, 20 judged": faster(12),
    "adapter, parse_run": faster(1),
    "adapter, parse_qrel": faster(1),
    **{f"small, {q} × {d}, {m}, first call": faster(1) for q, d, m, _ in SMALL},
    **{f"small, {q} × {d}, {m}, later calls": faster(times) for q, d, m, times in SMALL},
    **{f"small, {q} × {d}, {m}, slowest call": faster(1) for q, d, m, _ in SMALL},
    "cwl, cwl-eval's own set": faster(100),
    "files, trec_eval": faster(22),
    "files, polars": faster(3),
    "files, Parquet": Aim(8, "M rows/s", least=True),
    "commands, eval": faster(8),
    "commands, trec_eval": faster(6),
    "commands, typical": seconds(0.25),
    "commands, typical, warm": seconds(0.03),
    "frames, polars": faster(2),
    "ids, copy": Aim(3, "×"),
    "scores, topk": faster(4),
    "scores, torchmetrics": faster(300),
    "items, coverage": seconds(1),
    "items, coverage and diversity": seconds(1),
    "updates, 32 × 32": Aim(0.15, "ms"),
    "updates, 32 × 1,000": Aim(0.3, "ms"),
    "updates, 256 × 1,000": faster(1),
    "updates, bfloat16": Aim(1.5, "×"),
    "updates, first ones, float32": Aim(50, "ms"),
    "updates, first ones, bfloat16": Aim(50, "ms"),
    "comparing, flips": Aim(3, "×"),
    "comparing, scipy": faster(30),
    "comparing, one pair": seconds(1),
    "comparing, systems": seconds(1),
    "diversity, 1000, objects": faster(2.5),
    "diversity, 1000, judgments": faster(8),
    "diversity, 1000, prepared": faster(12),
    "diversity, 10000, objects": faster(10),
    "diversity, 10000, judgments": faster(25),
    "diversity, 10000, prepared": faster(100),
    "scores, labels": faster(100),
    "similarity, Compat": Aim(2, "×"),
    "similarity, overlap": Aim(6, "×"),
    "similarity, tied": Aim(10, "×"),
    "similarity, rbo": faster(3),
    "scan, copy": Aim(2.8, "×"),
    "scan, formulas": Aim(0.4, "×"),
    "scan, graded": Aim(2, "×"),
    "cold, import": Aim(50, "ms"),
    "cold, compiled": Aim(120, "ms"),
    "cold, first call": Aim(10, "ms"),
    "reading, read_qrels": seconds(0.03),
    "reading, 10 MB": seconds(0.35),
    **{f"reading, {size} MB a MB": Aim(1.1, "×") for size in (10, 21, 25, 50)},
    "fairness, AWRF@20": Aim(4, "×"),
    "fairness, AWRF and expected exposure @20": Aim(5, "×"),
    "growth, queries": Aim(10.5, "×"),
    "growth, cutoffs": Aim(1.5, "×"),
    "memory, once": Aim(400, "MB"),
    "memory, ten times": Aim(400, "MB"),
    "memory, ten times, judged": Aim(400, "MB"),
    **{
        f"parquet, {ids}": Aim(8, "M rows/s", least=True)
        for ids in ("text", "zstd", "plain", "dictionary", "numbers")
    },
    "parquet, memory": Aim(1, "GiB"),
}
