"""From what people write to measures: the grammar of names and other tools' spellings.

The canonical form is ``NAME(parameter=value,…)@cutoff``: ``nDCG@10``, ``AP(rel=2)@100``,
``nDCG(gain={1:3,2:9})@10``; several cutoffs as ``P@{1,5,10}``, several words of a parameter as
``INST(number={EU,ED})``. Also understood are trec_eval's
``ndcg_cut_10`` and ``P.5,10``, ranx' ``ndcg@10-l2``, BEIR's ``NDCG@10``, MTEB's ``ndcg_at_10``
and sentence-transformers' ``ndcg@10``. Case, ``-`` and ``_`` don't matter in a name.

A name of trec_eval's with parameters, ``P.5,10``, stands for several values, each with a label of
its own, ``P_5`` and ``P_10``. The tool's own reading of names after ``-m`` comes last.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from irbatch.errors import InputError, raise_problems, shown
from irbatch.measures.declare import CATALOGUE, Measure, check_cutoff, measure_error, normal
from irbatch.measures.table import NICKNAMES, TREC_EVAL, TrecName, names_of
from irbatch.runtime.numbers import DECIMAL

BYTES = (bytes, bytearray, memoryview)  # which can be iterated over, but as numbers
MOST_DIGITS = 300  # of a cutoff
NEAR = 0.75  # the least likeness of a name that is suggested
LONGEST_NAME = 64  # of a measure, without parameters; so that hostile names take linear time

AMBIGUOUS = {
    "hits": "Success{at} (the hit rate) or NumRelRet{at} (as a sum; ranx has the mean)",
    "itemcoverage": "CatalogueCoverage{at} (a share; Elliot counts items) or "
    "CatalogueCoverage(padding=1){at} (RecBole)",
    "catalogcoverage": "CatalogueCoverage{at} (a share; RecTools counts items) or "
    "CatalogueCoverage(of=trained){at} (recommenders)",
    "giniindex": "Gini{at} (LensKit) or Gini(padding=1){at} (RecBole)",
    "shannonentropy": "Entropy{at} (in bits) or Entropy(unit=nats,per=recommended){at} (RecBole)",
    "diversity": "ILD{at} (of embeddings) or ILD(by=cooccurrence){at} (recommenders)",
    "surprisal": "Novelty{at} (of interactions) or Novelty(of=users){at} (rs-metrics)",
    "aplt": "TailShare{at} (of a tenth of the items; Elliot's tail is not here)",
    "accuracy": "Success{at} (BEIR; RecTools' share of right decisions is not here)",
    "miuf": "Novelty(of=users){at} (RecTools' MeanInvUserFreq)",
    "meaninvuserfreq": "Novelty(of=users){at} (RecTools)",
    "efd": "Novelty{at} (without relevance and discount)",
    "epc": "AvgPopularity{at} (of which it is the complement)",
    "arhr": "RR{at} (where one item is relevant)",
    "mcc": "F{at} (of P and R; RecTools' Matthews correlation coefficient is not here)",
    "retrievalmap": "AP or AP(norm=found){at} (torchmetrics with top_k=)",
    "retrievalaverageprecision": "AP or AP(norm=found){at} (torchmetrics with top_k=)",
    "retrievalreciprocalrank": "RR{at} (torchmetrics)",
    "retrievalmrr": "RR{at} (torchmetrics)",
    "retrievalnormalizeddcg": "nDCG{at} (torchmetrics)",
    "retrievalprecision": "P{at} or P(norm=retrieved){at} (torchmetrics with adaptive_k=)",
    "retrievalrecall": "R{at} (torchmetrics)",
    "retrievalhitrate": "Success{at} (torchmetrics)",
    "retrievalrprecision": "Rprec (torchmetrics)",
    "retrievalfallout": "FallOut{at} (torchmetrics)",
    "retrievalauroc": "AUC{at} (torchmetrics)",
}
"""Names that tools have for different measures, normalised, and what each may mean at a cutoff.

