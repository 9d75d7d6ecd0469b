"""The parameters of a measure's name: ``rel=2,gain={1:3,2:9}``."""

from __future__ import annotations

import functools
import re
from typing import NoReturn

from irbatch.errors import InputError, shown
from irbatch.runtime.numbers import DECIMAL

refusal = functools.partial(InputError, source="measures")

_NUMBER = re.compile(DECIMAL)
_WORDS = re.compile(r"\{\s*[A-Za-z]\w*\s*(,\s*[A-Za-z]\w*\s*)*\}")
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")


def parse_settings(text: str, whole: str) -> dict[str, object]:
    """Parse ``rel=2,gain={1:3,2:9}``; ir_measures' ``dcg=`` and the like are understood."""
    settings: dict[str, object] = {}
    for part in split(text, ","):
        name, equals, value = (each.strip() for each in part.partition("="))
        if not equals or not name.isidentifier():
            raise refusal(
                f"{shown(part)} in {shown(whole)} is not of the form parameter=value", value=whole
            )
        parsed = parse_value(value, whole)
        if name == "judged_only":
            refuse_judged_only(whole)
        if name == "dcg" and parsed in ("log2", "exp-log2"):
            name, parsed = "gain", "exp" if parsed == "exp-log2" else "linear"
        name = {"gains": "gain", "max_rel": "max_grade"}.get(name, name)
        if name in settings:
            raise refusal(f"{shown(whole)} gives {name} twice", value=whole)
        settings[name] = parsed
    return settings


def refuse_judged_only(whole: str) -> NoReturn:
    """Refuse to remove unjudged documents for one measure of several."""
    instead = "evaluate(…, judged_only=True)"
    raise refusal(f"judged_only in {shown(whole)} applies to all measures of a call: {instead}")


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
            raise refusal(f"{shown(each)} in {shown(whole)} is not a number", value=whole)
        points.append(float(each))
    return points


def _parse_map(text: str, whole: str) -> dict[float, float]:
    pairs = {}
    for part in text.split(","):
        grade, _, gain = (each.strip() for each in part.partition(":"))
        if not _NUMBER.fullmatch(grade) or not _NUMBER.fullmatch(gain):
            raise refusal(
                f"{shown(part)} in {shown(whole)} is not of the form grade:gain", value=whole
            )
        if float(grade) in pairs:
            raise refusal(f"grade {grade} has two gains in {shown(whole)}", value=whole)
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
