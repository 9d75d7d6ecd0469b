"""YAML of mappings, lists and texts: nothing that is written is guessed to be anything else."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from irbatch.errors import InputError, shown
from irbatch.runtime.extras import imported

__all__ = ["read_texts", "write_texts"]

DEEPEST = 100  # levels
MOST = 50_000_000  # nodes, those of aliases counted as often as they are named
NULLS = ("", "~", "null", "Null", "NULL")
HALF = re.compile("[\ud800-\udfff]|\\\\u[dD]")  # characters that are none by themselves
LIKE_NUMBER = re.compile(r"[-+.]*[0-9]\S*")  # which some reader of YAML may take for one
DEEP = "it is nested too deeply"


def write_texts(form: Any, source: str) -> str:
    r"""Write YAML, every text in one line and so that all readers take it for a text.

    Args:
        form: mappings, lists, texts, numbers and None.
        source: what it is, for errors.

    Raises:
        InputError: for what YAML has no form for.
        ImportError: naming the extra, when PyYAML is not installed.

    >>> print(write_texts({"tag": "1e3", "lines": "a\nb"}, "example"), end="")
    tag: '1e3'
    lines: "a\nb"
    """
    yaml = imported(source, "yaml", "yaml")

    def represent(writer: Any, text: str) -> Any:
        style = None if text.isprintable() else '"'
        if style is None and LIKE_NUMBER.fullmatch(text):
            style = "'"
        return writer.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    writer = type("Writer", (yaml.SafeDumper,), {"ignore_aliases": lambda self, data: True})
    writer.add_representer(str, represent)  # type: ignore[attr-defined]
    try:
        return str(yaml.dump(form, Dumper=writer, sort_keys=False, allow_unicode=True,
                             width=float("inf")))  # fmt: skip
    except yaml.YAMLError as problem:
        value = problem.args[-1] if problem.args else None
        raise InputError(f"YAML has no form for {shown(value)}", source=source,
                         value=value) from None  # fmt: skip


def read_texts(text: str, source: str, before: int = 0) -> Any:
    r"""Read YAML: mappings, lists, and scalars as texts; None where one is null without quotes.

    Args:
        text: the YAML.
        source: what it is, for errors.
        before: how many lines of its file are before it.

    Raises:
        InputError: naming the line of what is no YAML, and for what is nested too deeply.
        ImportError: naming the extra, when PyYAML is not installed.

    >>> read_texts("tag: 1e3\nwhen: 2026-11-21\ngpu: null\n", "example")
    {'tag': '1e3', 'when': '2026-11-21', 'gpu': None}
    """
    yaml = imported(source, "yaml", "yaml")
    loader = yaml.BaseLoader
    if hasattr(yaml, "CBaseLoader") and not HALF.search(text):  # quick, and knows no half ones
        loader = yaml.CBaseLoader
    try:
        # Events, as the quick parser crashes where it makes objects of what is nested deeply.
        return _built(yaml.parse(text, Loader=loader))
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        reason = getattr(problem, "problem", None) or "it has a character that YAML has not"
        line = mark and mark.line + 1 + before
    except _BuildingError as problem:
        reason, line = str(problem), problem.line and problem.line + before
    raise InputError(f"no YAML: {reason}", source=source, line=line)


class _BuildingError(Exception):
    """What is YAML but not to be read.

    Args:
        reason: what is wrong.
        event: where it is.
    """

    def __init__(self, reason: str, event: Any) -> None:
        super().__init__(reason)
        self.line: int | None = event.start_mark and event.start_mark.line + 1


class _Open:
    """A mapping or a list that has not ended.

    Args:
        value: the mapping or list.
        anchor: its name, where it has one.
    """

    def __init__(self, value: Any, anchor: str | None) -> None:
        self.value, self.anchor = value, anchor
        self.size = 1
        self.has_key = False
        self.key: Any = None

    def add(self, part: Any, size: int, event: Any) -> None:
        """Take what comes next: an element, a key or the value of the last key."""
        self.size += size
        if isinstance(self.value, list):
            self.value.append(part)
        elif self.has_key:
            self.value[self.key] = part
            self.has_key = False
        elif isinstance(part, dict | list):
            raise _BuildingError("a key is a text", event)
        else:
            self.key, self.has_key = part, True


def _built(events: Iterable[Any]) -> Any:
    """Make one object of the events of a parser."""
    root = _Open([], None)
    stack = [root]
    anchors: dict[str, tuple[Any, int]] = {}
    for event in events:
        kind = type(event).__name__
        if kind in ("MappingStartEvent", "SequenceStartEvent"):
            stack.append(_Open({} if kind.startswith("M") else [], event.anchor))
            if len(stack) > DEEPEST:
                raise _BuildingError(DEEP, event)
            continue
        if kind == "ScalarEvent":
            null = not event.style and event.value in NULLS
            part, size, anchor = None if null else str(event.value), 1, event.anchor
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            done = stack.pop()
            part, size, anchor = done.value, done.size, done.anchor
        elif kind == "AliasEvent" and event.anchor not in anchors:
            raise _BuildingError(f"*{event.anchor} is not known", event)
        elif kind == "AliasEvent":
            (part, size), anchor = anchors[event.anchor], None
        else:  # beginnings and ends of the document
            continue
        if anchor is not None:
            anchors[anchor] = part, size
        stack[-1].add(part, size, event)
        if stack[-1].size > MOST:
            raise _BuildingError("its aliases make too much of it", event)
    if len(root.value) > 1:
        raise _BuildingError("there is more than one document", event)
    return root.value[0] if root.value else None
