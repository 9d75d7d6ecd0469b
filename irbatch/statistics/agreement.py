"""How alike two orders, an experiment and its reproduction, and several judges are."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Floats
from irbatch.engine.concordance import Concordance, compare_pairs, divide
from irbatch.errors import InputError, kind_of
from irbatch.runtime.numbers import check_choice, read_numbers
from irbatch.statistics.intervals import cut_intervals, student_quantile, student_tails
from irbatch.statistics.resampling import ROUNDING


def kendall_tau(x: Sequence[float], y: Sequence[float], ties: str = "b") -> float:
    """Return Kendall's tau of two lists of scores ``(systems,)`` of the same systems.

    Pairs of systems in the same order less those in the opposite one, over all pairs (ties
    ``"a"``), or over the geometric mean of the numbers of pairs that either list doesn't tie
    (``"b"``): NaN where a list ties all systems.

    Raises:
        InputError: if the lists differ in length or have fewer than two scores, or a score is not a
            number.

    Source: M. G. Kendall, *The treatment of ties in ranking problems*, Biometrika 33(3), 1945.

    >>> lists = [0.9, 0.7, 0.7, 0.1], [0.8, 0.9, 0.6, 0.2]
    >>> round(kendall_tau(*lists), 4), round(kendall_tau(*lists, ties="a"), 4)
    (0.5477, 0.5)
    """
    check_choice("ties", ties, ("a", "b"))
    return float(_compare(x, y).kendall_tau(ties)[0])


def tau_ap(x: Sequence[float], y: Sequence[float], ties: str | None = None) -> float:
    """Return the AP correlation of a list of scores with the true ones: the top counts most.

    A system drawn at random from those that `y` does not rank first, and another from those that
    `y` ranks above it: the probability that `x` has them in that order too, scaled to -1 to 1.

    Args:
        x: the true scores ``(systems,)``, at least two; more is better.
        y: the estimated scores ``(systems,)``.
        ties: None rejects them; ``"a"`` is the mean over all orders of the systems that are tied in
            either list; ``"b"`` the mean of the correlation of `y` with `x` and of `x` with `y`, in
            each of which a system is compared with those that stand above its group of ties, and
            being tied in the other list is not being in the same order: NaN where a list ties all.

    Raises:
        InputError: if there are ties that `ties` doesn't take, and as `kendall_tau`.

    Source: E. Yilmaz, J. A. Aslam and S. Robertson, *A new rank correlation coefficient for
    information retrieval*, SIGIR 2008; ties: J. Urbano and M. Marrero, *The treatment of ties in AP
    correlation*, ICTIR 2017.

    >>> round(tau_ap([0.9, 0.7, 0.5, 0.1], [0.7, 0.9, 0.4, 0.2]), 4)
    0.3333
    >>> round(tau_ap([0.9, 0.7, 0.7, 0.1], [0.8, 0.9, 0.6, 0.2], ties="b"), 4)
    0.1667
    """
    check_choice("ties", ties, (None, "a", "b"))
    if ties == "b":
        both = (_compare(*pair).ap_correlation("b")[0] for pair in ((x, y), (y, x)))
        return float(sum(both)) / 2  # to the bit the same either way
    for name, scores in zip("xy", _scores(x, y) if ties is None else (), strict=False):
        values, counts = np.unique(scores, return_counts=True)
        if values.size < scores.size:
            value = float(values[counts > 1][0])
            problem = f"{name} has {value!r} more than once: ties='a' or 'b' takes that"
            raise InputError(problem, source=name, value=value)
    return float(_compare(x, y).ap_correlation("a")[0])


def _scores(x: Any, y: Any) -> tuple[Floats, Floats]:
    """Return two lists of scores as float64; reject what cannot be compared."""
    lists = []
    for name, scores in (("x", x), ("y", y)):
        try:
            listed = list(scores)
        except TypeError:
            problem = f"{name} is a list of scores, not {kind_of(scores)}"
            raise InputError(problem, source=name, value=scores) from None
        unnamed = itertools.repeat((None, None))
        lists.append(read_numbers("score", listed, unnamed, source=name))
    first, second = lists
    if first.size != second.size:
        sizes = f"x has {first.size} scores, y has {second.size}"
        raise InputError(f"{sizes}; they are of one list of systems")
    if first.size < 2:
        raise InputError(f"an order takes at least two systems, not {first.size}", source="x")
    return first, second


def _compare(x: Sequence[float], y: Sequence[float]) -> Concordance:
    """Compare systems by `x` in the order of `y`."""
    first, second = _scores(x, y)
    order = np.argsort(-second, kind="stable")
    ranked = -second[order]
    above = np.searchsorted(ranked, ranked, "left").astype(np.int64)
    return compare_pairs(np.array([0, second.size]), first[order], above)


def rmse(original: Floats, reproduced: Floats) -> Floats:
    """Return the root mean square error of values ``(queries, measures)``, ``(measures,)``."""
    squares = (original - reproduced) ** 2
    return np.array([math.sqrt(math.fsum(column) / len(column)) for column in squares.T.tolist()])


def effects(original: Floats, reproduced: Floats) -> Floats:
    """Return the effect ratio and the delta relative improvement, ``(2, measures)``.

    Of means ``(2, measures)``, a baseline's and those of a run that improves on it: the difference
    in the reproduction over that in the experiment; and the difference as a share of the baseline's
    mean, the experiment's less the reproduction's. NaN where a difference, or a baseline, is 0.
    """
    means = np.stack([original, reproduced])
    gains = means[:, 1] - means[:, 0]
    first, other = divide(gains, means[:, 0])
    return np.stack([divide(gains[1], gains[0]), first - other])


def paired_p(original: Floats, reproduced: Floats) -> Floats:
    """Test values ``(queries, measures)`` by Student's t; of constant differences p is 0, or 1."""
    differences = original - reproduced
    differences[np.abs(differences) <= ROUNDING * np.abs(original)] = 0.0
    n = len(differences)
    errors, sizes = differences.std(axis=0, ddof=1) / math.sqrt(n), np.abs(differences.mean(axis=0))
    tiny = errors <= ROUNDING * sizes
    tails = 2.0 * student_tails(sizes / np.where(tiny, 1.0, errors), n - 1)
    return np.where(tiny, np.where(sizes > 0, 0.0, 1.0), tails)


