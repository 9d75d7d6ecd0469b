"""Names that tools have for different measures: refused, with all that may be meant.

A word that most tools define alike, as recall, has one meaning here, which the guides tell. These
are the others: taking one of them for this or that would silently give other numbers than meant.
"""

from __future__ import annotations

from typing import NamedTuple

from irbatch.errors import shown
from irbatch.measures.declare import CATALOGUE, normal
from irbatch.measures.settings import refusal


class Ambiguous(NamedTuple):
    """What a name may mean.

    Args:
        meanings: a measure, ``{at}`` its cutoff, and whose definition it is.
        unless: how one tool alone writes it, whose meaning it has then.
    """

    meanings: tuple[tuple[str, str], ...]
    unless: str = ""


_COVERAGE = "CatalogueCoverage{at}", "the share of all items; Elliot and RecTools have their number"

# By name, normalised.
AMBIGUOUS = {
    "hits": Ambiguous(
        (
            ("Success{at}", "whether any relevant one was found: the hit rate"),
            ("NumRelRet{at}", "how many were found, as a sum; ranx has the mean over queries"),
        )
    ),
    "itemcoverage": Ambiguous(
        (
            _COVERAGE,
            (
                "CatalogueCoverage(padding=1){at}",
                "RecBole's itemcoverage{at}, for which padding is an item",
            ),
        ),
        "itemcoverage",
    ),
    "catalogcoverage": Ambiguous(
        (
            _COVERAGE,
            (
                "CatalogueCoverage(of=trained){at}",
                "recommenders' catalog_coverage{at}, of the items of training",
            ),
        ),
        "catalog_coverage",
    ),
    "giniindex": Ambiguous(
        (
            ("Gini{at}", "of the catalogue, as LensKit's ListGini"),
            ("Gini(padding=1){at}", "RecBole's giniindex{at}, for which padding is an item"),
        ),
        "giniindex",
    ),
    "shannonentropy": Ambiguous(
        (
            ("Entropy{at}", "in bits"),
            (
                "Entropy(unit=nats,per=recommended){at}",
                "RecBole's shannonentropy{at}, in nats, over the number of items recommended",
            ),
        ),
        "shannonentropy",
    ),
    "diversity": Ambiguous(
        (
            ("ILD{at}", "of embeddings"),
            ("ILD(by=cooccurrence){at}", "recommenders' diversity{at}, of who had the items"),
        ),
        "diversity",
    ),
    "surprisal": Ambiguous(
        (
            ("Novelty{at}", "of an item's share of interactions"),
            (
                "Novelty(of=users){at}",
                "of its share of users, as of rs-metrics; RePlay divides by log2(users)",
            ),
        )
    ),
    "aplt": Ambiguous(
        (
            (
                "TailShare{at}",
                "the tail is the tenth of items with the fewest interactions; Elliot's, what the "
                "items with 80 % of them leave, is not here",
            ),
        )
    ),
}


def refuse_ambiguous(text: str, name: str, cutoff: str | None) -> None:
    """Refuse a name that tools have for different measures.

    Args:
        text: all that was written, ``"Hits@10"``.
        name, cutoff: its parts, ``"Hits"`` and ``"10"``.
    """
    known = AMBIGUOUS.get(normal(name))
    if known is None or name == known.unless or name in CATALOGUE:  # users define some
        return
    at = f"@{cutoff}" if cutoff else ""
    several = (f"{each} ({whose})".replace("{at}", at) for each, whose in known.meanings)
    raise refusal(f"{shown(text)} may be {'; or '.join(several)}", value=text)
