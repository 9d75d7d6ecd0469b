"""Where results go: the standard output, a file, and reports and pictures beside it."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any

from irbatch.cli import note
from irbatch.errors import InputError, join_words, on_one_line
from irbatch.formats.files import is_pattern

ENDINGS = {"txt": "text", "md": "markdown", "tex": "latex"}  # of files: the form that they are of
ENDINGS |= {form: form for form in ("html", "json", "csv", "tsv")}
TABLES = ("text", "markdown", "latex", "html")  # forms that people read; others have every digit
FORMS = (*TABLES, "csv", "json")
SHAPING = {  # options of reports, and the forms that they are for
    **dict.fromkeys(("digits", "intervals", "pairs", "sort"), TABLES),
    "power": FORMS,
    **dict.fromkeys(("caption", "label", "environment"), ("latex",)),
}
PRINTED = "-"  # in place of a file's name


def add_output(
    parser: argparse.ArgumentParser,
    forms: Sequence[str] = FORMS,
    *,
    default: str = "text",
    digits: str | None = "values",
    plot: str | None = None,
    sort: bool = False,
) -> Any:
    """Add the options that say where the result goes; return what adds others beside them.

    `default` is the form that is printed, as help says it; `digits` what has decimals, if anything
    has; `plot` what the picture shows, if there is one.
    """
    add = parser.add_argument_group("output").add_argument
    endings = " ".join(f".{ending}" for ending, form in ENDINGS.items() if form in forms)
    text = f"write the result to FILE instead of printing it, in the form of its ending: {endings}"
    text = f"{text}; repeat for more, - prints it, too"
    add("-o", "--output", metavar="FILE", action="append", default=[], help=text)
    text = f"the form of what is printed (default: {default}), or of a FILE of another ending"
    add("--format", choices=forms, help=text)
    if digits is not None:
        text = f"decimals of {digits}, in {join_words([form for form in forms if form in TABLES])}"
        add("--digits", metavar="N", type=int, help=f"{text} (default: 4)")
    if sort:
        add("--sort", metavar="MEASURE", help="systems by its means, the best first, in tables")
    if plot is not None:
        add("--plot", metavar="FILE", help=f"{plot} (svg, png, pdf)")
    return add


def add_paper(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("LaTeX").add_argument
    add("--caption", metavar="TEXT", help="what the caption begins with")
    add("--label", metavar="NAME", help=r"what \ref calls the table")
    text = "table* is across both columns of a paper (default: table)"
    add("--environment", choices=("table", "table*"), help=text)


class Output:
    """Where a report goes, and its forms; what is wrong with them is said before anything is read.

    `inputs` are the files that are read, by what they hold; `shaping` the options that shape the
    report, and the forms that they are for.
    """

    def __init__(
        self,
        options: argparse.Namespace,
        inputs: Mapping[str, Collection[str]],
        forms: Sequence[str] = FORMS,
        default: str = "text",
        shaping: Mapping[str, Sequence[str]] = SHAPING,
    ) -> None:
        self._options, self._shaping = options, shaping
        plot = getattr(options, "plot", None)
        written = [("output", path) for path in options.output if path != PRINTED]
        pictures = [] if plot is None else [("plot", plot)]
        _check_written([*written, *pictures], chain.from_iterable(inputs.values()))
        self.forms = {
            path: _form_of(path, forms, options.format, default)
            for path in options.output or [PRINTED]
        }
        if options.format not in (None, *self.forms.values()):
            problem = "--format is for what is printed, and for files of other endings"
            raise InputError(problem, value=options.format)
        for name, shaped in shaping.items():
            is_chosen = getattr(options, name, None) not in (None, False)
            if is_chosen and not set(shaped).intersection(self.forms.values()):
                problem = f"--{name.replace('_', '-')} is for {join_words(shaped)}"
                raise InputError(problem, value=options.format)
        if plot is not None:
            from irbatch.report.axes import check_picture  # for those who draw

            check_picture(plot)
        _check_inputs(inputs)

    def write(
        self, report: Any, own: Mapping[str, Any] = MappingProxyType({}), **shared: Any
    ) -> None:
        """Print a report, or write it where it is to go, once all of its forms are made.

        Its options are those that shape a form, its `own`, and the `shared` ones.
        """
        texts = {
            path: _make(report, form, self._shaped(path, form) | own.get(form, {}) | shared)
            for path, form in self.forms.items()
        }
        for path, text in texts.items():
            if path == PRINTED:
                print(text, end="")
            else:
                from irbatch.runtime.files import replacing  # here: it takes 5 ms to import

                with replacing(path) as file:
                    file.write(text.encode(errors="backslashreplace"))  # names may be no text

    def add_notes(self, texts: Iterable[str]) -> None:
        """Say on standard error what reports that people read say themselves."""
        if not set(TABLES).intersection(self.forms.values()):
            for text in filter(None, texts):
                note(text)

    def _shaped(self, path: str, form: str) -> dict[str, Any]:
        shaped = chosen(self._options, [k for k, forms in self._shaping.items() if form in forms])
        if form == "text" and path == PRINTED and sys.stdout.isatty():
            shaped |= {"ansi": True, "width": shutil.get_terminal_size().columns}
        return shaped


def chosen(options: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    """Return those of some options that are said or have a default."""
    values = {name: getattr(options, name, None) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _make(report: Any, form: str, options: dict[str, Any]) -> str:
    """Return a form of a report; of tsv control characters, tabs and line ends are escaped."""
    if form != "tsv":
        return getattr(report, f"to_{form}")(**options)
    heads, records = report._records(**options)
    rows = [heads, *(record.values() for record in records)]
    return "".join("\t".join(map(on_one_line, row)) + "\n" for row in rows)


def _form_of(path: str, forms: Sequence[str], asked: str | None, default: str) -> str:
    """Return the form that the ending of a file's name asks for, or the one asked for."""
    if path == PRINTED or _is_device(path):
        return asked or default
    form = ENDINGS.get(os.path.splitext(path)[1][1:].lower())  # noqa: PTH122 - pathlib takes 5 ms to import
    if form is not None and form in forms:
        return form
    if asked is None:
        endings = [f".{ending}" for ending, its_form in ENDINGS.items() if its_form in forms]
        problem = f"--output: the name ends in none of {', '.join(endings)}; or say --format"
        raise InputError(problem, path=path)
    return asked


