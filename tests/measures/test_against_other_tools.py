"""Live comparisons with other tools that compute the same measures."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics

import irbatch


@pytest.mark.parametrize("distinct", [True, False])
def test_scikit_learn_s_measures_of_labels(distinct: bool) -> None:
    """Its losses take a tie for a full error; its LRAP takes it for one rank, as no policy does."""
    rng = np.random.default_rng(4)
    scores = rng.permutation(40 * 12).reshape(40, 12).astype(float)
    labels = (rng.random(scores.shape) < 0.3).astype(int)
    labels[0], labels[1] = 0, 1
    if not distinct:
        scores = np.floor(scores / 100)
    names = "AUC CoverageError RankingLoss LRAP GAUC"
    expected = irbatch.evaluate_scores(scores, labels, names, no_relevant="skip")
    worst = irbatch.evaluate_scores(scores, labels, names, ties="pessimistic")
    areas = [
        metrics.roc_auc_score(*row) if 0 < row[0].sum() < 12 else np.nan
        for row in zip(labels, scores, strict=True)
    ]
    assert expected.values[:, 0].tolist() == pytest.approx(areas, rel=1e-14, nan_ok=True)
    assert expected["AUC"] == pytest.approx(np.nanmean(areas), rel=1e-14)
    assert worst["CoverageError"] == metrics.coverage_error(labels, scores)
    loss = metrics.label_ranking_loss(labels, scores)
    assert worst["RankingLoss"] == pytest.approx(loss, rel=1e-14)
    weights = np.where(np.isnan(areas), 0, labels.sum(axis=1))
    grouped = np.nansum(weights * np.array(areas)) / weights.sum()
    assert expected["GAUC"] == pytest.approx(grouped, rel=1e-14)
    precision = metrics.label_ranking_average_precision_score(labels, scores)
    assert (worst["LRAP"] == pytest.approx(precision, rel=1e-14)) == distinct
