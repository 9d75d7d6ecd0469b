"""The catalogue of measures: what each is, what it is called, and how it is computed.

Whoever defines a measure finds here what formulas read: `PrefixStatistics` and `RelevanceMatrix`;
`irbatch.engine.judged.JudgedRanks` is what formulas of all judged documents read.
"""

from irbatch.engine.matrix import RelevanceMatrix
from irbatch.engine.scan import PrefixStatistics
from irbatch.measures.declare import CATALOGUE, MARKED, Declaration, Measure, define_measure, styles
from irbatch.measures.names import measure, parse_measures
from irbatch.measures.parameters import (
    DISCOUNTS,
    GAINS,
    GRADED,
    REL,
    Choice,
    Flag,
    Gain,
    Number,
    Points,
    define_discount,
    define_gain,
)
from irbatch.measures.plan import (
    FormulaError,
    Plan,
    apply_formula,
    call_formula,
    needs_relevant,
    plan_of,
    relevant_levels,
)
from irbatch.measures.table import NICKNAMES, VERSIONS

__all__ = [
    "CATALOGUE", "DISCOUNTS", "GAINS", "GRADED", "MARKED", "NICKNAMES", "REL", "VERSIONS", "Choice",
    "Declaration", "Flag", "FormulaError", "Gain", "Measure", "Number", "Plan", "Points",
    "PrefixStatistics", "RelevanceMatrix", "apply_formula", "call_formula", "define_discount",
    "define_gain", "define_measure", "measure", "needs_relevant",
    "parse_measures", "plan_of", "relevant_levels", "styles",
]  # fmt: skip
