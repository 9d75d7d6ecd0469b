"""YAML of mappings, lists and texts: nothing that is written is guessed to be anything else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from irbatch.errors import InputError, imported, shown

DEEPEST = 100  # levels
MOST = 50_000_000  # nodes, those of aliases counted as often as they are named
NULLS = ("", "~", "null", "Null", "NULL")
SURROGATE = re.compile("[\ud800-\udfff]|\\\\u[dD]")  # not a character by itself
LIKE_NUMBER = re.compile(r"[-+.]*[0-9]\S*")  # which some reader of YAML may take for one


def write_yaml(document: Any, source: str) -> str:
    r"""Write YAML, every text in one line and so that all readers take it for a text.

    >>> print(write_yaml({"tag": "1e3", "lines": "a\nb"}, "example"), end="")
    tag: '1e3'
    lines: "a\nb"
    """
    yaml = imported(source, "yaml", "yaml")

    class Dumper(yaml.SafeDumper):  # type: ignore[misc, name-defined]
        def ignore_aliases(self, data: Any) -> bool:
            return True

    def represent(dumper: Any, text: str) -> Any:
        style = None if text.isprintable() else '"'
        if style is None and LIKE_NUMBER.fullmatch(text):
            style = "'"
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    Dumper.add_representer(str, represent)
    options = {"sort_keys": False, "allow_unicode": True, "width": float("inf")}
    try:
        return str(yaml.dump(document, Dumper=Dumper, **options))
    except yaml.YAMLError as problem:
        value = problem.args[-1] if problem.args else None
        reason = f"YAML has no form for {shown(value)}"
    raise InputError(reason, source=source, value=value)


def read_yaml(text: str, source: str, before: int = 0) -> Any:
    r"""Read YAML: mappings, lists, and scalars as texts; None where one is null without quotes.

    Errors name the line of the file, which has so many lines `before` the YAML.

    >>> read_yaml("tag: 1e3\nwhen: 2026-11-21\ngpu: null\n", "example")
    {'tag': '1e3', 'when': '2026-11-21', 'gpu': None}
    """
    yaml = imported(source, "yaml", "yaml")
    quick = hasattr(yaml, "CBaseLoader") and not SURROGATE.search(text)  # which libyaml refuses
    loader = yaml.CBaseLoader if quick else yaml.BaseLoader
    try:
        return _Builder(yaml, yaml.parse(text, Loader=loader)).document()
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        reason = getattr(problem, "problem", None) or "it has a character that YAML has not"
        line = mark and mark.line + 1 + before
    raise InputError(f"no YAML: {reason}", source=source, line=line)


class _Builder:
    """Makes one object of PyYAML's events: its loaders have no limits, and one crashes if deep."""

    def __init__(self, yaml: Any, events: Iterator[Any]) -> None:
        self._yaml, self._events = yaml, events
        self._anchors: dict[str, tuple[Any, int]] = {}

    def document(self) -> Any:
        """Return what the one document holds; None if there is none."""
        roots: list[Any] = []
        for event in self._events:
            if isinstance(event, self._yaml.NodeEvent):
                if roots:
                    raise self._problem("there is more than one document", event)
                roots.append(self._node(event, 1)[0])
        return roots[0] if roots else None

    def _node(self, event: Any, depth: int) -> tuple[Any, int]:
        """Return what begins with an event, and its nodes, those of aliases counted each time."""
        if isinstance(event, self._yaml.AliasEvent):
            if event.anchor not in self._anchors:
                raise self._problem(f"*{event.anchor} is not known", event)
            return self._anchors[event.anchor]
        if isinstance(event, self._yaml.ScalarEvent):
            found = (None if not event.style and event.value in NULLS else str(event.value), 1)
        elif depth == DEEPEST:
            raise self._problem("it is nested too deeply", event)
        else:
            found = self._collection(event, depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = found
        return found

    def _collection(self, start: Any, depth: int) -> tuple[Any, int]:
        parts: list[Any] = []
        total = 1
        is_mapping = isinstance(start, self._yaml.MappingStartEvent)
        for event in self._events:
            if isinstance(event, self._yaml.CollectionEndEvent):
                break
            part, size = self._node(event, depth + 1)
            if is_mapping and len(parts) % 2 == 0 and isinstance(part, dict | list):
                raise self._problem("a key is a text", event)
            parts.append(part)
            total += size
            if total > MOST:
                raise self._problem("its aliases make too much of it", event)
        return dict(zip(parts[::2], parts[1::2], strict=True)) if is_mapping else parts, total

    def _problem(self, reason: str, event: Any) -> Exception:
        return self._yaml.MarkedYAMLError(problem=reason, problem_mark=event.start_mark)
