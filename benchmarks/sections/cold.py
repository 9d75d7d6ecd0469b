"""What a new process pays before its first result."""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from benchmarks.processes import print_of
from benchmarks.report import Table, absence, compare_values, duration, multiple
from benchmarks.settings import Settings

__all__ = ["tables"]

COLUMNS = ("tool", "import, beyond NumPy", "first result, then", "import and result",
           "times irbatch's", "values")  # fmt: skip
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
PACKAGES = {"pytrec_eval": "pytrec_eval-terrier", "ir_measures": "ir_measures", "ranx": "ranx"}


def tables(settings: Settings) -> Iterator[Table]:
    """Compare on 50 queries of 100 documents, AP and nDCG@10."""
    table = Table("cold start: 50 queries × 100 documents, AP and nDCG@10, a new process", COLUMNS)
    absent = {peer: absence(peer, package) for peer, package in PACKAGES.items()}
    if settings.quick and absent["ranx"] is None:  # it may have to compile: half a minute
        absent["ranx"] = "left out by --quick"
    present = [peer for peer, missing in absent.items() if missing is None]
    rounds = 1 if settings.quick else 2 * settings.rounds + 1
    starts = [Start(tool, tool) for tool in ("irbatch", *present)]
    starts.append(Start("irbatch, all compiled, cached", "irbatch", {"IRBATCH_JIT": "1"}))
    found = _in_turn(starts, rounds)
    ours = found["irbatch"]
    _plain_row(table, "irbatch", ours, " (aim: 50 ms)")
    for peer, missing in absent.items():
        if missing is None:
            _compared_row(table, peer, ours, found[peer])
        else:
            table.add(peer, "", "", "", "", f"skipped: {missing}")
    _plain_row(table, starts[-1].name, found[starts[-1].name])
    if not settings.quick:
        _empty_cache_rows(table, ours, with_ranx="ranx" in present)
    yield table


@dataclass(frozen=True)
class Start:
    """A tool in a new process, with what it finds in its environment."""

    name: str
    tool: str
    environment: dict[str, str] = field(default_factory=dict)

    def run(self) -> Found:
        """Start the process; return seconds for the import, for the result, and the result."""
        code = (
            "import json, time, warnings\n"
            "warnings.simplefilter('ignore')\n"
            f"{DATA}import numpy\nstart = time.perf_counter()\nimport {self.tool}\n"
            f"imported = time.perf_counter()\n{TOOLS[self.tool]}\ndone = time.perf_counter()\n"
            "print(json.dumps([imported - start, done - imported, found]))\n"
        )
        imports, result, values = json.loads(print_of(["-c", code], self.environment))
        return imports, result, values


def _in_turn(starts: list[Start], rounds: int) -> dict[str, Found]:
    """Take medians; a first process each fills caches of files and of compiled code."""
    found: dict[str, list[Found]] = {start.name: [] for start in starts}
    for number in range(rounds + 1):
        for start in starts:
            done = start.run()
            if number:
                found[start.name].append(done)
    medians = {}
    for name, each in found.items():
        imports, results, values = zip(*each, strict=True)
        medians[name] = statistics.median(imports), statistics.median(results), values[0]
    return medians


def _empty_cache_rows(table: Table, ours: Found, *, with_ranx: bool) -> None:
    """Have each compile what it compiles, once, into a folder that goes away."""
    compiled = Start("irbatch, all compiled, empty cache", "irbatch", {"IRBATCH_JIT": "1"})
    starts = [Start("irbatch, empty cache", "irbatch"), compiled]
    starts += [Start("ranx, empty cache", "ranx")] if with_ranx else []
    for start in starts:
        with tempfile.TemporaryDirectory() as folder:
            environment = {**start.environment, "NUMBA_CACHE_DIR": folder}
            found = replace(start, environment=environment).run()
        if start.tool == "irbatch":
            _plain_row(table, start.name, found)
        else:
            _compared_row(table, start.name, ours, found)


def _compared_row(table: Table, name: str, ours: Found, theirs: Found) -> None:
    agreement = compare_values(ours[2], theirs[2])
    table.check(name, agreement)
    ratio = multiple(sum(theirs[:2]) / sum(ours[:2])) if agreement.equal else "none"
    times = duration(theirs[0]), duration(theirs[1]), duration(sum(theirs[:2]))
    table.add(name, *times, ratio, agreement.text)


def _plain_row(table: Table, name: str, found: Found, aim: str = "") -> None:
    table.add(name, duration(found[0]) + aim, duration(found[1]), duration(sum(found[:2])))
