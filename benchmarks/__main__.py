"""irbatch beside other tools in one run: ``python -m benchmarks``.

Values are checked first: a row whose values differ says so, shows no ratio, and fails the run. An
aim that is missed doesn't fail it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from pathlib import Path

from benchmarks.aims import AIMS
from benchmarks.guide import GUIDE, ROWS, update
from benchmarks.place import where
from benchmarks.report import Table
from benchmarks.sections import ON_REQUEST, SECTIONS
from benchmarks.settings import JUDGED, Settings

__all__ = ["main"]


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--queries", type=int, help="rankings (default 6980)")
    parser.add_argument("--depth", type=int, help="documents in each (default 1000)")
    parser.add_argument("--judged", type=int, nargs="+",
                        help="judged documents a query (default 1 20 60)")  # fmt: skip
    parser.add_argument("--rounds", type=int, help="how often each work is timed (default 3)")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, metavar="NAME",
                        help=f"sections: {', '.join(SECTIONS)}")  # fmt: skip
    parser.add_argument("--memory", action="store_true",
                        help="sections memory and parquet too, which write gigabytes")  # fmt: skip
    parser.add_argument("--markdown", action="store_true", help="print GitHub Markdown")
    parser.add_argument("--quick", action="store_true", help="small sizes, under two minutes")
    parser.add_argument("--guide", action="store_true",
                        help="write the rows that were made into the guide's table")  # fmt: skip
    options = parser.parse_args(arguments)
    sizes = [options.queries, options.depth, options.rounds, *(options.judged or [])]
    if any(size is not None and size < 1 for size in sizes):
        parser.error("sizes and rounds are at least 1")
    others = any(sizes[:3]) or (options.judged and options.only != ["dicts"])
    if options.guide and (options.quick or others):
        parser.error("--guide is of the default sizes")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Print the tables; return 1 when values differ or a section fails."""
    options = parse(arguments)
    wanted = options.only or [name for name in SECTIONS if name not in ON_REQUEST or options.memory]
    print(where(), flush=True)
    problems: list[str] = []
    tables: list[Table] = []
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="irbatch-benchmarks-") as folder:
        settings = Settings.of(options, Path(folder))
        for name in wanted:
            made, failed = show(name, settings, markdown=options.markdown)
            tables += made
            problems += failed
    print(f"\n{time.perf_counter() - start:.0f} s in all", flush=True)
    for missed in [each for table in tables for each in table.missed]:
        print(f"missed: {missed}")
    if options.guide:
        rows = {key: row for table in tables for key, row in table.keyed.items()}
        GUIDE.write_text(update(GUIDE.read_text(), rows))
    for problem in problems:
        print(f"PROBLEM: {problem}", file=sys.stderr)
    return 1 if problems else 0


def show(name: str, settings: Settings, *, markdown: bool) -> tuple[list[Table], list[str]]:
    """Print a section's tables as they come; return them, and its problems."""
    tables: list[Table] = []
    problems: list[str] = []
    try:
        for table in SECTIONS[name](settings):
            print("\n" + (table.markdown() if markdown else table.text()), end="", flush=True)
            tables.append(table)
            problems += table.problems
    except Exception as problem:
        traceback.print_exc()
        reason = str(problem).strip().rpartition("\n")[2]  # all of it has been printed
        problems.append(f"{name} failed: {type(problem).__name__}: {reason}")
    else:
        if tuple(settings.judged) == JUDGED:
            problems += [f"no row {key!r}" for key in sorted(_expected(name) - _keys(tables))]
    return tables, problems


def _expected(section: str) -> set[str]:
    """Return the keys of a section's rows that have an aim or a place in the GUIDE."""
    return {key for key in (*AIMS, *ROWS) if key.partition(",")[0] == section}


def _keys(tables: list[Table]) -> set[str]:
    return {key for table in tables for key in table.keyed}


if __name__ == "__main__":
    sys.exit(main())
