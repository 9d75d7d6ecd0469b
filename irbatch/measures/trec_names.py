"""Names as trec_eval reads them: parameters, nicknames and the order of its output.

``P.5,10`` is one of its names, the measure with parameters, and stands for several values, each
with a label of its own: ``P_5`` and ``P_10``. What it has is listed in
`irbatch.measures.table.TREC_EVAL`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from irbatch.errors import InputError
from irbatch.measures.declare import CATALOGUE, Measure
from irbatch.measures.table import TREC_EVAL, TrecName
from irbatch.runtime.numbers import DECIMAL

LONGEST = 2**31  # relstring

WHOLE, NUMBER = r"(?a)\s*([+-]?\d{1,300})", rf"(?a)\s*({DECIMAL})"


class TrecValue(NamedTuple):
    """One value that trec_eval prints."""

    label: str
    measure: Measure | None  # of a line of text, None
    length: int | None = None  # how many documents a relstring shows


TREC_MEASURES = {trec.name: trec for trec in TREC_EVAL}
"""trec_eval's measures by name, in the order of its output."""


def list_values(trec: TrecName, parameters: str = "", *, strict: bool = False) -> list[TrecValue]:
    """List what trec_eval prints of a measure, given the text after the first dot.

    Like trec_eval it reads the beginning of each number, unless it is `strict`.
    """
    label = f"{trec.name}_{parameters}" if parameters else trec.name
    if not trec.takes:
        if parameters and strict:
            raise _rejection(trec, parameters, "left out: it has neither cutoffs nor parameters")
        return [_value(trec, trec.name)]
    if trec.takes == "gains":
        return [_value(trec, label, **_read_gains(trec, parameters))]
    numbers = _read_numbers(trec, parameters, strict)
    own = trec.into[0] if trec.into else ""
    if trec.takes in ("cutoffs", "points"):
        if len(set(numbers)) < len(numbers):
            raise _rejection(trec, parameters, "different numbers")
        if trec.takes == "cutoffs":
            return [_value(trec, f"{trec.name}_{k}", k) for k in sorted(numbers)]
        return [_value(trec, f"{trec.name}_{x:3.2f}", **{own: x}) for x in sorted(numbers)]
    if trec.takes == "length":
        return [TrecValue(label, None, min(max(int(numbers[0]), 0), LONGEST))]
    settings: dict[str, Any] = dict(zip(trec.into, numbers, strict=False))
    if trec.takes == "several":
        if numbers != sorted(set(numbers)):
            raise _rejection(trec, parameters, "different numbers in ascending order")
        settings = {own: tuple(numbers)}
    elif trec.takes == "named" and len(numbers) != len(trec.into):
        raise _rejection(trec, parameters, f"{len(trec.into)} numbers")
    elif trec.takes == "weight" and numbers[0] <= 0:
        raise _rejection(trec, parameters, "a number above 0")
    return [_value(trec, label, **(settings if parameters else {}))]


def measures_of(trec: TrecName, parameters: str = "") -> list[Measure]:
    """List the measures that a name of trec_eval's, with parameters read strictly, stands for."""
    values = list_values(trec, parameters, strict=True)
    return [value.measure for value in values if value.measure]


def _value(trec: TrecName, label: str, cutoff: int | None = None, **settings: Any) -> TrecValue:
    if not trec.meaning:
        return TrecValue(label, None)
    measure = CATALOGUE[trec.meaning].measure(**settings)
    return TrecValue(label, measure if cutoff is None else measure @ cutoff)


def list_measures(asked: Sequence[str], version: str) -> dict[str, str]:
    """Read names and nicknames as after ``-m``; return name to text of parameters, in output order.

    Of parameters given twice the first count, as in trec_eval.
    """
    groups_of = {trec.name: trec.groups for trec in TREC_EVAL if trec.since <= int(version)}
    parameters: dict[str, str] = {}
    for wish in asked:
        name, dot, text = wish.partition(".")
        group = [one for one, groups in groups_of.items() if name in groups]
        if (dot and not text) or not (group or name in groups_of):
            raise InputError(f"illegal measure {wish!r}", source="measures", value=wish)
        for one in group:
            parameters.setdefault(one, "")
        if not group and not parameters.get(name):
            parameters[name] = text
    return {name: parameters[name] for name in groups_of if name in parameters}


def _read_numbers(trec: TrecName, parameters: str, strict: bool) -> list[Any]:
    """Read numbers separated by commas; of whole numbers the digits, as C's atol does."""
    whole = trec.takes == "cutoffs"
    match, numbers = re.fullmatch if strict else re.match, list[Any]()
    for text in (parameters or trec.defaults).split(","):
        number = match(WHOLE if whole else NUMBER, text)
        if number is None:
            raise _rejection(trec, parameters, "numbers separated by commas")
        numbers.append(int(number[1]) if whole else float(number[1]))
    if not whole and not all(map(math.isfinite, numbers)):
        raise _rejection(trec, parameters, "finite numbers")
    return numbers


def _read_gains(trec: TrecName, parameters: str) -> dict[str, Any]:
    """Read gains of grades, and what else the measure takes by name."""
    settings: dict[str, object] = {}
    gains: dict[float, float] = {}
    for pair in filter(None, parameters.split(",")):
        name, equals, value = pair.partition("=")
        number = re.match(NUMBER, value)
        if not equals or number is None:
            raise _rejection(trec, parameters, f"{'p=0.9, ' if trec.into else ''}grade=gain, …")
        if name in trec.into:
            settings[name] = float(number[1])
        elif re.fullmatch(WHOLE, name) and int(name) >= 0:
            gains[float(name)] = float(number[1])
        else:
            raise _rejection(trec, parameters, "grade=gain of whole grades of 0 or more")
    return settings | {"gain": gains} if gains else settings


def _rejection(trec: TrecName, parameters: str, what: str) -> InputError:
    problem = f"parameters {parameters[:80]!r} of trec_eval's {trec.name} must be {what}"
    return InputError(problem, source="measures", value=parameters)
