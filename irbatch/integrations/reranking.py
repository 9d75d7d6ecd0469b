"""The evaluators of `irbatch.integrations.sentence_transformers` that rank given documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from irbatch.errors import InputError
from irbatch.evaluation.batches import BatchEvaluator
from irbatch.evaluation.score_matrices import evaluate_scores
from irbatch.measures import measure
from irbatch.runtime.extras import imported

__all__ = ["CrossEncoderRerankingEvaluator", "RerankingEvaluator"]

_NEEDED = ("sentence-transformers' evaluators", "sentence-transformers")
_Reranking: Any = imported(
    *_NEEDED, "sentence_transformers.sentence_transformer.evaluation"
).RerankingEvaluator
_CrossReranking: Any = imported(
    *_NEEDED, "sentence_transformers.cross_encoder.evaluation"
).CrossEncoderRerankingEvaluator
_pad: Any = imported(*_NEEDED, "torch.nn.utils.rnn").pad_sequence


class RerankingEvaluator(_Reranking):  # type: ignore[misc]
    """The library's evaluator of ranking each query's positive and negative documents.

    Values are the library's but for equal scores, where its MRR follows an order that is not
    defined, and its MAP takes the precision after all documents of a score for each of them.

    Args:
        samples: dictionaries of ``"query"``, ``"positive"`` and ``"negative"`` documents.
        *args, **options: the library's others, in its order.
        ties: what decides among equal scores: ``"expected"``, ``"pessimistic"``,
            ``"optimistic"``, ``"index"`` (positives first), or ``"error"``.

    Raises:
        InputError: for an option that is none, when no sample has both kinds of documents, and
            from a call, for scores that are no numbers.
    """

    def __init__(self, samples: Any, *args: Any, ties: str = "expected", **options: Any) -> None:
        super().__init__(samples, *args, **options)
        if not self.samples:
            raise InputError("no sample has positive and negative documents", source="samples")
        self._evaluator = BatchEvaluator(_reranking(self.at_k), keep="sums", ties=ties)
        self._evaluator.update([[0.0]], [[1]])  # refuses ties='id' before a model is trained

    def compute_metrics(self, model: Any) -> dict[str, float]:
        """Embed and score the documents of all samples, and evaluate them.

        Args:
            model: what embeds them.

        Returns:
            ``"map"``, ``"mrr"`` and ``"ndcg"`` to mean.

        Raises:
            InputError: for scores that are no numbers.
        """
        rows = list(self._scores(model))
        scores = _pad(rows, batch_first=True)
        positives = [list(range(len(sample["positive"]))) for sample in self.samples]
        self._evaluator.reset()
        self._evaluator.update(scores, positives=positives, lengths=[len(row) for row in rows])
        means = self._evaluator.compute()
        ap, rr, ndcg = (means[each] for each in _reranking(self.at_k))
        return {"map": ap, "mrr": rr, "ndcg": ndcg}

    def _scores(self, model: Any) -> Iterator[Any]:
        """Yield the scores of each sample's documents, positives first."""
        documents = [[*sample["positive"], *sample["negative"]] for sample in self.samples]
        queries = [sample["query"] for sample in self.samples]
        if not self.use_batched_encoding:
            for query, own in zip(queries, documents, strict=True):
                yield self.similarity_fct(*self._embed(model, [query], own, False)).reshape(-1)
            return
        everything = [each for own in documents for each in own]
        vectors, rows = self._embed(model, queries, everything, self.show_progress_bar)
        start = 0
        for vector, own in zip(vectors, documents, strict=True):
            yield self.similarity_fct(vector, rows[start : start + len(own)]).reshape(-1)
            start += len(own)

    def _embed(self, model: Any, queries: Any, documents: Any, progress: bool) -> tuple[Any, Any]:
        return (
            self.embed_inputs(model, queries, encode_fn_name="query", show_progress_bar=progress),
            self.embed_inputs(
                model, documents, encode_fn_name="document", show_progress_bar=progress
            ),
        )


class CrossEncoderRerankingEvaluator(_CrossReranking):  # type: ignore[misc]
    """The library's evaluator of reranking with a cross-encoder.

    Args:
        samples: dictionaries of ``"query"``, ``"positive"``, and either ``"negative"`` or
            ``"documents"``.
        *args, **options: the library's others, in its order.
        ties: as of `RerankingEvaluator`.

    Raises:
        InputError: for an option that is none, and from a call, for scores that are no numbers.
    """

    def __init__(self, samples: Any, *args: Any, ties: str = "expected", **options: Any) -> None:
        super().__init__(samples, *args, **options)
        self._measures = _reranking(self.at_k)
        self._ties = ties
        self.compute_metrics([1], [0.0])  # refuses ties='id' before a model is trained

    def compute_metrics(self, y_true: Any, y_pred: Any) -> tuple[float, float, float]:
        """Evaluate one ranking.

        Args:
            y_true: 1 for relevant documents and 0 for others.
            y_pred: their scores.

        Returns:
            RR and nDCG at the cutoff, and AP.

        Raises:
            InputError: for scores that are no numbers.
        """
        means = evaluate_scores([y_pred], [y_true], self._measures, ties=self._ties)
        ap, rr, ndcg = (means[each] for each in self._measures)
        return rr, ndcg, ap


def _reranking(k: int) -> list[Any]:
    """List the measures of reranking."""
    return [measure("AP"), measure("RR") @ k, measure("nDCG") @ k]
