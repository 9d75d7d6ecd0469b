"""The measures the tools are compared on, and how each tool spells them."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["IN_QUERIES", "TWENTY", "ir_measures_objects", "ranx_names", "trec_names",
           "trec_options", "usual"]  # fmt: skip

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
# What a query engine computes in a page of SQL or expressions (see `benchmarks.engines`).
IN_QUERIES = ("AP", "RR", "P@10", "nDCG@10")
TWENTY = (
    "AP", "RR", "nDCG@10", "nDCG@100", "nDCG", "P@5", "P@10", "P@100", "R@10", "R@100", "R@1000",
    "Success@1", "Success@10", "Rprec", "Bpref", "IPrecAvg", "InfAP", "RBP", "F@10", "DCG@10",
)  # fmt: skip

TREC = {"AP": "map", "RR": "recip_rank", "nDCG": "ndcg_cut", "P": "P", "R": "recall"}
RANX = {"AP": "map", "RR": "mrr", "nDCG": "ndcg", "P": "precision", "R": "recall"}


def usual(depth: int) -> list[str]:
    """Return AP, RR, and nDCG, P, R at nine cutoffs, those within the depth.

    Beyond the end of a ranking the tools' definitions part.
    """
    cutoffs = [k for k in CUTOFFS if k <= depth]
    return ["AP", "RR", *(f"{name}@{k}" for name in ("nDCG", "P", "R") for k in cutoffs)]


def trec_names(names: list[str], joint: str) -> dict[str, str]:
    """Map trec_eval's spelling to each name; `joint` is "." in requests, "_" in output."""
    return {_respelled(name, TREC, joint): name for name in names}


def trec_options(names: list[str]) -> list[str]:
    """Return the options that ask trec_eval for measures, all cutoffs of one together."""
    wishes: dict[str, list[str]] = {}
    for name in trec_names(names, "."):
        family, _, cutoff = name.partition(".")
        wishes.setdefault(family, []).extend([cutoff] if cutoff else [])
    joined = (f"{each}.{','.join(ks)}" if ks else each for each, ks in wishes.items())
    return [word for each in joined for word in ("-m", each)]


def ranx_names(names: list[str]) -> dict[str, str]:
    """Map ranx's spelling to each name."""
    return {_respelled(name, RANX, "@"): name for name in names}


def ir_measures_objects(names: list[str]) -> dict[Any, str]:
    """Map ir_measures' objects to each name."""
    package = importlib.import_module("ir_measures")
    objects = {}
    for name in names:
        family, _, cutoff = name.partition("@")
        kind = getattr(package, family)
        objects[kind @ int(cutoff) if cutoff else kind] = name
    return objects


def _respelled(name: str, families: dict[str, str], joint: str) -> str:
    family, _, cutoff = name.partition("@")
    return families[family] + (joint + cutoff if cutoff else "")
