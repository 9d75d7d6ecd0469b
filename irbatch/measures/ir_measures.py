"""ir_measures' measure objects: what each means here, with the parameters and defaults of theirs.

They are read by the declarations' spellings, and ir_measures is not imported for it: whoever has
an object of it has done that.
"""

from __future__ import annotations

import functools
import sys
from collections import defaultdict
from typing import Any, NamedTuple

from irbatch.measures.declare import CATALOGUE, Declaration, Measure, measure_error
from irbatch.measures.table import ROWS, Spelling, names_of

STYLE = "ir_measures"

# What is understood besides the names of the table. Its SetF hands its beta to trec_eval, where it
# weighs as beta² does in the definition.
OF_RBP = "RBP(rel={rel},p={p})"
ASKED = {"RBP": (Spelling(STYLE, OF_RBP, f"{OF_RBP}@{{k}}", (("gain", "binary"),)),)}
RENAMED = {"gains": "gain", "max_rel": "max_grade", "beta": "weight"}
"""Its names of parameters, to ours."""


class Form(NamedTuple):
    """A form that ir_measures' measures have, a name as ``P@{k}``, and what it means here."""

    supported: Any  # theirs, with what its parameters may be
    meaning: Measure
    ours: dict[str, str]  # their parameters to ours
    at_cutoff: bool


@functools.cache
def list_forms(theirs: Any) -> list[Form]:
    """List the forms of ir_measures, the module, that have a meaning here."""
    return [
        _make_form(theirs, template, spelling, CATALOGUE[name])
        for name in ROWS
        for spelling in (*names_of(name)[1], *ASKED.get(name, ()))
        if spelling.style == STYLE
        for template in (spelling.full, spelling.cut)
        if template
    ]


def _make_form(theirs: Any, template: str, spelling: Spelling, declaration: Declaration) -> Form:
    base, at_cutoff = theirs.providers.base, "{k}" in template
    # Parameters of theirs that are settings of ours, but none of our measure's parameters.
    beside = ("cutoff", "judged_only") if at_cutoff else ("judged_only",)
    # What is set in an example of the form, P@1, has to be set in all that are of the form.
    example = theirs.parse_measure(template.format_map(defaultdict(lambda: 1)))
    ours: dict[str, str] = {}
    values: dict[str, Any] = {}
    for name in example.SUPPORTED_PARAMS:
        own = next((own for own in (RENAMED.get(name), name) if own in declaration.parameters), "")
        if own:
            ours[name] = own
        is_free = own or name in beside
        values[name] = base.Any(name in example.params) if is_free else base.Choices(example[name])
    meaning = declaration.measure(**dict(spelling.parameters))
    return Form(type(example)(**values), meaning, ours, at_cutoff)


def find_meaning(measure: Any, *, opened: bool = False) -> Measure | None:
    """Return what a measure of ir_measures is here, with all its parameters; None if it is not.

    Or, if `opened`, without those that ours leaves open and that have their default: a level of 1,
    precision and recall of one weight.

    Raises:
        InputError: if a parameter cannot be what it is.
    """
    not_provided = sys.modules[STYLE].providers.base.NOT_PROVIDED
    for supported, meaning, ours, at_cutoff in list_forms(sys.modules[STYLE]):
        possible = supported.params.items()
        if measure.NAME != supported.NAME or not all(
            values.validate(measure[name]) for name, values in possible
        ):
            continue
        settings = {}
        for name, own in ours.items():
            default = measure.SUPPORTED_PARAMS[name].default
            left = opened and meaning[own] is None and measure[name] == default
            if measure[name] is not not_provided and not left:
                settings[own] = measure[name]
        meant = meaning(**settings)
        return meant @ measure["cutoff"] if at_cutoff else meant
    return None


def read_object(wish: Any) -> Measure:
    """Return what a measure of ir_measures is here, where measures are asked for.

    One that has a cutoff may be without: it is at full depth, or gets those of the call.

    Raises:
        InputError: if it is not here, lacks a parameter or has one that it cannot have, or would
            have unjudged documents removed for it alone.
    """
    for name in wish.params:
        if name not in wish.SUPPORTED_PARAMS:  # its text cannot be made then
            problem = f"ir_measures' {wish.NAME} has no parameter {name!r}"
            raise measure_error(problem, value=wish.NAME)
    text = str(wish)
    for name, about in wish.SUPPORTED_PARAMS.items():
        if about.required and name not in wish.params and name != "cutoff":
            raise measure_error(f"{text} of ir_measures needs {name}=, {about.desc}", value=text)
    if wish.params.get("judged_only"):
        problem = f"judged_only in {text} applies to all measures of a call"
        raise measure_error(f"{problem}: evaluate(…, judged_only=True)", value=text)
    meaning = find_meaning(wish, opened=True)
    if meaning is None and "cutoff" in wish.SUPPORTED_PARAMS.keys() - wish.params.keys():
        at_1 = find_meaning(wish @ 1, opened=True)
        meaning = at_1 and at_1._replace(cutoff=None)
    if meaning is None:
        raise measure_error(f"irbatch has no {text} of ir_measures", value=text)
    return meaning._replace(asked=text)
