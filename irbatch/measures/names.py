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
from typing import Any, NoReturn

from irbatch.errors import InputError, raise_problems, shown
from irbatch.measures.declare import (
    CATALOGUE,
    Declaration,
    Measure,
    check_cutoff,
    measure_error,
    normal,
)
from irbatch.measures.parameters import Choice
from irbatch.measures.trec_names import NICKNAMES, TrecMeasure, list_group, trec_measures
from irbatch.runtime.numbers import DECIMAL

BYTES = (bytes, bytearray, memoryview)  # which can be iterated over, but as numbers
UNCUT = ("accuracy", "acc")  # names that ask for a cutoff
MOST_DIGITS = 300  # of a cutoff
NEAR = 0.75  # the least likeness of a name that is suggested
LONGEST_NAME = 64  # of a measure, without parameters; so that hostile names take linear time

# White space is gone outside of brackets. In none of its parts may white space end in two ways:
# then time is linear.
_FORM = re.compile(
    r"(?P<name>[^\s()@{}]+?)(?:\((?P<settings>.*)\))?(?:@(?P<at>.+?))?(?:-l(?P<rel>[0-9]+))?"
)
_SUFFIXED = re.compile(rf"(?P<name>.{{1,{LONGEST_NAME}}}?)(?:_at)?_(?P<cutoff>[0-9]+)")
_NUMBERS = re.compile(rf"({DECIMAL}|\w+=[^(]*)")  # a cutoff, a point, trec_eval's 1=3
_NUMBER = re.compile(DECIMAL)
_WORDS = re.compile(r"\{\s*[A-Za-z]\w*\s*(,\s*[A-Za-z]\w*\s*)*\}")
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_RANX_RBP = re.compile(r"rbp\.(?P<p>[0-9]{1,15})", re.IGNORECASE)

# Names that tools have for different measures, normalised, and what each may mean, ``{at}`` being
# the cutoff. A word that most tools define alike, as recall, has one meaning here, which the guides
# tell; taking one of these for this or that would silently give other numbers than meant.
AMBIGUOUS = {
    "hits": (
        "Success{at} (whether any relevant one was found: the hit rate)",
        "NumRelRet{at} (how many were found, as a sum; ranx has the mean over queries)",
    ),
    "itemcoverage": (
        "CatalogueCoverage{at} (the share of all items; Elliot and RecTools have their number)",
        "CatalogueCoverage(padding=1){at} (RecBole's itemcoverage{at}, for which padding is an "
        "item)",
    ),
    "catalogcoverage": (
        "CatalogueCoverage{at} (the share of all items; Elliot and RecTools have their number)",
        "CatalogueCoverage(of=trained){at} (recommenders' catalog_coverage{at}, of the items of "
        "training)",
    ),
    "giniindex": (
        "Gini{at} (of the catalogue, as LensKit's ListGini)",
        "Gini(padding=1){at} (RecBole's giniindex{at}, for which padding is an item)",
    ),
    "shannonentropy": (
        "Entropy{at} (in bits)",
        "Entropy(unit=nats,per=recommended){at} (RecBole's shannonentropy{at}, in nats, over the "
        "number of items recommended)",
    ),
    "diversity": (
        "ILD{at} (of embeddings)",
        "ILD(by=cooccurrence){at} (recommenders' diversity{at}, of who had the items)",
    ),
    "surprisal": (
        "Novelty{at} (of an item's share of interactions)",
        "Novelty(of=users){at} (of its share of users, as of rs-metrics; RePlay divides by "
        "log2(users))",
    ),
    "aplt": (
        "TailShare{at} (the tail is the tenth of items with the fewest interactions; Elliot's, "
        "what the items with 80 % of them leave, is not here)",
    ),
}
AS_ONE_TOOL = ("itemcoverage", "catalog_coverage", "giniindex", "shannonentropy", "diversity")
"""How the tool named among an ambiguous name's meanings alone writes it."""


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
        raise measure_error(f"{shown(name)} stands for {len(found)} measures")
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
    if isinstance(asked, str | Measure) or _is_of_ir_measures(asked):
        asked = [asked]
    if isinstance(asked, Mapping):
        problem = "a mapping is not names: judgments come first, then the run, then measures"
        raise measure_error(problem)
    if isinstance(asked, BYTES) or not isinstance(asked, Iterable):
        raise measure_error(f"{shown(asked)} is not a measure or its name")
    problems: list[InputError] = []
    measures_asked: dict[Measure, None] = {}
    for name in asked:
        try:
            for each in _parse_names(name):
                measures_asked.update(dict.fromkeys(_at_cutoffs(each, at)))
        except InputError as problem:
            problems.extend(problem.problems)
    raise_problems(problems)
    if not measures_asked:
        raise measure_error("no measures were asked for")
    return tuple(measures_asked)


