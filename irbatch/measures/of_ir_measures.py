"""ir_measures' measure objects: its definitions and defaults, where the same text means ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from irbatch.measures.declare import Measure
from irbatch.measures.settings import refusal


def is_of_ir_measures(name: object) -> bool:
    """Tell whether something is a measure of ir_measures, which is not imported for it."""
    return type(name).__module__.partition(".")[0] == "ir_measures"


def parse_object(wish: Any, parse: Callable[[str], list[Measure]]) -> list[Measure]:
    """Return what a measure of ir_measures is here; `parse` reads its name.

    Raises:
        InputError: if it is not here.
    """
    text = str(wish)
    if wish.NAME == "Accuracy":
        problem = f"{text} of ir_measures is the share of pairs in order, of queries with a hit"
        hint = "AUC, or, as other tools call accuracy, Success"
        raise refusal(f"{problem}; there are {hint}", value=text)
    found = parse(text)
    different: dict[str, object] = {}
    if wish.NAME == "RBP":
        different = {"gain": "binary", "p": wish["p"]}
    elif wish.NAME == "SetF" and wish["beta"] != 1:  # it hands it to trec_eval, whose beta is beta²
        different = {"beta": 1.0, "weight": wish["beta"]}
    return [replace(each(**different), asked=text) for each in found] if different else found
