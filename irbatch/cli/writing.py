"""Where results go: the standard output, a file, and reports and pictures beside it."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from irbatch.cli.paper import PAPER
from irbatch.errors import InputError, imported, join_words

ENDINGS = {  # of files: the form that they are of
    "txt": "text",
    "md": "markdown",
    "tex": "latex",
    "html": "html",
    "json": "json",
    "csv": "csv",
    "tsv": "tsv",
}
TABLES = ("text", "markdown", "latex", "html")  # forms that people read; others have every digit
FORMS = (*TABLES, "csv", "json")
WRITTEN = ("html", "latex", "csv", "json")
SHAPING = {  # options of reports, and the forms that they are for
    **dict.fromkeys(("digits", "intervals", "judged"), TABLES),
    "words": ("text", "markdown", "html"),
    "power": ("text", "markdown", "html", "csv", "json"),
    **dict.fromkeys((*PAPER, "daggers"), ("latex",)),
}
PICTURES = ("svg", "png", "pdf", "eps", "jpg", "webp")
UNDATED = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}  # the same file each time


def add_output(
    parser: argparse.ArgumentParser,
    forms: Sequence[str] = FORMS,
    *,
    default: str = "text",
    digits: str | None = "values",
    beside: Iterable[str] = (),
    plot: str | None = None,
) -> Any:
    """Add the options that say where the result goes; return what adds others beside them.

    Args:
        parser: of the command.
        forms: those that the result has.
        default: the form that is printed, as help says it.
        digits: what has decimals; None: nothing has.
        beside: forms that are also written, beside what is printed.
        plot: what the picture shows, if there is one.
    """
    add = parser.add_argument_group("output").add_argument
    known = " ".join(f".{ending}" for ending, form in ENDINGS.items() if form in forms)
    told = f"write the result to FILE instead of printing it, in the form of its ending: {known}"
    add("-o", "--output", metavar="FILE", help=told)
    told = f"the form, whatever FILE ends in (default of what is printed: {default})"
    add("--format", choices=forms, help=told)
    if digits is not None:
        told = f"decimals of {digits}, in {join_words([each for each in forms if each in TABLES])}"
        add("--digits", metavar="N", type=int, help=f"{told} (default: 4)")
    for form in beside:
        add(f"--{form}", metavar="FILE", help=f"also write the report to FILE, as {form}")
    if plot is not None:
        add("--plot", metavar="FILE", help=f"{plot} (svg, png, pdf)")
    return add


def form_of(options: argparse.Namespace, forms: Sequence[str], default: str = "text") -> str:
    """Return the form that is asked for: by its name, or by the ending of the file.

    Raises:
        InputError: if the file's ending is of none of them.
    """
    if options.format is not None or options.output is None:
        return options.format or default
    _check_is_file("output", options.output)
    if _is_device(options.output):
        return default
    form = ENDINGS.get(_kind(options.output))
    if form is None or form not in forms:
        known = [f".{ending}" for ending, each in ENDINGS.items() if each in forms]
        problem = f"--output: the name ends in none of {', '.join(known)}; or say --format"
        raise InputError(problem, path=options.output)
    return form


def of_terminal(options: argparse.Namespace, form: str) -> dict[str, Any]:
    """Return how wide a text is to be, and whether bold, where it is printed on a terminal."""
    if form != "text" or options.output is not None or not sys.stdout.isatty():
        return {}
    return {"ansi": True, "width": shutil.get_terminal_size().columns}


def write_result(options: argparse.Namespace, text: str) -> None:
    """Print the result, or write it where it is to go, whole or not at all."""
    if options.output is None:
        print(text, end="")
        return
    from irbatch.runtime.files import replacing  # here: it takes 5 ms to import

    with replacing(options.output) as file:
        file.write(text.encode(errors="backslashreplace"))  # names may be no text


class Output:
    """Where a report goes, and its forms; what is wrong with them is said before anything is read.

    Args:
        options: of the command, those of `add_output` among them.
        inputs: files that are read, which must not be replaced.
        forms: those that the report has.
        default: the form that is printed.

    Raises:
        InputError: if a file cannot be written, or an option is not for the forms asked for.
    """

    def __init__(
        self,
        options: argparse.Namespace,
        inputs: Iterable[str],
        forms: Sequence[str] = FORMS,
        default: str = "text",
    ) -> None:
        self._options, self.form = options, form_of(options, forms, default)
        asked = {form: getattr(options, form, None) for form in forms}
        self.files = {form: path for form, path in asked.items() if path is not None}
        for name, shaped in SHAPING.items():
            given = getattr(options, name, None)
            if given not in (None, False) and not {self.form, *self.files}.intersection(shaped):
                word = name.replace("_", "-")
                raise InputError(f"--{word} is for {join_words(shaped)}", value=options.format)
        if getattr(options, "digits", None) is not None:
            from irbatch.report.numbers import check_digits  # for those who want them

            check_digits(options.digits)
        check_written(options, inputs)

    def shaping(self, form: str) -> dict[str, Any]:
        """Return the options of a form that are given."""
        names = [name for name, shaped in SHAPING.items() if form in shaped]
        given = {name: getattr(self._options, name, None) for name in names}
        return {name: value for name, value in given.items() if value is not None}

    def write(self, report: Any) -> None:
        """Print a report, or write it where it is to go, and in the forms beside it."""
        shown = of_terminal(self._options, self.form)
        given = {**self.shaping(self.form), **shown}
        write_result(self._options, getattr(report, f"to_{self.form}")(**given))
        for form, path in self.files.items():
            getattr(report, f"to_{form}")(**self.shaping(form), path=path)


def check_written(options: argparse.Namespace, inputs: Iterable[str]) -> None:
    """Check, before anything is read, that files can be written and replace none that is read."""
    taken = {os.path.realpath(path) for path in inputs if path != "-"}
    for name in ("output", *WRITTEN, "markdown", "plot"):
        path = getattr(options, name, None)
        if path is None:
            continue
        _check_is_file(name, path)
        place = os.path.realpath(path)
        if _is_device(path):
            if not os.access(place, os.W_OK):
                raise InputError(f"--{name}: it cannot be written", path=path)
            continue
        if place in taken:
            raise InputError(f"--{name} needs a file of its own", path=path)
        folder = os.path.dirname(place)  # noqa: PTH120 - as above
        if not os.access(folder, os.W_OK):
            problem = "cannot be written" if os.path.isdir(folder) else "is not there"  # noqa: PTH112
            raise InputError(f"--{name}: its folder {problem}", path=path)
        taken.add(place)
    if getattr(options, "plot", None) is not None:
        imported("plots", "plot", "matplotlib")
        if _kind(options.plot) not in PICTURES:
            problem = f"a picture's name ends in one of {', '.join(PICTURES)}"
            raise InputError(problem, path=options.plot)


def _check_is_file(name: str, path: str) -> None:
    """Refuse a dash, a folder and no name as a file to write."""
    if path == "-" and name == "output":
        raise InputError("--output: leave it out for standard output", path=path)
    is_folder = os.path.isdir(path)  # noqa: PTH112 - pathlib takes 5 ms to import
    if is_folder or path in ("-", ""):
        what = "; this is a folder" if is_folder else ""
        raise InputError(f"--{name} needs a file of its own{what}", path=path)


def _is_device(path: str) -> bool:
    """Tell whether a device or a pipe is there, which has no ending, and no folder of its own."""
    return os.path.exists(path) and not os.path.isfile(path)  # noqa: PTH110, PTH113


def files_asked(options: argparse.Namespace, forms: Iterable[str] = WRITTEN) -> dict[str, str]:
    """Return the files to be written beside what is printed, by their forms."""
    return {form: path for form in forms if (path := getattr(options, form)) is not None}


def save_plot(axes: Any, path: str) -> None:
    """Write matplotlib's axes, whole or not at all; the path's ending tells the kind."""
    from irbatch.runtime.files import replacing  # here: as above

    kind = _kind(path)
    matplotlib = imported("plots", "plot", "matplotlib")
    with matplotlib.rc_context({"svg.hashsalt": "irbatch"}), replacing(path) as file:
        axes.figure.savefig(file, format=kind, bbox_inches="tight", metadata=UNDATED.get(kind))


def _kind(path: str) -> str:
    return os.path.splitext(path)[1][1:].lower()  # noqa: PTH122 - pathlib takes 5 ms to import