def _is_of_ir_measures(name: object) -> bool:
    """Tell whether something is a measure of ir_measures, which is not imported for it."""
    return type(name).__module__.partition(".")[0] == "ir_measures"


def _check_cutoffs(cutoffs: object) -> list[int | None] | None:
    if cutoffs is None:
        return None
    single = isinstance(cutoffs, (str, Mapping, *BYTES)) or getattr(cutoffs, "ndim", 1) == 0
    if single or not isinstance(cutoffs, Iterable):
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
            raise measure_error(f"{problem} document is relevant", value=each.asked)
        yield each if cutoff is None else each @ cutoff


def _index() -> dict[str, Measure]:
    """Map every name in use, normalised, to its meaning; loads all measures."""
    return _index_of(tuple(CATALOGUE.values()))


@functools.lru_cache(maxsize=1)
def _index_of(declarations: tuple[Declaration, ...]) -> dict[str, Measure]:
    """Map names to meanings; canonical names come first.

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


def _look_up(name: str) -> Measure | None:
    """Return the meaning of a name without cutoff and parameters; of ours without loading all."""
    if name in CATALOGUE:
        return CATALOGUE[name].measure
    return _index().get(name) or _index().get(normal(name))


def _parse_names(names: object) -> list[Measure]:
    if isinstance(names, Measure):
        return [names]
    if _is_of_ir_measures(names):
        from irbatch.measures.ir_measures import read_object

        return [read_object(names)]
    if not isinstance(names, str):
        raise measure_error(f"{shown(names)} is not a measure or its name", value=names)
    found, problems = [], []
    for text in _separate("@".join(map(str.strip, names.split("@")))):
        try:
            found += _parse(text)
        except InputError as problem:
            problems.append(problem)
    raise_problems(problems)
    return found


def _separate(names: str) -> Iterator[str]:
    """Yield names that spaces or commas separate, but not those in brackets.

    Nor those that belong to one name: of ``P.5,10``, ``nDCG@5,10``, ``rbp.p=0.5,1=1``, ``NCUrb,P``.
    """
    for text in split(names, None):
        whole: list[str] = []
        for part in split(text, ","):
            named = len(whole) == 1 and _look_up(f"{whole[0]},{part.partition('@')[0]}")
            if whole and not named and not _NUMBERS.fullmatch(part):
                yield ",".join(whole)
                whole = []
            whole.append(part)
        if whole:
            yield ",".join(whole)


def _parse(text: str) -> list[Measure]:
    """Parse one name, and remember how it was written."""
    found = _parse_one(text)
    if len(found) == 1:
        return [replace(found[0], asked=text)]
    head, at, _ = text.partition("@")
    if "(" in text:
        return found
    return [
        replace(each, asked=f"{head}@{each.cutoff}" if at else each.spelled("trec_eval"))
        for each in found
    ]


def _parse_one(text: str) -> list[Measure]:
    """Parse one name, without spaces outside of brackets."""
    form = _FORM.fullmatch(text)
    if form is None:
        problem = f"{shown(text)} is not of the form NAME(parameter=value)@cutoff"
        raise measure_error(problem, value=text)
    name, settings = form["name"], dict[str, object]()
    if form["rel"] is not None:
        settings["rel"] = float(form["rel"])
    plain = form["at"] is None and form["settings"] is None and name not in CATALOGUE
    if plain and (found := _parse_undivided(name, text)):
        return [each(**settings) for each in found]
    _reject_ambiguous(text, name, form["at"])
    meaning = _look_up(name)
    if meaning is None:
        _reject_unknown(text, name)
    if form["settings"]:
        settings |= parse_settings(form["settings"], text)
    found = [meaning(**each) for each in _alternatives(settings, meaning)]
    at = split_braced(form["at"]) if form["at"] is not None else []
    at = at[0].strip("[]").split(",") if len(at) == 1 else at  # @5,10 and @[5,10]
    if any("." in each for each in at) and "recall" in meaning.declaration.parameters:
        if "recall" in settings:
            raise measure_error(f"{shown(text)} gives two recall points", value=text)
        return [found[0](recall=parse_value(each, text)) for each in at]  # ir_measures' IPrec@0.1
    cutoffs = [_parse_cutoff(each, text) for each in at]
    return [each @ cutoff for each in found for cutoff in cutoffs] if cutoffs else found


def _parse_undivided(name: str, text: str) -> list[Measure]:
    """Parse names that end in cutoffs or parameters: ``ndcg_at_10``, ``P.5,10``, ``ndcg_cut``.

    Returns nothing for a name that ends in neither.
    """
    if ranx := _RANX_RBP.fullmatch(name):  # rbp.95, whose p is 0.95
        return [CATALOGUE["RBP"].measure(p=float("0." + ranx["p"]))]
    suffixed = _SUFFIXED.fullmatch(name)
    stem = _look_up(suffixed["name"]) if suffixed else None
    if suffixed:
        _reject_ambiguous(text, suffixed["name"], suffixed["cutoff"])
    meaning = None if stem else _look_up(name)  # nerr_8 is nERR@8, not NERR8
    try:
        found = _parse_trec_eval(name, meaning)
    except InputError:
        if suffixed is None:  # it is not ndcg_10, whose number is taken for a gain
            raise
        _reject_unknown(text, name)
    if found or not suffixed or not stem:
        return found
    return [stem @ _parse_cutoff(suffixed["cutoff"], text)]


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
            _check_parameters(trec, parameters, name)
            return [each.measure for each in trec.values(parameters) if each.measure]
    return []


def _check_parameters(trec: TrecMeasure, parameters: str, name: str) -> None:
    """Reject parameters that trec_eval passes over, and text of which it reads the beginning."""
    takes, parts = trec.named.takes, parameters.split(",") if parameters else []
    if parts and not takes:
        problem = f"trec_eval's {trec.named.name} has neither cutoffs nor parameters: {shown(name)}"
        hint = f"; did you mean {trec.meaning}@{parameters}?" if parameters.isdecimal() else ""
        raise measure_error(problem + hint, value=name)
    for each in parts:
        if takes == "cutoffs":
            _parse_cutoff(each.strip(), name)
        elif takes != "gains" and not _NUMBER.fullmatch(each.strip()):
            problem = f"{shown(each, 40)} in {shown(name)} is not a number"
            raise measure_error(problem, value=name)


@functools.lru_cache(maxsize=1)
def _known_to_trec_eval(declarations: tuple[Declaration, ...]) -> dict[str, TrecMeasure]:
    """Return the measures of trec_eval by name, normalised."""
    return {normal(name): each for name, each in trec_measures().items() if each.meaning}


def _parse_cutoff(text: str, whole: str) -> int:
    # More digits than any ranking has documents: beyond what int() reads at all.
    hint = "; parameters go before the @" if "(" in text else ""
    if len(text) > MOST_DIGITS or not re.fullmatch(r"\d+", text, re.ASCII) or int(text) < 1:
        place = f"{shown(text, 40)} in {shown(whole)}"
        raise measure_error(
            f"cutoff {place} must be a whole number of at least 1{hint}", value=text
        )
    return int(text)


def _reject_unknown(text: str, name: str) -> NoReturn:
    """Reject a name that no measure has, and suggest the nearest."""
    from difflib import get_close_matches  # a millisecond of importing irbatch

    stem = re.sub(r"(_at)?[-_.]?\d*$", "", name) if len(name) <= LONGEST_NAME else ""
    hint = "; `irbatch measures` lists all"
    index = _index()
    for near in get_close_matches(normal(stem), index, 1, NEAR):
        cutoff = re.search(rf"(?<!\d)([1-9]\d{{,{LONGEST_NAME}}})$", text)
        at = f"@{cutoff[1]}" if cutoff and index[near].declaration.takes_cutoff else ""
        hint = f" (did you mean {index[near]}{at}?)"
    raise measure_error(f"unknown measure {shown(text)}{hint}", value=text)


def _reject_ambiguous(text: str, name: str, cutoff: str | None) -> None:
    """Reject a name that tools have for different measures, see `AMBIGUOUS`."""
    meanings = AMBIGUOUS.get(normal(name))
    if meanings is None or name in AS_ONE_TOOL or name in CATALOGUE:  # users define some
        return
    several = "; or ".join(meanings).replace("{at}", f"@{cutoff}" if cutoff else "")
    raise measure_error(f"{shown(text)} may be {several}", value=text)


def parse_settings(text: str, whole: str) -> dict[str, object]:
    """Parse ``rel=2,gain={1:3,2:9}``; ir_measures' ``dcg=`` and the like are understood."""
    settings: dict[str, object] = {}
    for part in split(text, ","):
        name, equals, value = (each.strip() for each in part.partition("="))
        if not equals or not name.isidentifier():
            raise measure_error(
                f"{shown(part)} in {shown(whole)} is not of the form parameter=value", value=whole
            )
        parsed = parse_value(value, whole)
        if name == "judged_only":
            from irbatch.measures.ir_measures import reject_judged_only

            reject_judged_only(whole)
        if name == "dcg" and parsed in ("log2", "exp-log2"):
            name, parsed = "gain", "exp" if parsed == "exp-log2" else "linear"
        name = {"gains": "gain", "max_rel": "max_grade"}.get(name, name)
        if name in settings:
            raise measure_error(f"{shown(whole)} gives {name} twice", value=whole)
        settings[name] = parsed
    return settings


