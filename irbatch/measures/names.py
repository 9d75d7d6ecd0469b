"""From what people write to measures: the grammar of names and other tools' spellings.

The canonical form is ``NAME(parameter=value,…)@cutoff``: ``nDCG@10``, ``AP(rel=2)@100``,
``nDCG(gain={1:3,2:9})@10``; several cutoffs as ``P@{1,5,10}``, several words of a parameter as
``INST(number={EU,ED})``. Also understood are trec_eval's
``ndcg_cut_10`` and ``P.5,10``, ranx' ``ndcg@10-l2``, BEIR's ``NDCG@10``, MTEB's ``ndcg_at_10``
and sentence-transformers' ``ndcg@10``. Case, ``-`` and ``_`` don't matter in a name.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from irbatch.errors import InputError, join_words, raise_problems, shown
from irbatch.measures.ambiguous import refuse_ambiguous
from irbatch.measures.declare import CATALOGUE, Declaration, Measure, check_cutoff, normal
from irbatch.measures.near_names import find_similar
from irbatch.measures.of_ir_measures import is_of_ir_measures, read_object
from irbatch.measures.parameters import Choice
from irbatch.measures.settings import parse_settings, parse_value, refusal, split, split_braced
from irbatch.measures.trec_names import NICKNAMES, TrecMeasure, list_group, trec_measures
from irbatch.runtime.numbers import DECIMAL

BYTES = (bytes, bytearray, memoryview)  # which can be iterated over, but as numbers
UNCUT = ("accuracy", "acc")  # names that ask for a cutoff
MOST_DIGITS = 300  # of a cutoff
LONGEST_NAME = 64  # of a measure, without parameters; so that hostile names take linear time

# White space is gone outside of brackets. In none of its parts may white space end in two ways:
# then time is linear.
_FORM = re.compile(
    r"(?P<name>[^\s()@{}]+?)(?:\((?P<settings>.*)\))?(?:@(?P<at>.+?))?(?:-l(?P<rel>[0-9]+))?"
)
_SUFFIXED = re.compile(rf"(?P<name>.{{1,{LONGEST_NAME}}}?)(?:_at)?_(?P<cutoff>[0-9]+)")
_NUMBERS = re.compile(rf"({DECIMAL}|\w+=[^(]*)")  # a cutoff, a point, trec_eval's 1=3
_RANX_RBP = re.compile(r"rbp\.(?P<p>[0-9]{1,15})", re.IGNORECASE)


def measure(name: str) -> Measure:
    """Return the one measure that a name stands for.

    Args:
        name: in any accepted spelling, with at most one cutoff.

    Raises:
        InputError: if it is not a measure, or stands for several.

    >>> print(measure("ndcg_cut_10"), measure("ndcg@10-l2"))
    nDCG@10 nDCG(rel=2)@10
    """
    found = parse_measures([name])
    if len(found) != 1:
        raise refusal(f"{shown(name)} stands for {len(found)} measures")
    return found[0]


def parse_measures(
    measures: str | Measure | Iterable[str | Measure] = (),
    cutoffs: int | Iterable[int | None] | None = None,
    *,
    wishes: str | Measure | Iterable[str | Measure] | None = None,
) -> tuple[Measure, ...]:
    """Turn what was asked for into measures, each once, in the order asked.

    Args:
        measures: a name, several with spaces or commas between, a `Measure` (ours, or one of
            ir_measures), or several of these.
        cutoffs: one or several, applied to every measure that takes a cutoff and was given none;
            None among them stands for full depth.
        wishes: what `measures` was called before.

    Raises:
        InputError: naming all that could not be understood, each with the nearest spelling.

    >>> print(*parse_measures("nDCG AP@100 R", cutoffs=[5, 10]))
    nDCG@5 nDCG@10 AP@100 R@5 R@10
    """
    at = _check_cutoffs(cutoffs)
    asked: Any = measures if wishes is None else wishes
    if isinstance(asked, str | Measure) or is_of_ir_measures(asked):
        asked = [asked]
    if isinstance(asked, Mapping):
        raise refusal("a mapping is not names: judgments come first, then the run, then measures")
    if isinstance(asked, BYTES) or not isinstance(asked, Iterable):
        raise refusal(f"{shown(asked)} is not a measure or its name")
    index = _index_of(tuple(CATALOGUE.values()))
    problems: list[InputError] = []
    found: dict[Measure, None] = {}
    for name in asked:
        try:
            for each in _parse_names(name, index):
                found.update(dict.fromkeys(_at_cutoffs(each, at)))
        except InputError as problem:
            problems.extend(problem.problems)
    raise_problems(problems)
    if not found:
        raise refusal("no measures were asked for")
    return tuple(found)


def _check_cutoffs(cutoffs: object) -> list[int | None] | None:
    if cutoffs is None:
        return None
    if isinstance(cutoffs, str) and not cutoffs.strip().isdecimal():
        problem = f"cutoff {shown(cutoffs)} must be a whole number of at least 1"
        advice = "several measures go in one argument, several runs in one mapping"
        problem += f"; {advice}: {{'A': first, 'B': second}}"
        raise InputError(problem, source="measures", value=cutoffs)
    if isinstance(cutoffs, (str, Mapping, *BYTES)) or getattr(cutoffs, "ndim", 1) == 0:
        return [check_cutoff(cutoffs)]
    if not isinstance(cutoffs, Iterable):
        return [check_cutoff(cutoffs)]
    checked = [None if cutoff is None else check_cutoff(cutoff) for cutoff in cutoffs]
    if not checked:
        problem = "there are no cutoffs in it; leave it out for full depth"
        raise InputError(problem, source="cutoffs", value=cutoffs)
    return checked


def _at_cutoffs(each: Measure, cutoffs: list[int | None] | None) -> Iterator[Measure]:
    if each.cutoff is not None or not each.declaration.takes_cutoff:
        yield each
        return
    for cutoff in cutoffs or [None]:
        if cutoff is None and normal(each.asked) in UNCUT:
            problem = f"{each.asked} needs a cutoff: {each.asked}@1 is Success@1, whether the first"
            raise refusal(f"{problem} document is relevant", value=each.asked)
        yield each if cutoff is None else each @ cutoff


@functools.lru_cache(maxsize=1)
def _index_of(declarations: tuple[Declaration, ...]) -> dict[str, Measure]:
    """Map every name in use, normalised, to its meaning; canonical names come first.

    Of names that differ in case alone, nRBP and NRBP, each is known as it is written.
    """
    index: dict[str, Measure] = {}
    for declaration in declarations:
        for name in (declaration.name, *declaration.aliases):
            other = index.setdefault(normal(name), declaration.measure)
            if other.name != declaration.name:
                index |= {other.name: other, name: declaration.measure}
    for declaration in declarations:
        for spelling in declaration.spellings:
            stem = re.sub(r"(_at)?[_@]\{k(:04d)?\}$", "", spelling.cut)
            for name in (spelling.full, stem):
                if name and not set("({") & set(name):
                    meaning = declaration.measure(**dict(spelling.parameters))
                    index.setdefault(normal(name), meaning)
    for name in [each for each in index if each != normal(each)]:
        index.pop(normal(name), None)
    return index


def _look_up(name: str, index: dict[str, Measure]) -> Measure | None:
    return index.get(name) or index.get(normal(name))


def _parse_names(names: object, index: dict[str, Measure]) -> list[Measure]:
    if isinstance(names, Measure):
        return [names]
    if is_of_ir_measures(names):
        return [read_object(names)]
    if not isinstance(names, str):
        raise refusal(f"{shown(names)} is not a measure or its name", value=names)
    found, problems = [], []
    for text in _separate("@".join(map(str.strip, names.split("@"))), index):
        try:
            found += _parse(text, index)
        except InputError as problem:
            problems.append(problem)
    raise_problems(problems)
    return found


def _separate(names: str, index: dict[str, Measure]) -> Iterator[str]:
    """Yield names that spaces or commas separate, but not those in brackets.

    Nor those that belong to one name: of ``P.5,10``, ``nDCG@5,10``, ``rbp.p=0.5,1=1``, ``NCUrb,P``.
    """
    for text in split(names, None):
        whole: list[str] = []
        for part in split(text, ","):
            named = len(whole) == 1 and _look_up(f"{whole[0]},{part.partition('@')[0]}", index)
            if whole and not named and not _NUMBERS.fullmatch(part):
                yield ",".join(whole)
                whole = []
            whole.append(part)
        if whole:
            yield ",".join(whole)


def _parse(text: str, index: dict[str, Measure]) -> list[Measure]:
    """Parse one name, and remember how it was written."""
    found = _parse_one(text, index)
    if len(found) == 1:
        return [replace(found[0], asked=text)]
    head, at, _ = text.partition("@")
    if "(" in text:
        return found
    return [
        replace(each, asked=f"{head}@{each.cutoff}" if at else each.spelled("trec_eval"))
        for each in found
    ]


def _parse_one(text: str, index: dict[str, Measure]) -> list[Measure]:
    """Parse one name, without spaces outside of brackets."""
    form = _FORM.fullmatch(text)
    if form is None:
        raise refusal(f"{shown(text)} is not of the form NAME(parameter=value)@cutoff", value=text)
    if ranx := _RANX_RBP.fullmatch(text):  # rbp.95, whose p is 0.95
        return [index["rbp"](p=float("0." + ranx["p"]))]
    meaning = _look_up(form["name"], index)
    plain = form["at"] is None and form["settings"] is None
    suffixed = _SUFFIXED.fullmatch(form["name"]) if plain else None
    refuse_ambiguous(text, *(suffixed.groups() if suffixed else (form["name"], form["at"])))
    if suffixed and form["name"] not in CATALOGUE and _look_up(suffixed["name"], index):
        meaning = None  # nerr_8 is nERR@8, not NERR8
    settings: dict[str, object] = {}
    if form["rel"] is not None:
        settings["rel"] = float(form["rel"])
    try:
        found = _parse_trec_eval(form["name"], meaning) if plain else []
    except InputError:
        if suffixed is None:  # it is not ndcg_10, whose number is taken for a gain
            raise
        hint = _nearest(form["name"], text, index)
        raise refusal(f"unknown measure {shown(text)}{hint}", value=text) from None
    if found:
        return [each(**settings) for each in found]
    cutoffs: list[int] = []
    if meaning is None and suffixed:
        meaning = _look_up(suffixed["name"], index)
        cutoffs = [_parse_cutoff(suffixed["cutoff"], text)]
    if meaning is None:
        hint = _nearest(form["name"], text, index)
        raise refusal(f"unknown measure {shown(text)}{hint}", value=text)
    if form["settings"]:
        settings |= parse_settings(form["settings"], text)
    found = [meaning(**each) for each in _alternatives(settings, meaning)]
    at = split_braced(form["at"]) if form["at"] is not None else []
    at = at[0].strip("[]").split(",") if len(at) == 1 else at  # @5,10 and @[5,10]
    if any("." in each for each in at) and "recall" in meaning.declaration.parameters:
        if "recall" in settings:
            raise refusal(f"{shown(text)} gives two recall points", value=text)
        return [found[0](recall=parse_value(each, text)) for each in at]  # ir_measures' IPrec@0.1
    cutoffs += [_parse_cutoff(each, text) for each in at]
    return [each @ cutoff for each in found for cutoff in cutoffs] if cutoffs else found


def _alternatives(settings: dict[str, object], meaning: Measure) -> Iterator[dict[str, object]]:
    """Yield settings with each of several words, ``number={EU,ED}``, in turn."""
    parameters = meaning.declaration.parameters
    for name, words in settings.items():
        if isinstance(words, list) and isinstance(parameters.get(name), Choice):
            yield from ({**settings, name: word} for word in words)
            return
    yield settings


def _parse_trec_eval(name: str, meaning: Measure | None) -> list[Measure]:
    """Parse trec_eval's ``P_5``, ``P.5,10``, ``ndcg_cut``; return nothing for any other name.

    Where it is a name of ours, of `meaning`, that goes before.
    """
    if name in NICKNAMES:
        values = (value for each in list_group(name) for value in each.values())
        return [each.measure for each in values if each.measure]
    splits = [(name, "")]
    if meaning is None:
        head = name[:LONGEST_NAME]
        ends = [match.start() for match in re.finditer(r"_(?=[0-9.])|_(?=\w+=)|\.", head)]
        splits += [(name[:end], name[end + 1 :]) for end in ends]
    elif normal(name) in map(normal, (meaning.name, *meaning.declaration.aliases)):
        return []
    known = _known_to_trec_eval(tuple(CATALOGUE.values()))
    for stem, parameters in splits:
        trec = known.get(normal(stem))
        if trec is not None and (parameters or stem == name):
            if trec.named.takes == "cutoffs" and parameters:  # trec_eval takes 2.5 for 2
                for each in parameters.split(","):
                    _parse_cutoff(each.strip(), name)
            return [each.measure for each in trec.values(parameters) if each.measure]
    return []


@functools.lru_cache(maxsize=1)
def _known_to_trec_eval(declarations: tuple[Declaration, ...]) -> dict[str, TrecMeasure]:
    """Return the measures of trec_eval by name, normalised."""
    return {normal(name): each for name, each in trec_measures().items() if each.meaning}


def _parse_cutoff(text: str, whole: str) -> int:
    # More digits than any ranking has documents: beyond what int() reads at all.
    hint = "; parameters go before the @" if "(" in text else ""
    if len(text) > MOST_DIGITS or not re.fullmatch(r"\d+", text, re.ASCII) or int(text) < 1:
        place = f"{shown(text, 40)} in {shown(whole)}"
        raise refusal(f"cutoff {place} must be a whole number of at least 1{hint}", value=text)
    return int(text)


def _nearest(name: str, text: str, index: dict[str, Measure]) -> str:
    """Suggest what may have been meant: `` (did you mean nDCG@10?)``."""
    if text.isdecimal():
        return "; cutoffs are written with a measure, as in nDCG@10"
    if normal(name) == "rbo":
        return "; it compares rankings: irbatch overlap, irbatch.comparing.rank_biased_overlap.rbo"
    stem = re.sub(r"(_at)?[-_.]?\d*$", "", name) if len(name) <= LONGEST_NAME else ""
    cutoff = re.search(rf"(?<!\d)([1-9]\d{{,{LONGEST_NAME}}})$", text)
    suggested = [
        f"{each}@{cutoff[1]}" if cutoff and each.declaration.takes_cutoff else str(each)
        for each in find_similar(normal(stem), index)
    ]
    if not suggested:
        return "; `irbatch measures` lists all"
    return f" (did you mean {join_words(suggested, 'or')}?)"
