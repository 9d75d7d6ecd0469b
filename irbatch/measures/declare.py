"""What a measure is: a declaration (the definition) and a `Measure` (it, with its settings).

The catalogue holds one declaration a measure: its formula and parameters. What it is called and
what is said of it is in `irbatch.measures.table`. Help texts, the guide's table and the parser of
names are all made from these.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import math
import re
from collections import UserDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.engine.scan import FULL_DEPTH
from irbatch.errors import InputError, kind_of, shown
from irbatch.measures.parameters import REL, Number, Parameter
from irbatch.measures.table import ROWS, Spelling, Words, names_of, words_of
from irbatch.runtime.numbers import check_choice, is_real, is_whole
from irbatch.runtime.threads import cached_property

if TYPE_CHECKING:
    from irbatch.engine.judged import JudgedRanks

measure_error = functools.partial(InputError, source="measures")

AS_GIVEN = "as given"

AS_ANY_OTHER = "as any other"
"""What `no_relevant` says of a measure that needs no relevant documents."""

SIGNS = {"higher": 1, "lower": -1, "neither": 0}

MARKED = "subtopics", "strata", "probabilities"
"""What measures may read of judgments besides grades, see `irbatch.Qrels`."""

LARGEST_CUTOFF = 10**300  # float64 must hold it


class Declaration:
    """Declare a measure: a decorator for its formula, `irbatch.define_measure`.

    The formula's keywords are the measure's parameters: their defaults are numbers or, to limit
    them or to have other kinds, `Number`, `Choice` (of words), `Flag` or `Points`. Each measure has
    the parameter ``rel``, the least relevant grade, besides, or those in `parameters`, such as
    ``GRADED`` for one that reads gains. All are in `irbatch.measures`.

    It may be called with some rows at a time, always in the thread that evaluates, and must give
    each row its value whatever the others are. It can still be called as a function afterwards.

    Args:
        name: the canonical name, a word.
        definition: one sentence.
        parameters: those that the formula's own signature has no defaults for; default: ``rel``.
        takes_cutoff: False for a measure that reads no ranking.
        aggregate: over queries, ``"mean"``, ``"geometric"`` (the geometric mean, which is 0
            where a value is 0 or less), ``"sum"`` or ``"weighted"`` (the mean weighted by what
            `weight` returns); or ``"run"``: there are no values of queries, and the formula takes
            `irbatch.engine.items.ItemCounts` and returns one number.
        reads: what the formula takes:

            - ``"prefix"``: `irbatch.measures.PrefixStatistics`, arrays ``(queries, cutoffs)``; it
              returns float64 of that shape. All others return float64 ``(queries,)``;
            - ``"judged"``: the judged documents among the first k, one by one
              (`irbatch.engine.judged.JudgedRanks`); ``"relevant"`` is the same but that documents
              that are not relevant may be left out, as where every candidate is scored;
            - ``"grades"``: the simplest, and slowest. It is called for each query with two lists,
              the grades of the first k documents in rank order (0 where one isn't judged, -1 where
              the grade is below 0) and those of all judged documents of 0 or more from the highest
              down, and with k, which is None for whole rankings; it returns a number;
            - ``"subtopics"`` (`irbatch.engine.kinds.SubtopicRanks`) or ``"items"``
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
        no_relevant: the value of a query without relevant documents.
        source: citation.
        builtin: protects the name from being defined again.
        whole: whether a formula of prefixes reads `PrefixStatistics.all_hits`, too.
        undefined: the value of a query for which the formula returns NaN because it has none, or
            which is left out with ``no_relevant="skip"``; NaN: it is left out of the mean in any
            case. Default: NaN is an error.
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

    def __init__(
        self,
        name: str,
        *,
        definition: str = "",
        parameters: Mapping[str, Parameter] = {"rel": REL},
        takes_cutoff: bool = True,
        aggregate: str = "mean",
        reads: str = "prefix",
        linear: bool | Callable[[Measure], bool] = False,
        in_order: bool = False,
        range: tuple[float, float] = (0.0, 1.0),
        better: str | Callable[[Measure], str] = "higher",
        no_relevant: str = "0",
        source: str = "",
        builtin: bool = False,
        whole: bool = False,
        undefined: float | None = None,
        weight: Callable[..., Floats] | None = None,
    ) -> None:
        self.name, self.definition, self.source, self.builtin = name, definition, source, builtin
        self.parameters, self.takes_cutoff, self.reads = parameters, takes_cutoff, reads
        self.aggregate, self.weight, self.range, self.better = aggregate, weight, range, better
        self.linear, self.in_order, self.whole = linear, in_order, whole
        self.no_relevant, self.undefined = no_relevant, undefined
        self.formula: Callable[..., Floats]
        if not isinstance(name, str) or not name.isidentifier():
            problem = f"{name!r} is not a word that a measure could be called by"
            raise InputError(problem, value=name)
        if builtin:
            return
        if name in ROWS:
            raise InputError(f"{name!r} is a measure of the catalogue already", value=name)
        check_choice("aggregate", self.aggregate, ("mean", "geometric", "sum", "weighted", "run"))
        check_choice("reads", reads, ("prefix", "grades", "judged", "relevant", "items", *MARKED))
        if not callable(self.better):
            check_choice("better", self.better, SIGNS)
        weighted, no_mark = self.weight is not None, reads not in MARKED
        for right, problem in (
            (self.aggregate != "run" or reads == "items", "aggregate='run' is for reads='items'"),
            ((self.aggregate == "weighted") == weighted, "weights are for a weighted mean"),
            (no_mark or not weighted, f"reads={reads!r} has no weight="),
            (
                self.undefined is None or (no_mark and reads != "items"),
                f"reads={reads!r}: undefined= is not for it",
            ),
        ):
            if not right:
                raise InputError(f"{name}: {problem}", value=reads)
        for key, parameter in self.parameters.items():
            if not isinstance(parameter, Parameter):
                kinds = "a Number, Choice, Flag, Points or Gain of irbatch.measures"
                problem = f"parameter {key!r} of {name} is {parameter!r}; it must be {kinds}"
                raise InputError(problem, value=parameter)

    def __call__(self, formula: Callable[..., Floats]) -> Measure:
        """Put the measure of a formula into the catalogue, and return it."""
        if not callable(formula):
            problem = f"the formula of {self.name} is {kind_of(formula)}, not a function"
            raise InputError(problem)
        self._function = formula
        by_query = self.reads == "grades"
        if self.builtin:  # a signature takes longer to read than all the rest
            function: Any = getattr(formula, "__wrapped__", formula)
            defaults, arguments = function.__defaults__ or (), function.__code__.co_argcount
            names = function.__code__.co_varnames[arguments - len(defaults) : arguments]
            own = dict(zip(names, defaults, strict=True))
        else:
            own = parameters_of(formula, 3 if by_query else 1, self.parameters)
        self.parameters = {**own, **self.parameters}
        if by_query:
            self.reads, formula = "judged", _of_each_query(formula)
        self.formula = formula
        CATALOGUE[self.name] = self
        return self.measure

    def call(self, measure: Measure, read: tuple[Any, ...]) -> Any:
        """Call the function that was declared, with a measure's parameters behind what it reads."""
        names = self._arguments[len(read) :]
        own = {name: measure[name] for name in names if name in self.parameters}
        return self._function(*read, **own)

    @cached_property
    def _arguments(self) -> list[str]:
        return list(inspect.signature(self._function).parameters)

    @property
    def measure(self) -> Measure:
        """The measure without settings."""
        return Measure(self.name, declaration=self)

    @property
    def names(self) -> tuple[tuple[str, ...], tuple[Spelling, ...]]:
        """What it is called besides: here, and by other tools."""
        return names_of(self.name)

    @property
    def words(self) -> Words:
        """What people read of it."""
        words = words_of(self.name) if self.builtin else Words(self.definition, self.source)
        return words if self.takes_cutoff else words._replace(past_end="")

    @property
    def graded(self) -> bool:
        """Whether it is a measure of gain rather than of relevant or not."""
        return "gain" in self.parameters