def _check_inputs(inputs: Mapping[str, Collection[str]]) -> None:
    """Reject files that aren't there, and standard input in place of two."""
    sources = [(source, path) for source, paths in inputs.items() for path in paths]
    if [path for _, path in sources].count("-") > 1:
        raise InputError("standard input cannot be two files", path="-")
    for source, path in sources:
        if path != "-" and not os.path.lexists(path) and not is_pattern(path):
            raise InputError("No such file or directory", source=source, path=path)


def _check_written(written: Iterable[tuple[str, str]], inputs: Iterable[str]) -> None:
    """Check that options' files can be written and replace no input."""
    taken = {os.path.realpath(path) for path in inputs if path != "-"}
    for option, path in written:
        place = os.path.realpath(path)
        if not path or os.path.isdir(path) or place in taken:  # noqa: PTH112 - as above
            raise InputError(f"--{option} needs a file of its own", path=path)
        folder = os.path.dirname(place)  # noqa: PTH120 - as above
        if not os.access(place if _is_device(path) else folder, os.W_OK):
            problem = "it cannot be written"
            if not os.path.isdir(folder):  # noqa: PTH112
                problem = "its folder is not there"
            raise InputError(f"--{option}: {problem}", path=path)
        taken.add(place)


def _is_device(path: str) -> bool:
    """Tell whether a device or a pipe is there, which has no ending, and no folder of its own."""
    return os.path.exists(path) and not os.path.isfile(path)  # noqa: PTH110, PTH113
