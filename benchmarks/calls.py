"""One module's evaluator, call after call: ``python -m benchmarks.calls MODULE Q D J M CALLS``.

Prints JSON: the processor time that each call took, in all threads, and the last call's values.
MODULE has pytrec_eval's interface; Q queries of D documents with J judged are evaluated on as many
measures as M says.
"""

from __future__ import annotations

import importlib
import json
import sys
import time

from benchmarks.data import dicts, make_problem

__all__ = ["main"]

FOUR = ["map", "ndcg_cut.10", "recip_rank", "P.10"]


def main(arguments: list[str]) -> None:
    """Call and print."""
    module = importlib.import_module(arguments[0])
    queries, depth, judged, number, calls = map(int, arguments[1:])
    qrels, run = dicts(make_problem(queries, depth, judged))
    names = set(FOUR[:number] if number <= len(FOUR) else module.supported_measures)
    spent = []
    for _ in range(calls):
        start = time.process_time()
        values = module.RelevanceEvaluator(qrels, names).evaluate(run)
        spent.append(time.process_time() - start)
    print(json.dumps({"spent": spent, "values": values}))


if __name__ == "__main__":
    main(sys.argv[1:])
