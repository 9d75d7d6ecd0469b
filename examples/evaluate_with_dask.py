"""A run in parts, evaluated by Dask's worker processes: the numbers are those of one process."""

from pathlib import Path

import dask.dataframe
from dask.distributed import Client

import irbatch
from irbatch.integrations import dask as engine

DATA = Path(__file__).parent / "data"
MEASURES = ["nDCG@10", "AP", "P@{5,10}"]


def main() -> None:
    qrels = DATA / "qrels.txt"
    run = irbatch.read_run(DATA / "pca10.run")
    # Of a real one: dask.dataframe.read_parquet("runs/*.parquet")
    parts = dask.dataframe.from_pandas(
        run.to_pandas().sample(frac=1, random_state=3), npartitions=7
    )

    with Client(n_workers=2, threads_per_worker=1, dashboard_address=":0"):
        means = engine.evaluate(qrels, parts, MEASURES, keep="sums")
        results = engine.evaluate(qrels, parts, MEASURES)

    print(means)
    poor = [query for query, value in results.per_query("nDCG@10").items() if value < 0.4]
    print(f"below 0.4: {len(poor)} queries, such as {min(poor)}")
    print("as in one process:", means.mean() == irbatch.evaluate(qrels, run, MEASURES).mean())


if __name__ == "__main__":  # worker processes import this file
    main()
