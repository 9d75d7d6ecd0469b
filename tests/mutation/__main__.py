"""Mutation testing: whether a test fails for each of many small changes to the code.

    python -m tests.mutation irbatch/engine --sample 200 --tests tests/engine tests/measures

draws changes from a folder (``irbatch/engine/scan.py:40`` names the lines of a file) and prints
those that no test notices. Everything is imported once; each change is made in the functions of a
forked process, which runs the tests that reach its line until one fails: those first that noticed
most changes beside it, then the fastest, then those that reach most of the file. Kernels run
uncompiled. Needs Python 3.12 or later.

Not changed are texts, estimates of work and sizes of blocks (tests/mutation/speed.py), and what
runs at import: a change to a function that has done its part by then, or whose answers are kept
from then on, seems to go unnoticed. What else may remain:

- what decides how fast it is done, not what: sizes of scratch memory and of tables, hints, short
  cuts, when a kernel is used in place of NumPy;
- numbers that stand in for what is masked out right after, such as divisors where there is none;
- orders and draws that are others but as random;
- limits that cannot be met exactly, such as that of rounding.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import marshal
import math
import os
import random
import resource
import select
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType

import pytest

sys.path[:0] = [str(Path(__file__).parent)]
from functions import by_key, codes_in, functions_of  # noqa: E402
from operators import Mutant, list_mutants  # noqa: E402

Lines = dict[str, set[tuple[str, int]]]  # by test: files and lines reached
SLOWEST = 8.0  # seconds of the processor a test may take; others are left out
MEMORY = 8 << 30  # bytes


class Session:
    """Runs in place of pytest's loop, with all tests collected."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.seconds: dict[str, float] = {}
        self.lines: Lines = {}
        self.kills: Counter[tuple[str, str]] = Counter()  # by function or file, and test

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Let Hypothesis do the same each time, and not look for the smallest example."""
        from hypothesis import HealthCheck, Phase, settings

        settings.register_profile(
            "mutation",
            phases=[Phase.explicit, Phase.generate],
            derandomize=True,
            database=None,
            deadline=None,
            max_examples=20,
            suppress_health_check=list(HealthCheck),
        )
        settings.load_profile("mutation")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run all tests once, then those of each mutant."""
        session.config.pluginmanager.unregister(name="terminalreporter")
        self.items = {each.nodeid: each for each in session.items}
        chosen = {given: self._choose(given) for given in self.options.paths}
        self.functions = functions_of({each.path for some in chosen.values() for each in some})
        self._find_lines()
        self.by_line: dict[tuple[str, int], list[str]] = {}
        self.reached: Counter[tuple[str, str]] = Counter()  # lines, by test and file
        for test, lines in self.lines.items():
            for file, number in lines:
                self.by_line.setdefault((file, number), []).append(test)
                self.reached[test, file] += 1
        for given, mutants in chosen.items():
            start = time.perf_counter()
            results = Counter(self._try(each) for each in mutants)
            _report(given, results, time.perf_counter() - start)
        return True

    def _choose(self, given: str) -> list[Mutant]:
        path, _, lines = given.partition(":")
        files = sorted(map(str, Path(path).rglob("*.py"))) if Path(path).is_dir() else [path]
        found = [each for file in files for each in list_mutants(file) if each.function]
        if lines:
            first, _, last = lines.partition("-")
            found = [each for each in found if int(first) <= each.line <= int(last or first)]
        count = min(self.options.sample or len(found), len(found))
        say(f"{given}: {count} of {len(found)} changes")
        return random.Random(self.options.seed).sample(found, count)

    def _find_lines(self) -> None:
        """Find what each test takes and reaches, or read it; tests that are new are run."""
        kept = Path(self.options.keep) if self.options.keep else None
        if kept is not None and kept.exists():
            self.seconds, self.lines = marshal.loads(kept.read_bytes())
        gc.freeze()
        tool, events = sys.monitoring.COVERAGE_ID, sys.monitoring.events
        sys.monitoring.use_tool_id(tool, "mutation")
        for function in itertools.chain.from_iterable(self.functions.values()):
            for code in codes_in(function.__code__):
                sys.monitoring.set_local_events(tool, code, events.LINE)
        for test in (each for each in self.items if each not in self.seconds):
            answer = _in_child(lambda test=test: self._look(test), 10 * SLOWEST)[1]
            self.seconds[test], lines = marshal.loads(answer) if answer else (SLOWEST, None)
            if lines:
                self.lines[test] = lines
            elif lines is None:
                say(f"left out, fails or takes too long: {test}")
        sys.monitoring.free_tool_id(tool)
        if kept is not None:
            kept.write_bytes(marshal.dumps((self.seconds, self.lines)))
        self.lines = {test: lines for test, lines in self.lines.items() if test in self.items}
        total = sum(self.seconds[test] for test in self.lines)
        say(f"{len(self.lines)} of {len(self.items)} tests, {total:.0f} s")

    def _look(self, test: str) -> bytes:
        """Run a test; return how long it takes, and the lines that it reaches if it passes."""
        reached: set[tuple[str, int]] = set()

        def note(code: CodeType, line: int) -> object:
            reached.add((code.co_filename, line))
            return sys.monitoring.DISABLE

        events = sys.monitoring.events
        sys.monitoring.register_callback(sys.monitoring.COVERAGE_ID, events.LINE, note)
        start = time.process_time()
        fails = self._fails(test, SLOWEST)
        return marshal.dumps((time.process_time() - start, None if fails else list(reached)))

    def _fails(self, test: str, limit: float) -> bool:
        def stop(*_: object) -> None:
            raise KeyboardInterrupt  # which Hypothesis doesn't look into

        item = self.items[test]
        self.failed = False
        signal.signal(signal.SIGPROF, stop)
        signal.setitimer(signal.ITIMER_PROF, limit, 1.0)
        try:
            item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
        except BaseException:
            return True
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        return self.failed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what fails."""
        self.failed |= report.failed

    def _try(self, mutant: Mutant) -> str:
        """Run the tests that reach a mutant; return what becomes of it."""
        patches = list(self._patches(mutant))
        file = str(Path(mutant.path).resolve())
        near = f"{mutant.path}:{mutant.function}"
        tests = self.by_line.get((file, mutant.line), [])
        if not patches:
            return "without effect"
        if not tests:
            say(f"not reached  {mutant}")
            return "not reached"
        tests = self._in_order(tests, near, mutant.path, file)

        def run() -> bytes:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            for function, code in patches:
                function.__code__ = code
            spent = 0.0
            for test in tests:
                if self._fails(test, 2 + 10 * self.seconds[test]):
                    return test.encode()
                spent += self.seconds[test]
                if spent > self.options.budget:
                    break
            return b""

        status, found = _in_child(run, 60 + 10 * self.options.budget)
        if status == 0 and not found:
            say(f"survived     {mutant}")
            return "survived"
        for place in (near, mutant.path):
            self.kills[place, found.decode()] += 1
        if self.options.verbose:
            say(f"killed       {mutant}  by {found.decode()}")
        return "killed"

    def _in_order(self, tests: list[str], near: str, path: str, file: str) -> list[str]:
        """Order tests: for half of the budget the fastest, then those that reach most of a file."""
        room = "tests/" + path.split("/")[1]
        kills = {test: (-self.kills[near, test], -self.kills[path, test]) for test in tests}
        fastest = sorted(
            tests,
            key=lambda test: (kills[test], not test.startswith(room), self.seconds[test]),
        )
        spent = itertools.accumulate(self.seconds[test] for test in fastest)
        some = sum(seconds <= self.options.budget / 2 for seconds in spent)
        broadest = sorted(fastest[some:], key=lambda test: -self.reached[test, file])
        return fastest[:some] + broadest

    def _patches(self, mutant: Mutant) -> Iterator[tuple[FunctionType, CodeType]]:
        """Pair functions with their code under a mutant."""
        old = by_key(compile(mutant.tree, str(Path(mutant.path).resolve()), "exec"))
        for key, codes in by_key(mutant.compile()).items():
            for before, after in zip(old[key], codes, strict=False):
                if before != after and before.co_freevars == after.co_freevars:
                    for function in self.functions.get(key, []):
                        # Of several in a line, such as lambdas, one is like it.
                        if len(codes) == 1 or function.__code__ == before:
                            yield function, after


def _in_child(work: Callable[[], bytes], limit: float) -> tuple[int, bytes]:
    """Do some work in a forked process; return its status and what it returned."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        status = 1
        try:
            os.close(reader)
            with os.fdopen(writer, "wb") as file:
                file.write(work())
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    if not select.select([reader], [], [], limit)[0]:
        os.killpg(child, signal.SIGKILL)
    with os.fdopen(reader, "rb") as file:
        answer = file.read()
    return os.waitpid(child, 0)[1], answer


