"""Where results go: the standard output, a file, and reports and pictures beside it."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from irbatch.cli.inputs import check_there
from irbatch.errors import InputError, join_words, on_one_line

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
    **dict.fromkeys(("digits", "intervals", "judged", "pairs", "sort"), TABLES),
    "power": FORMS,
    **dict.fromkeys(("caption", "label", "environment"), ("latex",)),
}


def add_output(
    parser: argparse.ArgumentParser,
    forms: Sequence[str] = FORMS,
    *,
    default: str = "text",
    digits: str | None = "values",
    beside: Iterable[str] = (),
    plot: str | None = None,
    sort: bool = False,
) -> Any:
    """Add the options that say where the result goes; return what adds others beside them.

    Args:
        parser: of the command.
        forms: those that the result has.
        default: the form that is printed, as help says it.
        digits: what has decimals; None: nothing has.
        beside: forms that are also written, beside what is printed.
        plot: what the picture shows, if there is one.
        sort: whether systems can be sorted by a measure.
    """
    add = parser.add_argument_group("output").add_argument
    endings = " ".join(f".{ending}" for ending, form in ENDINGS.items() if form in forms)
    text = f"write the result to FILE instead of printing it, in the form of its ending: {endings}"
    add("-o", "--output", metavar="FILE", help=text)
    text = f"the form, whatever FILE ends in (default of what is printed: {default})"
    add("--format", choices=forms, help=text)
    if digits is not None:
        text = f"decimals of {digits}, in {join_words([form for form in forms if form in TABLES])}"
        add("--digits", metavar="N", type=int, help=f"{text} (default: 4)")
    for form in beside:
        add(f"--{form}", metavar="FILE", help=f"also write the report to FILE, as {form}")
    if sort:
        add("--sort", metavar="MEASURE", help="systems by its means, the best first, in tables")
    if plot is not None:
        add("--plot", metavar="FILE", help=f"{plot} (svg, png, pdf)")
    return add


def add_paper(parser: argparse.ArgumentParser) -> None:
    """Add the options that shape LaTeX."""
    add = parser.add_argument_group("LaTeX").add_argument
    add("--caption", metavar="TEXT", help="what the caption begins with")
    add("--label", metavar="NAME", help=r"what \ref calls the table")
    text = "table* is across both columns of a paper (default: table)"
    add("--environment", choices=("table", "table*"), help=text)


class Output:
    """Where a report goes, and its forms; what is wrong with them is said before anything is read.

    Args:
        options: of the command, those of `add_output` among them.
        inputs: files that are read, which must be there and not be replaced, by what they hold.
        forms: those that the report has.
        default: the form that is printed.
        shaping: options that shape the report, and the forms that they are for.

    Raises:
        InputError: if a file isn't there or cannot be written, or an option is not for the forms
            asked for.
    """

    def __init__(
        self,
        options: argparse.Namespace,
        inputs: Mapping[str, Collection[str]],
        forms: Sequence[str] = FORMS,
        default: str = "text",
        shaping: Mapping[str, Sequence[str]] = SHAPING,
    ) -> None:
        self._options, self._path, self._shaping = options, options.output, shaping
        paths = {form: getattr(options, form, None) for form in forms}
        self.files = {form: path for form, path in paths.items() if path is not None}
        plot = getattr(options, "plot", None)
        read = chain.from_iterable(inputs.values())
        _check_files({"output": self._path, **self.files, "plot": plot}, read)
        self.form = options.format or _form_of(self._path, forms, default)
        for name, shaped in shaping.items():
            is_chosen = getattr(options, name, None) not in (None, False)
            if is_chosen and not {self.form, *self.files}.intersection(shaped):
                problem = f"--{name.replace('_', '-')} is for {join_words(shaped)}"
                raise InputError(problem, value=options.format)
        if getattr(options, "digits", None) is not None:
            from irbatch.report.numbers import check_digits  # for those who want them

            check_digits(options.digits)
        if plot is not None:
            from irbatch.report.axes import check_picture  # for those who draw

            check_picture(plot)
        check_there(inputs)

    def write(self, make: Callable[..., str]) -> None:
        """Print a report, or write it where it is to go, and in the forms beside it.

        `make` returns the text of a form, shaped by the options for it. All are made first.
        """
        texts = {path: make(form, **self._shaped(form)) for form, path in self.files.items()}
        shown: dict[str, Any] = {}
        if self.form == "text" and self._path is None and sys.stdout.isatty():
            shown = {"ansi": True, "width": shutil.get_terminal_size().columns}
        text = make(self.form, **self._shaped(self.form), **shown)
        if self._path is None:
            print(text, end="")
        else:
            texts[self._path] = text
        if texts:
            from irbatch.runtime.files import replacing  # here: it takes 5 ms to import
        for path, written in texts.items():
            with replacing(path) as file:
                file.write(written.encode(errors="backslashreplace"))  # names may be no text

    def write_report(self, report: Any, **own: dict[str, Any]) -> None:
        """Write a report in its forms; `own` are further options of one form."""

        def make(form: str, **shaped: Any) -> str:
            return str(getattr(report, f"to_{form}")(**shaped, **own.get(form, {})))

        self.write(make)

    def _shaped(self, form: str) -> dict[str, Any]:
        names = [name for name, forms in self._shaping.items() if form in forms]
        return chosen(self._options, names)


def chosen(options: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    """Return those of some options that are said or have a default."""
    values = {name: getattr(options, name, None) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def write_tsv(rows: Iterable[Iterable[object]]) -> str:
    """Write lines of cells, whose control characters, tabs and line ends are escaped."""
    return "".join("\t".join(map(on_one_line, row)) + "\n" for row in rows)


def _form_of(path: str | None, forms: Sequence[str], default: str) -> str:
    """Return the form that the ending of a file's name asks for."""
    if path is None or _is_device(path):
        return default
    form = ENDINGS.get(os.path.splitext(path)[1][1:].lower())  # noqa: PTH122 - pathlib takes 5 ms to import
    if form is None or form not in forms:
        endings = [f".{ending}" for ending, its_form in ENDINGS.items() if its_form in forms]
        problem = f"--output: the name ends in none of {', '.join(endings)}; or say --format"
        raise InputError(problem, path=path)
    return form


def _check_files(paths: dict[str, str | None], inputs: Iterable[str]) -> None:
    """Check, before anything is read, that files can be written and replace none that is read."""
    taken = {os.path.realpath(path) for path in inputs if path != "-"}
    for name, path in paths.items():
        if path is None:
            continue
        place = os.path.realpath(path)
        if path in ("", "-") or os.path.isdir(path) or place in taken:  # noqa: PTH112 - as above
            raise InputError(f"--{name} needs a file of its own", path=path)
        if _is_device(path):
            if not os.access(place, os.W_OK):
                raise InputError(f"--{name}: it cannot be written", path=path)
            continue
        folder = os.path.dirname(place)  # noqa: PTH120 - as above
        if not os.access(folder, os.W_OK):
            problem = "cannot be written" if os.path.isdir(folder) else "is not there"  # noqa: PTH112
            raise InputError(f"--{name}: its folder {problem}", path=path)
        taken.add(place)


def _is_device(path: str) -> bool:
    """Tell whether a device or a pipe is there, which has no ending, and no folder of its own."""
    return os.path.exists(path) and not os.path.isfile(path)  # noqa: PTH110, PTH113
