"""The C/W/L framework's numbers, as cwl-eval prints them of real runs, from its stored outputs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from measures.test_graded_outputs import Run, lines, problem
from support.cwl_eval import NUMBERS, five, meaning
from support.paths import MORE_REFERENCE_DATA

import irbatch

FILE = re.compile(
    r"(?P<set>\w+?)\.(?P<run>.+?)\.gain_(?P<gain>\w+)(?P<costs>\.costs)?(\.max_n(?P<n>\d+))?"
    r"\.15digits\.tsv\.gz"
)
TOLERANCE = 1e-12  # of a number; of a residual, that of the two that it is the difference of
RESIDUAL = "res"
FILES = sorted(path.name for path in MORE_REFERENCE_DATA.glob("c_cwl/expected/*"))
GAINS: dict[str, dict[str, Any]] = {
    "g_over_3": {"max_grade": 3},
    "g_over_4": {"max_grade": 4},
    "binary_rel2": {"max_grade": 3, "gain": "binary", "rel": 2},
    "err": {"max_grade": 4, "gain": {1: 1 / 8, 2: 3 / 8, 3: 7 / 8, 4: 1}},
}


def costs_of(run: Run) -> irbatch.data.DocumentCosts:
    """Four types of documents, by their numbers."""
    types = 0.2, 1, 1.7, 3
    costs = {document: types[int(document[-1]) % 4] for each in run.values() for document in each}
    return irbatch.data.DocumentCosts(costs, lowest=0.2, highest=3)


@pytest.mark.parametrize("name", FILES or ["none"])
def test_cwl_eval(name: str, more_reference_data: Path) -> None:
    match = FILE.fullmatch(name)
    assert match is not None, name
    settings = GAINS[match["gain"]] | {"max_n": int(match["n"] or 1000)}
    _, *rows = lines(more_reference_data / "c_cwl" / "expected" / name, "\t")
    names = list(dict.fromkeys(row[1] for row in rows))
    assert len(names) == 46
    ours = [each(**settings) for name in names for each in five(meaning(name))]
    qrels, run = problem(match["set"], match["run"], more_reference_data)
    costs = costs_of(run) if match["costs"] else None
    results = irbatch.evaluate(qrels, run, ours, costs=costs)
    topics = list(dict.fromkeys(row[0] for row in rows))
    places = [results.query_ids.index(topic) for topic in topics]
    columns = [results.column_of(each) for each in ours]
    found = results.values[places][:, columns].reshape(len(rows), len(NUMBERS))
    printed = np.array([row[2:] for row in rows], float)
    scale = np.where(np.char.startswith(NUMBERS, RESIDUAL), np.maximum(np.abs(printed), 1.0), 0.0)
    off = np.argwhere(np.abs(found - printed) > TOLERANCE * (np.abs(printed) + scale))
    assert not off.size, f"{len(off)} values off, {rows[off[0][0]]}: {found[off[0][0]]}"
