"""Plots can be read."""

from __future__ import annotations

import itertools
from typing import Any

import pytest


def check_readable(ax: Any) -> None:
    """No label on another, none outside the picture."""
    figure = ax.get_figure()
    canvas = pytest.importorskip("matplotlib.backends.backend_agg").FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    for axis in (ax.xaxis, ax.yaxis):
        labels = [each for each in axis.get_ticklabels() if each.get_text() and each.get_visible()]
        boxes = [each.get_window_extent(renderer) for each in labels]
        for one, other in itertools.pairwise(boxes):
            assert not one.overlaps(other), [each.get_text() for each in labels]
    texts = [*ax.texts, ax.title, ax._left_title, ax._right_title, ax.xaxis.label, ax.yaxis.label]
    said = [each for each in texts if each.get_text()]
    boxes = [each.get_window_extent(renderer) for each in said]
    if legend := ax.get_legend():
        boxes.append(legend.get_window_extent(renderer))
    for one, other in itertools.combinations(boxes, 2):
        assert not one.overlaps(other), [each.get_text() for each in said]
    whole = figure.bbox.padded(1)
    for box in boxes:
        assert whole.containsx(box.x0), box
        assert whole.containsx(box.x1), box
        assert whole.containsy(box.y0), box
        assert whole.containsy(box.y1), box
    drawn = ax.get_window_extent(renderer)
    assert drawn.width > 0.35 * figure.bbox.width
