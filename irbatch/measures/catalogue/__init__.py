"""The measures: each one short formula and one declaration beside it, a module a family."""

FAMILIES = (
    ("binary", "P R Rcap F Success RR AP GMAP YAAP SetAP Rprec"),
    ("judged", "RprecMult IPrec IPrecAvg Bpref Rpref GMBpref InfAP"),
    ("gain", "CG DCG IDCG nDCG nCG nDCGrel RnDCG GAP G BinG"),
    (
        "graded",
        "RBP nRBP RBPresid RBPupper Qmeasure Omeasure Pmeasure Pplus NCUrb NCUgu "
        "ERR nERR EBR nEBR iRBU niRBU Compat Tau TauAP",
    ),
    (
        "user_models",
        "cwlP cwlRBP NPV SDCG INSQ INST BPM TBG Umeasure IFT "
        "NERR8 NERR9 NERR10 NERR11 cwlRR cwlAP cwlTrAP cwlSET",
    ),
    ("candidates", "AUC GAUC RankingLoss CoverageError LRAP FirstRank MeanRank MedianRank"),
    ("counts", "Judged Unjudged Utility NumQ NumRet NumRel NumRelRet NumNonRelRet"),
    ("diversity", "alpha_DCG alpha_nDCG ERR_IA nERR_IA NRBP nNRBP AP_IA P_IA StRecall"),
    ("sampled", "xInfAP InfNDCG InfP InfIPrec InfNumRel InfNumRelRet StatAP StatP StatRprec"),
    (
        "items",
        "CatalogueCoverage UserCoverage Gini Entropy Personalisation AvgPopularity TailShare "
        "Novelty RunNovelty ILD Unexpectedness Serendipity",
    ),
    ("fairness", "AWRF FairnDCG Exposure ExposureRatio ExposureParity EEL EED EER"),
    ("propensities", "PSP PSnDCG PSR IPS SNIPS"),
)
"""Each family's measures, in the order they are listed in; a module is loaded for these alone."""
