"""The catalogue of measures: what each is, what it is called, and how it is computed."""

from irbatch.measures import catalogue as _catalogue  # noqa: F401 - fills the catalogue
from irbatch.measures.declare import (
    CATALOGUE,
    Declaration,
    Measure,
    Spelling,
    define_measure,
    styles,
)
from irbatch.measures.gains import DISCOUNTS, GAINS, define_discount, define_gain
from irbatch.measures.names import measure, parse_measures
from irbatch.measures.parameters import GRADED, REL, Choice, Number
from irbatch.measures.plan import Plan

__all__ = [
    "CATALOGUE",
    "DISCOUNTS",
    "GAINS",
    "GRADED",
    "REL",
    "Choice",
    "Declaration",
    "Measure",
    "Number",
    "Plan",
    "Spelling",
    "define_discount",
    "define_gain",
    "define_measure",
    "measure",
    "parse_measures",
    "styles",
]
