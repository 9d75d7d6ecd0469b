"""trec_eval's measures, as both its versions have them: names, parameters, nicknames and order.

``P.5,10`` is one of its names, the measure with parameters, and stands for several values, each
with a label of its own: ``P_5`` and ``P_10``. What a label means is a measure of the catalogue,
whose declaration has a `TrecName`.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from irbatch.errors import InputError
from irbatch.measures.declare import CATALOGUE, Measure, Spelling
from irbatch.runtime.numbers import DECIMAL

__all__ = [
    "CUTOFFS",
    "NICKNAMES",
    "OFFICIAL",
    "OFFICIAL_AND_SET",
    "SET",
    "VERSIONS",
    "TrecMeasure",
    "TrecName",
    "TrecValue",
    "list_measures",
    "trec_measures",
]

VERSIONS = ("9", "10")
"""9 is 9.0.8, which pytrec_eval and what builds on it use; 10 is 10.0."""

NICKNAMES = ("official", "set", "all_trec")
"""Names of groups of measures."""

EVERY = ("all_trec",)
OFFICIAL = ("official", "all_trec")
SET = ("set", "all_trec")
OFFICIAL_AND_SET = NICKNAMES

CUTOFFS = "5,10,15,20,30,100,200,500,1000"  # the defaults of most measures that have cutoffs

LONGEST = 2**31  # relstring

_WHOLE = re.compile(r"\s*([+-]?\d{1,300})", re.ASCII)
_NUMBER = re.compile(rf"\s*({DECIMAL})", re.ASCII)


class TrecName(Spelling):
    """What trec_eval calls a measure, and how it asks for it and prints it.

    Args:
        place: its place in the output; a fraction stands between two others.
        name: its name, as after ``-m``.
        takes: what parameters it takes, see `_READERS`.
        defaults: the parameters when none are given.
        into: our parameters that they become.
        since: the version that it came with.
        nicknames: the groups that it belongs to.
    """

    def __init__(
        self,
        place: float,
        name: str,
        takes: str = "",
        defaults: str = "",
        into: tuple[str, ...] = (),
        *,
        since: int = 9,
        nicknames: tuple[str, ...] = EVERY,
    ) -> None:
        self.place, self.name, self.takes = place, name, takes
        self.defaults, self.into = defaults, into
        self.since, self.nicknames = since, nicknames
        if takes == "cutoffs":
            super().__init__("trec_eval", "", name + "_{k}")
        else:
            super().__init__(
                "trec_eval", f"{name}_{{{into[0]}:.2f}}" if takes == "points" else name
            )


class TrecValue(NamedTuple):
    """One value that trec_eval prints.

    Args:
        label: its name in the output.
        measure: what it is; None for a line of text.
        length: how many documents a relstring shows; None for anything else.
    """

    label: str
    measure: Measure | None
    length: int | None = None


class TrecMeasure(NamedTuple):
    """One of trec_eval's measures.

    Args:
        named: its name and parameters.
        meaning: the measure of ours, without parameters and cutoff; None for a line of text.
    """

    named: TrecName
    meaning: Measure | None

    def values(self, parameters: str = "") -> list[TrecValue]:
        """List what it prints.

        Args:
            parameters: the text after the first dot.

        Raises:
            InputError: for parameters it doesn't take.
        """
        found = []
        for label, settings, cutoff in _READERS[self.named.takes](self.named, parameters):
            if self.meaning is None:
                found.append(TrecValue(label, None, settings.get("length")))
                continue
            meaning = self.meaning(**settings)
            found.append(TrecValue(label, meaning if cutoff is None else meaning @ cutoff))
        return found


# What it prints that is not a measure: the run's tag, and the grades of the first documents.
_TEXTS = (
    TrecName(0, "runid", nicknames=OFFICIAL_AND_SET),
    TrecName(12, "relstring", "length", "10", ("length",)),
)


@functools.cache
def trec_measures() -> dict[str, TrecMeasure]:
    """Return all of trec_eval's measures by name, in the order of its output."""
    every = [TrecMeasure(each, None) for each in _TEXTS]
    for declaration in CATALOGUE.values():
        if declaration.builtin:
            meaning = Measure(declaration.name, declaration=declaration)
            names = (each for each in declaration.spellings if isinstance(each, TrecName))
            every += [TrecMeasure(each, meaning) for each in names]
    every.sort(key=lambda each: each.named.place)
    return {each.named.name: each for each in every}


def list_measures(wishes: Sequence[str], version: str) -> dict[str, str]:
    """Read what is written after ``-m``.

    Args:
        wishes: names and nicknames, with parameters after the first dot.
        version: ``"9"`` or ``"10"``.

    Returns:
        Name to text of parameters, in the order of the output. Of parameters given twice the
        first count, as in trec_eval.

    Raises:
        InputError: for a measure that the version doesn't have, naming it.
    """
    known = {
        n: each.named for n, each in trec_measures().items() if each.named.since <= int(version)
    }
    parameters: dict[str, str] = {}
    for wish in wishes:
        name, dot, text = wish.partition(".")
        group = [each for each in known if name in known[each].nicknames]
        if (dot and not text) or not (group or name in known):
            raise InputError(f"illegal measure {wish!r}", source="measures", value=wish)
        for each in group:
            parameters.setdefault(each, "")
        if not group and not parameters.get(name):
            parameters[name] = text
    return {name: parameters[name] for name in known if name in parameters}