def _report(given: str, results: Counter[str], seconds: float) -> None:
    """Print the score with its 95 % interval (Wilson)."""
    tried = max(results.total() - results["without effect"], 1)
    share, z = results["killed"] / tried, 1.96
    middle = share + z * z / (2 * tried)
    half = z * math.sqrt(share * (1 - share) / tried + (z / tried / 2) ** 2)
    low, high = ((middle + sign * half) / (1 + z * z / tried) for sign in (-1, 1))
    say(f"{given}: {dict(results)}, killed {share:.1%} ({low:.1%} to {high:.1%}), {seconds:.0f} s")


def main() -> None:
    """Read the options, and let pytest collect the tests."""
    parser = argparse.ArgumentParser("python -m tests.mutation", description=__doc__)
    parser.add_argument("paths", nargs="+", help="folders, files, or file:line or file:first-last")
    parser.add_argument("--tests", nargs="+", default=["tests"], help="default: all")
    parser.add_argument("--sample", type=int, default=0, help="how many to draw; default: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--budget", type=float, default=10.0, help="seconds of tests a change")
    parser.add_argument("--keep", help="a file to keep in what tests take and reach")
    parser.add_argument("--verbose", action="store_true", help="say which test noticed")
    options = parser.parse_args()
    os.environ["IRBATCH_JIT"] = "0"
    without = ("cacheprovider", "faulthandler")
    words = itertools.chain.from_iterable(("-p", f"no:{each}") for each in without)
    pytest.main([*words, *options.tests], plugins=[Session(options)])


# pytest redirects standard output.
OUTPUT = os.fdopen(os.dup(1), "w", buffering=1)


def say(*words: object) -> None:
    """Print a line."""
    print(*words, file=OUTPUT, flush=True)


if __name__ == "__main__":
    main()
