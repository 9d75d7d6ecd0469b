"""sentence-transformers' evaluators, with irbatch's values: change the import, keep the script.

    from irbatch.integrations.sentence_transformers import InformationRetrievalEvaluator

    evaluator = InformationRetrievalEvaluator(queries, corpus, relevant_docs, name="dev")
    SentenceTransformerTrainer(model, args, …, evaluator=evaluator)

The classes are subclasses of the library's: keys, CSV files, the primary metric and the model card
are its own. New are more measures and, in reranking, the choice of what decides among equal scores.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from typing import Any

from irbatch.errors import InputError, imported
from irbatch.evaluation.batches import BatchEvaluator
from irbatch.integrations.score_batches import evaluator_without_ids
from irbatch.measures import measure, parse_measures

__all__ = ["CrossEncoderRerankingEvaluator", "InformationRetrievalEvaluator", "RerankingEvaluator"]

_EXTRA = ("sentence-transformers' evaluators", "sentence-transformers")
_evaluation: Any = imported(*_EXTRA, "sentence_transformers.sentence_transformer.evaluation")
_cross_encoders: Any = imported(*_EXTRA, "sentence_transformers.cross_encoder.evaluation")
_pad: Any = imported(*_EXTRA, "torch.nn.utils.rnn").pad_sequence

# The library's keys, the argument with the cutoffs of each, and the measure.
KEYS = {
    "accuracy@k": ("accuracy_at_k", "Success"),
    "precision@k": ("precision_recall_at_k", "P"),
    "recall@k": ("precision_recall_at_k", "R"),
    "ndcg@k": ("ndcg_at_k", "nDCG"),
    "mrr@k": ("mrr_at_k", "RR"),
    "map@k": ("map_at_k", "AP(norm=min)"),
}


class InformationRetrievalEvaluator(_evaluation.InformationRetrievalEvaluator):  # type: ignore[misc]
    """The library's evaluator of retrieval from a corpus.

    The library's rankings are evaluated, equal scores by id ascending: the best of each query, as
    deep as its cutoffs.

    Args:
        queries: query id to query.
        corpus: document id to document.
        relevant_docs: query id to the set of ids of relevant documents; those that are not in the
            corpus count as relevant and not found. Queries without any are left out.
        *args, **options: the library's others, in its order.
        measures: more measures, as in `irbatch.evaluate`; their keys are
            ``{name}_{score function}_{measure}``. They are not in the CSV file.

    Raises:
        InputError: if a measure is not known or looks further down than the deepest of the
            library's cutoffs, or no query has relevant documents; and from a call, if a score is
            not a number.

    >>> corpus = {"d1": "A cat sat.", "d2": "Dogs bark."}
    >>> evaluator = InformationRetrievalEvaluator(
    ...     {"q": "cats"}, corpus, {"q": {"d1"}}, name="dev", measures="RBP(p=0.8)@10"
    ... )
    >>> evaluator(model)["dev_cosine_ndcg@10"]  # doctest: +SKIP
    1.0
    """

    def __init__(
        self,
        queries: Any,
        corpus: Any,
        relevant_docs: Any,
        *args: Any,
        measures: Any = None,
        **options: Any,
    ) -> None:
        super().__init__(queries, corpus, relevant_docs, *args, **options)
        if not self.queries:
            raise InputError("no query has relevant documents", source="relevant_docs")
        self._more = [] if measures is None else parse_measures(measures)
        self._keys = {
            key: {k: measure(name) @ k for k in getattr(self, argument)}
            for key, (argument, name) in KEYS.items()
        }
        own = [column for of_key in self._keys.values() for column in of_key.values()]
        deepest = max(column.cutoff for column in own)
        for column in self._more:
            if column.cutoff is None or column.cutoff > deepest:
                problem = f"{column} looks below rank {deepest}, the deepest that the library finds"
                raise InputError(problem, source="measures", value=str(column))
        self._evaluator = BatchEvaluator([*own, *self._more], keep="sums", ties="id_ascending")

    def compute_metrics(self, queries_result_list: Any) -> dict[str, dict[Any, float]]:
        """Evaluate the best documents of each query, as found: key to cutoff to mean.

        A query's are a list of ``{"corpus_id": …, "score": …}``.
        """
        pairs = zip(self.queries_ids, queries_result_list, strict=True)
        ranked = [_order(query, hits) for query, hits in pairs]
        relevant = [set(self.relevant_docs[query]) for query in self.queries_ids]
        self._evaluator.reset()
        self._evaluator.update_ids(ranked, relevant)
        means, keys = self._evaluator.compute(), self._keys.items()
        values = {key: {k: means[column] for k, column in of_key.items()} for key, of_key in keys}
        # Those that the library doesn't have, under their names.
        return values | {str(column): {"": means[column]} for column in self._more}


def _order(query: Any, hits: Any) -> list[Any]:
    """Return the ids of what was found, best first, as the library orders them."""
    if any(hit["score"] != hit["score"] for hit in hits):
        raise InputError("score nan is not a number", source="scores", query=query, value=math.nan)
    ordered = sorted(hits, key=lambda hit: (-hit["score"], hit["corpus_id"]))
    return [hit["corpus_id"] for hit in ordered]


class _Reranking:
    """What both evaluators of reranking have: scores of whole lists, and three measures."""

    at_k: int

    def __init__(self, samples: Any, *args: Any, ties: str = "expected", **options: Any) -> None:
        super().__init__(samples, *args, **options)  # type: ignore[call-arg]
        measures = [measure("AP"), measure("RR") @ self.at_k, measure("nDCG") @ self.at_k]
        self._evaluator = evaluator_without_ids(measures, keep="sums", ties=ties)

    def _means(self, scores: Any, labels: Any = None, **options: Any) -> list[float]:
        """Return AP, RR and nDCG."""
        self._evaluator.reset()
        self._evaluator.update(scores, labels, **options)
        return [*self._evaluator.compute().mean().values()]


class RerankingEvaluator(_Reranking, _evaluation.RerankingEvaluator):  # type: ignore[misc]
    """The library's evaluator of ranking each query's positive and negative documents.

    Values are the library's but for equal scores, where its MRR follows an order that is not
    defined, and its MAP takes the precision after all documents of a score for each of them.

    Args:
        samples: dictionaries of ``"query"``, ``"positive"`` and ``"negative"`` documents.
        *args, **options: the library's others, in its order.
        ties: what decides among equal scores: ``"expected"``, ``"pessimistic"``,
            ``"optimistic"``, ``"index"`` (positives first), or ``"error"``.

    Raises:
        InputError: if an option is not known, or no sample has both kinds of documents; and from a
            call, if a score is not a number.
    """

    def __init__(self, samples: Any, *args: Any, **options: Any) -> None:
        super().__init__(samples, *args, **options)
        if not self.samples:
            raise InputError("no sample has positive and negative documents", source="samples")

    def compute_metrics(self, model: Any) -> dict[str, float]:
        """Embed and score the documents of all samples; return ``"map"``, ``"mrr"``, ``"ndcg"``."""
        rows = list(self._scores(model))
        scores = _pad(rows, batch_first=True)
        positives = [list(range(len(sample["positive"]))) for sample in self.samples]
        lengths = [len(row) for row in rows]
        ap, rr, ndcg = self._means(scores, positives=positives, lengths=lengths)
        return {"map": ap, "mrr": rr, "ndcg": ndcg}

    def _scores(self, model: Any) -> Iterator[Any]:
        """Yield the scores of each sample's documents, positives first."""
        whole = self.use_batched_encoding
        embed = functools.partial(
            self.embed_inputs, model, show_progress_bar=whole and self.show_progress_bar
        )
        for samples in [self.samples] if whole else [[sample] for sample in self.samples]:
            documents = [[*sample["positive"], *sample["negative"]] for sample in samples]
            vectors = embed([sample["query"] for sample in samples], encode_fn_name="query")
            rows = embed(list(itertools.chain(*documents)), encode_fn_name="document")
            start = 0
            for vector, own in zip(vectors, documents, strict=True):
                yield self.similarity_fct(vector, rows[start : start + len(own)]).reshape(-1)
                start += len(own)


class CrossEncoderRerankingEvaluator(_Reranking, _cross_encoders.CrossEncoderRerankingEvaluator):  # type: ignore[misc]
    """The library's evaluator of reranking with a cross-encoder.

    Args:
        samples: dictionaries of ``"query"``, ``"positive"``, and either ``"negative"`` or
            ``"documents"``.
        *args, **options: the library's others, in its order.
        ties: as of `RerankingEvaluator`.

    Raises:
        InputError: if an option is not known; and from a call, if a score is not a number.
    """

    def compute_metrics(self, y_true: Any, y_pred: Any) -> tuple[float, float, float]:
        """Return RR and nDCG at the cutoff, and AP, of one ranking: labels (0 or 1) and scores."""
        ap, rr, ndcg = self._means([y_pred], [y_true])
        return rr, ndcg, ap
