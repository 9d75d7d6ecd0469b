"""What a new process pays before its first result."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field

from benchmarks.processes import json_of, rounds_of
from benchmarks.report import Table, absence
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
WARMUP = """
import json, time, numpy, irbatch
start = time.perf_counter()
names = irbatch.warmup()
print(json.dumps([time.perf_counter() - start, len(names)]))
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
    cached = rounds_of({"": lambda: json_of(["-c", WARMUP])}, settings.rounds)[""]
    _warmup_row(table, "warmup, all in the cache", cached)
    if settings.quick:
        table.skip("warmup, empty cache", "", "left out by --quick", key="cold, empty cache")
    else:
        _empty_cache_rows(table)
    yield table


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


def _warmup_row(table: Table, work: str, found: list[tuple[float, int]], key: str = "") -> None:
    timed = Timed(None, tuple(spent for spent, _ in found))
    table.alone(work, timed, key=key, note=f"{found[0][1]} kernels")


def _empty_cache_rows(table: Table) -> None:
    """Compile into folders that go away, once."""
    with tempfile.TemporaryDirectory() as folder:
        found = json_of(["-c", WARMUP], {"NUMBA_CACHE_DIR": folder})
    _warmup_row(table, "warmup, empty cache", [found], key="cold, empty cache")
    with tempfile.TemporaryDirectory() as folder:
        first = Start("empty", "irbatch", {"NUMBA_CACHE_DIR": folder}).run()
    table.alone("import and first result, empty cache", _whole([first]))