define_measure = Declaration
builtin = functools.partial(define_measure, builtin=True)
of_judged = functools.partial(builtin, reads="judged")


def _of_each_query(formula: Callable[..., Any]) -> Callable[..., Floats]:
    """Return the formula of judged documents that calls one of lists of grades for each query."""

    def values(j: JudgedRanks, **own: Any) -> Floats:
        levels = j.whole.levels
        grade_of = np.append(levels, [-1.0, 0.0])  # of codes below 0: NEGATIVE, and not judged
        k = None if j.cutoff == FULL_DEPTH else int(j.cutoff)
        results = np.empty(j.queries)
        for row, retrieved in enumerate(j.retrieved.tolist()):
            here = slice(j.starts[row], j.starts[row + 1])
            grades = np.zeros(retrieved)
            grades[j.ranks[here] - 1] = grade_of[j.codes[here]]
            judged = np.repeat(levels, j.whole.judged[row])[::-1]
            results[row] = formula(grades.tolist(), judged.tolist(), k, **own)
        return results

    return values


def parameters_of(
    formula: Callable[..., Any], skipped: int, others: Mapping[str, Parameter]
) -> dict[str, Parameter]:
    """Read a formula's parameters off its signature, but for the first few and some others."""
    own: dict[str, Parameter] = {}
    for name, argument in list(inspect.signature(formula).parameters.items())[skipped:]:
        default = argument.default
        if name in others or argument.kind == argument.VAR_KEYWORD:
            continue
        if not isinstance(default, Parameter) and not is_real(default):
            problem = f"parameter {name!r} of {formula.__name__} has no number for a default"
            raise InputError(f"{problem}; declare it with parameters=", value=default)
        own[name] = default if isinstance(default, Parameter) else Number(float(default))
    return own


