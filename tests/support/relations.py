"""What the tests of relations share: traits of the measures, problems, and comparisons."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np
import pytest

import irbatch
from irbatch.measures import Measure, measure
from support.random_problems import Qrels, Run, nasty_problems

# No expected values stand in the tests of relations: each changes a problem in a way whose effect
# on every measure is known, and compares the two evaluations; bit for bit unless the relation
# itself is about more or less. Thread counts, blocks, and compiled against plain kernels are in
# runtime/test_compiled_and_plain.py.

EXPONENTIAL = "nDCG(gain=exp)"


def declared_traits(name: str) -> set[str]:
    """Tell whether a measure sees gains, or relevance alone, and lies between 0 and 1."""
    declaration = measure(name).declaration
    traits = {"unit"} if declaration.range[1] == 1.0 else set()
    if declaration.graded:
        traits.add("graded")
    elif "rel" in declaration.parameters:
        traits.add("binary")
    return traits


# What is true of each measure, at every cutoff unless said otherwise:
#   earned   is 0 when no relevant document was retrieved
#   climbs   doesn't fall when a document of higher gain moves up, or an unjudged one disappears
#   strict   rises then in the first case; of those that don't climb, at full depth
#   grows    doesn't fall from one cutoff to a larger one
#   settles  is the same at all cutoffs past both the ranking and the judged documents
#   apart    at a cutoff, is compared with an ideal ranking that is cut there, too, or is of users
#            who stop there
#   endless  at full depth, doesn't change with documents of gain 0 at the end of the ranking
#   topped   is exactly 1 for an ideal ranking that reaches all relevant documents
#   capped   is exactly 1 for an ideal ranking, however short
#   scales   is multiplied by what all grades are multiplied by
#   bends    changes when all grades are multiplied, but not by a factor
#   pooled   tells documents judged not relevant from unjudged ones
#   signed   tells negative grades from 0
#   sized    sees how many documents a ranking has, if fewer than the cutoff
#   whole    sees, at a cutoff, how many documents beyond it are not relevant
#   longer   may rise with documents of gain 0 at the end of the ranking
#   minus    can be negative
# and, when one more document turns out relevant that was not retrieved, each is one of:
#   blind (unchanged), shared (multiplied by R / (R + 1)), sinks, swells, moves (either way)
OF_SEVERAL = """\
P: earned climbs blind
R: earned climbs grows settles endless topped shared
Rcap: earned climbs topped capped sinks
F F(beta=2): earned climbs sinks
Success RR IPrec: earned climbs grows settles endless topped capped blind
AP BinG: earned climbs strict grows settles endless topped shared
AP(norm=min): earned climbs strict topped capped sinks
AP(norm=found): earned strict settles endless topped capped blind
Rprec RprecMult: earned climbs grows settles endless topped moves
CG: earned climbs grows settles endless scales blind
DCG: earned climbs strict grows settles endless scales blind
IDCG: apart climbs grows settles endless scales swells
nDCG: earned apart climbs strict settles endless topped capped sinks
nDCG(gain=exp) GAP nERR niRBU Qmeasure: earned apart climbs strict settles endless topped capped \
bends sinks
AUC: earned strict settles sized longer blind
GAUC: earned strict sized longer blind
RankingLoss: settles sized swells
CoverageError: grows settles endless blind
LRAP: strict settles sized longer topped capped sinks
FallOut: grows sized longer whole swells
FirstRank: longer blind
MeanRank MedianRank: longer moves
Judged: climbs settles pooled sized blind
NumQ: climbs endless blind
NumRet: grows settles sized blind
NumRel: climbs endless swells
NumRelRet RBP(p=0.5,gain=binary): earned climbs grows settles endless blind
NumNonRelRet: grows settles pooled signed sized blind
Unjudged: pooled signed sized blind
Bpref Bpref(norm=R) Bpref(norm=N) Rpref(norm=N): earned climbs grows settles endless topped \
pooled signed moves
InfAP Bpref(norm=relative): earned grows settles endless pooled signed shared
IPrec(recall=0.5) IPrec(recall=1,rounding=up) IPrecAvg: earned climbs grows settles endless \
topped sinks
RprecMult(times=2): earned climbs grows settles endless moves
GMAP: climbs grows settles endless topped sinks
GMBpref: climbs grows settles endless topped pooled signed moves
YAAP: climbs strict grows settles endless minus sinks
Utility: climbs settles sized minus blind
SetAP: earned climbs shared
G NCUgu: earned grows settles endless topped bends sinks
nDCG(gain=binary) nRBP nCG GAP(gain=binary): earned apart climbs settles endless topped capped sinks
nDCGrel: earned climbs strict grows settles endless topped moves
RnDCG: earned strict settles topped sized moves
RBP: earned climbs strict grows settles endless sinks
RBPresid RBPresid(tail=always): settles pooled signed sized blind
RBPupper: settles pooled signed sized moves
ERR iRBU: earned climbs strict grows settles endless bends blind
EBR: earned settles endless bends sinks
nEBR: earned apart settles endless topped capped bends sinks
Omeasure Pmeasure Pplus: earned settles endless topped capped bends sinks
NCUrb: earned apart climbs strict endless bends moves
Compat: earned apart climbs endless topped capped sinks
Compat(normalize=False): earned apart climbs endless moves
Tau TauAP TauAP(ties=b): earned settles pooled sized minus blind
Rpref: earned climbs grows settles endless topped pooled signed sinks
Rpref(norm=relative): earned grows settles endless pooled signed sinks
cwlP(max_grade=256): earned apart climbs endless scales blind
cwlRBP(max_grade=256) NPV(max_grade=256) SDCG(max_grade=256) INSQ(max_grade=256) \
TBG(max_grade=256) Umeasure(max_grade=256) cwlSET(max_grade=256): earned apart climbs strict \
endless scales blind
INST(max_grade=4) BPM(max_grade=4) IFT(max_grade=4) NERR8(max_grade=4) NERR9(max_grade=4) \
NERR10(max_grade=4) NERR11(max_grade=4): earned apart endless bends blind
cwlRR(max_grade=256) cwlTrAP(max_grade=256): earned apart endless scales blind
cwlAP(max_grade=4): earned apart endless bends shared
"""
TRAITS: dict[str, set[str]] = {
    name: {*traits.split(), *declared_traits(name)}
    for names, traits in (line.split(": ") for line in OF_SEVERAL.splitlines())
    for name in names.split()
}
CUTOFFS = (1, 2, 3, 5, 10, 30)
LARGEST_EXPONENT = 1023

Key = tuple[str, int | None]
Values = dict[Key, dict[Any, float]]
Rankings = dict[str, list[str]]  # query to documents, best first
PROBLEMS = {1: 4, 2: 25, 3: 25}  # by seed
slow = pytest.mark.slow
seeds = pytest.mark.parametrize(
    "seed", [1, pytest.param(2, marks=slow), pytest.param(3, marks=slow)]
)


@functools.cache
def keys(trait: str = "", at: tuple[int | None, ...] = (*CUTOFFS, None)) -> tuple[Key, ...]:
    """Name the measures that have a trait, with each cutoff they take; None is full depth."""
    names = [name for name, traits in TRAITS.items() if not trait or trait in traits]
    cut = {name for name in names if measure(name).declaration.takes_cutoff}
    return tuple((name, k) for name in names for k in at if k is None or name in cut)


def having(trait: str) -> tuple[str, ...]:
    """Name the measures that have a trait."""
    return tuple(name for name, traits in TRAITS.items() if trait in traits)


MEASURES: dict[Key, Measure] = {
    (name, k): measure(name) if k is None else measure(name) @ k for name, k in keys()
}


def fitting(qrels: Qrels) -> dict[Key, Measure]:
    """Return the measures whose gains don't overflow, and whose scale has all the grades."""
    largest = max((grade for each in qrels.values() for grade in each.values()), default=0)
    return {key: each for key, each in MEASURES.items() if largest <= most_grade(each)}


