"""What cwl-eval's names mean here."""

from __future__ import annotations

import re
from typing import Any

from irbatch.measures import Measure, measure

NUMBERS = ("EU", "ETU", "EC", "ETC", "ED", "resEU", "resETU", "resEC", "resETC", "resED")

# Its names with a cutoff as k, then ours; those of other parameters.
AT_K = {"P": "cwlP", "NDCG-k": "SDCG", "NERR-EQ8": "NERR8", "NERR-EQ9": "NERR9", "SET-k": "cwlSET"}
OTHERS = {
    "RBP": ("cwlRBP", "p"), "NPV-r": ("NPV", "rate"), "INST-T": ("INST", "T"),
    "INSQ-T": ("INSQ", "T"), "U-L": ("Umeasure", "L"), "TBG-H": ("TBG", "h"),
    "NERR-EQ10@phi": ("NERR10", "p"), "NERR-EQ11@T": ("NERR11", "T"),
}  # fmt: skip
# Its class AP divides by the relevant documents retrieved and TrAP by all: by the papers, and by
# its own descriptions of the two, it is the other way round.
SWAPPED = {"AP": "cwlTrAP", "TrAP": "cwlAP", "RR": "cwlRR"}
# Dynamic BPM's hc, by which K should move, moves T after T has been used: it has no effect.
WITHOUT_EFFECT = {"hc"}
FOR_IFT = {"IFT-C1": "goal", "IFT-C2": "rate", "IFT-C1-C2": "both"}


def meaning(name: str) -> Measure:
    """Return what is called so in cwl-eval's output, of gains that are grades up to 1."""
    if name in SWAPPED:
        return measure(SWAPPED[name])
    if name.startswith(("IFT", "BPM")):
        kind, *rest = re.split(r"-(?=\w+=)", name)
        settings: dict[str, Any] = dict(each.split("=") for each in rest)
        settings = {key: float(x) for key, x in settings.items() if key not in WITHOUT_EFFECT}
        if kind in FOR_IFT:
            return measure("IFT")(rule=FOR_IFT[kind], **settings)
        return measure("BPM")(**settings)
    stem, number = re.fullmatch(r"(.+)[@=]([\d.]+)", name.replace("-b@0.5", "")).groups()
    if stem.removesuffix("@k") in AT_K:
        return measure(AT_K[stem.removesuffix("@k")]) @ int(number)
    ours, parameter = OTHERS[stem]
    return measure(ours)(**{parameter: float(number)})


def five(plain: Measure) -> list[Measure]:
    """The five numbers of a measure and their residuals."""
    return [plain(number=each) for each in NUMBERS]
