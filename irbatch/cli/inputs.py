"""The files that commands are given: checked, as far as possible, before any is read."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

from irbatch.errors import InputError
from irbatch.evaluation.system_names import name_systems
from irbatch.formats.files import is_pattern, why_not
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
    """Refuse files that aren't there, standard input for both, and judgments in a run's place."""
    if qrels == "-" and "-" in runs:
        raise InputError("standard input cannot be both qrels and run", path="-")
    for source, path in (("qrels", qrels), *(("run", run) for run in runs)):
        if path != "-" and not os.path.lexists(path) and not is_pattern(path):
            problem = f"No such file or directory{_as_measure(path)}"
            raise InputError(problem, source=source, path=path)
    if "-" in (qrels, *runs):
        return
    if _is("run", qrels) and any(_is("qrels", run) for run in runs):
        problem = "this is a run, and the file of judgments comes behind it: QRELS is the first"
        raise InputError(problem, source="qrels", path=qrels)


def _as_measure(word: str) -> str:
    """Say where a word goes that is no file, and a measure."""
    try:
        parse_measures(word)
    except InputError:
        return ""
    return f"; as a measure it stands behind -m: -m {word}"


def _is(source: str, path: str) -> bool:
    """Tell whether a file begins as judgments or runs do, and not also as the other."""
    if not os.path.isfile(path):  # noqa: PTH113 - pathlib takes 5 ms to import
        return False
    other = {"run": "qrels", "qrels": "run"}[source]
    reason, line = why_not(path, source)
    return not reason and line is not None and bool(why_not(path, other)[0])
