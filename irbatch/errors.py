"""What irbatch says when an input cannot be evaluated.

Every problem with what a caller handed in is an `InputError`: a `ValueError` whose text is one
line a person can act on and whose fields a program can read.
"""

from __future__ import annotations

import functools
import importlib
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

LISTED_PROBLEMS = 20
LONGEST_ID = 100  # characters of an id that are shown
PANIC = "PanicException"  # what polars, say, raises of its own mistakes: a BaseException
FIELDS = ("source", "query", "document", "path", "line", "value")


class InputWarning(UserWarning):
    """An input that can be evaluated but is probably not what its owner meant."""


class InputError(ValueError):
    """An input without a defined result.

    Args:
        message: what is wrong, without the place (the fields give it).
        source: ``"qrels"``, ``"run"``, ``"measures"`` or the name of an argument.
        query, document: the ids concerned.
        path, line: the file and the line (from 1) concerned.
        value: the offending value.

    >>> raise InputError("score 'abc' is not a number", source="run", path="bm25.trec",
    ...                  line=81, query="301", value="abc")
    Traceback (most recent call last):
    irbatch.errors.InputError: run 'bm25.trec' line 81 (query '301'): score 'abc' is not a number
    """

    def __init__(
        self,
        message: str,
        *,
        source: str | None = None,
        query: object = None,
        document: object = None,
        path: str | None = None,
        line: int | None = None,
        value: Any = None,
        problems: Sequence[InputError] = (),
    ) -> None:
        self.message, self.source = message, source
        self.query, self.document, self.value = query, document, value
        self.path, self.line = path, line
        self._problems = tuple(problems)
        text = self._place() + message
        super().__init__(text if problems else printable(text))

    @property
    def problems(self) -> tuple[InputError, ...]:
        """All that is wrong: several problems, or this one."""
        # Not kept: in a circle the frames of the traceback would stay until garbage is looked for.
        return self._problems or (self,)

    def _place(self) -> str:
        """Say where the problem is: ``run 'bm25.trec' line 81 (query '301'): ``."""
        words = [self.source] if self.source else []
        if self.path is not None:
            words.append(repr(self.path))
        if self.line is not None:
            words.append(f"line {self.line}")
        ids = [
            f"{kind} {shown(value, LONGEST_ID)}"
            for kind, value in (("query", self.query), ("document", self.document))
            if value is not None
        ]
        if ids:
            words.append(f"({', '.join(ids)})")
        return f"{' '.join(words)}: " if words else ""

    def with_fields(self, **fields: Any) -> InputError:
        """Return the same problem with some fields replaced, such as a path that is known now."""
        problems = [problem.with_fields(**fields) for problem in self._problems]
        return type(self)(self.message, **{**self._fields(), **fields}, problems=problems)

    def _fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in FIELDS}

    def __reduce__(self) -> tuple[Any, ...]:
        fields = {**self._fields(), "problems": self._problems}
        make = functools.partial(type(self), self.message, **fields)
        return make, (), self.__dict__  # notes, too


class ErrorsIn:
    """Give fields to the errors of a ``with`` block, those of libraries written in Rust included.

    >>> with ErrorsIn(source="run", path="bm25.trec"):
    ...     raise InputError("there are no queries")
    Traceback (most recent call last):
    irbatch.errors.InputError: run 'bm25.trec': there are no queries
    """

    def __init__(self, **fields: Any) -> None:
        self._fields = fields

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, problem: object, traceback: object) -> None:
        if isinstance(problem, InputError):
            raise problem.with_fields(**self._fields) from None
        if type(problem).__name__ == PANIC:
            raise InputError(f"its library failed: {problem}", **self._fields) from None


_caught: ContextVar[dict[str, None] | None] = ContextVar("caught", default=None)


@contextmanager
def warnings_kept() -> Iterator[dict[str, None]]:
    """Keep the texts of warnings of a block of this thread, each once, in place of issuing them."""
    caught: dict[str, None] = {}
    token = _caught.set(caught)
    try:
        yield caught
    finally:
        _caught.reset(token)


def warn(*messages: str) -> None:
    """Warn of an input, on the caller's line: the first one outside this package."""
    if (caught := _caught.get()) is not None:
        caught.update(dict.fromkeys(messages))
        return
    frame: Any = sys._getframe()  # inspect would do, and takes 5 ms to import
    level = 0
    inside = (__package__, "contextlib")
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in inside:
        frame = frame.f_back
        level += 1
    for message in messages:
        warnings.warn(printable(message), InputWarning, stacklevel=level + 1)


_options: Collection[str] = ()


