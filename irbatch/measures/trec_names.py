"""trec_eval's measures: their names, order, parameters and nicknames, as both its versions have it.

``P.5,10`` is one of its names, the measure with parameters, and stands for several values, each
with a label of its own: ``P_5`` and ``P_10``. What a label means is a measure of the catalogue.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from irbatch.errors import InputError
from irbatch.measures.declare import CATALOGUE, Measure
from irbatch.runtime.numbers import DECIMAL

__all__ = [
    "NICKNAMES",
    "RELSTRING",
    "RUN_ID",
    "TREC_MEASURES",
    "VERSIONS",
    "TrecMeasure",
    "TrecValue",
    "list_measures",
]

VERSIONS = ("9", "10")
"""9 is 9.0.8, which pytrec_eval and what builds on it use; 10 is 10.0."""

CUTOFFS = "5,10,15,20,30,100,200,500,1000"
TENTHS = "0,.1,.2,.3,.4,.5,.6,.7,.8,.9,1"
MULTIPLES = ".2,.4,.6,.8,1,1.2,1.4,1.6,1.8,2"

RUN_ID = "runid"
RELSTRING = "relstring"
TEXTS = (RUN_ID, RELSTRING)  # printed, but no measures

LONGEST = 2**31  # relstring

_WHOLE = re.compile(r"\s*([+-]?\d{1,300})", re.ASCII)
_NUMBER = re.compile(rf"\s*({DECIMAL})", re.ASCII)


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
    """One of trec_eval's measures, as named after ``-m``.

    Args:
        name: its name.
        meaning: the canonical name of ours.
        takes: what parameters it takes, see `_READERS`.
        defaults: the parameters when none are given.
        into: our parameters that they become.
        since: the version it came with.
        in_all: whether ``all_trec`` includes it.
    """

    name: str
    meaning: str = ""
    takes: str = ""
    defaults: str = ""
    into: tuple[str, ...] = ()
    since: int = 9
    in_all: bool = True

    def values(self, parameters: str = "") -> list[TrecValue]:
        """List what it prints.

        Args:
            parameters: the text after the first dot.

        Raises:
            InputError: for parameters it doesn't take.
        """
        found = []
        for label, settings, cutoff in _READERS[self.takes](self, parameters):
            if self.name in TEXTS:
                found.append(TrecValue(label, None, settings.get("length")))
                continue
            plain = Measure(self.meaning, declaration=CATALOGUE[self.meaning])
            meaning = plain(**settings)
            found.append(TrecValue(label, meaning if cutoff is None else meaning @ cutoff))
        return found


_Settings = Iterator[tuple[str, dict[str, Any], int | None]]


def _read_none(trec: TrecMeasure, parameters: str) -> _Settings:
    yield trec.name, {}, None


def _read_cutoffs(trec: TrecMeasure, parameters: str) -> _Settings:
    """``5,10``: whole numbers, what follows the digits dropped as C's atol does."""
    for cutoff in _different(
        trec, parameters, [int(n) for n in _numbers(trec, parameters, _WHOLE)]
    ):
        yield f"{trec.name}_{cutoff}", {}, int(cutoff)


def _read_points(trec: TrecMeasure, parameters: str) -> _Settings:
    """``.25,.5``: numbers, each a value."""
    for point in _different(trec, parameters, _numbers(trec, parameters, _NUMBER)):
        yield f"{trec.name}_{point:3.2f}", {trec.into[0]: point}, None


def _read_length(trec: TrecMeasure, parameters: str) -> _Settings:
    """``10``: one whole number, whatever follows."""
    length = int(_numbers(trec, parameters, _NUMBER)[0])
    yield _labelled(trec, parameters), {trec.into[0]: min(max(length, 0), LONGEST)}, None


def _read_several(trec: TrecMeasure, parameters: str) -> _Settings:
    """``.25,.5``: numbers that make one value."""
    numbers = _numbers(trec, parameters, _NUMBER)
    yield _labelled(trec, parameters), {trec.into[0]: tuple(sorted(numbers))}, None


def _read_named(trec: TrecMeasure, parameters: str) -> _Settings:
    """``2,-1,0,0``: numbers, each with a meaning of its own."""
    numbers = _numbers(trec, parameters, _NUMBER)
    if len(numbers) != len(trec.into):
        raise _refusal(trec, parameters, f"{len(trec.into)} numbers")
    yield _labelled(trec, parameters), dict(zip(trec.into, numbers, strict=True)), None


def _read_weight(trec: TrecMeasure, parameters: str) -> _Settings:
    """``2``: one number, whatever follows."""
    (weight,) = _numbers(trec, parameters, _NUMBER)[:1]
    if weight <= 0:
        raise _refusal(trec, parameters, "a number above 0")
    yield _labelled(trec, parameters), {trec.into[0]: weight} if parameters else {}, None


def _read_gains(trec: TrecMeasure, parameters: str) -> _Settings:
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


_READERS: dict[str, Callable[[TrecMeasure, str], _Settings]] = {
    "": _read_none,
    "cutoffs": _read_cutoffs,
    "points": _read_points,
    "length": _read_length,
    "several": _read_several,
    "named": _read_named,
    "weight": _read_weight,
    "gains": _read_gains,
}


