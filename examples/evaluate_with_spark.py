"""A run as Spark's DataFrame, evaluated by its executors: the numbers are those of one process."""

from pathlib import Path

from pyspark.sql import SparkSession

import irbatch
from irbatch.integrations import spark as engine

DATA = Path(__file__).parent / "data"
MEASURES = ["nDCG@10", "AP", "P@{5,10}"]


def main() -> None:
    qrels = irbatch.read_qrels(DATA / "qrels.txt")
    run = irbatch.read_run(DATA / "pca10.run")

    options = {"spark.ui.enabled": "false", "spark.log.level": "OFF"}
    spark = SparkSession.builder.master("local[2]").config(map=options).getOrCreate()
    # Of real ones: spark.read.parquet("runs/"), and judgments may be a DataFrame, too.
    rankings = spark.createDataFrame(run.to_arrow()).repartition(7)
    means = engine.evaluate(qrels, rankings, MEASURES, keep="sums")
    results = engine.evaluate(qrels, rankings, MEASURES)
    spark.stop()

    print(means)
    poor = [query for query, value in results.per_query("nDCG@10").items() if value < 0.4]
    print(f"below 0.4: {len(poor)} queries, such as {min(poor)}")
    print("as in one process:", means.mean() == irbatch.evaluate(qrels, run, MEASURES).mean())


if __name__ == "__main__":
    main()
