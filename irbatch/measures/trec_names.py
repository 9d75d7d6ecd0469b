"""trec_eval's measures, as both its versions have them: names, parameters, nicknames and order.

``P.5,10`` is one of its names, the measure with parameters, and stands for several values, each
with a label of its own: ``P_5`` and ``P_10``. What a label means is a measure of the catalogue,
whose declaration has a `TrecName`.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from irbatch.errors import InputError
from irbatch.measures.declare import CATALOGUE, Measure, Spelling
from irbatch.runtime.numbers import DECIMAL

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

    Of what it takes, a value is printed for each of ``"cutoffs"``, ``5,10``, and of ``"points"``,
    ``.2,.5``; one value for all of ``"several"`` numbers, ``.2,.5``, of ``"named"`` ones,
    ``2,-1,0,0``, or of ``"gains"`` of grades, ``1=3,2=9``, and for a ``"weight"`` or a
    ``"length"``, ``2``.
    """

    def __init__(
        self,
        place: float,  # in the output; a fraction stands between two others
        name: str,  # as after -m
        takes: str = "",  # the kind of its parameters; "" for none
        defaults: str = "",  # the parameters when none are given
        into: tuple[str, ...] = (),  # our parameters; with gains, those given by name, p=.8
        *,
        since: int = 9,  # the version that it came with
        nicknames: tuple[str, ...] = EVERY,  # the groups that it belongs to
        in_set: float | None = None,  # its place when "set" is asked for, if another
    ) -> None:
        self.place, self.name, self.takes = place, name, takes
        self.defaults, self.into = defaults, into
        self.since, self.nicknames = since, nicknames
        self.in_set = place if in_set is None else in_set
        point = f"_{{{into[0]}:.2f}}" if takes == "points" else ""
        full, cut = ("", name + "_{k}") if takes == "cutoffs" else (name + point, "")
        super().__init__("trec_eval", full, cut)


class TrecValue(NamedTuple):
    """One value that trec_eval prints."""

    label: str
    measure: Measure | None  # of a line of text, None
    length: int | None = None  # how many documents a relstring shows


class TrecMeasure(NamedTuple):
    """One of trec_eval's measures."""

    named: TrecName
    meaning: Measure | None  # of ours, without parameters and cutoff; of a line of text, None

    def values(self, parameters: str = "") -> list[TrecValue]:
        """List what it prints, given the text after the first dot."""
        found = []
        for label, settings, cutoff in _read(self.named, parameters):
            if self.meaning is None:
                found.append(TrecValue(label, None, settings.get("length")))
            else:
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
            names = (each for each in declaration.spellings if isinstance(each, TrecName))
            every += [TrecMeasure(each, declaration.measure) for each in names]
    every.sort(key=lambda each: each.named.place)
    return {each.named.name: each for each in every}


def list_group(nickname: str) -> list[TrecMeasure]:
    """List the measures of a group, in the order that trec_eval lists them in."""
    group = [each for each in trec_measures().values() if nickname in each.named.nicknames]
    return sorted(group, key=lambda each: each.named.in_set) if nickname == "set" else group


def list_measures(asked: Sequence[str], version: str) -> dict[str, str]:
    """Read names and nicknames as after ``-m``; return name to text of parameters, in output order.

    Of parameters given twice the first count, as in trec_eval.
    """
    every = [each.named for each in trec_measures().values()]
    known = {each.name: each.nicknames for each in every if each.since <= int(version)}
    parameters: dict[str, str] = {}
    for each in asked:
        name, dot, text = each.partition(".")
        group = [one for one, nicknames in known.items() if name in nicknames]
        if (dot and not text) or not (group or name in known):
            raise InputError(f"illegal measure {each!r}", source="measures", value=each)
        for one in group:
            parameters.setdefault(one, "")
        if not group and not parameters.get(name):
            parameters[name] = text
    return {name: parameters[name] for name in known if name in parameters}


def _read(trec: TrecName, parameters: str) -> Iterator[tuple[str, dict[str, Any], int | None]]:
    """Yield label, parameters of ours and cutoff of each value that is printed."""
    label = f"{trec.name}_{parameters}" if parameters else trec.name
    if not trec.takes:
        yield trec.name, {}, None
    elif trec.takes == "gains":
        yield label, _read_gains(trec, parameters), None
    elif trec.takes == "cutoffs":
        for cutoff in map(int, _read_numbers(trec, parameters, _WHOLE)):
            yield f"{trec.name}_{cutoff}", {}, cutoff
    elif trec.takes == "points":
        for point in _read_numbers(trec, parameters, _NUMBER):
            yield f"{trec.name}_{point:3.2f}", {trec.into[0]: point}, None
    else:
        numbers = _read_numbers(trec, parameters, _NUMBER)
        yield label, _settings(trec, parameters, numbers), None


def _read_numbers(trec: TrecName, parameters: str, form: re.Pattern[str]) -> list[float]:
    """Read numbers separated by commas; of whole numbers the digits, as C's atol does."""
    numbers: list[float] = []
    for text in (parameters or trec.defaults).split(","):
        match = form.match(text)
        if match is None:
            raise _rejection(trec, parameters, "numbers separated by commas")
        numbers.append(int(match[1]) if form is _WHOLE else float(match[1]))
    if not all(map(math.isfinite, numbers)):
        raise _rejection(trec, parameters, "finite numbers")
    if trec.takes not in ("cutoffs", "points"):
        return numbers
    if len(set(numbers)) < len(numbers):
        raise _rejection(trec, parameters, "different numbers")
    return sorted(numbers)


def _settings(trec: TrecName, parameters: str, numbers: list[float]) -> dict[str, Any]:
    """Return the parameters of ours that the numbers of a single value become."""
    if trec.takes == "named":
        if len(numbers) != len(trec.into):
            raise _rejection(trec, parameters, f"{len(trec.into)} numbers")
        return dict(zip(trec.into, numbers, strict=True))
    if trec.takes == "several":
        each_once, in_order = trec.into
        return {each_once if numbers == sorted(set(numbers)) else in_order: tuple(numbers)}
    if trec.takes == "length":
        return {trec.into[0]: min(max(int(numbers[0]), 0), LONGEST)}
    if numbers[0] <= 0:
        raise _rejection(trec, parameters, "a number above 0")
    return {trec.into[0]: numbers[0]} if parameters else {}


def _read_gains(trec: TrecName, parameters: str) -> dict[str, Any]:
    """Read gains of grades, and what else the measure takes by name."""
    settings: dict[str, object] = {}
    gains: dict[float, float] = {}
    for pair in filter(None, parameters.split(",")):
        name, equals, value = pair.partition("=")
        number = _NUMBER.match(value)
        if not equals or number is None:
            raise _rejection(trec, parameters, f"{'p=0.9, ' if trec.into else ''}grade=gain, …")
        if name in trec.into:
            settings[name] = float(number[1])
        elif _WHOLE.fullmatch(name) and int(name) >= 0:
            gains[float(name)] = float(number[1])
        else:
            raise _rejection(trec, parameters, "grade=gain of whole grades of 0 or more")
    return settings | {"gain": gains} if gains else settings


def _rejection(trec: TrecName, parameters: str, what: str) -> InputError:
    problem = f"parameters {parameters[:80]!r} of trec_eval's {trec.name} must be {what}"
    return InputError(problem, source="measures", value=parameters)
