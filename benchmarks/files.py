"""Files in processes of their own, reading included; memory; Parquet; the first call of all."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import irbatch
from benchmarks import data
from benchmarks.data import Problem
from benchmarks.harness import (
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
    problem = data.of_settings(settings, settings.usual)
    few = data.small_problem(settings, settings.usual)
    paths, small = data.written(settings, problem, "whole"), data.written(settings, few, "small")
    size = amount(paths[1].stat().st_size)
    peers = ("pytrec_eval", "ir_measures", "polars")
    missing = {each: absence(each, PACKAGES.get(each, "")) for each in peers}
    missing["trec_eval"] = None if trec_eval_program() else f"not on PATH, nor named by {TREC_EVAL}"
    for peers, names in (
        (["trec_eval", "pytrec_eval", "ir_measures"], usual(settings.depth)),
        (["polars"], list(IN_QUERIES)),
    ):
        title = f"TREC files, run of {size}: {settings.size(settings.usual)}; {len(names)} measures"
        table = Table(f"{title}, reading included", settings)
        tools = ["irbatch", *(each for each in peers if not missing[each])]
        found = in_processes(tools, paths, small, names, settings.rounds)
        for peer in peers:
            # trec_eval prints four digits; the mean of many such is nearly as exact as one.
            tolerance = 1e-4 if peer == "trec_eval" else 1e-9
            theirs = missing[peer] or found[peer]
            table.compare("files to means", found["irbatch"], peer, theirs, key=f"files, {peer}",
                          tolerance=tolerance)  # fmt: skip
        if "polars" in peers:
            _columns(table, (problem, few), (paths, small), names)
        yield table


def _columns(
    table: Table, problems: Iterable[Problem], paths: Iterable[Paths], names: list[str]
) -> None:
    """Time the same run in a file of columns, and say how many rows a second that is."""
    work, key, settings = "Parquet to means", "files, Parquet", table.settings
    if missing := absence("pyarrow"):
        table.add(work, "", "", "", "", f"skipped: {missing}", key=key)
        return
    pairs = []
    for problem, (qrels, run) in zip(problems, paths, strict=True):
        data.write_parquet(problem.run(), run.with_suffix(".parquet"))
        pairs.append((qrels, run.with_suffix(".parquet")))
    ours = in_processes(["irbatch"], *pairs, names, settings.rounds)["irbatch"]
    whole = irbatch.evaluate(*settings.kept["whole"], names).mean()
    equal, text = compare_values(ours.result, whole)
    table.check(work, equal, text)
    rate = settings.queries * settings.depth / ours.seconds
    cells = str(ours), "", "", f"{rate / 1e6:.1f} M rows/s", text
    table.add(work, *cells, key=key, figure=rate)


# ---------------------------------------------------------------- memory

COPIES = 10


def memory(settings: Settings) -> Iterator[Table]:
    """The memory that a run takes, and copies of it under further ids, not judged and judged."""
    judged = settings.judged[0]
    problem = data.of_settings(settings, judged)
    paths = data.written(settings, problem, f"judged{judged}")
    few = data.small_problem(settings, judged)
    small = data.written(settings, few, f"small{judged}")
    long_run, long_qrels = settings.folder / "long.run", settings.folder / "long.qrels"
    data.write_run(problem, long_run, COPIES)
    with long_qrels.open("w") as file:
        for copy in range(COPIES):
            rows = np.repeat(problem.queries + copy * len(problem.queries), judged).tolist()
            cells = rows, problem.judged.ravel().tolist(), problem.grades.ravel().tolist()
            file.writelines(f"{q} 0 {d} {grade}\n" for q, d, grade in zip(*cells, strict=True))
    title = f"memory of irbatch: {settings.size(judged)}, and {COPIES} times as many queries"
    columns = ("run file", "judged queries", "takes", "peak memory", "aim", "values")
    table = Table(title, settings, columns)
    expected: Timed | None = None
    for key, files_of in (
        ("memory, once", paths),
        ("memory, ten times", (paths[0], long_run)),
        ("memory, ten times, judged", (long_qrels, long_run)),
    ):
        found = evaluated("irbatch", files_of, small, usual(settings.depth))
        expected = expected or found
        queries = len({line.split(b" ", 1)[0] for line in files_of[0].read_bytes().splitlines()})
        size = amount(files_of[1].stat().st_size)
        equal, text = compare_values(expected.result, found.result)
        table.check(size, equal, text)
        cells = size, f"{queries:,}", duration(found.seconds), amount(found.peak), text
        table.add(*cells, key=key, figure=found.peak)
    long_run.unlink()
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
    missing, judged = absence("pyarrow"), settings.usual
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

DATA = (
    "qrels = {f'q{i}': {'d1': 1, 'd7': 2} for i in range(50)}\n"
    "run = {f'q{i}': {f'd{j}': (i * j) % 101 + j / 128 for j in range(100)} for i in range(50)}\n"
)
STARTS = {
    "irbatch": "found = irbatch.evaluate(qrels, run, ['AP', 'nDCG@10']).mean()",
    "pytrec_eval": (
        "each = pytrec_eval.RelevanceEvaluator(qrels, {'map', 'ndcg_cut.10'}).evaluate(run)\n"
        "found = {name: sum(v[key] for v in each.values()) / len(each)\n"
        "         for name, key in (('AP', 'map'), ('nDCG@10', 'ndcg_cut_10'))}"
    ),
    "ir_measures": (
        "wanted = [ir_measures.AP, ir_measures.nDCG @ 10]\n"
        "means = ir_measures.calc_aggregate(wanted, qrels, run)\n"
        "found = {str(name): value for name, value in means.items()}"
    ),
    "ranx": (
        "means = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), ['map', 'ndcg@10'])\n"
        "found = {'AP': float(means['map']), 'nDCG@10': float(means['ndcg@10'])}"
    ),
}
SIZES = ((43, 100), (43, 1_000), (50, 1_000), (300, 1_000), (2_000, 1_000))
MEASURES = {"AP": "map", "nDCG@10": "ndcg_cut_10", "P@5": "P_5"}
# A tool's first and second call in a new process: CPU seconds, and whether Numba was imported.
CALLS = """
import json, random, sys, time
tool, queries, depth, measures = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
draw = random.Random(1)
qrels = {f"q{i}": {f"d{draw.randrange(5000)}": draw.randrange(3) for _ in range(50)}
         for i in range(queries)}