Taking one for this or that would silently give other numbers than meant; only as a tool of the
table writes it a name is taken for that tool's. A word that most tools define alike, as recall, has
one meaning here, which the guides tell.
"""

# White space is gone outside of brackets. In none of its parts may white space end in two ways:
# then time is linear.
FORM = r"(?P<name>[^\s()@{}]+?)(?:\((?P<settings>.*)\))?(?:@(?P<at>.+?))?(?:-l(?P<rel>[0-9]+))?"
SUFFIXED = rf"(?P<name>.{{1,{LONGEST_NAME}}}?)(?:_at)?_(?P<cutoff>[0-9]+)"
NUMBERS = rf"({DECIMAL}|\w+=[^(]*)"  # a cutoff, a point, trec_eval's 1=3


def measure(name: str) -> Measure:
    """Return the one measure that a name stands for.

    Args:
        name: in any accepted spelling, with at most one cutoff.

    Raises:
        InputError: if it is not a measure, or stands for several.

    >>> print(measure("ndcg_cut_10"), measure("ndcg@10-l2"))
    nDCG@10 nDCG(rel=2)@10
    """
    measures = parse_measures([name])
    if len(measures) != 1:
        raise measure_error(f"{shown(name)} stands for {len(measures)} measures")
    return measures[0]


def parse_measures(
    measures: str | Measure | Iterable[str | Measure] = (),
    cutoffs: int | Iterable[int | None] | None = None,
) -> tuple[Measure, ...]:
    """Turn what was asked for into measures, each once, in the order asked.

    Args:
        measures: a name, several with spaces or commas between, a `Measure` (ours, or one of
            ir_measures), or several of these.
        cutoffs: one or several, applied to every measure that takes a cutoff and was given none;
            None among them stands for full depth.

    Raises:
        InputError: naming all that could not be understood, each with the nearest spelling.

    >>> print(*parse_measures("nDCG AP@100 R", cutoffs=[5, 10]))
    nDCG@5 nDCG@10 AP@100 R@5 R@10
    """
    at = _check_cutoffs(cutoffs)
    asked: Any = measures
    if isinstance(asked, (str, *BYTES, Mapping)) or not isinstance(asked, Iterable):
        asked = [asked]
    problems: list[InputError] = []
    parsed: dict[Measure, None] = {}
    for name in asked:
        try:
            # What names mean depends on the measures that users have defined.
            some = _parse_text(name, CATALOGUE.users) if isinstance(name, str) else [_take(name)]
            for measure in some:
                takes = measure.cutoff is None and measure.declaration.takes_cutoff
                cuts = at if takes else [None]
                parsed.update((measure if k is None else measure @ k, None) for k in cuts)
        except InputError as problem:
            problems.extend(problem.problems)
    if problems or not parsed:
        raise_problems(problems)
        raise measure_error("no measures were asked for")
    return tuple(parsed)


def _take(wish: object) -> Measure:
    """Return a measure, ours or one of ir_measures, which is not imported for it."""
    if isinstance(wish, Measure):
        return wish
    if type(wish).__module__.partition(".")[0] != "ir_measures":
        raise measure_error(f"{shown(wish)} is not a measure or its name", value=wish)
    from irbatch.measures.ir_measures import read_object

    return read_object(wish)


def _check_cutoffs(cutoffs: object) -> list[int | None]:
    if cutoffs is None:
        return [None]
    single = isinstance(cutoffs, (str, Mapping, *BYTES)) or getattr(cutoffs, "ndim", 1) == 0
    if single or not isinstance(cutoffs, Iterable):
        return [check_cutoff(cutoffs)]
    checked = [None if cutoff is None else check_cutoff(cutoff) for cutoff in cutoffs]
    if not checked:
        problem = "there are no cutoffs in it; leave it out for full depth"
        raise InputError(problem, source="cutoffs", value=cutoffs)
    return checked


class Meaning:
    """What a name, as it is `written` here or by a tool, stands for: a measure of the catalogue."""

    def __init__(
        self, measure: str, written: str, parameters: tuple[tuple[str, object], ...] = ()
    ) -> None:
        self.measure, self.written, self.parameters = measure, written, parameters


@functools.lru_cache(maxsize=1)
def _index(users: int) -> dict[str, Meaning]:
    """Map every name in use, normalised, to what it stands for; canonical ones come first.

    Names that differ in case alone, nRBP and NRBP, are not there: each is known as it is written.
    """
    names = {name: names_of(name) for name in CATALOGUE}
    meanings = [Meaning(name, name) for name in names]
    meanings += [Meaning(name, alias) for name, (aliases, _) in names.items() for alias in aliases]
    for name, (_, spellings) in names.items():
        for spelling in spellings:
            stem = re.sub(r"(_at)?[_@]\{k(:04d)?\}$", "", spelling.cut)
            plain = [form for form in (spelling.full, stem) if form and not set("({") & set(form)]
            meanings += [Meaning(name, form, spelling.parameters) for form in plain]
    index: dict[str, Meaning] = {}
    alike = set()
    for meaning in meanings:
        known = index.setdefault(normal(meaning.written), meaning)
        if meaning.written == meaning.measure != known.measure:
            alike.add(normal(meaning.written))
    for name in alike:
        del index[name]
    return index


def _look_up(name: str) -> Measure | None:
    """Return the meaning of a name without cutoff and parameters."""
    if name in CATALOGUE:
        return CATALOGUE[name].measure
    meaning = _index(CATALOGUE.users).get(normal(name))
    if meaning is None:
        return None
    return CATALOGUE[meaning.measure].measure(**dict(meaning.parameters))


@functools.lru_cache(maxsize=256)
def _parse_text(names: str, users: int) -> tuple[Measure, ...]:
    """Parse names with spaces or commas between, and remember how each was written."""
    parsed, problems = list[Measure](), []
    plain = names.replace("@", "").isalnum()
    for text in [names] if plain else _separate("@".join(map(str.strip, names.split("@")))):
        try:
            some = _parse_one(text)
        except InputError as problem:
            problems.append(problem)
            continue
        head, at, _ = text.partition("@")
        for measure in some:
            if len(some) == 1:
                asked = text
            elif "(" in text:
                asked = ""
            else:
                asked = f"{head}@{measure.cutoff}" if at else measure.spelled("trec_eval")
            parsed.append(measure._replace(asked=asked))
    raise_problems(problems)
    return tuple(parsed)


def _separate(names: str) -> Iterator[str]:
    """Yield names that spaces or commas separate, but not those of ``P.5,10`` and ``NCUrb,P``."""
    for text in split(names, None):
        whole: list[str] = []
        for part in split(text, ","):
            named = len(whole) == 1 and _look_up(f"{whole[0]},{part.partition('@')[0]}")
            if whole and not named and not re.fullmatch(NUMBERS, part):
                yield ",".join(whole)
                whole = []
            whole.append(part)
        if whole:
            yield ",".join(whole)


def _parse_one(text: str) -> list[Measure]:
    """Parse one name, without spaces outside of brackets."""
    name, at, cutoff = text.partition("@")
    if name in CATALOGUE and (not at or (cutoff.isdecimal() and cutoff.isascii())):
        meaning = CATALOGUE[name].measure  # most names, without regular expressions
        return [meaning @ _parse_cutoff(cutoff, text) if at else meaning]
    form = re.fullmatch(FORM, text)
    if form is None:
        problem = f"{shown(text)} is not of the form NAME(parameter=value)@cutoff"
        raise measure_error(problem, value=text)
    name, settings = form["name"], dict[str, object]()
    if form["rel"] is not None:
        settings["rel"] = float(form["rel"])
    plain = form["at"] is None and form["settings"] is None and name not in CATALOGUE
    if plain and (undivided := _parse_undivided(name, text)):
        return [measure(**settings) for measure in undivided]
    _reject_ambiguous(text, name, form["at"])
    if (meaning_of_name := _look_up(name)) is None:
        _reject_unknown(text, name)
    if form["settings"]:
        settings |= parse_settings(form["settings"], text)
    meant = [meaning_of_name(**words) for words in _alternatives(settings, meaning_of_name)]
    cuts = split_braced(form["at"]) if form["at"] is not None else []
    cuts = cuts[0].strip("[]").split(",") if len(cuts) == 1 else cuts  # @5,10 and @[5,10]
    points = any("." in cut for cut in cuts)
    if points and "recall" in meaning_of_name.declaration.parameters:  # ir_measures' IPrec@0.1
        if "recall" in settings:
            raise measure_error(f"{shown(text)} gives two recall points", value=text)
        return [meant[0](recall=parse_value(cut, text)) for cut in cuts]
    cutoffs = [_parse_cutoff(cut, text) for cut in cuts]
    return [measure @ cutoff for measure in meant for cutoff in cutoffs] if cutoffs else meant


def _parse_undivided(name: str, text: str) -> list[Measure]:
    """Parse names that end in cutoffs or parameters, ``ndcg_at_10``, ``P.5,10``; [] of others."""
    if ranx := re.fullmatch(r"(?i)rbp\.(?P<p>[0-9]{1,15})", name):  # rbp.95, whose p is 0.95
        return [CATALOGUE["RBP"].measure(p=float("0." + ranx["p"]))]
    if name in NICKNAMES:
        of_group = (trec for trec in TREC_EVAL if name in trec.groups)
        return [measure for trec in of_group for measure in measures_of(trec)]
    suffixed = re.fullmatch(SUFFIXED, name)
    stem = _look_up(suffixed["name"]) if suffixed else None
    if suffixed:
        _reject_ambiguous(text, suffixed["name"], suffixed["cutoff"])
    try:
        for trec, parameters in _divide(name, None if stem else _look_up(name)):  # nerr_8 is nERR@8
            if parameters.isdecimal() and not trec.takes:
                problem = f"trec_eval's {trec.name} takes no cutoff: {shown(name)}"
                raise measure_error(problem, value=name)
            return measures_of(trec, parameters)
    except InputError:
        if suffixed is None:  # it is not ndcg_10, whose number is taken for a gain
            raise
        _reject_unknown(text, name)
    return [stem @ _parse_cutoff(suffixed["cutoff"], text)] if suffixed and stem else []


def _divide(name: str, meaning: Measure | None) -> Iterator[tuple[TrecName, str]]:
    """Yield which names of trec_eval, with which parameters, a name that is not ours may be."""
    splits = [(name, "")]
    if meaning is None:
        ends = re.finditer(r"_(?=[0-9.])|_(?=\w+=)|\.", name[:LONGEST_NAME])
        splits += [(name[: end.start()], name[end.start() + 1 :]) for end in ends]
    elif normal(name) in map(normal, (meaning.name, *meaning.declaration.names[0])):
        return
    by_name = {normal(trec.name): trec for trec in TREC_EVAL if trec.meaning}
    for stem, parameters in splits:
        if (parameters or stem == name) and normal(stem) in by_name:
            yield by_name[normal(stem)], parameters


def _alternatives(settings: dict[str, object], meaning: Measure) -> Iterator[dict[str, object]]:
    """Yield settings with each of several words, ``number={EU,ED}``, in turn."""
    parameters = meaning.declaration.parameters
    for name, words in settings.items():
        if isinstance(words, list) and name in parameters and parameters[name].options:
            yield from ({**settings, name: word} for word in words)
            return
    yield settings


def _parse_cutoff(text: str, whole: str) -> int:
    # More digits than any ranking has documents: beyond what int() reads at all.
    is_whole = text.isascii() and text.isdigit()  # a pattern would first have to be compiled
    if len(text) > MOST_DIGITS or not is_whole or int(text) < 1:
        place = f"{shown(text, 40)} in {shown(whole)}"
        raise measure_error(f"cutoff {place} must be a whole number of at least 1", value=text)
    return int(text)


def _reject_unknown(text: str, name: str) -> NoReturn:
    from difflib import get_close_matches  # a millisecond of importing irbatch

    stem = re.sub(r"(_at)?[-_.]?\d*$", "", name) if len(name) <= LONGEST_NAME else ""
    hint = "; `irbatch measures` lists all"
    for near in get_close_matches(normal(stem), _index(CATALOGUE.users), 1, NEAR):
        meaning = _look_up(near)
        cutoff = re.search(rf"(?<!\d)([1-9]\d{{,{LONGEST_NAME}}})$", text)
        at = f"@{cutoff[1]}" if cutoff and meaning and meaning.declaration.takes_cutoff else ""
        hint = f" (did you mean {meaning}{at}?)"
    raise measure_error(f"unknown measure {shown(text)}{hint}", value=text)


def _reject_ambiguous(text: str, name: str, cutoff: str | None) -> None:
    """Reject a name that tools have for different measures, but as one of them writes it."""
    meanings, known = AMBIGUOUS.get(normal(name)), _index(CATALOGUE.users).get(normal(name))
    if meanings is None or (known and known.written == name):
        return
    _, top_k, after = text.partition("top_k=")  # as torchmetrics says it
    cutoff = cutoff or (after.split(")")[0].split(",")[0].strip() if top_k else None)
    several = meanings.replace("{at}", f"@{cutoff}" if cutoff else "")
    raise measure_error(f"{shown(text)} may be {several}", value=text)


def parse_settings(text: str, whole: str) -> dict[str, object]:
    """Parse ``rel=2,gain={1:3,2:9}``; ir_measures' ``dcg=`` and the like are understood."""
    settings: dict[str, object] = {}
    for part in split(text, ","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not name.isidentifier():
            problem = f"{shown(part)} in {shown(whole)} is not of the form parameter=value"
            raise measure_error(problem, value=whole)
        parsed = parse_value(value, whole)
        if name == "dcg" and parsed in ("log2", "exp-log2"):
            name, parsed = "gain", "exp" if parsed == "exp-log2" else "linear"
        name = {"gains": "gain", "max_rel": "max_grade"}.get(name, name)
        if name in settings:
            raise measure_error(f"{shown(whole)} gives {name} twice", value=whole)
        settings[name] = parsed
    return settings


def parse_value(text: str, whole: str) -> object:
    """Return a number, a word, several of these, or a map of grades to gains."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" and text[0] not in text[1:-1]:
        return text[1:-1]
    if re.fullmatch(DECIMAL, text):
        return float(text)
    if not (text.startswith("{") and text.endswith("}")):
        return text
    items = split_braced(text)
    if all(item.isascii() and item.isidentifier() for item in items):
        return items
    if ":" not in text and items != [""]:
        return [_parse_number(item, item, "a number", whole) for item in items]
    gains: dict[float, float] = {}
    for item in items:
        pair = item.partition(":")
        grade, gain = (
            _parse_number(number.strip(), item, "of the form grade:gain", whole)
            for number in pair[::2]
        )
        if grade in gains:
            raise measure_error(f"grade {pair[0]} has two gains in {shown(whole)}", value=whole)
        gains[grade] = gain
    return gains


def _parse_number(text: str, item: str, form: str, whole: str) -> float:
    if not re.fullmatch(DECIMAL, text):
        raise measure_error(f"{shown(item)} in {shown(whole)} is not {form}", value=whole)
    return float(text)


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
    return [item.strip() for item in text[1:-1].split(",")] if braced else [text]


# ---------------------------------------------------------------- trec_eval's own


LONGEST_STRING = 2**31  # of a relstring

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
        return [TrecValue(label, None, min(max(int(numbers[0]), 0), LONGEST_STRING))]
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
            raise measure_error(f"illegal measure {wish!r}", value=wish)
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
    settings, gains = dict[str, object](), dict[float, float]()
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
    return measure_error(problem, value=parameters)
