"""The sections of the comparison, in the order they are shown."""

from collections.abc import Callable, Iterator

from benchmarks.report import Table
from benchmarks.sections import (
    cold,
    comparing,
    dicts,
    files,
    frames,
    growth,
    ids,
    memory,
    scan,
    scores,
    updates,
)
from benchmarks.settings import Settings

__all__ = ["ON_REQUEST", "SECTIONS"]

Section = Callable[[Settings], Iterator[Table]]

SECTIONS: dict[str, Section] = {
    "dicts": dicts.tables,
    "files": files.tables,
    "frames": frames.tables,
    "ids": ids.tables,
    "scores": scores.tables,
    "updates": updates.tables,
    "comparing": comparing.tables,
    "scan": scan.tables,
    "cold": cold.tables,
    "growth": growth.tables,
    "memory": memory.tables,
}
ON_REQUEST = ("memory",)  # it writes gigabytes
