"""What a new process pays before its first result."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.processes import json_of, output_of, rounds_of
from benchmarks.report import Agreement, Table, absence
from benchmarks.settings import Settings
from benchmarks.turns import Timed

__all__ = ["tables"]

DATA = (
    "qrels = {f'q{i}': {'d1': 1, 'd7': 2} for i in range(50)}\n"
    "run = {f'q{i}': {f'd{j}': (i * j) % 101 + j / 128 for j in range(100)} for i in range(50)}\n"
)
TOOLS = {
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
Found = tuple[float, float, dict[str, float]]
REPOSITORY = Path(__file__).parents[2]
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
PACKAGES = {"pytrec_eval": "pytrec_eval-terrier", "ir_measures": "ir_measures", "ranx": "ranx"}


def tables(settings: Settings) -> Iterator[Table]:
    """Compare on 50 queries of 100 documents, AP and nDCG@10."""
    table = settings.table("new process, beyond NumPy: 50 queries × 100 documents, AP and nDCG@10")
    absent = {peer: absence(peer, package) for peer, package in PACKAGES.items()}
    if settings.quick and absent["ranx"] is None:  # it may have to compile: half a minute
        absent["ranx"] = "left out by --quick"
    present = [peer for peer, missing in absent.items() if missing is None]
    starts = [Start(tool, tool) for tool in ("irbatch", *present)]
    starts.append(Start("compiled", "irbatch", {"IRBATCH_JIT": "1"}))
    works = {start.name: start.run for start in starts}
    found = rounds_of(works, settings.rounds)
    timed = {name: _whole(each) for name, each in found.items()}
    imports = Timed(None, tuple(each[0] for each in found["irbatch"]))
    table.alone("import of evaluate", imports, key="cold, import")
    for peer, missing in absent.items():
        if missing is None:
            table.compare("import and first result", timed["irbatch"], peer, timed[peer])
        else:
            table.skip("import and first result", peer, missing, timed["irbatch"])
    compiled = timed["compiled"]
    table.compare("the same, all compiled", compiled, "as it comes", timed["irbatch"],
                  key="cold, compiled")  # fmt: skip
    yield table
    wheel = settings.table("a wheel in a fresh environment, an empty home, CPU time")
    if settings.quick:
        wheel.skip("pip install .", "", "left out by --quick", key="cold, first call")
    else:
        _wheel_rows(wheel, settings)
    yield wheel


@dataclass(frozen=True)
class Start:
    """A tool in a new process, with what it finds in its environment."""

    name: str
    tool: str
    environment: dict[str, str] = field(default_factory=dict)

    def run(self) -> Found:
        """Start the process; return seconds for the import, for the result, and the result."""
        # irbatch loads what it is asked for: its import is over when `evaluate` is there.
        loaded = "irbatch.evaluate" if self.tool == "irbatch" else ""
        code = (
            "import json, time, warnings\n"
            "warnings.simplefilter('ignore')\n"
            f"{DATA}import numpy\nstart = time.perf_counter()\nimport {self.tool}\n{loaded}\n"
            f"imported = time.perf_counter()\n{TOOLS[self.tool]}\ndone = time.perf_counter()\n"
            "print(json.dumps([imported - start, done - imported, found]))\n"
        )
        imports, result, values = json_of(["-c", code], self.environment)
        return imports, result, values


def _whole(each: list[Found]) -> Timed:
    """Take import and result together."""
    return Timed(each[0][2], tuple(imports + result for imports, result, _ in each))


def _wheel_rows(table: Table, settings: Settings) -> None:
    """Install the repository in an environment of its own; time first and second calls there."""
    folder = settings.folder / "fresh"
    home = settings.folder / "home"
    home.mkdir(mode=0o555)
    output_of([sys.executable, "-m", "venv", str(folder)])
    python = str(folder / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet"]
    output_of([*install, "numpy", "numba", "pytrec_eval-terrier"])
    for work, switch in (("pure", "0"), ("with compiled kernels", "1")):
        start = time.perf_counter()
        again = ["--force-reinstall", "--no-deps", str(REPOSITORY)]
        output_of([*install, *again], {"IRBATCH_BUILD_KERNELS": switch})
        table.alone(f"pip install ., {work}", Timed(None, (time.perf_counter() - start,)))
    environment = {"HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    for queries, depth in SIZES:
        ours, theirs = (
            rounds_of({tool: _calls(python, tool, (queries, depth), names, environment)},
                      settings.rounds)[tool]
            for tool, names in (("irbatch", MEASURES), ("pytrec_eval", MEASURES.values()))
        )  # fmt: skip
        first, second = (Timed({}, tuple(each[i] for each in ours)) for i in range(2))
        peer = Timed({}, tuple(each[0] for each in theirs))
        work = f"{queries} queries × {depth}, first call"
        numba = "Numba imported" if any(each[2] for each in ours) else "no Numba"
        table.alone(work, first, note=f"second {second}, pytrec_eval's first {peer}; {numba}")
        over = first.seconds - 1.3 * second.seconds
        table.alone(
            f"{work}, beyond 1.3 × the second", Timed(None, (over,)), key="cold, first call"
        )
    written = list(home.rglob("*"))
    table.check("files written", Agreement(not written, f"{len(written)} in the home"))


def _calls(
    python: str,
    tool: str,
    size: tuple[int, int],
    names: Iterable[str],
    environment: dict[str, str],
) -> Callable[[], tuple[float, float, bool]]:
    words = [python, "-P", "-c", CALLS, tool, *map(str, size), *names]
    return lambda: json.loads(output_of(words, environment))
