"""What a target of the fuzzer is, and how its executions are run and its findings made smaller."""

from __future__ import annotations

import signal
import traceback
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from time import perf_counter
from typing import Any, NamedTuple

BATCH = 500  # executions that draw from one generator of random numbers
LONGEST = 60.0  # seconds that a batch, or making an input smaller, may take
MOST_FINDINGS = 10  # of different kinds, after which a target is left
MOST_SHRINKS = 3_000  # smaller inputs that are tried


class Target(ABC):
    """Something that reads input, and a property of it."""

    name: str
    share: int  # of the executions of all targets: about a thousandth each

    @abstractmethod
    def generate(self, rng: Random) -> Any:
        """Make an input, a literal."""

    @abstractmethod
    def check(self, given: Any) -> None:
        """Raise an error unless the property holds; that an `InputError` is wanted it knows."""


class Finding(NamedTuple):
    """An input that breaks a property."""

    target: str
    seed: str
    given: Any  # the smallest found
    error: BaseException

    def __str__(self) -> str:
        lines = traceback.format_exception(self.error, limit=-6)
        replay = f"--replay {self.target} {self.given!r}"
        return f"{self.target}, seed {self.seed}:\n{''.join(lines)}{replay}\n"


class Outcome(NamedTuple):
    """What came of running a target."""

    executions: int
    seconds: float
    findings: list[Finding]


def run(target: Target, executions: int, seed: object, most_seconds: float = 1e9) -> Outcome:
    """Generate and check inputs, always the same ones for the same seed."""
    findings: dict[object, Finding] = {}
    begun, done = perf_counter(), 0
    with guarded():
        for batch in range(-(-executions // BATCH)):
            name = f"{seed}/{target.name}/{batch}"
            rng = Random(name)
            for _ in range(min(BATCH, executions - done)):
                given = target.generate(rng)
                done += 1
                try:
                    target.check(given)
                except Exception as error:
                    if kind_of(error) not in findings:
                        given, error = shrunk(target, given, error)
                        kind = kind_of(error)
                        findings.setdefault(kind, Finding(target.name, name, given, error))
            signal.setitimer(signal.ITIMER_REAL, LONGEST)
            if len(findings) >= MOST_FINDINGS or perf_counter() - begun > most_seconds:
                break
    return Outcome(done, perf_counter() - begun, list(findings.values()))


def failure(target: Target, given: Any) -> BaseException | None:
    """Return why an input breaks the target's property; None if it doesn't."""
    try:
        target.check(given)
    except Exception as error:
        return error
    return None


def kind_of(error: BaseException) -> object:
    """Tell findings apart by their type and the last place in this repository."""
    places = [
        (frame.filename, frame.lineno)
        for frame in traceback.extract_tb(error.__traceback__)
        if "irbatch" in frame.filename or "fuzz" in frame.filename
    ]
    return type(error), *places[-1:]


@contextmanager
def guarded() -> Iterator[None]:
    """Ignore warnings, and raise a `TimeoutError` in what takes too long."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"it took more than {LONGEST:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def shrunk(target: Target, given: Any, error: BaseException) -> tuple[Any, BaseException]:
    """Return a smaller input that fails in the same way, and how it fails."""
    kind, tried, end = kind_of(error), 0, perf_counter() + LONGEST / 4
    going = True
    while going:
        going = False
        for smaller in _smaller(given):
            tried += 1
            if tried > MOST_SHRINKS or perf_counter() > end:
                return given, error
            found = failure(target, smaller)
            if found is not None and kind_of(found) == kind:
                given, error, going = smaller, found, True
                break
    return given, error


def _smaller(given: Any) -> Iterator[Any]:
    """Yield inputs with something left out, large parts first."""
    if isinstance(given, bytes | str | list) and given:
        size = len(given)
        while size >= 1:
            for start in range(0, len(given), size):
                yield given[:start] + given[start + size :]
            size //= 2
    if isinstance(given, list | tuple):
        for place, each in enumerate(given):
            for smaller in _smaller(each):
                changed = [*given[:place], smaller, *given[place + 1 :]]
                yield changed if isinstance(given, list) else tuple(changed)
    if isinstance(given, int) and not isinstance(given, bool) and given:
        yield from dict.fromkeys((0, 1, given // 2))
