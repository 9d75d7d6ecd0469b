"""YAML of mappings, lists and texts: nothing that is written is guessed to be anything else."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from irbatch.errors import InputError, shown
from irbatch.runtime.extras import imported

__all__ = ["read_yaml", "write_yaml"]

DEEPEST = 100  # levels
MOST = 50_000_000  # nodes, those of aliases counted as often as they are named
NULLS = ("", "~", "null", "Null", "NULL")
SURROGATE = re.compile("[\ud800-\udfff]|\\\\u[dD]")  # not a character by itself
LIKE_NUMBER = re.compile(r"[-+.]*[0-9]\S*")  # which some reader of YAML may take for one


def write_yaml(document: Any, source: str) -> str:
    r"""Write YAML, every text in one line and so that all readers take it for a text.

    Args:
        document: mappings, lists, texts, numbers and None.
        source: what it is, for errors.

    Raises:
        InputError: if a value has no form in YAML.
        ImportError: naming the extra, when PyYAML is not installed.

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

    Args:
        text: the YAML.
        source: what it is, for errors.
        before: how many lines of its file are before it.

    Raises:
        InputError: naming the line, if it is not YAML, is nested 100 levels deep, or if
            its aliases make too much of it.
        ImportError: naming the extra, when PyYAML is not installed.

    >>> read_yaml("tag: 1e3\nwhen: 2026-11-21\ngpu: null\n", "example")
    {'tag': '1e3', 'when': '2026-11-21', 'gpu': None}
    """
    yaml = imported(source, "yaml", "yaml")
    quick = hasattr(yaml, "CBaseLoader") and not SURROGATE.search(text)  # which libyaml refuses
    base: Any = yaml.CBaseLoader if quick else yaml.BaseLoader

    class Loader(base):  # type: ignore[misc]
        def construct_scalar(self, node: Any) -> str | None:
            is_null = not node.style and node.value in NULLS
            return None if is_null else str(super().construct_scalar(node))

    try:
        # Before anything is made of it: libyaml's loader crashes where nesting is deep.
        _check_limits(yaml, yaml.parse(text, Loader=base))
        return yaml.load(text, Loader=Loader)
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        parts = (getattr(problem, "context", None), getattr(problem, "problem", None))
        reason = ", ".join(filter(None, parts)) or "it has a character that YAML has not"
        line = mark and mark.line + 1 + before
    raise InputError(f"no YAML: {reason}", source=source, line=line)


def _check_limits(yaml: Any, events: Iterable[Any]) -> None:
    """Refuse nesting that is too deep, and aliases that name nothing or make too much.

    Raises:
        yaml.MarkedYAMLError: naming the place.
    """
    total = 0
    opened: list[tuple[str | None, int]] = []  # mappings and lists: anchor, the total before
    sizes: dict[str | None, int] = {}  # of what has ended, by anchor
    for event in events:
        reason = None
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, before = opened.pop()
            sizes[anchor] = total - before
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                reason = f"*{event.anchor} is not known"
            total += sizes.get(event.anchor, 1)
        elif isinstance(event, yaml.NodeEvent):
            if event.anchor and event.anchor in sizes:
                reason = f"&{event.anchor} is there twice"
            total += 1
            if isinstance(event, yaml.ScalarEvent):
                sizes[event.anchor] = 1
            else:
                opened.append((event.anchor, total - 1))
        if len(opened) >= DEEPEST:
            reason = "it is nested too deeply"
        if total > MOST:
            reason = "its aliases make too much of it"
        if reason:
            raise yaml.MarkedYAMLError(problem=reason, problem_mark=event.start_mark)
