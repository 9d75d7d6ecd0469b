"""Files in processes of their own, reading included; Parquet; the first call of all."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import data
from benchmarks.data import Problem
from benchmarks.harness import (
    USUAL,
    Settings,
    Table,
    Timed,
    absence,
    amount,
    compare_values,
    duration,
    json_of,
    output_of,
    rounds_of,
)
from benchmarks.tools import IN_QUERIES, TREC_EVAL, trec_eval_program, usual

Paths = tuple[Path, Path]
PACKAGES = {"pytrec_eval": "pytrec_eval-terrier"}  # of modules, where these have other names


def evaluated(tool: str, paths: Paths, small: Paths, names: Iterable[str]) -> Timed:
    """Evaluate files with one tool in a process of its own."""
    words = ["-m", "benchmarks.tools", tool, *map(str, (*paths, *small)), *names]
    found = json_of(words)
    return Timed(found["values"], (found["seconds"],), found["peak"])


def in_processes(
    tools: Iterable[str], paths: Paths, small: Paths, names: list[str], rounds: int
) -> dict[str, Timed]:
    """Evaluate files with several tools in turn; what takes longer than patience only once."""
    found: dict[str, list[Timed]] = {tool: [] for tool in tools}
    for _ in range(rounds):
        for tool, each in found.items():
            if not each or each[0].seconds <= 4.0:
                each.append(evaluated(tool, paths, small, names))
    return {
        tool: Timed(each[0].result, tuple(one.seconds for one in each), max(o.peak for o in each))
        for tool, each in found.items()
    }


def files(settings: Settings) -> Iterator[Table]:
    """Compare with tools that evaluate, then with an engine that can be told how to."""
    problem = data.of_settings(settings, USUAL)
    few = data.small_problem(settings, USUAL)
    paths, small = data.written(settings, problem, "whole"), data.written(settings, few, "small")
    size = amount(paths[1].stat().st_size)
    peers = ("pytrec_eval", "ir_measures", "polars")
    missing = {each: absence(each, PACKAGES.get(each, "")) for each in peers}
    missing["trec_eval"] = None if trec_eval_program() else f"not on PATH, nor named by {TREC_EVAL}"
    for peers, names in (
        (["trec_eval", "pytrec_eval", "ir_measures"], usual(settings.depth)),
        (["polars"], list(IN_QUERIES)),
    ):
        title = f"TREC files, run of {size}: {settings.size(USUAL)}; {len(names)} measures"
        table = Table(f"{title}, reading included", settings)
        tools = ["irbatch", *(each for each in peers if not missing[each])]
        found = in_processes(tools, paths, small, names, settings.rounds)
        for peer in peers:
            # trec_eval prints four digits; the mean of many such is nearly as exact as one.
            tolerance = 1e-4 if peer == "trec_eval" else 1e-9
            theirs = missing[peer] or found[peer]
            table.compare("files to means", found["irbatch"], peer, theirs, key=f"files, {peer}",
                          tolerance=tolerance)  # fmt: skip
        yield table


# ---------------------------------------------------------------- Parquet

ROWS = 100_000_000
FEW = 65_521  # documents, so that a row group has a dictionary of them
# Rows' keys, what ids are, Arrow's name for them, and options of pyarrow's writer.
FORMS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "text": ("text, snappy", "string", {}),
    "zstd": ("text, zstd", "string", {"compression": "zstd"}),
    "plain": ("text, no dictionaries", "string", {"use_dictionary": False}),
    "dictionary": (f"text, {FEW:,} documents", "string", {}),
    "numbers": ("int64, float32 scores", "int64", {}),
}


def parquet(settings: Settings) -> Iterator[Table]:
    """Copies of a run under further query ids, 10⁸ rows, all judged, by how ids are kept."""
    missing, judged = absence("pyarrow"), USUAL
    copies = 2 if settings.quick else ROWS // (settings.queries * settings.depth) + 1
    rows = copies * settings.queries * settings.depth
    title = f"Parquet: {rows / 1e6:,.1f} M rows, {judged} judged a query, judgments in Parquet too"
    columns = ("ids", "file", "takes", "rows a second", "peak memory", "aim", "values")
    table = Table(title, settings, columns)
    peaks = [0]
    for key, (what, kind, options) in FORMS.items():
        if missing:
            table.add(what, f"skipped: {missing}", key=f"parquet, {key}")
            continue
        problem = data.of_settings(settings, judged)
        if key == "dictionary":
            problem = data.make_problem(settings.queries, settings.depth, judged, documents=FEW)

        def write(name: str, problem: Problem, copies: int) -> Paths:
            paths = [settings.folder / f"{name}.{side}.parquet" for side in ("qrels", "run")]
            data.write_parquet(problem.judgments(), paths[0], copies, kind)  # noqa: B023
            data.write_parquet(problem.run(), paths[1], copies, kind, **options)  # noqa: B023
            return paths[0], paths[1]

        whole, once = write("whole", problem, copies), write("once", problem, 1)
        small = write("small", data.small_problem(settings, judged), 1)
        found = evaluated("irbatch", whole, small, IN_QUERIES)
        expected = evaluated("irbatch", once, small, IN_QUERIES)
        equal, text = compare_values(expected.result, found.result)
        table.check(what, equal, text)
        rate, size = rows / found.seconds, amount(whole[1].stat().st_size)
        cells = duration(found.seconds), f"{rate / 1e6:.1f} M", amount(found.peak), text
        table.add(what, size, *cells, key=f"parquet, {key}", figure=rate)
        peaks.append(found.peak)
        for path in (*whole, *small, *once):
            path.unlink()
    table.add("all", "", "", "", amount(max(peaks)), key="parquet, memory", figure=max(peaks))
    yield table


# ---------------------------------------------------------------- a new process

# Seconds of a new process for the import, and for the result. irbatch loads what it is asked for:
# its import is over when `evaluate` is there.
START = """
import json, time, numpy
qrels = {f"q{i}": {"d1": 1, "d7": 2} for i in range(50)}
run = {f"q{i}": {f"d{j}": (i * j) % 101 + j / 128 for j in range(100)} for i in range(50)}
start = time.perf_counter()
import irbatch
evaluate = irbatch.evaluate
imported = time.perf_counter()
evaluate(qrels, run, ["AP", "nDCG@10"]).mean()
print(json.dumps([imported - start, time.perf_counter() - start]))
"""
# Seconds of the first reading of judgments in a new process, and of a loop that reads them.
READING = """
import json, sys, time, irbatch
read, start = irbatch.read_qrels, time.perf_counter()
count = sum(map(len, read(sys.argv[1]).to_dict().values()))
seconds, start, table = time.perf_counter() - start, time.perf_counter(), {}
for line in open(sys.argv[1]):
    query, _, document, grade = line.split()
    table.setdefault(query, {})[document] = int(grade)
