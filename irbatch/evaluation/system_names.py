"""What systems are called: found here for whatever comes from several of them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from irbatch.data.runs import Run
from irbatch.errors import InputError, kind_of
from irbatch.formats.files import WILD, is_pattern

# What names of files end in that is no part of a system's name.
ENDINGS = ("gz", "bz2", "xz", "zst", "run", "txt", "trec", "tsv", "csv", "jsonl", "parquet")

Each = TypeVar("Each")


def name_systems(
    systems: Mapping[str, Each] | Iterable[Each], what: str = "run"
) -> dict[str, Each]:
    """Return what comes from several systems by the systems' names.

    Mappings have them; runs and results bring theirs; paths give theirs. One without a name, or two
    of the same, are rejected; messages call them `what`.
    """
    if isinstance(systems, Mapping):
        return dict(systems)
    if (
        isinstance(systems, str | os.PathLike | Run)
        or hasattr(systems, "counts")
        or not isinstance(systems, Iterable)
    ):
        forms = f"in a list or a mapping of names to {what}s"
        hint = "; of one run see evaluate" if what == "run" else ""
        raise InputError(f"{what}s are several, {forms}, not as {kind_of(systems)}{hint}")
    listed: list[Any] = list(systems)
    paths = Counter(os.fspath(path) for path in listed if isinstance(path, str | os.PathLike))
    stems = Counter(map(_stem, paths))
    by_name: dict[str, Each] = {}
    for system in listed:
        if isinstance(system, str | os.PathLike):
            path = os.fspath(system)
            if paths[path] > 1:
                raise InputError("this file is given twice", source=what, path=path)
            stem = _stem(path)
            name = stem if stems[stem] == 1 else path
        else:
            name = getattr(system, "name", None) or ""
        if not name or name in by_name:
            problem = f"two {what}s are called {name!r}" if name else f"a {what} has no name"
            advice = f"systems need different names: give a mapping of names to {what}s"
            raise InputError(f"{problem}; {advice}", source=what)
        by_name[name] = system
    return by_name


def _stem(path: str) -> str:
    """Name a system after its file or folder: without the endings of archives and runs."""
    path = _without_pattern(path) if is_pattern(path) else path
    parts = os.path.basename(path.rstrip("/")).split(".")  # noqa: PTH119 - pathlib takes 5 ms to import
    hidden = not parts[0]  # a name that begins with a point has something behind it
    while len(parts) > 1 + hidden and parts[-1] in ENDINGS:
        parts.pop()
    return ".".join(parts)


def _without_pattern(path: str) -> str:
    """Return what files of a pattern are called: ``bm25`` of ``bm25-*.run`` or ``bm25/part-*``."""
    name, rest = "", path
    while not name and rest.strip("/"):
        rest, last = os.path.split(rest)
        place = min((last.find(sign) for sign in WILD if sign in last), default=len(last))
        name = last[:place].rstrip("-_.") if place < len(last) else last
        name = "" if name == "part" else name  # as Spark calls them
    return name or path
