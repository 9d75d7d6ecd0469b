"""Evaluating in batches: the evaluator of a training loop, and what it keeps."""

from irbatch.evaluation.batches.evaluator import BatchEvaluator

__all__ = ["BatchEvaluator"]
