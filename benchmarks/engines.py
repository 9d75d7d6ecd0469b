"""nDCG@10, P@10, RR and AP as somebody would write them for polars or DuckDB.

Both rank every document within its query, keep those that are relevant, and average over all
judged queries. Scores are without ties, so that the rank is the same whoever computes it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["duckdb_files", "polars_files", "polars_values"]

Values = dict[str, float]

SQL = """
WITH qrels AS (
    SELECT query_id, doc_id, relevance FROM read_csv($qrels, delim=' ', header=false, quote='',
    columns={'query_id': 'VARCHAR', 'q0': 'VARCHAR', 'doc_id': 'VARCHAR', 'relevance': 'INTEGER'})
), run AS (
    SELECT query_id, doc_id, row_number() OVER (
        PARTITION BY query_id ORDER BY score DESC) AS rank
    FROM read_csv($run, delim=' ', header=false, quote='',
    columns={'query_id': 'VARCHAR', 'q0': 'VARCHAR', 'doc_id': 'VARCHAR', 'rank': 'INTEGER',
             'score': 'DOUBLE', 'tag': 'VARCHAR'})
), relevant AS (
    SELECT *, row_number() OVER (PARTITION BY query_id ORDER BY relevance DESC) AS place
    FROM qrels WHERE relevance > 0
), ideal AS (
    SELECT query_id, count(*) AS relevant,
           sum(relevance / log2(place + 1)) FILTER (place <= 10) AS ideal
    FROM relevant GROUP BY query_id
), hits AS (
    SELECT query_id, relevance, rank,
           row_number() OVER (PARTITION BY query_id ORDER BY rank) AS hit
    FROM run JOIN relevant USING (query_id, doc_id)
), found AS (
    SELECT query_id, sum(hit / rank) AS ap, 1 / min(rank) AS rr,
           count(*) FILTER (rank <= 10) / 10 AS p,
           sum(relevance / log2(rank + 1)) FILTER (rank <= 10) AS dcg
    FROM hits GROUP BY query_id
)
SELECT avg(coalesce(ap / relevant, 0)) AS "AP", avg(coalesce(rr, 0)) AS "RR",
       avg(coalesce(p, 0)) AS "P@10", avg(coalesce(dcg / ideal, 0)) AS "nDCG@10"
FROM (SELECT DISTINCT query_id FROM qrels)
LEFT JOIN ideal USING (query_id) LEFT JOIN found USING (query_id)
"""


def duckdb_files(qrels: Path, run: Path, _: list[str]) -> Values:
    """Evaluate TREC files in SQL."""
    import duckdb

    found = duckdb.connect().execute(SQL, {"qrels": str(qrels), "run": str(run)})
    names = [column[0] for column in found.description]
    return dict(zip(names, found.fetchone(), strict=True))


def polars_files(qrels: Path, run: Path, _: list[str]) -> Values:
    """Evaluate TREC files by expressions; columns that aren't needed are never parsed."""
    import polars as pl

    text = {"query_id": pl.String, "q0": pl.String, "doc_id": pl.String}
    reading: dict[str, Any] = {"separator": " ", "has_header": False, "quote_char": None}
    judged = pl.scan_csv(qrels, schema={**text, "relevance": pl.Int32}, **reading)
    ranked = pl.scan_csv(
        run, schema={**text, "rank": pl.Int32, "score": pl.Float64, "tag": pl.String}, **reading
    )
    return polars_values(judged, ranked.select("query_id", "doc_id", "score"))


def polars_values(qrels: Any, run: Any) -> Values:
    """Evaluate lazy frames with ir_measures' column names."""
    import polars as pl

    query, rank, gain, place = map(pl.col, ("query_id", "rank", "relevance", "place"))
    relevant = qrels.filter(gain > 0)
    places = relevant.with_columns(place=gain.rank("ordinal", descending=True).over(query))
    ideals = places.group_by(query).agg(
        relevant=pl.len(), ideal=(gain / (place + 1).log(2)).filter(place <= 10).sum()
    )
    hits = (
        run.with_columns(rank=pl.col("score").rank("ordinal", descending=True).over(query))
        .join(relevant, on=["query_id", "doc_id"])
        .with_columns(hit=rank.rank("ordinal").over(query))
    )
    found = hits.group_by(query).agg(
        ap=(pl.col("hit") / rank).sum(),
        rr=1 / rank.min(),
        p=(rank <= 10).sum() / 10,
        dcg=(gain / (rank + 1).log(2)).filter(rank <= 10).sum(),
    )
    everything = (
        qrels.select(query).unique().join(ideals, on=query, how="left").join(found, on=query,
                                                                             how="left")
    )  # fmt: skip
    means = {
        "AP": pl.col("ap") / pl.col("relevant"),
        "RR": pl.col("rr"),
        "P@10": pl.col("p"),
        "nDCG@10": pl.col("dcg") / pl.col("ideal"),
    }
    wanted = [each.fill_null(0).mean().alias(name) for name, each in means.items()]
    return everything.select(wanted).collect().row(0, named=True)
