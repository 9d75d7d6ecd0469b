"""Counts, and functions of counts alone: shares of judged documents, utility."""

from __future__ import annotations

import functools

import numpy as np

from irbatch.array_types import Floats
from irbatch.engine.scan import PrefixStatistics
from irbatch.measures.declare import AS_ANY_OTHER, builtin, ratio
from irbatch.measures.parameters import Number

count = functools.partial(
    builtin, linear=True, aggregate="sum", range=(0.0, np.inf), past_end="Counts what there is."
)


@builtin(
    "Judged",
    definition="Judged share: documents with a judgment, of any grade, among the first k.",
    linear=True,
    parameters={},
    past_end="The divisor is the number of documents there are, min(k, retrieved).",
    no_relevant=AS_ANY_OTHER,
    source="MacAvaney et al. 2022",
)
def judged_share(s: PrefixStatistics) -> Floats:
    return ratio(s.judged, np.minimum(s.cutoff, s.retrieved))


@builtin(
    "Unjudged",
    definition="Unjudged share: documents without a grade of 0 or more among the first k.",
    linear=True,
    parameters={},
    past_end="Ranks past the end count as judged: the divisor stays k.",
    no_relevant=AS_ANY_OTHER,
    source="trec_eval 10",
    better="lower",
)
def unjudged_share(s: PrefixStatistics) -> Floats:
    unjudged = np.minimum(s.cutoff, s.retrieved) - s.judged + s.negative
    return ratio(unjudged, s.cutoff)


@builtin(
    "Utility",
    definition="Set utility: a for each relevant document retrieved, b for each other one, c for "
    "each relevant one not retrieved, d for each of all others among `docs` in the collection.",
    linear=True,
    range=(-np.inf, np.inf),
    past_end="Counts what there is.",
    no_relevant=AS_ANY_OTHER,
    source="Hull 1998; trec_eval",
)
def utility(
    s: PrefixStatistics,
    a: float = Number(1.0),
    b: float = Number(-1.0),
    c: float = Number(0.0),
    d: float = Number(0.0),
    docs: float = Number(0.0, least=0.0),
) -> Floats:
    retrieved = np.minimum(s.cutoff, s.retrieved)
    missed = s.relevant - s.hits
    rest = docs + s.hits - retrieved - s.relevant
    return a * s.hits + b * (retrieved - s.hits) + c * missed + d * rest


@builtin(
    "NumQ",
    definition="Number of queries averaged.",
    linear=True,
    parameters={},
    takes_cutoff=False,
    aggregate="sum",
    range=(1.0, 1.0),
    no_relevant="1",
)
def number_of_queries(s: PrefixStatistics) -> Floats:
    return np.ones_like(s.retrieved)


@count(
    "NumRet",
    definition="Number of documents retrieved (of the first k).",
    parameters={},
    no_relevant=AS_ANY_OTHER,
)
def number_retrieved(s: PrefixStatistics) -> Floats:
    return np.minimum(s.cutoff, s.retrieved)


@count(
    "NumRel",
    definition="Number of relevant documents in the judgments.",
    takes_cutoff=False,
)
def number_relevant(s: PrefixStatistics) -> Floats:
    return s.relevant


@count(
    "NumRelRet",
    definition="Number of relevant documents retrieved (among the first k).",
)
def number_relevant_retrieved(s: PrefixStatistics) -> Floats:
    return s.hits


@count(
    "NumNonRelRet",
    definition="Number of documents retrieved (among the first k) that were judged not relevant.",
    no_relevant=AS_ANY_OTHER,
)
def number_nonrelevant_retrieved(s: PrefixStatistics) -> Floats:
    return s.judged - s.negative - s.hits