FEWEST = 3  # queries judged by people from which a spread beside the model's is known
ENOUGH_QUERIES = 25  # from which intervals hold (the researchers' guide)
UNBOUNDED = np.array([-np.inf, np.inf])


class CombinedMeans(NamedTuple):
    """Means under people's judgments, estimated with a model's; float64, one a column.

    `low` and `high` end a mean's interval.
    """

    combined: Floats  # people's, plus `weight` times the model's of other queries less of these
    combined_low: Floats
    combined_high: Floats
    error: Floats  # its standard error
    freedom: Floats  # degrees of freedom of Student's t for the interval
    weight: Floats  # how much the model counts, 0 to 1
    people: Floats  # by people's judgments alone
    people_low: Floats
    people_high: Floats
    model: Floats  # by the model's judgments alone, over all queries
    bias: Floats  # the model's values less people's, of the queries that both judged
    bias_low: Floats
    bias_high: Floats
    worth: Floats  # how many queries judged by people alone would have as small a standard error


def combine_means(
    people: Floats, model: Floats, others: Floats, level: float = 0.05, ranges: Floats = UNBOUNDED
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
        ranges: the least and the most that a mean can be, ``(2, columns)``, to cut intervals to.

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
    weight = divide(covariance, (1 + n / count) * pooled.var(axis=0, ddof=1), 0.0).clip(0, 1)
    estimated = (weight > 0) & (weight < 1)
    left = people - weight * model
    freedom = np.where(estimated, n - 2.0, n - 1.0)
    apart = (model.mean(axis=0) - others.mean(axis=0)) ** 2
    far = np.where(estimated, divide(apart, (around**2).sum(axis=0), 0.0), 0.0)
    spread = ((left - left.mean(axis=0)) ** 2).sum(axis=0) / freedom * (1 / n + far)
    imputed = weight**2 * others.var(axis=0, ddof=1) / count
    parts = spread**2 / freedom + imputed**2 / (count - 1)
    freedom = divide((spread + imputed) ** 2, parts, freedom)
    means, error = left.mean(axis=0) + weight * others.mean(axis=0), np.sqrt(spread + imputed)
    bias, alone = model - people, np.full(means.shape, n - 1.0)
    people_error, bias_error = (
        values.std(axis=0, ddof=1) / math.sqrt(n) for values in (people, bias)
    )
    return CombinedMeans(
        **_with_bounds("combined", means, error, freedom, level, ranges),
        error=error,
        freedom=freedom,
        weight=weight,
        **_with_bounds("people", people.mean(axis=0), people_error, alone, level, ranges),
        model=pooled.mean(axis=0),
        **_with_bounds("bias", bias.mean(axis=0), bias_error, alone, level, UNBOUNDED),
        worth=divide(n * people_error**2, error**2, alone + 1),
    )


def _with_bounds(
    name: str, means: Floats, errors: Floats, freedom: Floats, level: float, ranges: Floats
) -> dict[str, Floats]:
    reach = errors * [student_quantile(level / 2, own) for own in freedom.tolist()]
    bounds = np.stack([means - reach, means + reach], axis=-1)
    low, high = np.moveaxis(cut_intervals(bounds, means, *ranges), -1, 0)
    return {name: means, f"{name}_low": low, f"{name}_high": high}


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
