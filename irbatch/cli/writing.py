"""What commands write beside what they print: reports and pictures."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from irbatch.errors import InputError
from irbatch.runtime.extras import imported
from irbatch.runtime.files import replacing

WRITTEN = ("html", "latex", "csv", "json")
PICTURES = ("svg", "png", "pdf", "eps", "jpg", "webp")
UNDATED = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}  # the same file each time


def add_written(
    parser: argparse.ArgumentParser, plot: str | None = None, forms: Iterable[str] = WRITTEN
) -> None:
    """Add the options that name the files; `plot` is what the picture shows, if there is one."""
    add = parser.add_argument_group("files, beside what is printed").add_argument
    for form in forms:
        add(f"--{form}", metavar="FILE", help="write the report there, too")
    if plot is not None:
        add("--plot", metavar="FILE", help=f"{plot} (svg, png, pdf)")


def check_written(options: argparse.Namespace, inputs: Iterable[str]) -> None:
    """Check, before anything is read, that files can be written and replace none that is read."""
    taken = {os.path.realpath(path) for path in inputs if path != "-"}
    for name in (*WRITTEN, "markdown", "output", "plot"):
        path = getattr(options, name, None)
        if path is None:
            continue
        place = os.path.realpath(path)
        if path == "-" or place in taken or Path(path).is_dir():
            raise InputError(f"--{name} needs a file of its own", path=path)
        folder = os.path.dirname(place)  # noqa: PTH120 - as a text, like the others
        if not os.access(folder, os.W_OK):
            problem = "cannot be written" if os.path.isdir(folder) else "is not there"  # noqa: PTH112
            raise InputError(f"--{name}: its folder {problem}", path=path)
        taken.add(place)
    if getattr(options, "plot", None) is not None:
        imported("plots", "plot", "matplotlib")
        if _kind(options.plot) not in PICTURES:
            problem = f"a picture's name ends in one of {', '.join(PICTURES)}"
            raise InputError(problem, path=options.plot)


def files_asked(options: argparse.Namespace, forms: Iterable[str] = WRITTEN) -> dict[str, str]:
    """Return the files to be written beside what is printed, by their forms."""
    return {form: path for form in forms if (path := getattr(options, form)) is not None}


def save_plot(axes: Any, path: str) -> None:
    """Write matplotlib's axes, whole or not at all; the path's ending tells the kind."""
    kind = _kind(path)
    matplotlib = imported("plots", "plot", "matplotlib")
    with matplotlib.rc_context({"svg.hashsalt": "irbatch"}), replacing(path) as file:
        axes.figure.savefig(file, format=kind, bbox_inches="tight", metadata=UNDATED.get(kind))


def _kind(path: str) -> str:
    return path.rpartition(".")[2].lower()
