"""The sections of the comparison, in the order they are shown."""

from collections.abc import Callable, Iterator

from benchmarks.report import Table
from benchmarks.sections import (
    adapter,
    cold,
    commands,
    comparing,
    cwl,
    dicts,
    diversity,
    fairness,
    files,
    frames,
    growth,
    ids,
    items,
    memory,
    parquet,
    reading,
    scan,
    scores,
    similarity,
    small,
    updates,
)
from benchmarks.settings import Settings

__all__ = ["ON_REQUEST", "SECTIONS"]

Section = Callable[[Settings], Iterator[Table]]

SECTIONS: dict[str, Section] = {
    "dicts": dicts.tables,
    "adapter": adapter.tables,
    "small": small.tables,
    "files": files.tables,
    "commands": commands.tables,
    "reading": reading.tables,
    "frames": frames.tables,
    "ids": ids.tables,
    "items": items.tables,
    "scores": scores.tables,
    "updates": updates.tables,
    "comparing": comparing.tables,
    "cwl": cwl.tables,
    "similarity": similarity.tables,
    "scan": scan.tables,
    "diversity": diversity.tables,
    "fairness": fairness.tables,
    "cold": cold.tables,
    "growth": growth.tables,
    "memory": memory.tables,
    "parquet": parquet.tables,
}
ON_REQUEST = ("memory", "parquet")  # they write gigabytes
