"""What a measure is: a declaration (the definition) and a `Measure` (it, with its settings).

The catalogue holds one declaration a measure: its formula over prefix statistics, its parameters,
what other tools call it, and the sentences that a person reads about it. Help texts, the README's
table and the name parser are all made from these.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

from irbatch.array_types import Floats
from irbatch.errors import InputError, shown
from irbatch.measures.parameters import Parameter
from irbatch.runtime.numbers import check_choice, is_whole


@dataclass(eq=False)
class Spelling:
    """What another tool calls a measure.

    Its parameters are ours that its definition amounts to, besides those that a name spells out,
    ``{p}``, ``{recall:.2f}``.
    """

    style: str  # the tool
    full: str  # its name at full depth, "" if it has none
    cut: str = ""  # its name at a cutoff, {k}; "" if it has none
    parameters: tuple[tuple[str, object], ...] = ()
    _: KW_ONLY
    renamed: Mapping[str, str] = field(default_factory=dict)  # its names of parameters, to ours
    asked: tuple[str, ...] = ()  # names that mean another measure here: they are never written

    def spell(self, measure: Measure) -> str:
        """Return its name for a measure, or "" if it has none."""
        import string  # half a millisecond of importing irbatch

        template = self.full if measure.cutoff is None else self.cut
        spelled = {}
        for _, name, form, _ in string.Formatter().parse(template):
            if name and name != "k":
                spelled[name] = measure[name]
                if form and float(format(spelled[name], form)) != spelled[name]:
                    return ""
        if tuple(each for each in measure.parameters if each[0] not in spelled) != self.parameters:
            return ""
        return template.format(k=measure.cutoff, **spelled)


AS_GIVEN = "as given"

SIGNS = {"higher": 1, "lower": -1, "neither": 0}


@dataclass(frozen=True, eq=False)
class Declaration:
    """The definition of a measure; see `define_measure` for the fields."""

    name: str
    formula: Callable[..., Floats]
    definition: str
    past_end: str
    no_relevant: str
    source: str
    parameters: Mapping[str, Parameter]
    takes_cutoff: bool
    aggregate: str
    range: tuple[float, float]
    aliases: tuple[str, ...]
    spellings: tuple[Spelling, ...]
    better: str | Callable[[Measure], str] = "higher"
    reads: str = "prefix"
    linear: bool | Callable[[Measure], bool] = False
    in_order: bool = False
    builtin: bool = False
    undefined: float | None = None
    weight: Callable[..., Floats] | None = None

    @property
    def measure(self) -> Measure:
        """The measure without settings."""
        return Measure(self.name, declaration=self)

    @property
    def graded(self) -> bool:
        """Whether it is a measure of gain rather than of relevant or not."""
        return "gain" in self.parameters


AS_ANY_OTHER = "as any other"
"""What `no_relevant` says of a measure that needs no relevant documents."""

MARKED = {
    "subtopics": "SubtopicQrels",
    "strata": "StratumQrels",
    "probabilities": "ProbabilityQrels",
}
"""What measures may read of judgments besides grades, and which judgments have it."""

CATALOGUE: dict[str, Declaration] = {}
"""Every measure's declaration, by canonical name, in the order they are listed in."""


@dataclass(frozen=True, repr=False)
class Measure:
    """A measure with its settings: a value, equal to any other with the same canonical name.

    Call it to set parameters, ``@`` to set the cutoff:

    >>> import irbatch
    >>> print(irbatch.measure("AP")(rel=2) @ 100)
    AP(rel=2)@100
    """

    name: str
    parameters: tuple[tuple[str, object], ...] = ()
    cutoff: int | None = None
    declaration: Declaration = field(compare=False, kw_only=True)
    asked: str = field(default="", compare=False, kw_only=True)  # how it was written

    def __call__(self, **parameters: object) -> Measure:
        """Return the measure with these parameters set; InputError if it takes no such ones."""
        known = self.declaration.parameters
        settings = dict(self.parameters)
        for name, value in parameters.items():
            if name not in known:
                has = ", ".join(known) or "none"
                raise InputError(f"{self.name} has no parameter {name!r} (it has: {has})")
            try:
                settings[name] = known[name].check(value)
            except ValueError as what:
                problem = f"{self.name}: {name}={shown(value)} must be {what}"
                raise InputError(problem, value=value) from None
        changed = {name: each for name, each in settings.items() if each != known[name].default}
        ordered = tuple((name, changed[name]) for name in known if name in changed)
        return replace(self, parameters=ordered, asked="")

    def __matmul__(self, cutoff: int) -> Measure:
        """Return the measure at a cutoff, 1 or more; InputError if it takes none or no such one."""
        if not self.declaration.takes_cutoff:
            raise InputError(f"{self.name} takes no cutoff", value=cutoff)
        at = check_cutoff(cutoff)
        return replace(self, cutoff=at, asked=f"{self.asked}@{at}" if self.asked else "")

    def __getitem__(self, parameter: str) -> Any:
        """Return a parameter's value."""
        default = self.declaration.parameters[parameter].default
        return dict(self.parameters).get(parameter, default)

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
        weight = replace(
            declaration,
            formula=formula,
            aggregate="sum",
            weight=None,
            undefined=None,
            range=(0.0, math.inf),
        )
        return replace(self, name=f"weight of {self.name}", declaration=weight)

    def answers_to(self, name: str) -> bool:
        """Tell whether a name, in any tool's spelling, is this measure's."""
        if re.split(r"[(@]", name, maxsplit=1)[0] in CATALOGUE.keys() - {self.name}:
            return False  # nRBP is not NRBP
        settings = str(self).removeprefix(self.name)
        names = [alias + settings for alias in (self.name, *self.declaration.aliases)]
        names += [self.spelled(each.style) for each in self.declaration.spellings]
        return normal(name) in map(normal, names)

    def spelled(self, style: str) -> str:
        """Return the name that a tool, one of `styles`, has for it; ours if it has none.

        Or, with ``"as given"``, the one under which it was asked for.
        """
        if style == AS_GIVEN:
            return self.asked or str(self)
        for spelling in self.declaration.spellings:
            if spelling.style == style and (name := spelling.spell(self)):
                return name
        if style != "irbatch":
            check_choice("names", style, styles())
        return str(self)


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
    declared = (each.style for entry in CATALOGUE.values() for each in entry.spellings)
    return list(dict.fromkeys(["irbatch", AS_GIVEN, *declared]))


def normal(name: str) -> str:
    """Reduce a name to what distinguishes it: case, ``-``, ``_`` and spaces don't."""
    return re.sub(r"[_\-\s]", "", name).casefold()


LARGEST_CUTOFF = 10**300  # float64 must hold it


def _is_decimal(value: object) -> bool:
    return isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10


def check_cutoff(value: Any) -> int:
    """Return a cutoff as an int, or raise `InputError`."""
    if not is_whole(value) or not 1 <= value <= LARGEST_CUTOFF:
        problem = f"cutoff {shown(value)} must be a whole number of at least 1"
        problem += f", not text: {int(value)}" if _is_decimal(value) else ""
        raise InputError(problem, source="measures", value=value)
    return int(value)