def ratio(numerator: Floats, denominator: Floats | Ints) -> Floats:
    """Divide, with 0 where the denominator is 0: nothing retrieved, or nothing to retrieve."""
    nothing = denominator == 0
    if not np.count_nonzero(nothing):
        return numerator / denominator
    return np.where(nothing, 0.0, numerator / np.where(nothing, 1.0, denominator))


class Catalogue(UserDict[str, Any]):
    """Every measure's declaration, by canonical name, in the order they are listed in.

    A family of built-in measures is loaded when one of them is asked for: until then `data` has the
    family's name. Users' own measures come last.
    """

    def __init__(self) -> None:
        self.data = {name: row[0] for name, row in ROWS.items()}
        self.users = 0  # how often users' measures were defined or removed

    def __getitem__(self, name: str) -> Declaration:
        if isinstance(family := self.data[name], str):
            importlib.import_module(f"irbatch.measures.catalogue.{family}")
        return self.data[name]

    def __setitem__(self, name: str, declaration: Declaration) -> None:
        self.data[name] = declaration
        self.users += not declaration.builtin

    def __delitem__(self, name: str) -> None:
        del self.data[name]
        self.users += 1


CATALOGUE = Catalogue()


class Measure:
    """A measure with its settings: a value, equal to any other with the same canonical name.

    Call it to set parameters, ``@`` to set the cutoff:

    >>> import irbatch
    >>> print(irbatch.measure("AP")(rel=2) @ 100)
    AP(rel=2)@100
    """

    __slots__ = ("asked", "cutoff", "declaration", "name", "parameters")

    def __init__(
        self,
        name: str,
        parameters: tuple[tuple[str, object], ...] = (),
        cutoff: int | None = None,
        *,
        declaration: Declaration,
        asked: str = "",  # how it was written
    ) -> None:
        self.name, self.parameters, self.cutoff = name, parameters, cutoff
        self.declaration, self.asked = declaration, asked

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Measure):
            return NotImplemented
        theirs = other.name, other.parameters, other.cutoff
        return (self.name, self.parameters, self.cutoff) == theirs

    def __hash__(self) -> int:
        return hash((self.name, self.parameters, self.cutoff))

    @overload
    def __call__(self, **parameters: object) -> Measure: ...
    @overload
    def __call__(self, *read: Any, **parameters: object) -> Any: ...
    def __call__(self, *read: Any, **parameters: object) -> Any:
        """Return the measure with these parameters set; InputError if it takes no such ones.

        Given what its formula reads, it is that function still, and returns its value.
        """
        if read:
            return self.declaration.call(self(**parameters) if parameters else self, read)
        declared = self.declaration.parameters
        settings = dict(self.parameters)
        for name, value in parameters.items():
            if name not in declared:
                has = ", ".join(declared) or "none"
                raise InputError(f"{self.name} has no parameter {name!r} (it has: {has})")
            try:
                settings[name] = declared[name].check(value)
            except ValueError as what:
                problem = f"{self.name}: {name}={shown(value)} must be {what}"
                raise InputError(problem, value=value) from None
        ordered = ((name, settings[name]) for name in declared if name in settings)
        changed = tuple(pair for pair in ordered if pair[1] != declared[pair[0]].default)
        return self._replace(parameters=changed, asked="")

    def __matmul__(self, cutoff: int) -> Measure:
        """Return the measure at a cutoff, 1 or more; InputError if it takes none or no such one."""
        if not self.declaration.takes_cutoff:
            raise InputError(f"{self.name} takes no cutoff", value=cutoff)
        at = check_cutoff(cutoff)
        return self._replace(cutoff=at, asked=f"{self.asked}@{at}" if self.asked else "")

    def __getitem__(self, parameter: str) -> Any:
        """Return a parameter's value."""
        default = self.declaration.parameters[parameter].default
        return dict(self.parameters).get(parameter, default)

    def _replace(self, **changed: Any) -> Measure:
        return Measure(**{name: getattr(self, name) for name in self.__slots__} | changed)

    def is_linear(self) -> bool:
        """Tell whether expected statistics give its expected value, see `define_measure`."""
        linear = self.declaration.linear
        return linear(self) if callable(linear) else linear

    def __repr__(self) -> str:
        return f"Measure({str(self)!r})"

    def __str__(self) -> str:
        settings = ",".join(f"{name}={_spell(value)}" for name, value in self.parameters)
        at = "" if self.cutoff is None else f"@{self.cutoff}"
        return self.name + (f"({settings})" if settings else "") + at

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.name, self.parameters, self.cutoff, self.asked)

    @property
    def aggregate(self) -> str:
        """How values of queries add up, see `define_measure`: ``"mean"``, ``"geometric"``, …."""
        return self.declaration.aggregate

    @property
    def sign(self) -> int:
        """1 if higher values are better, -1 if lower ones are, 0 if neither is."""
        better = self.declaration.better
        return SIGNS[better(self) if callable(better) else better]

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest possible value."""
        if any(name == "number" for name, _ in self.parameters):  # another than the declared one
            return -math.inf, math.inf
        return self.declaration.range

    @property
    def weight(self) -> Measure:
        """What its values are weighted by, if its mean over queries is a weighted one."""
        declaration, formula = self.declaration, self.declaration.weight
        if formula is None:
            raise InputError(f"the mean of {self} is not weighted", value=str(self))
        from copy import copy  # half a millisecond of importing irbatch

        weight = copy(declaration)
        weight.formula, weight.weight, weight.aggregate = formula, None, "sum"
        weight.undefined, weight.range = None, (0.0, math.inf)
        return self._replace(name=f"weight of {self.name}", declaration=weight)

    def spelled(self, style: str) -> str:
        """Return the name that a tool, one of `styles`, has for it; ours if it has none.

        Or, with ``"as given"``, the one under which it was asked for.
        """
        if style == "irbatch":
            return str(self)
        if style == AS_GIVEN:
            return self.asked or str(self)
        for spelling in self.declaration.names[1]:
            if spelling.style == style and (name := self._spell_as(spelling)):
                return name
        check_choice("names", style, styles())
        return str(self)

    def _spell_as(self, spelling: Spelling) -> str:
        """Return another tool's name for it, or "" if it has none."""
        import string  # half a millisecond of importing irbatch

        template = spelling.full if self.cutoff is None else spelling.cut
        spelled = {}
        for _, name, form, _ in string.Formatter().parse(template):
            if name and name != "k":
                spelled[name] = self[name]
                if form and float(format(spelled[name], form)) != spelled[name]:
                    return ""
        if tuple(pair for pair in self.parameters if pair[0] not in spelled) != spelling.parameters:
            return ""
        return template.format(k=self.cutoff, **spelled)


