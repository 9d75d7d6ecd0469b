"""Evaluations cut into partitions of queries, and what must come of them: one process' bits."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import irbatch


def cut(queries: Mapping[str, Any], rng: Random, parts: int = 3) -> list[dict[str, Any]]:
    """Deal queries out at random; a part may be empty."""
    made: list[dict[str, Any]] = [{} for _ in range(parts)]
    for query in rng.sample(list(queries), len(queries)):
        made[rng.randrange(parts)][query] = queries[query]
    return made


def assert_same_bits(found: irbatch.Results, wanted: irbatch.Results) -> None:
    """Check means, counts and settings, and of results with values by query these, too."""
    assert repr(found.mean()) == repr(wanted.mean())
    assert (found.counts, found.settings) == (wanted.counts, wanted.settings)
    if found.has_values:
        assert found.query_ids == wanted.query_ids
        assert found.values.tobytes() == wanted.values.tobytes()
        assert found.marks.tolist() == wanted.marks.tolist()


class Fatal:
    """A table that kills the process that reads it, the first few times."""

    def __init__(self, run: dict[str, dict[str, float]], told: Path, times: int) -> None:
        self._run, self._told, self._times = run, told, times

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        done = self._told.read_text() if self._told.exists() else ""
        if len(done) < self._times:
            self._told.write_text(done + "x")
            os.kill(os.getpid(), 9)
        return irbatch.Run(self._run).to_arrow().__arrow_c_stream__()