def _numbers(trec: TrecMeasure, parameters: str, form: re.Pattern[str]) -> list[float]:
    numbers = []
    for text in (parameters or trec.defaults).split(","):
        match = form.match(text)
        if match is None:
            raise _refusal(trec, parameters, "numbers separated by commas")
        numbers.append(float(match[1]))
    if not all(map(math.isfinite, numbers)):
        raise _refusal(trec, parameters, "finite numbers")
    return numbers


def _different(trec: TrecMeasure, parameters: str, numbers: Sequence[float]) -> list[float]:
    if len(set(numbers)) < len(numbers):
        raise _refusal(trec, parameters, "different numbers")
    return sorted(numbers)


def _labelled(trec: TrecMeasure, parameters: str) -> str:
    return f"{trec.name}_{parameters}" if parameters else trec.name


def _refusal(trec: TrecMeasure, parameters: str, what: str) -> InputError:
    return InputError(
        f"parameters {parameters[:80]!r} of trec_eval's {trec.name} must be {what}",
        source="measures",
        value=parameters,
    )


TREC_MEASURES: dict[str, TrecMeasure] = {
    each.name: each
    for each in (
        TrecMeasure(RUN_ID),
        TrecMeasure("num_q", "NumQ"),
        TrecMeasure("num_ret", "NumRet"),
        TrecMeasure("num_rel", "NumRel"),
        TrecMeasure("num_rel_ret", "NumRelRet"),
        TrecMeasure("map", "AP"),
        TrecMeasure("gm_map", "GMAP"),
        TrecMeasure("Rprec", "Rprec"),
        TrecMeasure("bpref", "Bpref"),
        TrecMeasure("recip_rank", "RR"),
        TrecMeasure("iprec_at_recall", "IPrec", "points", TENTHS, ("recall",)),
        TrecMeasure("P", "P", "cutoffs", CUTOFFS),
        TrecMeasure(RELSTRING, "", "length", "10", ("length",)),
        TrecMeasure("recall", "R", "cutoffs", CUTOFFS),
        TrecMeasure("infAP", "InfAP"),
        TrecMeasure("gm_bpref", "GMBpref"),
        TrecMeasure("Rprec_mult", "RprecMult", "points", MULTIPLES, ("times",)),
        TrecMeasure("utility", "Utility", "named", "1,-1,0,0", ("a", "b", "c", "d")),
        TrecMeasure("11pt_avg", "IPrecAvg", "several", TENTHS, ("points",)),
        TrecMeasure("binG", "BinG"),
        TrecMeasure("G", "G", "gains"),
        TrecMeasure("dcg", "DCG", "gains", since=10, in_all=False),
        TrecMeasure("ideal_dcg", "IDCG", "gains", since=10, in_all=False),
        TrecMeasure("ndcg", "nDCG", "gains"),
        TrecMeasure("ndcg_rel", "nDCGrel", "gains"),
        TrecMeasure("Rndcg", "RnDCG", "gains"),
        TrecMeasure("ndcg_cut", "nDCG", "cutoffs", CUTOFFS),
        TrecMeasure("map_cut", "AP", "cutoffs", CUTOFFS),
        TrecMeasure("relative_P", "Rcap", "cutoffs", CUTOFFS),
        TrecMeasure("success", "Success", "cutoffs", "1,5,10"),
        TrecMeasure("set_P", "P"),
        TrecMeasure("set_relative_P", "Rcap"),
        TrecMeasure("set_recall", "R"),
        TrecMeasure("set_map", "SetAP"),
        TrecMeasure("set_F", "F", "weight", "1", ("weight",)),
        TrecMeasure("num_nonrel_judged_ret", "NumNonRelRet"),
        TrecMeasure("yaap", "YAAP", in_all=False),
        TrecMeasure("rbp", "RBP", "gains", "", ("p",), since=10),
        TrecMeasure("rbp_resid", "RBPresid", since=10),
        TrecMeasure("unj", "Unjudged", "cutoffs", "5,10,20", since=10),
    )
}
"""All of them by name, in the order of trec_eval's output."""

_NICKNAMES = {
    "official": "runid num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank "
    "iprec_at_recall P",
    "set": "runid num_q num_ret num_rel num_rel_ret utility set_P set_recall set_relative_P "
    "set_map set_F",
    "all_trec": " ".join(each.name for each in TREC_MEASURES.values() if each.in_all),
}
NICKNAMES: dict[str, tuple[str, ...]] = {
    name: tuple(names.split()) for name, names in _NICKNAMES.items()
}
"""Names of groups of measures; `list_measures` leaves out what a version doesn't have."""


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
    parameters: dict[str, str] = {}
    for wish in wishes:
        name, dot, text = wish.partition(".")
        names = NICKNAMES.get(name, (name,))
        for each in names:
            known = TREC_MEASURES.get(each)
            if known is None or (known.since > int(version) and len(names) == 1) or (
                dot and not text
            ):  # fmt: skip
                raise InputError(f"illegal measure {wish!r}", source="measures", value=wish)
            if known.since <= int(version) and not (parameters.get(each) or len(names) > 1):
                parameters[each] = text
            elif known.since <= int(version):
                parameters.setdefault(each, "")
    return {name: parameters[name] for name in TREC_MEASURES if name in parameters}
