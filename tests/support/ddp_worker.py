"""Processes that evaluate a share each and synchronize over gloo.

    python ddp_worker.py 2 FOLDER

writes what each computed to FOLDER/0.json and FOLDER/1.json.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

MEASURES = ["nDCG@10", "RR", "AP", "RBP(p=0.8)", "GAUC"]
QUERIES, CANDIDATES, BATCH = 23, 12, 4


def make_data() -> tuple[Any, Any]:
    """Scores with ties, and labels; some queries have no relevant document."""
    rng = np.random.default_rng(11)
    scores = rng.integers(0, 7, (QUERIES, CANDIDATES)).astype("float32") / 3
    return scores, (rng.random(scores.shape) < 0.2).astype("int64")


def share(rank: int, world: int, repeating: bool = False) -> list[Any]:
    """The batches of a process: every n-th query; the first ones again, to have equally many."""
    queries = np.arange(QUERIES)
    if repeating:
        queries = np.resize(queries, -(-QUERIES // world) * world)
    mine = queries[rank::world]
    return [mine[start : start + BATCH] for start in range(0, len(mine), BATCH)]


def run(rank: int, world: int) -> dict[str, Any]:
    """Return the bits of what each metric computes, in all ways to share."""
    from irbatch.integrations.torchmetrics import RankingMetric, RetrievalMetric, make_collection

    scores, labels = make_data()
    found: dict[str, Any] = {}

    def note(name: str, metric: Any) -> None:
        values = metric.compute()
        if not isinstance(values, dict):
            values = {"": values}
        found[name] = {key: value.item().hex() for key, value in values.items()}

    def feed(metric: Any, batches: list[Any], way: str = "update") -> Any:
        for rows in batches:
            first = next(iter(metric.values())) if hasattr(metric, "items") else metric
            ids = {"query_ids": rows * 3} if first._by_id else {}
            getattr(metric, way)(scores[rows], labels[rows], **ids)
        return metric

    shares: dict[str, Callable[[], list[Any]]] = {
        "all": lambda: share(rank, world),
        "one": lambda: share(0, 1) if rank == 0 else [],  # others have nothing
    }
    for name, list_batches in shares.items():
        note(f"sums {name}", feed(RankingMetric(MEASURES), list_batches()))
        note(f"queries {name}", feed(RankingMetric(MEASURES, by_id=True), list_batches()))
        columns = RetrievalMetric(MEASURES)
        for rows in list_batches():
            index = np.repeat(rows, CANDIDATES).reshape(len(rows), CANDIDATES)
            columns.update(scores[rows], labels[rows], index)
        note(f"columns {name}", columns)
    note("collection", feed(make_collection(MEASURES), share(rank, world)))
    note("skip", feed(RankingMetric(MEASURES, no_relevant="skip"), share(rank, world)))
    note("forward", feed(RankingMetric(MEASURES), share(rank, world), "forward"))
    note("forward queries",
         feed(RankingMetric(MEASURES, by_id=True), share(rank, world), "forward"))  # fmt: skip
    note(
        "on step",
        feed(RankingMetric(MEASURES, dist_sync_on_step=True), share(rank, world), "forward"),
    )
    repeating = RankingMetric(MEASURES, by_id=True)
    note("repeated", feed(repeating, share(rank, world, repeating=True)))
    # A query's documents are spread over all processes, a batch of unequal size on each.
    spread = RetrievalMetric(MEASURES)
    for column in range(rank, CANDIDATES, world):
        spread.update(scores[:, column], labels[:, column], np.arange(QUERIES))
    note("spread", spread)
    after = RankingMetric("RR")
    feed(after, share(rank, world)[:1])
    after.compute()
    feed(after, share(rank, world)[1:])  # what is a process's own goes on after computing
    note("went on", after)
    return found


def work(rank: int, world: int, folder: Path) -> None:
    """Meet the others, evaluate, and write what came out."""
    import torch.distributed as dist

    dist.init_process_group("gloo", init_method=f"file://{folder / 'meet'}", rank=rank,
                            world_size=world, timeout=timedelta(seconds=60))  # fmt: skip
    found = run(rank, world)
    dist.destroy_process_group()
    (folder / f"{rank}.json").write_text(json.dumps(found))


def main() -> int:
    """Fork the processes once everything is imported, which takes longer than all they do."""
    import irbatch.integrations.torchmetrics  # noqa: F401

    context = multiprocessing.get_context("fork")
    world = int(sys.argv[1])
    ranks = [context.Process(target=work, args=(rank, world, Path(sys.argv[2])))
             for rank in range(world)]  # fmt: skip
    for each in ranks:
        each.start()
    for each in ranks:
        each.join()
    return max(abs(each.exitcode or 0) for each in ranks)


if __name__ == "__main__":
    sys.exit(main())
