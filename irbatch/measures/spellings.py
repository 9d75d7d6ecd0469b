"""What measures are called, here and by other tools: one row a measure; and trec_eval's own list.

A row is the measure's name and its others here; then, after semicolons, tools (several with commas
between), their names for it and the parameters that these amount to. ``@k`` stands for the cutoff;
a name with ``[@k]`` is both for whole rankings and at cutoffs. Parameters that a name spells out
are in braces. Names are looked up in these rows, so that a measure's family is loaded when the
measure is asked for, and no other.
"""

import functools
import re
from typing import NamedTuple

TABLE = {
    "binary": """
P Precision; ir_measures SetP P@k; ranx precision[@k]; beir P@k; mteb,recommenders precision_at_k;
    sentence-transformers,recbole precision@k
R Recall; ir_measures SetR R@k; ranx recall[@k]; beir Recall@k; mteb,recommenders recall_at_k;
    sentence-transformers,recbole recall@k
Rcap CappedRecall recall_cap; ir_measures SetRelP; beir R_cap@k; mteb R_cap_at_k
F F1 F1Score FMeasure; ir_measures SetF; ranx f1[@k]
Success HitRate HitRatio Hit HR Accuracy Acc; ir_measures Success@k; ranx hit_rate[@k];
    beir Accuracy@k; mteb hit_rate_at_k; sentence-transformers accuracy@k; recbole hit@k
RR MRR ReciprocalRank MeanReciprocalRank; ir_measures RR[@k]; ranx mrr[@k]; beir MRR@k;
    mteb mrr_at_k; sentence-transformers,recbole mrr@k
AP MAP AveragePrecision MeanAveragePrecision; ir_measures AP[@k]; ranx map[@k]; beir MAP@k;
    mteb map_at_k
GMAP GeometricMAP
YAAP
SetAP; ir_measures SetAP
Rprec RPrecision; ir_measures Rprec; ranx r-precision; recommenders r_precision_at_k
""",
    "judged": """
RprecMult
IPrec InterpolatedPrecision; trec_eval iprec_at_recall_{recall:.2f} rounding=up;
    ir_measures IPrec@{recall} rounding=up; ir_measures IPrec@{recall}
IPrecAvg 11pt_avg ElevenPointAverage; trec_eval 11pt_avg rounding=up
Bpref BinaryPreference; ir_measures Bpref; ranx bpref; ntcireval bpref_R norm=R;
    ntcireval bpref_N norm=N; ntcireval bpref_relative norm=relative
Rpref; ntcireval rpref_relative2; ntcireval rpref_N norm=N; ntcireval rpref_relative norm=relative
GMBpref
InfAP InferredAP; ir_measures infAP
""",
    "gain": """
CG CumulativeGain
DCG DiscountedCumulativeGain; ranx dcg[@k]; ranx dcg_burges[@k] gain=exp
IDCG
nDCG NormalizedDCG NormalizedDiscountedCumulativeGain; ir_measures nDCG[@k];
    ir_measures nDCG(dcg='exp-log2')[@k] gain=exp; ranx ndcg[@k]; ranx ndcg_burges[@k] gain=exp;
    beir NDCG@k; mteb,recommenders ndcg_at_k; sentence-transformers,recbole ndcg@k;
    ntcireval MSnDCG@k discount=ln
nCG NormalizedCumulativeGain
nDCGrel
RnDCG
GAP GradedAveragePrecision; ntcireval GAP[@k]
G
BinG
""",
    "graded": """
RBP RankBiasedPrecision
nRBP
RBPresid
RBPupper
Qmeasure Q; ntcireval Q-measure Q@k
Omeasure; ntcireval O-measure
Pmeasure; ntcireval P-measure
Pplus; ntcireval P-plus
NCUrb; ntcireval NCUrb,BR[@k]; ntcireval NCUrb,P[@k] utility=P; ntcireval NCUrb,IE[@k] utility=IE
NCUgu; ntcireval NCUgu,BR; ntcireval NCUgu,P utility=P
ERR ExpectedReciprocalRank; ir_measures ERR@k; gdeval err@k; ntcireval ERR[@k]
nERR; ntcireval nERR@k
EBR ExpectedBlendedRatio; ntcireval EBR[@k]
nEBR; ntcireval nEBR@k
iRBU; ntcireval iRBU[@k]
niRBU; ntcireval niRBU@k
Compat Compatibility; ir_measures Compat
Tau KendallTau
TauAP
""",
    "user_models": """
cwlP
cwlRBP
NPV
SDCG ScaledDCG NDCG-k; ir_measures SDCG(max_rel={max_grade:.0f})@k
INSQ; ir_measures INSQ(T={T},max_rel={max_grade:.0f})
INST; ir_measures INST(T={T},max_rel={max_grade:.0f})
BPM BejeweledPlayerModel; ir_measures BPM(T={T},max_rel={max_grade:.0f})@k
TBG TimeBiasedGain
Umeasure U-measure
IFT
NERR8 NERR-EQ8; ir_measures NERR8(max_rel={max_grade:.0f})@k
NERR9 NERR-EQ9; ir_measures NERR9(max_rel={max_grade:.0f})@k
NERR10 NERR-EQ10; ir_measures NERR10(p={p},max_rel={max_grade:.0f})
NERR11 NERR-EQ11; ir_measures NERR11(T={T},max_rel={max_grade:.0f})
cwlRR
cwlAP
cwlTrAP
cwlSET
""",
    "candidates": """
AUC AUROC AreaUnderCurve; scikit-learn roc_auc_score
GAUC GroupedAUC; recbole gauc
RankingLoss LabelRankingLoss; scikit-learn label_ranking_loss
CoverageError; scikit-learn coverage_error
LRAP LabelRankingAveragePrecision; scikit-learn label_ranking_average_precision_score
FirstRank FirstRelevantRank
MeanRank
MedianRank
""",
    "counts": """
Judged; ir_measures Judged[@k]
Unjudged
Utility
NumQ; ir_measures NumQ
NumRet; ir_measures NumRet
NumRel; ir_measures NumRel
NumRelRet; ir_measures NumRelRet
NumNonRelRet
""",
    "diversity": """
alpha_DCG alpha-DCG; ir_measures alpha_DCG@k; ndeval alpha-DCG@k
alpha_nDCG alpha-nDCG; ir_measures alpha_nDCG@k; ndeval alpha-nDCG@k
ERR_IA ERR-IA; ir_measures ERR_IA@k; ndeval ERR-IA@k
nERR_IA nERR-IA; ir_measures nERR_IA@k; ndeval nERR-IA@k
NRBP; ir_measures,ndeval NRBP
nNRBP; ir_measures,ndeval nNRBP
AP_IA MAP-IA AP-IA; ir_measures AP_IA; ndeval MAP-IA
P_IA P-IA; ir_measures P_IA[@k]; ndeval P-IA@k
StRecall SubtopicRecall strec; ir_measures StRecall[@k]; ndeval strec@k
""",
    "sampled": """
xInfAP
InfNDCG
InfP
InfIPrec
InfNumRel; sample_eval inum_rel
InfNumRelRet; sample_eval inum_rel_ret
StatAP
StatP
StatRprec
""",
    "items": """
CatalogueCoverage; recbole itemcoverage@k padding=1; recommenders catalog_coverage@k of=trained
UserCoverage
Gini ListGini; recbole giniindex@k padding=1
Entropy; recbole shannonentropy@k unit=nats per=recommended;
    recommenders distributional_coverage@k
Personalisation Personalization
AvgPopularity AveragePopularity ARP; recbole averagepopularity@k
TailShare TailPercentage; recbole tailpercentage@k
Novelty SelfInformation
RunNovelty
ILD IntraListDiversity; recommenders diversity@k by=cooccurrence
Unexpectedness
Serendipity
""",
    "fairness": """
AWRF
FairnDCG
Exposure
ExposureRatio
ExposureParity
EEL
EED
EER
""",
    "propensities": """
PSP; pyxclib psprecision@k
PSnDCG; pyxclib psndcg@k
PSR; pyxclib psrecall@k
IPS
SNIPS
""",
}
"""The rows of each family of measures, a module of `irbatch.measures.catalogue`."""

