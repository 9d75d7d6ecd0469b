"""Counts, and functions of counts alone: shares of judged documents, utility."""

from __future__ import annotations

import functools

import numpy as np

from irbatch.array_types import Floats
from irbatch.engine.scan import PrefixStatistics
from irbatch.measures.declare import AS_ANY_OTHER, Spelling, builtin, ratio
from irbatch.measures.parameters import REL, Number
from irbatch.measures.trec_names import OFFICIAL_AND_SET, SET, TrecName

count = functools.partial(builtin, linear=True, aggregate="sum", range=(0.0, np.inf))


@builtin(
    "Judged",
    definition="Judged share: documents with a judgment, of any grade, among the first k.",
    linear=True,
    parameters={},
    past_end="The divisor is the number of documents there are, min(k, retrieved).",
    no_relevant=AS_ANY_OTHER,
    source="MacAvaney et al. 2022",
    spellings=(Spelling("ir_measures", "Judged", "Judged@{k}"),),
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
    spellings=(TrecName(39, "unj", "cutoffs", "5,10,20", since=10),),
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
    parameters={
        "a": Number(1.0),
        "b": Number(-1.0),
        "c": Number(0.0),
        "d": Number(0.0),
        "docs": Number(0.0, least=0.0),
        "rel": REL,
    },
    range=(-np.inf, np.inf),
    past_end="Counts what there is.",
    no_relevant=AS_ANY_OTHER,
    source="Hull 1998; trec_eval",
    spellings=(TrecName(17, "utility", "named", "1,-1,0,0", ("a", "b", "c", "d"), nicknames=SET),),
)
def utility(s: PrefixStatistics, a: float, b: float, c: float, d: float, docs: float) -> Floats:
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
    spellings=(TrecName(1, "num_q", nicknames=OFFICIAL_AND_SET), Spelling("ir_measures", "NumQ")),
)
def number_of_queries(s: PrefixStatistics) -> Floats:
    return np.ones_like(s.retrieved)


@count(
    "NumRet",
    definition="Number of documents retrieved (of the first k).",
    parameters={},
    past_end="Counts what there is.",
    no_relevant=AS_ANY_OTHER,
    spellings=(
        TrecName(2, "num_ret", nicknames=OFFICIAL_AND_SET),
        Spelling("ir_measures", "NumRet"),
    ),
)
def number_retrieved(s: PrefixStatistics) -> Floats:
    return np.minimum(s.cutoff, s.retrieved)


@count(
    "NumRel",
    definition="Number of relevant documents in the judgments.",
    takes_cutoff=False,
    spellings=(
        TrecName(3, "num_rel", nicknames=OFFICIAL_AND_SET),
        Spelling("ir_measures", "NumRel"),
    ),
)
def number_relevant(s: PrefixStatistics) -> Floats:
    return s.relevant


@count(
    "NumRelRet",
    definition="Number of relevant documents retrieved (among the first k).",
    past_end="Counts what there is.",
    spellings=(
        TrecName(4, "num_rel_ret", nicknames=OFFICIAL_AND_SET),
        Spelling("ir_measures", "NumRelRet"),
    ),
)
def number_relevant_retrieved(s: PrefixStatistics) -> Floats:
    return s.hits


@count(
    "NumNonRelRet",
    definition="Number of documents retrieved (among the first k) that were judged not relevant.",
    past_end="Counts what there is.",
    no_relevant=AS_ANY_OTHER,
    spellings=(TrecName(35, "num_nonrel_judged_ret"),),
)
def number_nonrelevant_retrieved(s: PrefixStatistics) -> Floats:
    return s.judged - s.negative - s.hits
