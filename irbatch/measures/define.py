"""Adding a measure to the catalogue: the decorator that the built-in ones and users' own share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.engine.judged import JudgedRanks
from irbatch.engine.scan import FULL_DEPTH
from irbatch.errors import InputError, kind_of
from irbatch.measures.declare import CATALOGUE, MARKED, SIGNS, Declaration, Measure, Spelling
from irbatch.measures.parameters import REL, Number, Parameter
from irbatch.runtime.numbers import check_choice, is_real


def define_measure(
    name: str,
    *,
    definition: str,
    parameters: Mapping[str, Parameter] | None = None,
    takes_cutoff: bool = True,
    aggregate: str = "mean",
    reads: str = "prefix",
    linear: bool | Callable[[Measure], bool] = False,
    in_order: bool = False,
    range: tuple[float, float] = (0.0, 1.0),
    better: str | Callable[[Measure], str] = "higher",
    past_end: str = "",
    no_relevant: str = "0",
    source: str = "",
    aliases: tuple[str, ...] = (),
    spellings: tuple[Spelling, ...] = (),
    builtin: bool = False,
    undefined: float | None = None,
    weight: Callable[..., Floats] | None = None,
) -> Callable[[Callable[..., Floats]], Measure]:
    """Declare a measure: a decorator for its formula.

    The formula takes `irbatch.PrefixStatistics` (arrays ``(queries, cutoffs)``) and returns float64
    ``(queries, cutoffs)``. One that ``reads="judged"`` takes the judged documents among the first
    k, one by one (`irbatch.JudgedRanks`), and returns float64 ``(queries,)``. The simplest, and
    slowest, ``reads="grades"``: it is called for each query with two lists, the grades of the first
    k documents in rank order (0 where one isn't judged, -1 where the grade is below 0) and those of
    all judged documents of 0 or more from the highest down, and with k, which is None for whole
    rankings; it returns a number. Its keywords are the
    measure's parameters, with numbers as defaults; each measure has the parameter ``rel``, the
    least relevant grade, besides. To limit parameters, or to have other kinds, list all of them in
    `parameters`: `Number`, `Choice` (of words), `Flag`, `Points`, or ``GRADED`` for a measure that
    reads gains, all from `irbatch.measures`.

    It may be called with some rows at a time, always in the thread that evaluates, and must give
    each row its value whatever the others are.

    Args:
        name: the canonical name, a word.
        definition: one sentence.
        parameters: every parameter by name, ``rel`` included; default: from the formula.
        takes_cutoff: False for a measure that reads no ranking.
        aggregate: over queries, ``"mean"``, ``"geometric"`` (the geometric mean, which is 0
            where a value is 0 or less), ``"sum"`` or ``"weighted"`` (the mean weighted by what
            `weight` returns); or ``"run"``: there are no values of queries, and the formula takes
            `irbatch.engine.items.ItemCounts` and returns one number.
        reads: what the formula takes: ``"prefix"``, ``"grades"``, ``"judged"``, or ``"relevant"``,
            which is as ``"judged"`` but that documents that are not relevant may be left out, as
            they are where every candidate is scored; ``"subtopics"``
            (`irbatch.engine.subtopics.SubtopicRanks`) or ``"items"``
            (`irbatch.engine.items.ItemRanks`).
        linear: whether the formula, given expected statistics, returns the expected value: it is
            linear in one of them, and the others don't depend on the order (`relevant`, the ideal
            ones). Or a function that says so of the measure with its settings. Others' values
            are averaged over orders where documents share a score. A formula that reads documents
            one by one finds what is expected in `JudgedRanks.mean_hit_ranks` and its like.
        in_order: of a measure that reads items: whether it tells ranks apart, so that documents
            may not share a score there, or only asks which items are within the cutoff.
        range: smallest and largest possible value.
        better: whether ``"higher"`` or ``"lower"`` values are, or ``"neither"``; or a function that
            says so of the measure with its settings.
        past_end: what happens when fewer than k documents were retrieved.
        no_relevant: the value of a query without relevant documents.
        source: citation.
        aliases, spellings: what else it is called, here and by other tools.
        builtin: protects the name from being defined again.
        undefined: the value of a query for which the formula returns NaN because it has none, or
            which is left out with ``no_relevant="skip"``; default: NaN is an error.
        weight: a formula as the other, whose values are 0 or more.

    Raises:
        InputError: if the name is not a word or belongs to a measure of the catalogue.

    >>> import irbatch, numpy as np
    >>> @irbatch.define_measure("Miss", definition="1 if nothing relevant was retrieved.")
    ... def miss(s):
    ...     return (s.hits == 0).astype(float)
    >>> irbatch.evaluate_matrix([[0, 1], [0, 0]], ["Miss@1", "Miss"]).mean()
    {'Miss@1': 1.0, 'Miss': 0.5}
    >>> @irbatch.define_measure("Best", definition="The best grade.", reads="grades")
    ... def best(grades, judged, k):
    ...     return max(grades, default=0) / max(judged, default=1)
    >>> irbatch.evaluate_matrix([[0, 1, 2]], "Best@{2,3}").mean()
    {'Best@2': 0.5, 'Best@3': 1.0}
    >>> @irbatch.define_measure("AtLeast", definition="1 if enough relevant were retrieved.")
    ... def at_least(s, hits=2.0):
    ...     return (s.hits >= hits).astype(float)
    >>> irbatch.evaluate_matrix([[1, 1, 0, 1]], "AtLeast@2 AtLeast(hits=3)@3").mean()
    {'AtLeast@2': 1.0, 'AtLeast(hits=3)@3': 0.0}
    """
    _check_definition(name, aggregate, reads, parameters or {})
    if not callable(better):
        check_choice("better", better, SIGNS)
    if (aggregate == "weighted") != (weight is not None):
        problem = "a weighted mean needs weights, and no other has any"
        raise InputError(f"{name}: aggregate={aggregate!r}: {problem}", value=aggregate)
    without = reads in MARKED and weight is not None
    if without or (undefined is not None and reads in ("items", *MARKED)):
        problem = f"{name} reads {reads!r}: {'weight' if without else 'undefined'}= is not for it"
        raise InputError(problem, value=reads)

    def declare(formula: Callable[..., Floats]) -> Measure:
        if not callable(formula):
            raise InputError(f"the formula of {name} is {kind_of(formula)}, no function")
        by_query = reads == "grades"
        CATALOGUE[name] = Declaration(
            name=name,
            formula=_of_each_query(formula) if by_query else formula,
            definition=definition,
            past_end=past_end,
            no_relevant=no_relevant,
            source=source,
            parameters=(
                _parameters(formula, 3 if by_query else 1)
                if parameters is None
                else dict(parameters)
            ),
            takes_cutoff=takes_cutoff,
            aggregate=aggregate,
            range=range,
            better=better,
            aliases=aliases,
            spellings=spellings,
            reads="judged" if by_query else reads,
            linear=linear,
            in_order=in_order,
            builtin=builtin,
            undefined=undefined,
            weight=weight,
        )
        return CATALOGUE[name].measure

    return declare


builtin = functools.partial(define_measure, builtin=True)
of_judged = functools.partial(builtin, reads="judged")


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Divide, with 0 where the denominator is 0: nothing retrieved, or nothing to retrieve."""
    nothing = denominator == 0
    if not nothing.any():
        return numerator / denominator
    return np.where(nothing, 0.0, numerator / np.where(nothing, 1.0, denominator))


