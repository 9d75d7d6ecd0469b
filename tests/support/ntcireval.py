"""NTCIREVAL's names of measures, given the gains and options it was called with, as ours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from irbatch.measures import Measure, measure

OPTIONS = {"beta": 1.0, "rbp": 0.95, "logb": 2, "gamma": 0.95, "rbup": 0.99}  # NTCIREVAL's own

BLENDED = {"Q": "Qmeasure", "Q-measure": "Qmeasure", "O-measure": "Omeasure",
           "P-measure": "Pmeasure", "P-plus": "Pplus"}  # fmt: skip
STOPPING = ("ERR", "nERR", "EBR", "nEBR", "iRBU", "niRBU")
BINARY = {"RR": "RR", "Prec": "P", "Hit": "Success"}


def meaning(name: str, gains: Sequence[float], options: Mapping[str, float] = OPTIONS) -> Measure:
    """Return the measure that a name stands for, levels from 1 having some gains."""
    family, _, digits = name.partition("@")
    highest = {"max_grade": len(gains)}
    gain = {"gain": {level: gains[level - 1] for level in range(1, len(gains) + 1)}}
    beta = {"beta": options["beta"]}
    if family in BLENDED:
        found = measure(BLENDED[family])(**gain, **beta)
    elif family in STOPPING:
        found = measure(family)(**gain, **highest)
        if "EBR" in family:
            found = found(**beta)
        if "RBU" in family:
            found = found(p=options["rbup"])
    elif match := re.fullmatch(r"(NCU..),(\w+)", family):
        found = measure(match[1])(utility=match[2], **gain, **beta)
        if match[1] == "NCUrb":
            found = found(gamma=options["gamma"], p=options["rbup"])
        else:
            found = found(stops=gain["gain"])
    elif family == "nDCG":
        found = measure("nDCG")(discount=f"jk{options['logb']:g}", **gain)
    elif family == "MSnDCG":
        found = measure("nDCG")(discount="ln", **gain)
    elif family == "RBP":
        found = measure("RBP")(p=options["rbp"], **gain, **highest)
    elif family == "nRBP":
        found = measure("nRBP")(p=options["rbp"], **gain)
    elif family == "AP":
        found = measure("AP")(norm="min") if digits else measure("AP")
    elif family == "GAP":
        found = measure("GAP")  # of levels, whatever the gains
    elif match := re.fullmatch(r"([br]pref)(?:_(\w+))?", family):
        found = measure(match[1])(norm=match[2] or "min")
        if match[1] == "rpref":
            found = found(**gain, **highest)
    else:
        found = measure(BINARY[family])
    return found @ int(digits) if digits else found
