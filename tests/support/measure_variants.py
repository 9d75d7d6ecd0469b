"""The parameters that each measure is tried with."""

from __future__ import annotations

from typing import Any

from irbatch.measures import CATALOGUE, MARKED

LARGEST = 2**40  # of the grades that problems have
ON_SCALE = {"gain": "linear", "max_grade": LARGEST}
WALKED: dict[str, Any] = {"max_grade": 4, "max_n": 9}  # so that not all is past the end


def builtin_names(reads: str | None = None) -> set[str]:
    """The catalogue's measures that read grades alone, or those that read something else."""
    return {
        name for name, each in CATALOGUE.items()
        if each.builtin and (each.reads == reads if reads else each.reads not in (*MARKED, "items"))
    }  # fmt: skip


# The parameters each measure is tried with; the first is the default.
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "P": [{}, {"rel": 2}, {"rel": 0}, {"norm": "retrieved"}, {"norm": "retrieved", "rel": 2}],
    "R": [{}, {"rel": 2}],
    "Rcap": [{}, {"rel": 2}],
    "F": [{}, {"beta": 2.0}, {"beta": 0.5, "rel": 2}, {"weight": 2.0}],
    "Success": [{}, {"rel": 2}],
    "RR": [{}, {"rel": 2}],
    "AP": [{}, {"rel": 2}, {"norm": "min"}, {"norm": "found"}, {"norm": "min", "rel": 3}],
    "Rprec": [{}, {"rel": 2}],
    "Bpref": [{}, {"rel": 2}, {"rel": 0}, *({"norm": each} for each in ("R", "N", "relative"))],
    "Rpref": [
        {},
        {"norm": "relative"},
        {"norm": "N"},
        {"norm": "N", "max_grade": LARGEST, "rel": 2},
    ],
    "InfAP": [{}, {"rel": 2}, {"rel": 0}],
    "IPrec": [
        {},
        *(
            {"recall": recall, "rounding": rounding}
            for recall in (0.1, 0.25, 0.5, 1.0)
            for rounding in ("nearest", "up")
        ),
        {"recall": 0.5, "rel": 2},
        {"recall": 0.5, "rounding": "up", "rel": 2},
    ],
    "IPrecAvg": [
        {},
        {"rounding": "up"},
        {"rel": 2},
        {"points": (0.25, 0.5, 0.75)},
        {"points": (0.0, 1.0), "rounding": "up", "rel": 2},
    ],
    "RprecMult": [{}, {"times": 0.2}, {"times": 0.5, "rel": 2}, {"times": 1.4}, {"times": 2.0}],
    "BinG": [{}, {"rel": 2}],
    "GMAP": [{}, {"rel": 2}],
    "GMBpref": [{}, {"rel": 2}],
    "YAAP": [{}, {"rel": 2}, {"rel": 0}],
    "Utility": [
        {},
        {"rel": 2},
        {"a": 2.0, "b": -0.5, "c": -1.0},
        {"d": 0.25, "docs": 1000},
        {"a": 3.0, "b": -2.0, "c": -0.1, "d": 0.3, "docs": 500, "rel": 2},
    ],
    "SetAP": [{}, {"rel": 2}],
    "Unjudged": [{}],
    "NumNonRelRet": [{}, {"rel": 2}, {"rel": 0}],
    "CG": [{}, {"gain": "exp"}, {"gain": "binary"}, {"gain": {1: 3, 2: 9}}, {"rel": 2}],
    "DCG": [
        {},
        {"gain": "exp"},
        {"gain": "binary"},
        {"gain": {0: 0.5, 2: 9}},
        {"rel": 2},
        *({"discount": name} for name in ("ln", "log10", "jk2", "jk10", "rank", "none")),
    ],
    "IDCG": [
        {},
        {"gain": "exp"},
        {"gain": "binary"},
        {"gain": {1: 3, 2: 2}},
        {"rel": 2},
        {"discount": "jk2"},
    ],
    "nDCG": [
        {},
        {"gain": "exp"},
        {"gain": "binary"},
        {"gain": "binary", "rel": 2},
        {"gain": {1: 3, 2: 2}},
        {"rel": 2},
        {"discount": "ln"},
    ],
    "G": [
        {},
        {"gain": "exp"},
        {"gain": "binary"},
        {"gain": {1: 3, 2: 9}},
        {"gain": {0: 0.5, 2: 9}},
        {"rel": 2},
        {"gain": "binary", "rel": 2},
    ],
    "nDCGrel": [
        {},
        {"gain": "exp"},
        {"gain": "binary"},
        {"gain": {0: 0.5, 2: 9}},
        {"rel": 2},
        *({"discount": name} for name in ("ln", "jk2", "rank", "none")),
    ],
    "RnDCG": [
        {},
        {"gain": "exp"},
        {"gain": "binary"},
        {"gain": {1: 3, 3: 3}},
        {"gain": {0: 0.5, 2: 9}},
        {"rel": 2},
        *({"discount": name} for name in ("log10", "jk2", "rank", "none")),
    ],
    "RBP": [
        {},
        {"p": 0.5},
        {"p": 0.95, "gain": "binary"},
        {"p": 0.3, "gain": "exp"},
        {"gain": {1: 0.25, 2: 0.5}},
        {"gain": {0: 0.5, 2: 9}},
        {"rel": 2},
        {"gain": "binary", "rel": 2},
        {"max_grade": LARGEST},
    ],
    "nRBP": [{}, {"p": 0.5, "gain": "binary", "rel": 2}],
    "RBPupper": [{}, {"p": 0.5, "max_grade": LARGEST, "rel": 2}],
    "nCG": [{}, {"gain": "exp"}, {"gain": {1: 3, 2: 2}, "rel": 2}],
    "GAP": [{}, {"gain": "linear", "rel": 2}, {"gain": {0: 0.5, 1: 9, 2: 3}}],
    "ERR": [{}, ON_SCALE, {"max_grade": 50, "rel": 2}],
    "nERR": [{}, ON_SCALE],
    "EBR": [{}, {**ON_SCALE, "beta": 10}],
    "nEBR": [{}, ON_SCALE],
    "iRBU": [{}, {**ON_SCALE, "p": 0.5}],
    "niRBU": [{}, ON_SCALE],
    "Qmeasure": [{}, {"beta": 0.0}, {"beta": 10.0, "gain": {0: 0.5, 1: 3, 2: 2}}, {"rel": 2}],
    "Omeasure": [{}, {"beta": 10.0, "rel": 2}],
    "Pmeasure": [{}, {"beta": 10.0, "gain": {0: 0.5, 1: 3, 2: 2}}],
    "Pplus": [{}, {"gain": {0: 0.5, 1: 3, 2: 2}, "rel": 1}],
    "NCUrb": [{}, {"utility": "P", "gamma": 1.0}, {"utility": "IE", "gamma": 0.5, "p": 0.8}],
    "NCUgu": [{}, {"utility": "P", "stops": {0: 2, 1: 3, 2: 1}, "gain": {0: 0.5, 2: 9}}],
    "cwlP": [WALKED, {**WALKED, "number": "ETU", "gain": "exp", "rel": 2}],
    "cwlRBP": [WALKED, {**WALKED, "p": 0.5, "number": "resETU"}, {**WALKED, "max_n": 500}],
    "NPV": [WALKED],
    "SDCG": [WALKED, {**WALKED, "number": "resEU"}],
    "INSQ": [WALKED, {**WALKED, "T": 3, "number": "ED"}],
    "INST": [
        WALKED,
        *({**WALKED, "T": 2.5, "number": each} for each in ("ETU", "EC", "ETC", "resED")),
        {**WALKED, "T": 0.5, "max_n": 1000, "max_grade": LARGEST},
    ],
    "BPM": [
        WALKED,
        {**WALKED, "T": 2, "hb": 0.3, "number": "resEU"},
        {**WALKED, "T": 9, "K": 5, "hc": 0.75, "median": 0.25, "number": "ETC"},
    ],
    "TBG": [WALKED, {**WALKED, "h": 2, "number": "ETC"}],
    "Umeasure": [WALKED, {**WALKED, "L": 4, "number": "ETU"}],
    "IFT": [
        WALKED,
        {**WALKED, "rule": "goal", "T": 0.5, "b1": 2, "R1": 1, "number": "ETU"},
        {**WALKED, "rule": "rate", "A": 0.5, "b2": 2, "R2": 1, "number": "resETC"},
    ],
    "NERR8": [WALKED, {**WALKED, "number": "ETU"}],
    "NERR9": [WALKED],
    "NERR10": [WALKED, {**WALKED, "p": 0.5}],
    "NERR11": [WALKED, {**WALKED, "T": 2}],
    "cwlRR": [WALKED, {**WALKED, "number": "ED", "rel": 3}],
    "cwlAP": [WALKED, *({**WALKED, "number": each} for each in ("ETU", "ED", "resEU"))],
    "cwlTrAP": [WALKED, {**WALKED, "number": "ETU"}],
    "cwlSET": [WALKED, {**WALKED, "beta": 0.8, "number": "ED"}],
    "RBPresid": [{}, {"p": 0.5}, {"tail": "always"}, {"p": 0.95, "tail": "always"}],
    "Compat": [{}, {"p": 0.5, "normalize": False, "gain": {0: 0.5, 1: 3, 2: 3}, "rel": 0}],
    "Tau": [{}, {"ties": "a", "rel": 2}],
    "TauAP": [{}, {"ties": "b", "gain": {0: 0.5, 1: 3, 2: 2}}],
    "AUC": [{}, {"rel": 2}, {"rel": 0}],
    "GAUC": [{}, {"rel": 2}],
    "RankingLoss": [{}, {"rel": 2}],
    "CoverageError": [{}, {"rel": 2}],
    "LRAP": [{}, {"rel": 2}],
    "FallOut": [{}, {"rel": 2}],
    "FirstRank": [{}, {"rel": 2}],
    "MeanRank": [{}, {"rel": 2}],
    "MedianRank": [{}, {"rel": 2}],
    "Judged": [{}],
    "NumQ": [{}],
    "NumRet": [{}],
    "NumRel": [{}, {"rel": 2}],
    "NumRelRet": [{}, {"rel": 2}],
}
