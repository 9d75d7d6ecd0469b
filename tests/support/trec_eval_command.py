"""What the tests of `irbatch trec_eval` share: two files worked out by hand, and what it printed.

The fixture `trec_eval`, in conftest.py, runs the command.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

BOTH = pytest.mark.parametrize("version", ["9", "10"])

# q1 is ranked a, x, b: AP (1 + 2/3) / 2. q2 is ranked e: AP (1 + 0) / 2.
QRELS = """\
q1 0 a 2
q1 0 b 1
q1 0 c 0
q2 0 d 1
q2 0 e 12
"""
RUN = """\
q1 Q0 b 3 1 first
q1 Q0 a 1 3 first
q1 Q0 x 2 2 first
q2 Q0 e 1 1 last
"""
MISSING = QRELS + "q3 0 f 1\n"  # judged, not in the run
AP = {"q1": 5 / 6, "q2": 1 / 2}


class Printed(NamedTuple):
    """What a command did."""

    status: int
    out: str
    err: str

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Its lines: label, topic, value."""
        return [tuple(cell.rstrip() for cell in line.split("\t")) for line in self.out.splitlines()]

    @property
    def labels(self) -> list[str]:
        return [label for label, _, _ in self.rows]

    def of(self, topic: str = "all") -> dict[str, str]:
        """Label to value."""
        return {label: value for label, each, value in self.rows if each == topic}

    def by_topic(self, label: str) -> dict[str, str]:
        """Topic to value."""
        return {topic: value for each, topic, value in self.rows if each == label}


Command = Callable[..., Printed]


def wishes(*measures: str) -> list[str]:
    """The options that ask for measures."""
    return [word for measure in measures for word in ("-m", measure)]