def most_grade(each: Measure) -> float:
    known = each.declaration.parameters
    if "max_grade" in known and each["max_grade"] is not None:
        return float(each["max_grade"])
    return LARGEST_EXPONENT if "gain" in known and each["gain"] == "exp" else math.inf


def evaluate(qrels: Qrels, run: Run) -> irbatch.Results:
    return irbatch.evaluate(qrels, run, list(fitting(qrels).values()))


def values(qrels: Qrels, run: Run) -> Values:
    results, wanted = evaluate(qrels, run), fitting(qrels)
    return {key: of_queries(results, each) for key, each in wanted.items()}


def of_queries(results: irbatch.Results, each: Measure) -> dict[Any, float]:
    """The values of queries; 0 of one that is left out, as NaN is in no range."""
    return {q: 0.0 if math.isnan(value) else value for q, value in results.per_query(each).items()}


def cells(results: irbatch.Results) -> list[list[float]]:
    """The values as lists that can be compared, whatever is left out."""
    return np.nan_to_num(results.values, nan=-1.0).tolist()


def assert_same(before: Values, after: Values, besides: tuple[str, ...] = ()) -> None:
    for key in before:
        if key[0] not in besides:
            assert after[key] == before[key], key


def assert_at_least(lower: dict[Any, float], upper: dict[Any, float], key: Key) -> None:
    for query in lower:
        assert lower[query] <= upper[query], (key, query)


def nasty(seed: int) -> Iterator[tuple[Random, Qrels, Run]]:
    """Problems with ties, odd ids, empty rankings and queries on one side only."""
    for number, problem in enumerate(nasty_problems(seed, PROBLEMS[seed])):
        yield Random(1000 * seed + number), *problem


def plain(seed: int) -> Iterator[tuple[Random, Qrels, Rankings]]:
    """Problems of small grades whose rankings are lists: what each rank holds is under control."""
    rng = Random(seed)
    for _ in range(PROBLEMS[seed]):
        qrels: Qrels = {}
        rankings: Rankings = {}
        for query in range(rng.randint(1, 6)):
            pool = [f"d{i}" for i in rng.sample(range(60), 50)]
            grades = rng.choice([(0, 1), (0, 0, 0, 1, 2, 3), (-2, 0, 1, 2, 4), (0, -2), (3,)])
            rankings[f"q{query}"] = pool[: rng.choice([0, 1, 2, 5, 20, 35])]
            judged = rng.sample(pool, rng.randint(1, 30))
            qrels[f"q{query}"] = {document: rng.choice(grades) for document in judged}
        yield rng, qrels, rankings


def scored(rankings: Rankings) -> Run:
    """Give the documents scores that fall from rank to rank; the entries stand in order of id."""
    return {
        query: dict(sorted((document, -float(rank)) for rank, document in enumerate(ranking)))
        for query, ranking in rankings.items()
    }


def gain(qrels: Qrels, query: str, document: str) -> float:
    return max(qrels[query].get(document, 0), 0)


def mapped(problem: dict[str, dict[str, Any]], change: Callable[[Any], Any]) -> Any:
    """Change every grade or score."""
    return {q: {d: change(x) for d, x in each.items()} for q, each in problem.items()}


def shuffled(rng: Random, entries: dict[str, Any]) -> dict[str, Any]:
    return dict(rng.sample(list(entries.items()), len(entries)))
