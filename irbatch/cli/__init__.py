"""The command line: `irbatch eval`, `compare`, `leaderboard`, `trec_eval`, `measures`, `warmup`."""

from __future__ import annotations

import errno
import io
import os
import sys
import warnings
from collections.abc import Sequence

from irbatch.errors import InputError, InputWarning, keywords_as_options, printable
from irbatch.version import __version__

__all__ = ["FAILED", "INTERRUPTED", "main", "note", "say"]

FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 130

is_at_work = False  # everything is imported, and a KeyboardInterrupt ends the command in order


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status: 0, or 2 with one clear line on bad input.

    Args:
        arguments: the words after ``irbatch``; default those of this process.
    """
    # Closed by the caller: print() would write what is for one of them to the other.
    sys.stdout, sys.stderr = sys.stdout or io.StringIO(), sys.stderr or io.StringIO()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a console that can't show a letter
    try:
        return _carry_out(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:  # while modules are loaded, too
        say("error", "interrupted")
        return INTERRUPTED


def _carry_out(words: Sequence[str]) -> int:
    """Run a command; return its exit status, having said what went wrong."""
    if [*words] == ["--version"]:  # without what commands need
        print(f"irbatch {__version__}")
        return 0
    from irbatch.cli.parser import parse_words

    global is_at_work
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", InputWarning)
        try:
            options = parse_words(words)
            is_at_work = True
            with keywords_as_options(vars(options)):
                status: int = options.command(options) or 0
            sys.stdout.flush()
        except (InputError, ImportError) as problem:
            say("error", str(problem))
            status = BAD_INPUT
        except BrokenPipeError:  # the reader, such as `head`, has seen enough
            _drop_output()
            status = 0
        except OSError as problem:  # such as a full disk behind standard output
            where = f"{problem.filename}: " if isinstance(problem.filename, str) else ""
            if not where and problem.errno == errno.ENOSPC:  # errors of files name them
                where = "standard output: "
            status = _give_up(where + (problem.strerror or str(problem)))
        except MemoryError:
            status = _give_up("out of memory")
    for warning in caught:
        if issubclass(warning.category, InputWarning):
            say("warning", str(warning.message))
    return status


def _give_up(text: str) -> int:
    """Say what failed, print nothing more, and return the exit status."""
    say("error", text)
    _drop_output()
    return FAILED


def _drop_output() -> None:
    """Discard what is left in standard output's buffer: writing it would fail at the exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # no file is behind it
        return


def say(what: str, text: object) -> None:
    """Tell a person something on standard error, such as an error or a warning."""
    lines = "\n".join(map(printable, str(text).split("\n")))
    print(f"irbatch: {what}: {lines}", file=sys.stderr)


def note(text: str) -> None:
    """Tell a person on standard error what there is to know of a result."""
    print(f"note: {printable(text)}", file=sys.stderr)