CUTOFF_FORMS = {"ntcireval": "@{k:04d}"}
"""How tools write a cutoff behind a name; others write ``@{k}``."""


class Spelling(NamedTuple):
    """What another tool calls a measure with some parameters."""

    style: str  # the tool
    full: str  # its name at full depth, "" if it has none
    cut: str = ""  # its name at a cutoff, {k}; "" if it has none
    parameters: tuple[tuple[str, object], ...] = ()  # besides those that a name spells out


def _list_rows() -> dict[str, tuple[str, str]]:
    """Return family and row of each measure, in the order of the table."""
    return {
        row.replace(";", " ").split(None, 1)[0]: (family, row)
        for family, rows in TABLE.items()
        for row in rows.strip().replace("\n    ", " ").split("\n")
    }


ROWS = _list_rows()


@functools.cache
def names_of(name: str) -> tuple[tuple[str, ...], tuple[Spelling, ...]]:
    """Return what a measure of the table is called besides: here, and by other tools."""
    own, *others = ROWS[name][1].split(";")
    spellings = [each.spelling for each in TREC_EVAL if each.meaning == name]
    for other in others:
        tools, *words = other.replace("_at_k", "_at_{k}").split()
        settings = [each for each in words if "=" in each and "(" not in each]
        names = " ".join(each for each in words if each not in settings)
        names = re.sub(r"(\S+)\[@k\]", r"\1 \1@k", names)
        for tool in tools.split(","):
            spelled = names.replace("@k", CUTOFF_FORMS.get(tool, "@{k}")).split()
            full = next((each for each in spelled if "{k" not in each), "")
            cut = next((each for each in spelled if "{k" in each), "")
            spellings.append(Spelling(tool, full, cut, tuple(map(_read_setting, settings))))
    return tuple(own.split()[1:]), tuple(spellings)


