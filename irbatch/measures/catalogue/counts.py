"""Counts, and functions of counts alone: shares of judged documents, utility."""

from __future__ import annotations

import functools

import numpy as np

from irbatch.array_types import Floats
from irbatch.engine.scan import PrefixStatistics
from irbatch.measures.declare import AS_ANY_OTHER, builtin, ratio
from irbatch.measures.parameters import Number

count = functools.partial(builtin, linear=True, aggregate="sum", range=(0.0, np.inf))


@builtin("Judged", linear=True, parameters={}, no_relevant=AS_ANY_OTHER)
def judged_share(s: PrefixStatistics) -> Floats:
    return ratio(s.judged, np.minimum(s.cutoff, s.retrieved))


@builtin("Unjudged", linear=True, parameters={}, no_relevant=AS_ANY_OTHER, better="lower")
def unjudged_share(s: PrefixStatistics) -> Floats:
    unjudged = np.minimum(s.cutoff, s.retrieved) - s.judged + s.negative
    return ratio(unjudged, s.cutoff)


@builtin("Utility", linear=True, range=(-np.inf, np.inf), no_relevant=AS_ANY_OTHER)
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
    linear=True,
    parameters={},
    takes_cutoff=False,
    aggregate="sum",
    range=(1.0, 1.0),
    no_relevant="1",
)
def number_of_queries(s: PrefixStatistics) -> Floats:
    return np.ones_like(s.retrieved)


@count("NumRet", parameters={}, no_relevant=AS_ANY_OTHER)
def number_retrieved(s: PrefixStatistics) -> Floats:
    return np.minimum(s.cutoff, s.retrieved)


@count("NumRel", takes_cutoff=False)
def number_relevant(s: PrefixStatistics) -> Floats:
    return s.relevant


@count("NumRelRet")
def number_relevant_retrieved(s: PrefixStatistics) -> Floats:
    return s.hits


@count("NumNonRelRet", no_relevant=AS_ANY_OTHER)
def number_nonrelevant_retrieved(s: PrefixStatistics) -> Floats:
    return s.judged - s.negative - s.hits
