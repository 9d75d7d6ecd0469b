"""What partitions find besides values: it is told of all of them together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from irbatch.data.ids import IdHashes, kinds_of
from irbatch.errors import shown
from irbatch.evaluation.partitions.kept import plain
from irbatch.evaluation.partitions.reading import (
    are_texts,
    read_count,
    read_hashes,
    refuse,
    write_hashes,
)

SAMPLES = ("answered", "document", "judged", "missing")
MOST_SAMPLES = 4  # ids of each kind that are kept for messages


@dataclass(frozen=True)
class Findings:
    """What partitions have found besides values, which is told of all of them together.

    Args:
        extra: hashes of the queries that are not judged; or how many there are, where partitions
            are `apart`.
        judged: how many queries are judged, where partitions are `apart`; else 0.
        any_judged: whether any document retrieved is judged.
        best: measures that are at their best for queries without a ranking.
        samples: a few ids, by what they are, see `SAMPLES`.
        warnings: of files, say; each text once.
    """

    extra: IdHashes | int = 0
    judged: int = 0
    any_judged: bool = False
    best: tuple[str, ...] = ()
    samples: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def state(self) -> dict[str, Any]:
        """Return them in numbers, texts and lists."""
        extra = self.extra if isinstance(self.extra, int) else write_hashes(self.extra)
        return {
            "extra": extra,
            "judged": self.judged,
            "any_judged": self.any_judged,
            "best": list(self.best),
            "samples": {name: plain(ids) for name, ids in self.samples.items()},
            "warnings": list(self.warnings),
        }

    @classmethod
    def of_state(cls, state: Mapping[str, Any], *, apart: bool) -> Findings:
        """Read what `state` returned, where partitions are `apart` or not."""
        extra = state["extra"]
        any_judged, samples = state["any_judged"], state["samples"]
        if not isinstance(any_judged, bool):
            raise refuse(f"'any_judged' is {shown(any_judged)}, no truth value", value=any_judged)
        if not isinstance(samples, Mapping) or not set(samples) <= set(SAMPLES):
            raise refuse(f"'samples' are {shown(samples)}, not ids by {SAMPLES}", value=samples)
        for key in ("best", "warnings"):
            if not are_texts(state[key]):
                raise refuse(f"{key!r} are {shown(state[key])}, not texts", value=state[key])
        for ids in samples.values():
            if not isinstance(ids, list | tuple) or None in kinds_of(ids):
                raise refuse(f"'samples' hold {shown(ids)}, not ids", value=ids)
        return cls(
            read_count("extra", extra) if apart else read_hashes("extra", extra),
            read_count("judged", state["judged"]),
            any_judged,
            tuple(state["best"]),
            {name: tuple(ids) for name, ids in samples.items()},
            tuple(state["warnings"]),
        )

    def joined(self, other: Findings) -> Findings:
        """Return those of both."""
        extra: IdHashes | int
        if isinstance(self.extra, int) or isinstance(other.extra, int):
            extra = int(self.extra) + int(other.extra)
        else:
            extra = np.union1d(self.extra, other.extra)
        names = sorted({*self.samples, *other.samples})
        samples = {
            name: first_ids([*self.samples.get(name, ()), *other.samples.get(name, ())])
            for name in names
        }
        return Findings(
            extra,
            self.judged + other.judged,
            self.any_judged or other.any_judged,
            tuple(sorted({*self.best, *other.best})),
            samples,
            tuple(sorted({*self.warnings, *other.warnings})),
        )


def first_ids(ids: Iterable[Any]) -> tuple[Any, ...]:
    """Return the first few ids in their own order, each once."""
    from heapq import nsmallest

    return tuple(nsmallest(MOST_SAMPLES, set(ids), by_id))


def by_id(each: Any) -> tuple[bool, Any]:
    """Order ids, whole numbers before texts."""
    return isinstance(each, str), each