@contextmanager
def keywords_as_options(names: Collection[str]) -> Iterator[None]:
    """Have messages spell keyword arguments as a command's options, in a ``with`` block.

    `names` are those that are options of the command.
    """
    global _options
    _options = names
    try:
        yield
    finally:
        _options = ()


def keyword(name: str, value: object = None) -> str:
    """Spell a keyword argument as the caller gives it, in Python or as a command's option.

    >>> keyword("missing", "skip"), keyword("columns", {"run": {"query": "qid"}})
    ("missing='skip'", "columns={'run': {'query': 'qid'}}")
    >>> with keywords_as_options(["missing", "columns"]):
    ...     keyword("missing", "skip"), keyword("columns", {"run": {"query": "qid"}})
    ('--missing skip', '--columns run.query=qid')
    """
    if name not in _options:
        return f"{name}=" if value is None else f"{name}={shown(value)}"
    option = f"{'--' if len(name) > 1 else '-'}{name.replace('_', '-')}"
    if not isinstance(value, Mapping):
        text = value if isinstance(value, str) else shown(value)
        return option if value is None else f"{option} {text}"
    words = []
    for role, setting in value.items():
        apart = setting.items() if isinstance(setting, Mapping) else ()
        words += [f"{role}.{inner}={column}" for inner, column in apart] or [f"{role}={setting}"]
    return f"{option} {','.join(words)}"


def shown(value: object, length: int = 80) -> str:
    """Show a value in an error, on one line and cut to a length."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # numbers of thousands of digits, lists in lists in lists
        return f"a {type(value).__name__} too long to be shown"
    return (" ".join(text.split()) if "\n" in text else text)[:length]


def kind_of(value: object) -> str:
    """Name a value's type as one of its kind.

    >>> kind_of(5), kind_of("five")
    ('an int', 'a str')
    """
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeioAEIO' else 'a'} {name}"


def raise_problems(problems: Sequence[InputError]) -> None:
    """Raise the only problem as it is, or several as one error that lists the first 20."""
    if not problems:
        return
    first = problems[0]
    if len(problems) == 1:
        raise first
    lines = "\n".join(f"  {problem}" for problem in problems[:LISTED_PROBLEMS])
    # Readers give up at the twentieth: then there may be more.
    count = f"{'at least ' * (len(problems) == LISTED_PROBLEMS)}{len(problems)} problems"
    more = ", the first 20" if len(problems) > LISTED_PROBLEMS else ""
    message = f"{count}{more}:\n{lines}"
    raise InputError(message, source=first.source, path=first.path, problems=problems)


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """Name a known spelling near to it, in whatever letters; "" without one.

    >>> did_you_mean("nDGC@10", ["nDCG@10", "AP"])
    '; did you mean nDCG@10?'
    """
    from difflib import get_close_matches  # a millisecond of importing irbatch

    spellings = {other.lower(): other for other in names}
    near = get_close_matches(str(name).lower(), spellings, 1)
    return f"; did you mean {spellings[near[0]]}?" if near else ""


def join_words(words: Sequence[str], last: str = "and") -> str:
    """Write a list as people do.

    >>> join_words(["ms", "s", "h"], "or")
    'ms, s or h'
    """
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def many(number: int, noun: str) -> str:
    """Count in words: ``1 query``, ``2 queries``, ``2 systems``."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun.removesuffix('y')}ies" if noun.endswith("y") else f"{number} {noun}s"


# What is shown to people, and what programs read: names may hold any character, but send none to a
# terminal that it would act on, and make no line. JSON alone has them exactly.
CONTROLS = {code: repr(chr(code))[1:-1] for code in (*range(32), *range(127, 160), 0x2028, 0x2029)}


def printable(text: object) -> str:
    r"""Show control characters, such as a terminal's escapes or marks of direction, as ``\x1b``."""
    text = str(text)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def on_one_line(text: object) -> str:
    r"""Write a name into lines for programs: exactly, but for controls and line ends: ``\n``.

    >>> on_one_line("naïve\tid\u200d"), on_one_line(r"C:\data")
    ('naïve\\tid\u200d', 'C:\\data')
    """
    return str(text).translate(CONTROLS)


def imported(purpose: str, extra: str, *modules: str) -> Any:
    """Import the first of some modules that is installed.

    Raises:
        ImportError: if none is, naming the extra of irbatch that installs one, and what it is for,
            such as ``"frames"``; or that of a module that is installed and fails.
    """
    for module in modules:
        try:
            return importlib.import_module(module)
        except ImportError as problem:
            name = problem.name or module
            if name.partition(".")[0] != module.partition(".")[0]:
                raise  # it is installed, and something that it needs is not
            missing = problem
    raise ImportError(f"for {purpose}: pip install 'irbatch[{extra}]'") from missing