def _rebuild(
    name: str, parameters: tuple[tuple[str, object], ...], cutoff: int | None, asked: str = ""
) -> Measure:
    if name not in CATALOGUE:
        raise InputError(f"{name!r} is not defined in this process; define it before unpickling")
    return Measure(name, parameters, cutoff, declaration=CATALOGUE[name], asked=asked)


def _spell(value: object) -> str:
    if isinstance(value, tuple):  # a map as pairs, or several numbers
        items = (":".join(map(_spell, e)) if isinstance(e, tuple) else _spell(e) for e in value)
        return "{" + ",".join(items) + "}"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return str(value)


def styles() -> list[str]:
    """List the styles that names can be spelled in: ours, as they were given, other tools'."""
    declared = [spelling.style for name in ROWS for spelling in names_of(name)[1]]
    return list(dict.fromkeys(["irbatch", AS_GIVEN, *declared]))


def normal(name: str) -> str:
    """Reduce a name to what distinguishes it: case, ``-``, ``_`` and spaces don't."""
    return re.sub(r"[_\-\s]", "", name).casefold()


def check_cutoff(value: Any) -> int:
    """Return a cutoff as an int, or raise `InputError`."""
    if not is_whole(value) or not 1 <= value <= LARGEST_CUTOFF:
        problem = f"cutoff {shown(value)} must be a whole number of at least 1"
        raise measure_error(problem, value=value)
    return int(value)