run = {f"q{i}": {f"d{j}": draw.random() for j in draw.sample(range(5000), depth)}
       for i in range(queries)}
if tool == "irbatch":
    import irbatch, irbatch.evaluation.runs
    work = lambda: irbatch.evaluate(qrels, run, measures)
else:
    import pytrec_eval
    work = lambda: pytrec_eval.RelevanceEvaluator(qrels, set(measures)).evaluate(run)
spent = []
for _ in range(2):
    start = time.process_time()
    work()
    spent.append(time.process_time() - start)
print(json.dumps([*spent, "numba" in sys.modules]))
"""


def started(tool: str, environment: dict[str, str]) -> Any:
    """Start a process; return seconds for the import, for the result, and the result."""
    # irbatch loads what it is asked for: its import is over when `evaluate` is there.
    loaded = "irbatch.evaluate" if tool == "irbatch" else ""
    code = (
        "import json, time, warnings\n"
        "warnings.simplefilter('ignore')\n"
        f"{DATA}import numpy\nstart = time.perf_counter()\nimport {tool}\n{loaded}\n"
        f"imported = time.perf_counter()\n{STARTS[tool]}\ndone = time.perf_counter()\n"
        "print(json.dumps([imported - start, done - imported, found]))\n"
    )
    return json_of(["-c", code], environment)


def cold(settings: Settings) -> Iterator[Table]:
    """What a new process pays before its first result; and a wheel in a fresh environment."""
    title = "new process, beyond NumPy: 50 queries × 100 documents, AP and nDCG@10"
    table = Table(title, settings)
    missing = {tool: absence(tool, PACKAGES.get(tool, "")) for tool in STARTS if tool != "irbatch"}
    if settings.quick and missing["ranx"] is None:  # it may have to compile: half a minute
        missing["ranx"] = "left out by --quick"
    works = {tool: partial(started, tool, {}) for tool in STARTS if not missing.get(tool)}
    works["compiled"] = partial(started, "irbatch", {"IRBATCH_JIT": "1"})
    found = rounds_of(works, settings.rounds)
    timed = {
        tool: Timed(each[0][2], tuple(imports + result for imports, result, _ in each))
        for tool, each in found.items()
    }
    imports = Timed(None, tuple(each[0] for each in found["irbatch"]))
    table.alone("import of evaluate", imports, key="cold, import")
    for peer, reason in missing.items():
        table.compare("import and first result", timed["irbatch"], peer, reason or timed[peer])
    table.compare("the same, all compiled", timed["compiled"], "as it comes", timed["irbatch"],
                  key="cold, compiled")  # fmt: skip
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
    output_of([*install, "numpy", "numba", "pytrec_eval-terrier"])
    repository = str(Path(__file__).parents[1])
    for work, switch in (("pure", "0"), ("with compiled kernels", "1")):
        start = time.perf_counter()
        words = [*install, "--force-reinstall", "--no-deps", repository]
        output_of(words, {"IRBATCH_BUILD_KERNELS": switch})
        table.alone(f"pip install ., {work}", Timed(None, (time.perf_counter() - start,)))
    environment = {"HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}

    def calls(tool: str, size: tuple[int, int], names: Iterable[str]) -> Callable[[], Any]:
        words = [python, "-P", "-c", CALLS, tool, *map(str, size), *names]
        return lambda: json.loads(output_of(words, environment))

    for size in SIZES:
        works = {tool: calls(tool, size, names) for tool, names in
                 (("irbatch", MEASURES), ("pytrec_eval", MEASURES.values()))}  # fmt: skip
        found = rounds_of(works, settings.rounds)
        ours = found["irbatch"]
        first, second = (Timed({}, tuple(each[i] for each in ours)) for i in range(2))
        peer = Timed({}, tuple(each[0] for each in found["pytrec_eval"]))
        work = f"{size[0]} queries × {size[1]}, first call"
        numba = "Numba imported" if any(each[2] for each in ours) else "no Numba"
        table.alone(work, first, note=f"second {second}, pytrec_eval's first {peer}; {numba}")
        over = Timed(None, (first.seconds - 1.3 * second.seconds,))
        table.alone(f"{work}, beyond 1.3 × the second", over, key="cold, first call")
    count = len(list(home.rglob("*")))
    table.check("files written", count == 0, f"{count} in the home")
