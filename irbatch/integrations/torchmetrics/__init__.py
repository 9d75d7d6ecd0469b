"""torchmetrics: rankings as metrics, for Lightning and other loops, on one process or many.

    from irbatch.integrations.torchmetrics import RankingMetric, RetrievalMetric, make_collection

    metric = RankingMetric("nDCG@10 RR")
    metric.update(scores, labels)  # (queries, candidates), as often as there are batches
    metric.compute()  # {'nDCG@10': tensor(0.51, dtype=torch.float64), 'RR': …}

`RankingMetric` takes whole queries, and keeps half a kilobyte a measure however many there are.
`RetrievalMetric` takes flat columns, as torchmetrics' own Retrieval metrics do. Both give the same
bits on any number of processes, batches and orders of them, and all of what they keep is int64:
no ``.to(torch.bfloat16)`` of a model reaches it.
"""

from irbatch.integrations.torchmetrics.ranking import RankingMetric, make_collection
from irbatch.integrations.torchmetrics.retrieval import RetrievalMetric

__all__ = ["RankingMetric", "RetrievalMetric", "make_collection"]
