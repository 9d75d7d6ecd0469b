"""The files that commands are given: checked, as far as possible, before any is read."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

from irbatch.errors import InputError
from irbatch.evaluation.system_names import name_systems
from irbatch.formats.files import is_pattern
from irbatch.measures import parse_measures


def name_runs(words: Iterable[str]) -> dict[str, str]:
    """Return the paths of runs by the systems' names: as in ``NAME=PATH``, or after the files."""
    names: dict[str, str] = {}  # by path
    paths = []
    for word in words:
        name, equals, path = word.partition("=")
        given = bool(name and equals) and not os.path.exists(word)  # noqa: PTH110 - see above
        paths.append(path if given else word)
        if given:
            names[path] = name
    named: dict[str, str] = {}
    for own, path in name_systems(paths).items():
        name = names.get(path, own)
        if name in named:
            problem = f"two runs are called {name!r}; systems need different names: NAME=PATH"
            raise InputError(problem, source="run", path=path)
        named[name] = path
    return named


def check_inputs(qrels: str, runs: Collection[str]) -> None:
    """Reject files that aren't there, and standard input for both."""
    if qrels == "-" and "-" in runs:
        raise InputError("standard input cannot be both qrels and run", path="-")
    for source, path in (("qrels", qrels), *(("run", run) for run in runs)):
        if path != "-" and not os.path.lexists(path) and not is_pattern(path):
            problem = f"No such file or directory{_as_measure(path)}"
            raise InputError(problem, source=source, path=path)


def _as_measure(word: str) -> str:
    """Say where a word goes that is no file, and a measure."""
    try:
        parse_measures(word)
    except InputError:
        return ""
    return f"; as a measure it stands behind -m: -m {word}"
