"""Scores of the systems of a leaderboard, by the weights of its axes."""

from __future__ import annotations

from collections.abc import Mapping

from irbatch.leaderboard.axes import find_axis
from irbatch.leaderboard.scores import Scores, check_weights
from irbatch.leaderboard.scoring import SCALES, check_offsets, score_dynascore, score_utility
from irbatch.leaderboard.systems import Systems
from irbatch.runtime.checks import check_choice, check_number

Ways = Mapping[str, str] | None


def weigh_by_exchange(
    board: Systems,
    weights: Mapping[str, float],
    performance: str | None,
    offsets: Mapping[str, float] | None,
    directions: Ways,
    cutoff: float,
) -> Scores:
    """Return Dynascores; see `Leaderboard.dynascore`."""
    check_number("cutoff", cutoff, least=0, below=1)
    weights = board.name_axes(weights, "weights")
    weighed = [name for name in weights if name in board.measures]
    main = find_axis(performance or [*weighed, *board.measures][0], board.measures).name
    names = list(weights) if main in weights else [main, *weights]
    values, signs = board.compare(names, directions)
    table = values * signs + check_offsets(board.name_axes(offsets or {}, "offsets"), names)
    shares = check_weights(weights, names)
    return score_dynascore(board.systems, names, table, names.index(main), shares, cutoff)


def weigh_by_scale(
    board: Systems, weights: Mapping[str, float], scale: str, directions: Ways
) -> Scores:
    """Return weighted means; see `Leaderboard.utility`."""
    check_choice("scale", scale, SCALES)
    weights = board.name_axes(weights, "weights")
    names, shares = list(weights), check_weights(weights, list(weights))
    values, signs = board.compare(names, directions)
    return score_utility(board.systems, names, values, signs, shares, scale)