_Settings = Iterator[tuple[str, dict[str, Any], int | None]]


def _read_none(trec: TrecName, parameters: str) -> _Settings:
    yield trec.name, {}, None


def _read_cutoffs(trec: TrecName, parameters: str) -> _Settings:
    """``5,10``: whole numbers, what follows the digits dropped as C's atol does."""
    for cutoff in _different(
        trec, parameters, [int(n) for n in _numbers(trec, parameters, _WHOLE)]
    ):
        yield f"{trec.name}_{cutoff}", {}, int(cutoff)


def _read_points(trec: TrecName, parameters: str) -> _Settings:
    """``.25,.5``: numbers, each a value."""
    for point in _different(trec, parameters, _numbers(trec, parameters, _NUMBER)):
        yield f"{trec.name}_{point:3.2f}", {trec.into[0]: point}, None


def _read_length(trec: TrecName, parameters: str) -> _Settings:
    """``10``: one whole number; what follows it is dropped."""
    length = int(_numbers(trec, parameters, _NUMBER)[0])
    yield _labelled(trec, parameters), {trec.into[0]: min(max(length, 0), LONGEST)}, None


def _read_several(trec: TrecName, parameters: str) -> _Settings:
    """``.25,.5``: numbers that make one value."""
    numbers = _numbers(trec, parameters, _NUMBER)
    yield _labelled(trec, parameters), {trec.into[0]: tuple(sorted(numbers))}, None


def _read_named(trec: TrecName, parameters: str) -> _Settings:
    """``2,-1,0,0``: numbers, each with a meaning of its own."""
    numbers = _numbers(trec, parameters, _NUMBER)
    if len(numbers) != len(trec.into):
        raise _refusal(trec, parameters, f"{len(trec.into)} numbers")
    yield _labelled(trec, parameters), dict(zip(trec.into, numbers, strict=True)), None


def _read_weight(trec: TrecName, parameters: str) -> _Settings:
    """``2``: one number; what follows it is dropped."""
    (weight,) = _numbers(trec, parameters, _NUMBER)[:1]
    if weight <= 0:
        raise _refusal(trec, parameters, "a number above 0")
    yield _labelled(trec, parameters), {trec.into[0]: weight} if parameters else {}, None


def _read_gains(trec: TrecName, parameters: str) -> _Settings:
    """``1=3,2=9``: gains of grades; ``p=0.5`` besides, where there is a p."""
    settings: dict[str, object] = {}
    gains: dict[float, float] = {}
    for pair in filter(None, parameters.split(",")):
        name, equals, value = pair.partition("=")
        number = _NUMBER.match(value)
        if not equals or number is None:
            raise _refusal(trec, parameters, f"{'p=0.9, ' if trec.into else ''}grade=gain, …")
        if name in trec.into:
            settings[name] = float(number[1])
        elif _WHOLE.fullmatch(name) and int(name) >= 0:
            gains[float(name)] = float(number[1])
        else:
            raise _refusal(trec, parameters, "grade=gain of whole grades of 0 or more")
    if gains:
        settings["gain"] = gains
    yield _labelled(trec, parameters), settings, None


_READERS: dict[str, Callable[[TrecName, str], _Settings]] = {
    "": _read_none,
    "cutoffs": _read_cutoffs,
    "points": _read_points,
    "length": _read_length,
    "several": _read_several,
    "named": _read_named,
    "weight": _read_weight,
    "gains": _read_gains,
}


def _numbers(trec: TrecName, parameters: str, form: re.Pattern[str]) -> list[float]:
    numbers = []
    for text in (parameters or trec.defaults).split(","):
        match = form.match(text)
        if match is None:
            raise _refusal(trec, parameters, "numbers separated by commas")
        numbers.append(float(match[1]))
    if not all(map(math.isfinite, numbers)):
        raise _refusal(trec, parameters, "finite numbers")
    return numbers


def _different(trec: TrecName, parameters: str, numbers: Sequence[float]) -> list[float]:
    if len(set(numbers)) < len(numbers):
        raise _refusal(trec, parameters, "different numbers")
    return sorted(numbers)


def _labelled(trec: TrecName, parameters: str) -> str:
    return f"{trec.name}_{parameters}" if parameters else trec.name


def _refusal(trec: TrecName, parameters: str, what: str) -> InputError:
    return InputError(
        f"parameters {parameters[:80]!r} of trec_eval's {trec.name} must be {what}",
        source="measures",
        value=parameters,
    )
