"""Declaring measures of the C/W/L framework: a model of users, and what is asked of it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.engine.judged import JudgedRanks
from irbatch.engine.walks import NUMBERS, Documents, Model, Reading, expect
from irbatch.measures.catalogue.stopping import highest_gain
from irbatch.measures.declare import Measure, Spelling
from irbatch.measures.define import of_judged
from irbatch.measures.parameters import GRADED, Choice, Number, Parameter

RESIDUAL = "res"
COMMON: dict[str, Parameter] = {
    "number": Choice("EU", (*NUMBERS, *(RESIDUAL + each for each in NUMBERS))),
    "max_n": Number(1000.0, least=1.0, most=1e6, whole=True),
    "max_grade": Number(1.0, above=0.0),
    "gain": GRADED["gain"],
    "rel": GRADED["rel"],
}
PAST_END = "Ranks past the end, to k or max_n, are unjudged documents, which gain 0; users stop at "
PAST_END += "k at the latest."
NO_RELEVANT = "EU and ETU 0, the others as any other"
Formula = Callable[..., Floats | Reading]


def _better(measure: Measure) -> str:
    """Say that more gain is better; costs and numbers of documents may be anything."""
    return "higher" if measure["number"] in ("EU", "ETU") else "neither"


def user_model(
    name: str,
    definition: str,
    source: str,
    parameters: Mapping[str, Parameter] | None = None,
    *,
    aliases: tuple[str, ...] = (),
    theirs: tuple[str, str] = ("", ""),
) -> Callable[[Formula], Measure]:
    """Declare a measure by its users; `theirs` are its names in ir_measures, full and cut."""
    spellings: tuple[Spelling, ...] = ()
    if any(theirs):
        spellings = (Spelling("ir_measures", *theirs, renamed={"max_rel": "max_grade"}),)

    def declare(model: Formula) -> Measure:
        def formula(
            j: JudgedRanks, number: str, max_n: float, max_grade: float, **own: Any
        ) -> Floats:
            walked = functools.partial(model, **own)
            key = (name, int(max_n), max_grade, *own.values())
            return _number_of(j, number, key, walked)

        return of_judged(
            name,
            definition=definition,
            parameters={**(parameters or {}), **COMMON},
            past_end=PAST_END,
            no_relevant=NO_RELEVANT,
            better=_better,
            source=source,
            aliases=aliases,
            spellings=spellings,
        )(formula)

    return declare


def _number_of(j: JudgedRanks, number: str, key: tuple[Any, ...], model: Model) -> Floats:
    """Return one of the five numbers, or its residual; those of a measure are computed once."""
    _, max_n, max_grade, *_ = key
    place = NUMBERS.index(number.removeprefix(RESIDUAL))
    if key not in j.kept:
        j.kept[key] = expect(_documents(j, max_n, max_grade), model)
    if not number.startswith(RESIDUAL):
        return j.kept[key][place]
    if (key, RESIDUAL) not in j.kept:
        lowest = 1.0 if j.costs is None else j.costs.lowest
        best = expect(_documents(j, max_n, max_grade).at_best(lowest), model)
        j.kept[key, RESIDUAL] = best - j.kept[key]
    return j.kept[key, RESIDUAL][place]


def _documents(j: JudgedRanks, max_n: int, max_grade: float) -> Documents:
    shares = j.gained / highest_gain(j, max_grade)
    is_cut = j.cutoff <= max_n
    length = int(min(j.cutoff, max_n))
    judged = j.rewarding.astype(np.float64)
    known = () if j.costs is None else (j.costs.of_ranks, 0.0, j.costs.highest)
    return Documents(j.row_index, j.ranks, shares, judged, length, is_cut, *known)
