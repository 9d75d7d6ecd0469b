"""Judgments of people and of models: means that need few of the first, and how they agree."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from irbatch.array_types import Floats
from irbatch.statistics.intervals import student_quantile

FEWEST = 3  # queries judged by people from which a spread beside the model's is known
ENOUGH_QUERIES = 25  # from which intervals hold (the researchers' guide)


class CombinedMeans(NamedTuple):
    """Means under people's judgments, estimated with a model's; float64, one a column."""

    combined: Floats  # people's, plus `weight` times the model's of other queries less of these
    combined_bounds: Floats  # (columns, 2), of its interval
    error: Floats  # its standard error
    freedom: Floats  # degrees of freedom of Student's t for the interval
    weight: Floats  # how much the model counts, 0 to 1
    people: Floats  # by people's judgments alone
    people_bounds: Floats
    model: Floats  # by the model's judgments alone, over all queries
    bias: Floats  # the model's values less people's, of the queries that both judged
    bias_bounds: Floats
    worth: Floats  # how many queries judged by people alone would have as small a standard error


def combine_means(
    people: Floats, model: Floats, others: Floats, level: float = 0.05
) -> CombinedMeans:
    """Estimate means of queries of which people judged a few, and a model all.

    The weight of the model's values f beside people's Y is Cov(Y, f) / ((1 + n/N) Var f), cut to
    0..1. As it is estimated from the same n queries, the variance of what it leaves has n - 2
    degrees of freedom, and grows by the distance of their mean from the others', as that of a
    regression; both parts of the variance make the interval's degrees of freedom by Satterthwaite.
    Without bias whatever the model's errors are, if the n queries are a random sample of all.

    Args:
        people, model: values of the n queries that people judged, ``(n, columns)``, n at least 3.
        others: the model's values of N further queries, ``(N, columns)``, N at least 2.
        level: how often intervals miss.

    Source: A. N. Angelopoulos, J. C. Duchi and T. Zrnic, *PPI++: Efficient Prediction-Powered
    Inference*, 2023; W. G. Cochran, *Sampling Techniques*, 1977, 12.7 (the regression's variance).

    >>> people, model = [[1.0], [0.0], [1.0], [0.5]], [[0.9], [0.2], [1.0], [0.4]]
    >>> others = [[0.4], [0.5], [0.6], [0.3], [0.8], [0.2]]
    >>> found = combine_means(*map(np.array, (people, model, others)))
    >>> found.combined.round(4).tolist(), found.people.tolist(), found.weight.round(4).tolist()
    ([0.47], [0.625], [0.9793])
    """
    n, count = len(people), len(others)
    around = model - model.mean(axis=0)
    covariance = ((people - people.mean(axis=0)) * around).mean(axis=0)
    pooled = np.concatenate([model, others])
    weight = _divide(covariance, (1 + n / count) * pooled.var(axis=0, ddof=1)).clip(0, 1)
    estimated = (weight > 0) & (weight < 1)
    left = people - weight * model
    freedom = np.where(estimated, n - 2.0, n - 1.0)
    apart = (model.mean(axis=0) - others.mean(axis=0)) ** 2
    far = np.where(estimated, _divide(apart, (around**2).sum(axis=0)), 0.0)
    spread = ((left - left.mean(axis=0)) ** 2).sum(axis=0) / freedom * (1 / n + far)
    imputed = weight**2 * others.var(axis=0, ddof=1) / count
    parts = spread**2 / freedom + imputed**2 / (count - 1)
    freedom = _divide((spread + imputed) ** 2, parts, freedom)
    means, error = left.mean(axis=0) + weight * others.mean(axis=0), np.sqrt(spread + imputed)
    bias = model - people
    people_error, bias_error = (
        values.std(axis=0, ddof=1) / math.sqrt(n) for values in (people, bias)
    )
    alone = np.full(means.shape, n - 1.0)
    return CombinedMeans(
        combined=means,
        combined_bounds=_bounds(means, error, freedom, level),
        error=error,
        freedom=freedom,
        weight=weight,
        people=people.mean(axis=0),
        people_bounds=_bounds(people.mean(axis=0), people_error, alone, level),
        model=pooled.mean(axis=0),
        bias=bias.mean(axis=0),
        bias_bounds=_bounds(bias.mean(axis=0), bias_error, alone, level),
        worth=_divide(n * people_error**2, error**2, alone + 1),
    )


def _divide(above: Floats, below: Floats, otherwise: Floats | float = 0.0) -> Floats:
    """Divide where there is something to divide by."""
    quotients = np.broadcast_to(np.asarray(otherwise, np.float64), below.shape).copy()
    return np.divide(above, below, out=quotients, where=below > 0)


def _bounds(means: Floats, errors: Floats, freedom: Floats, level: float) -> Floats:
    reach = errors * [student_quantile(level / 2, own) for own in freedom.tolist()]
    return np.stack([means - reach, means + reach], axis=-1)


def cohen_kappa(counts: Floats, *, weighted: bool = False) -> float:
    """Return Cohen's kappa of two judges: agreement beyond chance; NaN where no other can be.

    Args:
        counts: how often the one said the grade of a row, the other that of a column, ascending.
        weighted: whether disagreements count by the square of the distance, in places of grades.

    Source: J. Cohen, *A coefficient of agreement for nominal scales*, 1960; *Weighted kappa*, 1968.

    >>> cohen_kappa(np.array([[20.0, 5.0], [10.0, 15.0]]))
    0.4
    """
    places = np.arange(len(counts), dtype=np.float64)
    apart = (places[:, None] - places) ** 2 if weighted else 1.0 - np.eye(len(counts))
    by_chance = (apart * np.outer(counts.sum(axis=1), counts.sum(axis=0))).sum() / counts.sum()
    return 1.0 - float((apart * counts).sum() / by_chance) if by_chance > 0 else math.nan


def krippendorff_alpha(counts: Floats, *, ordinal: bool = False) -> float:
    """Return Krippendorff's alpha of any number of judges; NaN where all say the same grade.

    Args:
        counts: how many judges gave a document each grade, ``(documents, grades)``, ascending;
            documents that fewer than two judged don't count.
        ordinal: whether disagreements count by the grades between, as of an order.

    Source: K. Krippendorff, *Computing Krippendorff's Alpha-Reliability*, 2011.

    >>> counts = np.array([[3.0, 0.0], [0.0, 3.0], [2.0, 1.0], [0.0, 2.0]])
    >>> round(krippendorff_alpha(counts), 4)
    0.6667
    """
    counts = counts[counts.sum(axis=1) > 1]
    shares = counts / (counts.sum(axis=1, keepdims=True) - 1)
    pairs = shares.T @ counts - np.diag(shares.sum(axis=0))
    totals = pairs.sum(axis=1)
    below = np.cumsum(totals) - totals / 2
    apart = (below[:, None] - below) ** 2 if ordinal else 1.0 - np.eye(len(totals))
    expected = (apart * np.outer(totals, totals)).sum()
    disagreement = (totals.sum() - 1) * (apart * pairs).sum()
    return 1.0 - float(disagreement / expected) if expected else math.nan
