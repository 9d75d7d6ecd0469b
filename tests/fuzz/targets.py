"""All targets."""

from __future__ import annotations

from fuzz.batches import Batches
from fuzz.lines import Lines
from fuzz.matrices import Matrices
from fuzz.names import Conditions, Names, TrecNames
from fuzz.objects import Objects
from fuzz.pieces import Archives, Encodings, Pieces
from fuzz.records import ArrowStreams, Records
from fuzz.reports import Reports
from fuzz.target import Target

EVERY: tuple[type[Target], ...] = (
    *(Lines, Pieces, Archives, Encodings, Names, Conditions, TrecNames, Objects, Matrices),
    *(Reports, Records, ArrowStreams, Batches),
)
TARGETS: dict[str, Target] = {kind.name: kind() for kind in EVERY}
