"""irbatch beside other tools in one run: ``python -m benchmarks``.

Values are checked first: a row whose values differ says so, shows no ratio, and fails the run.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from pathlib import Path

from benchmarks.report import where
from benchmarks.sections import ON_REQUEST, SECTIONS
from benchmarks.settings import Settings

__all__ = ["main"]


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--queries", type=int, help="rankings (default 6980)")
    parser.add_argument("--depth", type=int, help="documents in each (default 1000)")
    parser.add_argument("--judged", type=int, nargs="+",
                        help="judged documents a query (default 1 20)")  # fmt: skip
    parser.add_argument("--rounds", type=int, help="how often each work is timed (default 3)")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, metavar="NAME",
                        help=f"sections: {', '.join(SECTIONS)}")  # fmt: skip
    parser.add_argument("--memory", action="store_true",
                        help="the section memory too, which writes gigabytes")  # fmt: skip
    parser.add_argument("--markdown", action="store_true", help="print GitHub Markdown")
    parser.add_argument("--quick", action="store_true", help="small sizes, some seconds")
    options = parser.parse_args(arguments)
    sizes = [options.queries, options.depth, options.rounds, *(options.judged or [])]
    if any(size is not None and size < 1 for size in sizes):
        parser.error("sizes and rounds are at least 1")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Print the tables; return 1 when values differ or a section fails."""
    options = parse(arguments)
    wanted = options.only or [name for name in SECTIONS if name not in ON_REQUEST or options.memory]
    print(where(), flush=True)
    problems: list[str] = []
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="irbatch-benchmarks-") as folder:
        settings = Settings.of(options, Path(folder))
        for name in wanted:
            problems += show(name, settings, markdown=options.markdown)
    print(f"\n{time.perf_counter() - start:.0f} s in all", flush=True)
    for problem in problems:
        print(f"PROBLEM: {problem}", file=sys.stderr)
    return 1 if problems else 0


def show(name: str, settings: Settings, *, markdown: bool) -> list[str]:
    """Print a section's tables as they come; return its problems."""
    problems: list[str] = []
    try:
        for table in SECTIONS[name](settings):
            print("\n" + (table.markdown() if markdown else table.text()), end="", flush=True)
            problems += table.problems
    except Exception as problem:
        traceback.print_exc()
        reason = str(problem).strip().rpartition("\n")[2]  # all of it has been printed
        problems.append(f"{name} failed: {type(problem).__name__}: {reason}")
    return problems


if __name__ == "__main__":
    sys.exit(main())