def _read_setting(text: str) -> tuple[str, object]:
    name, _, value = text.partition("=")
    return name, float(value) if value.isdecimal() else value


CUTOFFS = "5,10,15,20,30,100,200,500,1000"  # the defaults of most measures that have cutoffs
TENTHS = "0,.1,.2,.3,.4,.5,.6,.7,.8,.9,1"
MULTIPLES = ".2,.4,.6,.8,1,1.2,1.4,1.6,1.8,2"

VERSIONS = ("9", "10")
"""Of trec_eval: 9 is 9.0.8, which pytrec_eval and what builds on it use; 10 is 10.0."""

NICKNAMES = ("official", "set", "all_trec")
"""Names of groups of trec_eval's measures."""

ALL, OFFICIAL, SET = NICKNAMES[2:], NICKNAMES[::2], NICKNAMES[1:]


class TrecName(NamedTuple):
    """A measure of trec_eval's: how it asks for it and prints it.

    Of what it takes, a value is printed for each of ``"cutoffs"``, ``5,10``, and of ``"points"``,
    ``.2,.5``; one value for all of ``"several"`` numbers, ``.2,.5``, of ``"named"`` ones,
    ``2,-1,0,0``, or of ``"gains"`` of grades, ``1=3,2=9``, and for a ``"weight"`` or a
    ``"length"``, ``2``.
    """

    name: str  # as after -m
    meaning: str  # the measure here; "" of a line of text
    groups: tuple[str, ...] = ALL
    takes: str = ""  # the kind of its parameters; "" for none
    defaults: str = ""  # the parameters when none are given
    into: tuple[str, ...] = ()  # our parameters; with gains, those given by name, p=.8
    since: int = 9  # the version that it came with

    @property
    def spelling(self) -> Spelling:
        """How a value of it is labelled."""
        point = f"_{{{self.into[0]}:.2f}}" if self.takes == "points" else ""
        if self.takes == "cutoffs":
            return Spelling("trec_eval", "", self.name + "_{k}")
        return Spelling("trec_eval", self.name + point)


TREC_EVAL = (
    TrecName("runid", "", NICKNAMES),
    TrecName("num_q", "NumQ", NICKNAMES),
    TrecName("num_ret", "NumRet", NICKNAMES),
    TrecName("num_rel", "NumRel", NICKNAMES),
    TrecName("num_rel_ret", "NumRelRet", NICKNAMES),
    TrecName("map", "AP", OFFICIAL),
    TrecName("gm_map", "GMAP", OFFICIAL),
    TrecName("Rprec", "Rprec", OFFICIAL),
    TrecName("bpref", "Bpref", OFFICIAL),
    TrecName("recip_rank", "RR", OFFICIAL),
    TrecName("iprec_at_recall", "IPrec", OFFICIAL, "points", TENTHS, ("recall",)),
    TrecName("P", "P", OFFICIAL, "cutoffs", CUTOFFS),
    TrecName("relstring", "", ALL, "length", "10", ("length",)),
    TrecName("recall", "R", ALL, "cutoffs", CUTOFFS),
    TrecName("infAP", "InfAP"),
    TrecName("gm_bpref", "GMBpref"),
    TrecName("Rprec_mult", "RprecMult", ALL, "points", MULTIPLES, ("times",)),
    TrecName("utility", "Utility", SET, "named", "1,-1,0,0", ("a", "b", "c", "d")),
    TrecName("11pt_avg", "IPrecAvg", ALL, "several", TENTHS, ("points", "in_order")),
    TrecName("binG", "BinG"),
    TrecName("G", "G", ALL, "gains"),
    TrecName("dcg", "DCG", (), "gains", since=10),
    TrecName("ideal_dcg", "IDCG", (), "gains", since=10),
    TrecName("ndcg", "nDCG", ALL, "gains"),
    TrecName("ndcg_rel", "nDCGrel", ALL, "gains"),
    TrecName("Rndcg", "RnDCG", ALL, "gains"),
    TrecName("ndcg_cut", "nDCG", ALL, "cutoffs", CUTOFFS),
    TrecName("map_cut", "AP", ALL, "cutoffs", CUTOFFS),
    TrecName("relative_P", "Rcap", ALL, "cutoffs", CUTOFFS),
    TrecName("success", "Success", ALL, "cutoffs", "1,5,10"),
    TrecName("set_P", "P", SET),
    TrecName("set_relative_P", "Rcap", SET),
    TrecName("set_recall", "R", SET),
    TrecName("set_map", "SetAP", SET),
    TrecName("set_F", "F", SET, "weight", "1", ("weight",)),
    TrecName("num_nonrel_judged_ret", "NumNonRelRet"),
    TrecName("yaap", "YAAP", ()),
    TrecName("rbp", "RBP", ALL, "gains", "", ("p",), since=10),
    TrecName("rbp_resid", "RBPresid", ALL, "gains", "", ("p",), since=10),
    TrecName("unj", "Unjudged", ALL, "cutoffs", "5,10,20", since=10),
)
"""What trec_eval prints, in the order of its output."""