assert sum(map(len, table.values())) == count
print(json.dumps([seconds, time.perf_counter() - start]))
"""
SIZES = ((43, 100), (43, 1_000), (300, 1_000), (2_000, 1_000))
# The first and second call in a new process: CPU seconds, and whether Numba was imported. Threads
# of NumPy's linear algebra spin for some 30 ms after its import, which would be counted.
CALLS = """
import json, random, sys, time, numpy
time.sleep(0.1)
queries, depth = map(int, sys.argv[1:])
draw = random.Random(1)
qrels = {f"q{i}": {f"d{draw.randrange(5000)}": draw.randrange(3) for _ in range(50)}
         for i in range(queries)}
run = {f"q{i}": {f"d{j}": draw.random() for j in draw.sample(range(5000), depth)}
       for i in range(queries)}
import irbatch, irbatch.evaluation.runs
spent = []
for _ in range(2):
    start = time.process_time()
    irbatch.evaluate(qrels, run, ["AP", "nDCG@10", "P@5"])
    spent.append(time.process_time() - start)
print(json.dumps([*spent, "numba" in sys.modules]))
"""


def cold(settings: Settings) -> Iterator[Table]:
    """What a new process pays before its first result; and a wheel in a fresh environment."""
    title = "new process, beyond NumPy: 50 queries × 100 documents, AP and nDCG@10"
    table = Table(title, settings)
    works = {"": partial(json_of, ["-c", START])}
    imports, results = zip(*rounds_of(works, settings.rounds)[""], strict=True)
    table.alone("import of evaluate", Timed(None, imports))
    table.alone("import and first result", Timed(None, results), key="cold, first result")
    queries = 50 if settings.quick else 5_500
    qrels, _ = data.written(settings, data.make_problem(queries, 25, 20), "judged")
    read, loop = zip(
        *rounds_of({"": partial(json_of, ["-c", READING, str(qrels)])}, settings.rounds)[""],
        strict=True,
    )
    work, note = f"first read_qrels, {20 * queries:,} lines", f"a loop {Timed(None, loop)}"
    table.alone(work, Timed(None, read), key="cold, read_qrels", note=note)
    yield table
    table = Table("a wheel in a fresh environment, an empty home, CPU time", settings)
    if settings.quick:
        reason = "skipped: left out by --quick"
        table.add("pip install .", "", "", "", "", reason, key="cold, first call")
    else:
        _wheel(table)
    yield table


def _wheel(table: Table) -> None:
    """Install the repository in an environment of its own; time first and second calls there."""
    settings = table.settings
    folder, home = settings.folder / "fresh", settings.folder / "home"
    home.mkdir(mode=0o555)
    output_of([sys.executable, "-m", "venv", str(folder)])
    python = str(folder / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet"]
    output_of([*install, "numpy", "numba"])
    repository = str(Path(__file__).parents[1])
    words = [*install, "--force-reinstall", "--no-deps", repository]
    start = time.perf_counter()
    output_of(words, {"IRBATCH_BUILD_KERNELS": "1"})
    table.alone("pip install .", Timed(None, (time.perf_counter() - start,)))
    environment = {"HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    for size in SIZES:
        call = partial(json_of, ["-P", "-c", CALLS, *map(str, size)], environment, python)
        ours = rounds_of({"": call}, settings.rounds)[""]
        first, second = (Timed({}, tuple(each[i] for each in ours)) for i in range(2))
        work = f"{size[0]} queries × {size[1]}, first call"
        numba = "Numba imported" if any(each[2] for each in ours) else "no Numba"
        table.alone(work, first, note=f"second {second}; {numba}")
        over = Timed(None, (first.seconds - 1.3 * second.seconds,))
        table.alone(f"{work}, beyond 1.3 × the second", over, key="cold, first call")
    count = len(list(home.rglob("*")))
    table.check("files written", count == 0, f"{count} in the home")