def _check_definition(
    name: str, aggregate: str, reads: str, parameters: Mapping[str, Parameter]
) -> None:
    """Refuse what cannot be declared."""
    if not isinstance(name, str) or not name.isidentifier():
        raise InputError(f"{name!r} is not a word that a measure could be called by", value=name)
    if name in CATALOGUE and CATALOGUE[name].builtin:
        raise InputError(f"{name!r} is a measure of the catalogue already", value=name)
    check_choice("aggregate", aggregate, ("mean", "geometric", "sum", "weighted", "run"))
    check_choice("reads", reads, ("prefix", "grades", "judged", "relevant", "items", *MARKED))
    if aggregate == "run" and reads != "items":
        raise InputError(f"{name}: aggregate='run' is for measures that read items", value=reads)
    for key, parameter in parameters.items():
        if not isinstance(parameter, Parameter):
            kinds = "a Number, Choice, Flag, Points or Gain of irbatch.measures"
            problem = f"parameter {key!r} of {name} is {parameter!r}; it must be {kinds}"
            raise InputError(problem, value=parameter)


def _of_each_query(formula: Callable[..., Any]) -> Callable[..., Floats]:
    """Return the formula of judged documents that calls one of lists of grades for each query."""

    def values(known: JudgedRanks, **own: Any) -> Floats:
        levels = known.whole.levels
        grade_of = np.append(levels, [-1.0, 0.0])  # of codes below 0: NEGATIVE, and not judged
        k = None if known.cutoff == FULL_DEPTH else int(known.cutoff)
        found = np.empty(known.queries)
        for row, retrieved in enumerate(known.retrieved.tolist()):
            here = slice(known.starts[row], known.starts[row + 1])
            grades = np.zeros(retrieved)
            grades[known.ranks[here] - 1] = grade_of[known.codes[here]]
            judged = np.repeat(levels, known.whole.judged[row])[::-1]
            found[row] = formula(grades.tolist(), judged.tolist(), k, **own)
        return found

    return values


def _parameters(formula: Callable[..., Any], given: int) -> dict[str, Parameter]:
    """Read a formula's parameters off its signature, and add ``rel``."""
    found: dict[str, Parameter] = {}
    for name, each in list(inspect.signature(formula).parameters.items())[given:]:
        if not is_real(each.default):
            problem = f"parameter {name!r} of {formula.__name__} has no number for a default"
            raise InputError(f"{problem}; declare it with parameters=", value=each.default)
        found[name] = Number(float(each.default))
    return {**found, "rel": REL}
