"""Partial results: partitions of queries, evaluated anywhere, whose results add up.

from irbatch.partial import evaluate_partition, merge_partials

parts = [evaluate_partition(qrels, part, "nDCG@10") for part in partitions]  # in any processes
merge_partials(parts).results(qrels)
"""

from irbatch.evaluation.partial import PartialResult, evaluate_partition, merge_partials

__all__ = ["PartialResult", "evaluate_partition", "merge_partials"]
