"""The catalogue of measures: what each is, what it is called, and how it is computed."""

from irbatch.measures import catalogue as _catalogue  # noqa: F401 - fills the catalogue
from irbatch.measures.declare import (
    CATALOGUE,
    MARKED,
    Declaration,
    Measure,
    Spelling,
    check_cutoff,
    styles,
)
from irbatch.measures.define import define_measure
from irbatch.measures.formulas import apply_formula
from irbatch.measures.gains import DISCOUNTS, GAINS, define_discount, define_gain
from irbatch.measures.names import measure, parse_measures
from irbatch.measures.parameters import GRADED, REL, Choice, Flag, Gain, Number, Points
from irbatch.measures.plan import Plan, needs_relevant, relevant_levels
from irbatch.measures.trec_names import NICKNAMES, VERSIONS, TrecValue, list_measures, trec_measures

__all__ = [
    "CATALOGUE", "DISCOUNTS", "GAINS", "GRADED", "MARKED", "NICKNAMES", "REL", "VERSIONS",
    "Choice", "Declaration", "Flag", "Gain", "Measure", "Number", "Plan", "Points", "Spelling",
    "TrecValue", "apply_formula", "check_cutoff", "define_discount", "define_gain",
    "define_measure", "list_measures", "measure", "needs_relevant", "parse_measures",
    "relevant_levels", "styles", "trec_measures",
]  # fmt: skip