def parse_value(text: str, whole: str) -> object:
    """Return a number, a word, several of these, or a map of grades to gains."""
    if match := _QUOTED.fullmatch(text):
        return match[1] or match[2] or ""
    if _NUMBER.fullmatch(text):
        return float(text)
    if text.startswith("{") and text.endswith("}"):
        if _WORDS.fullmatch(text):
            return split_braced(text)
        points = bool(_NUMBER.match(text[1:].strip())) and ":" not in text
        return _parse_points(text, whole) if points else _parse_map(text[1:-1], whole)
    return text


def _parse_points(text: str, whole: str) -> list[float]:
    points = []
    for each in split_braced(text):
        if not _NUMBER.fullmatch(each):
            raise measure_error(f"{shown(each)} in {shown(whole)} is not a number", value=whole)
        points.append(float(each))
    return points


def _parse_map(text: str, whole: str) -> dict[float, float]:
    pairs = {}
    for part in text.split(","):
        grade, _, gain = (each.strip() for each in part.partition(":"))
        if not _NUMBER.fullmatch(grade) or not _NUMBER.fullmatch(gain):
            raise measure_error(
                f"{shown(part)} in {shown(whole)} is not of the form grade:gain", value=whole
            )
        if float(grade) in pairs:
            raise measure_error(f"grade {grade} has two gains in {shown(whole)}", value=whole)
        pairs[float(grade)] = float(gain)
    return pairs


def split(text: str, separator: str | None) -> list[str]:
    """Split at a separator (None: white space) outside of brackets; drop empty parts."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        splits = letter.isspace() if separator is None else letter == separator
        if splits and depth <= 0:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def split_braced(text: str) -> list[str]:
    """Return the items of ``{1,5}``; anything else is one item."""
    braced = text.startswith("{") and text.endswith("}")
    return [each.strip() for each in text[1:-1].split(",")] if braced else [text]
