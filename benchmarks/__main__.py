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
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from benchmarks import files, in_memory, matrices, recommending
from benchmarks.harness import Settings, Table, markdown_line, where
from benchmarks.rows import AIMS, ROWS, SHORT

REPOSITORY = Path(__file__).parent.parent
GUIDE, README = REPOSITORY / "examples" / "speed.md", REPOSITORY / "README.md"
START, END = "<!-- speed: python -m benchmarks --guide -->\n", "<!-- /speed -->\n"
HEADER = ("work", "irbatch", "compared with", "takes", "ratio")
SHORT_HEADER = ("work", "compared with", "ratio")
SECTIONS: dict[str, Callable[[Settings], Iterator[Table]]] = {
    "dicts": in_memory.dicts, "small": in_memory.small,
    "files": files.files, "frames": in_memory.frames, "ids": in_memory.ids,
    "users": recommending.users, "recommenders": recommending.recommenders,
    "scores": matrices.scores, "updates": matrices.updates, "embeddings": matrices.embeddings,
    "comparing": in_memory.comparing, "scan": matrices.scan_rows, "diversity": in_memory.diversity,
    "cold": files.cold, "parquet": files.parquet,
}  # fmt: skip
ON_REQUEST = ("parquet",)  # it writes gigabytes


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=0, help="of timing each work (default 3)")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, metavar="NAME",
                        help=f"sections: {', '.join(SECTIONS)}")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="small sizes, under two minutes")
    parser.add_argument("--guide", action="store_true",
                        help="write the rows made into guide and README")  # fmt: skip
    options = parser.parse_args(arguments)
    if options.guide and (options.quick or options.rounds):
        parser.error("--guide is of the default sizes")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Print the tables; return 1 when values differ or a section fails."""
    options = parse(arguments)
    names = options.only or [name for name in SECTIONS if name not in ON_REQUEST]
    print(where(), flush=True)
    problems: list[str] = []
    tables: list[Table] = []
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="irbatch-benchmarks-") as folder:
        settings = Settings(Path(folder), options.quick, options.rounds)
        for name in names:
            made, failed = show(name, settings)
            tables += made
            problems += failed
    print(f"\n{time.perf_counter() - start:.0f} s in all", flush=True)
    for missed in [each for table in tables for each in table.missed]:
        print(f"missed: {missed}")
    if options.guide:
        rows = {key: row for table in tables for key, row in table.keyed.items()}
        for path, shown, header in ((GUIDE, ROWS, HEADER), (README, SHORT, SHORT_HEADER)):
            path.write_text(update(path.read_text(), rows, shown, header))
    for problem in problems:
        print(f"PROBLEM: {problem}", file=sys.stderr)
    return 1 if problems else 0


def show(name: str, settings: Settings) -> tuple[list[Table], list[str]]:
    """Print a section's tables as they come; return them, and its problems."""
    tables: list[Table] = []
    problems: list[str] = []
    try:
        for table in SECTIONS[name](settings):
            print("\n" + table.text(), end="", flush=True)
            tables.append(table)
            problems += table.problems
    except Exception as problem:
        traceback.print_exc()
        reason = str(problem).strip().rpartition("\n")[2]  # all of it has been printed
        problems.append(f"{name} failed: {type(problem).__name__}: {reason}")
    else:
        expected = {key for key in (*AIMS, *ROWS) if key.partition(",")[0] == name}
        shown = {key for table in tables for key in table.keyed}
        problems += [f"no row {key!r}" for key in sorted(expected - shown)]
    return tables, problems


def update(
    text: str, found: Mapping[str, tuple[str, ...]], shown: Mapping[str, tuple[str, str]] = ROWS,
    header: tuple[str, ...] = HEADER,
) -> str:  # fmt: skip
    """Return a page with the rows `found`, of those to be `shown`; others stay as they are."""
    before, start, rest = text.partition(START)
    old, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"the page has no {START.strip()} followed by {END.strip()}")
    names = [header.index(name) for name in ("work", "compared with")]
    cells_of = {line: line.strip("| ").split(" | ") for line in old.splitlines() if " | " in line}
    kept = {tuple(cells[i] for i in names): line for line, cells in cells_of.items()}
    lines = [markdown_line(header), markdown_line(["---"] * len(header))]
    if header == HEADER:
        lines.insert(0, (where() if found else old.partition("\n")[0]) + "\n")
    for key, (work, peer) in shown.items():
        made = dict(zip(HEADER, found.get(key, [""] * 5), strict=False))
        made |= {"work": work, "compared with": peer}
        line = markdown_line(made[name] for name in header)
        lines.append(line if made["ratio"] else kept.get((work, peer), ""))
    return before + start + "\n".join(filter(None, lines)) + f"\n\n{end}{after}"


if __name__ == "__main__":
    sys.exit(main())
