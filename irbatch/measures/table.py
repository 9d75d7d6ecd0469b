"""What measures are called, and what is said of them: one row a measure; and trec_eval's own list.

A row is the measure's name and its others here; then, after semicolons, tools (several with commas
between), their names for it and the parameters that these amount to. ``@k`` stands for the cutoff;
a name with ``[@k]`` is both for whole rankings and at cutoffs. Parameters that a name spells out
are in braces. After bars come the definition, one sentence or more; the source; and what happens
past the end of a ranking, where that is not as in the others of the family. Sentences that several
say are in braces. Measures are looked up in these rows, so that their family is loaded when one is
asked for, and no other.
"""

import functools
import re
from typing import NamedTuple

TABLE = {
    "prefixes": """
P Precision; ir_measures SetP P@k; ranx precision[@k]; beir P@k; mteb,recommenders precision_at_k;
    sentence-transformers,recbole precision@k
    | Precision: the relevant share of the first k documents (norm=k), or of as many of them as
    there are, min(k, retrieved) (norm=retrieved). | van Rijsbergen 1979 | Ranks past the end count
    as not relevant: the divisor stays k, unless norm=retrieved.
R Recall; ir_measures SetR R@k; ranx recall[@k]; beir Recall@k; mteb,recommenders recall_at_k;
    sentence-transformers,recbole recall@k
    | Recall: the share of all relevant documents that stand among the first k. | van Rijsbergen
    1979
Rcap CappedRecall recall_cap; ir_measures SetRelP; beir R_cap@k; mteb R_cap_at_k
    | Capped recall: hits among the first k over the most there could be, min(k, relevant). | Thakur
    et al. 2021; trec_eval's relative_P
F F1 F1Score FMeasure; ir_measures SetF; ranx f1[@k]
    | F-measure: the harmonic mean of P@k and R@k, recall weighted beta times; weight is beta²,
    where given. | van Rijsbergen 1979 | As P and R.
Success HitRate HitRatio Hit HR Acc; ir_measures Success@k; ranx hit_rate[@k]; mteb hit_rate_at_k;
    sentence-transformers accuracy@k; recbole hit@k
    | Success (hit rate): 1 if a relevant document stands among the first k, else 0. | Tomlinson
    (trec_eval)
RR MRR ReciprocalRank MeanReciprocalRank; ir_measures RR[@k]; ranx mrr[@k]; beir MRR@k;
    mteb mrr_at_k; sentence-transformers,recbole mrr@k
    | Reciprocal rank: 1 / rank of the first relevant document, 0 if beyond k. | Kantor & Voorhees
    2000
AP MAP AveragePrecision MeanAveragePrecision; ir_measures AP[@k]; ranx map[@k]; beir MAP@k;
    mteb map_at_k
    | Average precision: the sum of P@i over the ranks i <= k of relevant documents, divided by all
    relevant (norm=all), by min(k, relevant) (norm=min, as RecBole, recommenders and
    sentence-transformers do), or by those found among the first k (norm=found). | Harman 1992;
    Buckley & Voorhees 2005 | Relevant documents that were not retrieved add 0.
GMAP GeometricMAP
    | Geometric mean average precision: AP, at least 0.00001, whose mean over queries is geometric:
    it tells most of the worst queries. | Robertson 2006 | As AP.
YAAP
    | Yet another average precision: ln((1 + S) / (1 + R - S)), S the sum of P@i over the ranks i <=
    k of relevant documents, R their number in the judgments. | Robertson 2012 | Relevant documents
    that were not retrieved add 0 to S.
SetAP; ir_measures SetAP
    | Unranked average precision: P@k times R@k. | trec_eval | As P and R.
Rprec RPrecision; ir_measures Rprec; ranx r-precision; recommenders r_precision_at_k
    | R-precision: precision at rank R, the number of relevant documents; with a cutoff, ranks
    beyond k count as not relevant. | Buckley & Voorhees 2005 | Ranks past the end count as not
    relevant: the divisor stays R.
CG CumulativeGain
    | Cumulative gain: the sum of the gains of the first k documents. | Järvelin & Kekäläinen 2002
DCG DiscountedCumulativeGain; ranx dcg[@k]; ranx dcg_burges[@k] gain=exp
    | Discounted cumulative gain: the sum over the first k ranks i of gain / log2(i + 1). | Järvelin
    & Kekäläinen 2002; gain=exp: Burges et al. 2005
IDCG
    | Ideal DCG: the DCG of all judged documents ranked by gain. | Järvelin & Kekäläinen 2002 |
    Looks at the judgments only, whatever was retrieved.
nDCG NormalizedDCG NormalizedDiscountedCumulativeGain; ir_measures nDCG[@k];
    ir_measures nDCG(dcg='exp-log2')[@k] gain=exp; ranx ndcg[@k]; ranx ndcg_burges[@k] gain=exp;
    beir NDCG@k; mteb,recommenders ndcg_at_k; sentence-transformers,recbole ndcg@k;
    ntcireval MSnDCG@k discount=ln
    | Normalised DCG: DCG@k over IDCG@k, the best that any ranking of the judged documents could
    reach. | Järvelin & Kekäläinen 2002; gain=exp: Burges et al. 2005 | Ranks past the end add 0 to
    DCG; IDCG does not shrink with the ranking.
nCG NormalizedCumulativeGain
    | Normalised cumulative gain: CG@k over that of the ideal ranking at the same cutoff. | Järvelin
    & Kekäläinen 2002 | Ranks past the end add 0 to CG; the ideal ranking does not shrink with the
    ranking.
Judged; ir_measures Judged[@k]
    | Judged share: documents with a judgment, of any grade, among the first k. | MacAvaney et al.
    2022 | The divisor is the number of documents there are, min(k, retrieved).
Unjudged
    | Unjudged share: documents without a grade of 0 or more among the first k. | trec_eval 10 |
    Ranks past the end count as judged: the divisor stays k.
Utility
    | Set utility: a for each relevant document retrieved, b for each other one, c for each relevant
    one not retrieved, d for each of all others among `docs` in the collection. | Hull 1998;
    trec_eval | Counts what there is.
NumQ; ir_measures NumQ
    | Number of queries averaged.
NumRet; ir_measures NumRet
    | Number of documents retrieved (of the first k). | | Counts what there is.
NumRel; ir_measures NumRel
    | Number of relevant documents in the judgments.
NumRelRet; ir_measures NumRelRet
    | Number of relevant documents retrieved (among the first k). | | Counts what there is.
NumNonRelRet
    | Number of documents retrieved (among the first k) that were judged not relevant. | | Counts
    what there is.
""",
    "documents": """
RprecMult
    | Precision at a multiple of R: P@c where c is times x R, fractions above 0.1 rounded up. |
    trec_eval | Ranks past the end count as not relevant: the divisor stays c.
IPrec InterpolatedPrecision; trec_eval iprec_at_recall_{recall:.2f} rounding=up;
    ir_measures IPrec@{recall} rounding=up; ir_measures IPrec@{recall}
    | Interpolated precision: the best precision at any rank from which on at least the given share
    of all relevant documents is found (0: at any rank). | Salton; Harman 1992; rounding=up:
    trec_eval before version 10 | 0 where that many relevant documents were not retrieved.
IPrecAvg 11pt_avg ElevenPointAverage; trec_eval 11pt_avg rounding=up
    | Mean of the interpolated precisions at some recall points; at the default eleven it is known
    as 11-point average precision. | Salton; Harman 1992; rounding=up: trec_eval before version 10 |
    As IPrec.
Bpref BinaryPreference; ir_measures Bpref; ranx bpref; ntcireval bpref_R norm=R;
    ntcireval bpref_N norm=N; ntcireval bpref_relative norm=relative
    | Binary preference: the mean over relevant documents of the share of the first R judged
    nonrelevant ones that do not stand above them: of the first min(R, N) (norm=min, N nonrelevant
    ones judged), of R (norm=R), of all N (norm=N), or of the judged documents above (norm=relative:
    the first judged document counts nothing). | Buckley & Voorhees 2004, as corrected in trec_eval
    8; norm: Sakai 2007 (NTCIREVAL) | Relevant documents that were not retrieved add 0.
Rpref; ntcireval rpref_relative2; ntcireval rpref_N norm=N; ntcireval rpref_relative norm=relative
    | Graded bpref (rpref): the sum of gain x (1 - penalty / n) over the sum of all judged gains,
    the penalty being the sum of (gain - other gain) / gain over judged documents of lower gain
    above. n is the document's rank among judged documents (norm=relative2), one less, the first
    counting nothing (norm=relative), or all judged documents less their gains' sum over the gain of
    max_grade, where none is given the largest judged of the query (norm=N). | De Beer & Moens 2006;
    norm: Sakai 2007 (NTCIREVAL) | Documents of positive gain that were not retrieved add 0.
GMBpref
    | Bpref, at least 0.00001, whose mean over queries is geometric. | trec_eval | As Bpref.
InfAP InferredAP; ir_measures infAP
    | Inferred average precision: AP with the precision at each relevant document estimated from the
    judged ones above it; a negative grade means pooled but not judged. | Yilmaz & Aslam 2006 |
    Relevant documents that were not retrieved add 0.
nDCGrel
    | nDCG averaged at the documents of positive gain: at their ranks, or at the end of the ranking
    for those not retrieved. | Buckley (trec_eval) | Ranks past the end add 0 to DCG; IDCG does not
    shrink with the ranking.
RnDCG
    | nDCG averaged at the ranks where the ideal ranking passes to a lower gain, and, with two or
    more ranks beyond the last of them, at the end of the ranking. With a level it is 0 where no
    document is judged to have that grade. | Buckley (trec_eval) | Ranks past the end add 0 to DCG;
    IDCG does not shrink with the ranking.
GAP GradedAveragePrecision; ntcireval GAP[@k]
    | Graded average precision: at each document of the first k the sum, over it and all above, of
    the smaller of the two documents' gains, over its rank; over the sum of the gains of the ideal
    ranking's first k. A gain is the weight of the thresholds up to a grade: gain=triangular weighs
    them by grade (NTCIREVAL), gain=linear equally. | Robertson, Kanoulas & Yilmaz 2010;
    gain=triangular: Sakai (NTCIREVAL) | {shrink}
G
    | Normalised gain: each gain divided by log2(2 + what an ideal ranking would have gained by
    then, at least 1 a rank, less what was gained), over the sum of all gains. | Buckley (trec_eval)
BinG
    | Binary G: the mean over relevant documents of 1 / log2(2 + the number of other documents
    above). | Buckley (trec_eval) | Relevant documents that were not retrieved add 0.
RBP RankBiasedPrecision
    | Rank-biased precision: (1 - p) times the sum of gain p^(i - 1) over the first k ranks i; gains
    are divided by that of max_grade or, where none is given, by the query's largest judged, if that
    is above 1. | Moffat & Zobel 2008; the division: trec_eval 10; max_grade: Sakai (NTCIREVAL)
nRBP
    | Normalised RBP: RBP@k over that of the ideal ranking at the same cutoff. | Sakai (NTCIREVAL,
    whose p is 0.95) | {shrink}
RBPresid
    | Residual of rank-biased precision: what it could rise by if all unjudged documents were
    relevant: those retrieved and, once there is one, all past the end (tail=unjudged); or those
    past the end in any case (tail=always). | tail=always: Moffat & Zobel 2008; tail=unjudged:
    trec_eval 10 | Ranks past the end are unjudged.
RBPupper
    | What RBP@k could be at most, the upper end of its residual's interval: RBP@k and
    RBPresid(tail=always)@k, all documents that are unjudged or past k being of the highest gain. |
    Moffat & Zobel 2008 | Ranks past the end are unjudged.
Qmeasure Q; ntcireval Q-measure Q@k
    | Q-measure: the sum of the blended ratios (H + beta x gain so far) / (i + beta x ideal gain so
    far) at the ranks i <= k of documents of positive gain, H of them so far, over min(k, their
    number in the judgments). | Sakai 2004 (NTCIREVAL) | Documents of positive gain that were not
    retrieved add 0.
Omeasure; ntcireval O-measure
    | O-measure: the blended ratio (see Qmeasure) at the first document of positive gain, 0 if there
    is none among the first k. | Sakai 2006 (NTCIREVAL) | 0 where no such document was retrieved.
Pmeasure; ntcireval P-measure
    | P-measure: the blended ratio (see Qmeasure) at the preferred rank, which is that of the first
    document of the highest gain among the first k. | Sakai 2006 (NTCIREVAL) | 0 where no document
    of positive gain was retrieved.
Pplus; ntcireval P-plus
    | P-plus (P+): the mean of the blended ratios (see Qmeasure) at the documents of positive gain
    down to the preferred rank (see Pmeasure). | Sakai 2007 (NTCIREVAL) | 0 where no document of
    positive gain was retrieved.
NCUrb; ntcireval NCUrb,BR[@k]; ntcireval NCUrb,P[@k] utility=P; ntcireval NCUrb,IE[@k] utility=IE
    | Normalised cumulative utility, rank-biased: the sum of utility x gamma^(H - 1) at the
    documents of positive gain, H of them so far, over the sum of gamma^(h - 1) up to their number
    in the judgments; at a cutoff, as NTCIREVAL has it, over min(k, that number). The utility is
    precision (P), the blended ratio (BR, see Qmeasure), or p^rank (IE). | Sakai & Robertson 2008
    (NTCIREVAL) | Documents of positive gain that were not retrieved add 0.
NCUgu; ntcireval NCUgu,BR; ntcireval NCUgu,P utility=P
    | Normalised cumulative utility, graded-uniform: the mean of the utility at the documents of
    positive gain, each weighted by what stops has for its grade (as gain). The utility is precision
    (P) or the blended ratio (BR, see Qmeasure). | Sakai & Robertson 2008 (NTCIREVAL) | Documents of
    positive gain that were not retrieved add 0.
ERR ExpectedReciprocalRank; ir_measures ERR@k; gdeval err@k; ntcireval ERR[@k]
    | Expected reciprocal rank: the sum over the first k ranks i of the chance to stop at i, over i,
    where {stopping}; that is (2^grade - 1) / 2^max_grade (gain=exp). | Chapelle et al. 2009;
    max_grade=4: gdeval
nERR; ntcireval nERR@k
    | Normalised ERR: ERR@k over that of the ideal ranking at the same cutoff. | Chapelle et al.
    2009; Sakai (NTCIREVAL) | {shrink}
EBR ExpectedBlendedRatio; ntcireval EBR[@k]
    | Expected blended ratio: as ERR, of the blended ratio at i (see Qmeasure) instead of 1 / i;
    {stopping}. | Sakai & Zeng 2019 (NTCIREVAL)
nEBR; ntcireval nEBR@k
    | Normalised EBR: EBR@k over that of the ideal ranking at the same cutoff, whose blended ratios
    are 1. | Sakai (NTCIREVAL) | {shrink}
iRBU; ntcireval iRBU[@k]
    | Intentwise rank-biased utility: as ERR, of p^i instead of 1 / i, the effort that coming to
    rank i leaves; {stopping}. | Sakai & Zeng 2019 (NTCIREVAL), after Amigó et al. 2018
niRBU; ntcireval niRBU@k
    | Normalised iRBU: iRBU@k over that of the ideal ranking at the same cutoff. | Sakai (NTCIREVAL)
    | {shrink}
Compat Compatibility; ir_measures Compat
    | Compatibility: rank-biased overlap, to the first 1,000 ranks or k, with the ideal ranking that
    is most like it: documents of positive gain from the highest down, those of one gain in the
    order that they were retrieved in, others last. Normalised, it is over that of the ideal ranking
    with itself. | Clarke, Smucker & Vtyurina 2020; Clarke, Vtyurina & Smucker 2021 | The documents
    in common stay as many, of more and more ranks.
Tau KendallTau
    | Kendall's tau of the ranking and of gains. Of documents that were judged, among the first k:
    pairs in the order of their gains less those in the opposite one, over all pairs (ties=a) or
    over the geometric mean of their number and that of pairs of different gains (ties=b). | Kendall
    1945 | Only documents that were retrieved are compared.
TauAP
    | AP correlation of the ranking and of gains. Of documents that were judged, among the first k:
    at each but the first the share of those above it whose gain is higher, averaged, from -1 to 1.
    Half of those of the same gain count (ties=a, the mean over all their orders); or they don't,
    and it is the mean of this and of the correlation of gains with the ranking (ties=b, symmetric).
    | Yilmaz, Aslam & Robertson 2008; ties: Urbano & Marrero 2017 | Only documents that were
    retrieved are compared.
""",
    "user_models": """
cwlP
    | Precision in C/W/L: all users go on (C = 1), to rank k. EU is the mean of gains weighed by the
    chance of looking at them. | Moffat et al. 2017 (cwl-eval: P@k)
cwlRBP
    | Rank-biased precision in C/W/L: C = p. EU is RBP, the sum of gains weighed by the chance of
    looking at them, over ranks to k or max_n alone. | Moffat & Zobel 2008; Moffat et al. 2017
NPV
    | Net present value: as cwlRBP, with p = 1 / (1 + rate). | Azzopardi et al. 2019 (cwl-eval)
SDCG ScaledDCG NDCG-k; ir_measures SDCG(max_rel={max_grade:.0f})@k
    | Scaled DCG: C = log2(i + 1) / log2(i + 2). EU is DCG@k of gains from 0 to 1 over that of k
    documents of gain 1. | Moffat et al. 2017, after Järvelin & Kekäläinen 2002
INSQ; ir_measures INSQ(T={T},max_rel={max_grade:.0f})
    | Inverse squares: C = ((i + 2 T - 1) / (i + 2 T))^2, for a user who wants a gain of T. |
    Moffat, Scholer & Thomas 2012
INST; ir_measures INST(T={T},max_rel={max_grade:.0f})
    | Adaptive inverse squares: as INSQ, of a user who wants a gain of T and goes by what of it is
    left, T_i, after rank i: C = ((i + T + T_i - 1) / (i + T + T_i))^2. | Moffat, Bailey, Scholer &
    Thomas 2015
BPM BejeweledPlayerModel; ir_measures BPM(T={T},max_rel={max_grade:.0f})@k
    | Bejeweled player model: C = 1 until a gain of T is reached, or a cost of K is spent, where K
    is given; after each document T grows by hb, and K by hc, times its gain - median (static where
    both are 0). | Zhang et al. 2017
TBG TimeBiasedGain
    | Time-biased gain: ranks are looked at in proportion to 2^(-s / h), s the costs of the
    documents above, h the half-life. | Smucker & Clarke 2012
Umeasure U-measure
    | U-measure: ranks but the last, max_n, are looked at in proportion to 1 - s / L, s the costs of
    the documents above, or not from s = L on. | Sakai & Dou 2013
IFT
    | Information foraging: users stop as they come to a gain of T (rule=goal), C1 = 1 - 1 / (1 + b1
    e^((T - G) R1)), or as gain comes at a lower rate than A (rule=rate), C2 = 1 / (1 + b2 e^((A - G
    / K) R2)), G and K the gain and cost down to i; or both, C = C1 C2 (rule=both). | Azzopardi,
    Thomas & Craswell 2018
NERR8 NERR-EQ8; ir_measures NERR8(max_rel={max_grade:.0f})@k
    | Nearly ERR by gain alone: C = 1 - gain of i. | Azzopardi, Mackenzie & Moffat 2021, equation 8
NERR9 NERR-EQ9; ir_measures NERR9(max_rel={max_grade:.0f})@k
    | Nearly ERR with reciprocal ranks: C = i / (i + 1) (1 - gain of i). | Azzopardi, Mackenzie &
    Moffat 2021, equation 9
NERR10 NERR-EQ10; ir_measures NERR10(p={p},max_rel={max_grade:.0f})
    | Nearly ERR with RBP's patience: C = p (1 - gain of i). | Azzopardi, Mackenzie & Moffat 2021,
    equation 10
NERR11 NERR-EQ11; ir_measures NERR11(T={T},max_rel={max_grade:.0f})
    | Nearly ERR with INSQ's goal: C = ((i + 2 T - 1) / (i + 2 T))^2 (1 - gain of i). | Azzopardi,
    Mackenzie & Moffat 2021, equation 11
cwlRR
    | Reciprocal rank in C/W/L: C = 1 until a document gains, then 0. EU is 1 / its rank times its
    gain. | Moffat et al. 2017 (cwl-eval: RR)
cwlAP
    | Average precision in C/W/L: ranks i are looked at in proportion to G / K, the gain and the
    cost down to i (1 / K before the first gain); over the number R of documents that are judged to
    gain this is W. EU of gains 0 and 1 is AP. | Moffat et al. 2017; here and in trec_eval AP is
    what cwl-eval calls TrAP
cwlTrAP
    | Average precision in C/W/L of what was retrieved: C = S(i + 1) / S(i), S(i) the sum of gain /
    rank from rank i on. EU of gains 0 and 1 is AP over the relevant documents retrieved,
    AP(norm=found). | Moffat et al. 2017; cwl-eval calls it AP
cwlSET
    | Search economics: C = w(i + 1) / w(i), w(i) = (i + 1)^beta - i^beta, so that each document
    adds less than the one above. | Azzopardi 2014, its ranks from 2 on (cwl-eval: SET)
""",
    "candidates": """
AUC AUROC AreaUnderCurve; scikit-learn roc_auc_score
    | Area under the ROC curve of a query: the share of the pairs of a relevant and another
    candidate in which the relevant one stands higher; 0 without pairs. {listed} | Hanley & McNeil
    1982; at k: pyxclib | {first}; a query without a ranking has the worst value.
GAUC GroupedAUC; recbole gauc
    | Grouped AUC: AUC, whose mean over queries (users) is weighted by their relevant candidates;
    queries without relevant or without other candidates weigh nothing. | Zhou et al. 2018 (RecBole)
RankingLoss LabelRankingLoss; scikit-learn label_ranking_loss
    | Label ranking loss: the share of the pairs of a relevant and another candidate in which the
    other one stands higher; 0 without pairs. {listed} Lower is better. | Tsoumakas, Katakis &
    Vlahavas 2010; scikit-learn, whose ties are ties=pessimistic | {first}; a query without a
    ranking has the worst value.
CoverageError; scikit-learn coverage_error
    | Coverage error: the rank of the last relevant candidate, as deep as one has to go for all; 0
    if none is relevant. {listed} Lower is better. | Tsoumakas, Katakis & Vlahavas 2010;
    scikit-learn, whose ties are ties=pessimistic | {first}; a query without a ranking is left out.
LRAP LabelRankingAveragePrecision; scikit-learn label_ranking_average_precision_score
    | Label ranking average precision: the mean of the precisions at the ranks of the relevant
    candidates; 1 if none is relevant. {listed} | Tsoumakas, Katakis & Vlahavas 2010; scikit-learn,
    which takes a tie for one rank | {first}; a query without a ranking has the worst value.
FallOut
    | Fall-out: the share of the candidates that are not relevant that stand among the first k; 0
    where all are. Candidates are the documents listed. Lower is better. | van Rijsbergen 1979;
    torchmetrics | {first}; a query without a ranking has the worst value.
FirstRank FirstRelevantRank
    | Rank of the first relevant document. Its mean over queries is known as MeanR, its median as
    MedR. Lower is better. | Bordes et al. 2013 | {behind}
MeanRank
    | Mean rank of the relevant documents of a query. Lower is better. | Bordes et al. 2013 |
    {behind}
MedianRank
    | Median rank of the relevant documents of a query, between the two in the middle if their
    number is even. Lower is better. | Bordes et al. 2013 | {behind}
""",
    "marked": """
alpha_DCG alpha-DCG; ir_measures alpha_DCG@k; ndeval alpha-DCG@k
    | Novelty-biased DCG over its most: what a ranking would reach whose documents were all relevant
    to every subtopic. {repeats} | Clarke et al. 2008
alpha_nDCG alpha-nDCG; ir_measures alpha_nDCG@k; ndeval alpha-nDCG@k
    | Novelty-biased nDCG: DCG over that of the ideal ranking, which is made greedily, the larger id
    first where documents add the same. {repeats} | Clarke et al. 2008
ERR_IA ERR-IA; ir_measures ERR_IA@k; ndeval ERR-IA@k
    | Intent-aware expected reciprocal rank over its most, see alpha_DCG: what documents add is
    divided by their rank. {repeats} | Chapelle et al. 2009; Clarke et al. 2011
nERR_IA nERR-IA; ir_measures nERR_IA@k; ndeval nERR-IA@k
    | Normalised ERR_IA: over that of the ideal ranking, see alpha_nDCG. | Clarke et al. 2011
NRBP; ir_measures,ndeval NRBP
    | Novelty- and rank-biased precision: (1 - (1 - alpha) beta) / subtopics times the sum over
    ranks i of beta^(i - 1) times what documents add. {repeats} | Clarke, Kolla & Vechtomova 2009
nNRBP; ir_measures,ndeval nNRBP
    | Normalised NRBP: over that of the ideal ranking, see alpha_nDCG. | Clarke, Kolla & Vechtomova
    2009
AP_IA MAP-IA AP-IA; ir_measures AP_IA; ndeval MAP-IA
    | Intent-aware average precision: the mean over subtopics of AP, only documents relevant to the
    subtopic being relevant. | Agrawal et al. 2009 | Relevant documents that were not retrieved add
    0.
P_IA P-IA; ir_measures P_IA[@k]; ndeval P-IA@k
    | Intent-aware precision: the mean over subtopics of the share of the first k documents that are
    relevant to it. | Agrawal et al. 2009
StRecall SubtopicRecall strec; ir_measures StRecall[@k]; ndeval strec@k
    | Subtopic recall: the share of all subtopics to which one of the first k documents is relevant.
    | Zhai, Cohen & Lafferty 2003
xInfAP
    | Extended inferred average precision, of judgments sampled by strata: the precision at each
    relevant document is estimated from the strata of those above it, and the document stands for as
    many as its stratum's sampling rate says. version=trecvid multiplies by relevant / k where more
    than k documents are estimated to be relevant. | Yilmaz, Kanoulas & Aslam 2008; sample_eval |
    Relevant documents that were not retrieved add 0.
InfNDCG
    | Inferred nDCG, of judgments sampled by strata: the DCG of each stratum's sampled documents,
    scaled to all that were retrieved of it, over that of an ideal ranking of as many documents of
    each grade as there are estimated to be. These numbers are rounded (version=nist), or ranks may
    lie between whole numbers (version=trecvid). | Yilmaz, Kanoulas & Aslam 2008; sample_eval
InfP
    | Inferred precision, of judgments sampled by strata: the number of relevant documents that is
    estimated for the first k, over k. | Yilmaz, Kanoulas & Aslam 2008; sample_eval | Ranks past the
    end count as not relevant: the divisor stays k.
InfIPrec
    | Inferred interpolated precision, of judgments sampled by strata, as sample_eval has it: ranks
    are walked from the last to the first, the best inferred precision is kept, and where less than
    a point of recall is found the point gets it; this point comes after all higher tenths, and no
    two are met at one rank. | Yilmaz, Kanoulas & Aslam 2008; sample_eval | 0 where that many
    relevant documents were not retrieved.
InfNumRel; sample_eval inum_rel
    | Estimated number of relevant documents, from judgments sampled by strata. | Yilmaz, Kanoulas &
    Aslam 2008; sample_eval
InfNumRelRet; sample_eval inum_rel_ret
    | Estimated number of relevant documents among the first k, from judgments sampled by strata. |
    Yilmaz, Kanoulas & Aslam 2008; sample_eval | Counts what there is.
StatAP
    | Estimated average precision, of documents sampled with known probabilities: each relevant one
    sampled stands for 1 / probability documents, also in the precision at those below it. It may
    exceed 1. | Pavlu & Aslam 2007 (statAP) | Relevant documents that were not retrieved add 0.
StatP
    | Estimated precision, of documents sampled with known probabilities: the sum of 1 / probability
    over the relevant ones sampled among the first k, over k. It may exceed 1. | Pavlu & Aslam 2007
    (statAP) | Ranks past the end count as not relevant: the divisor stays k.
StatRprec
    | Estimated R-precision, of documents sampled with known probabilities: the estimated precision
    at rank R, R the estimated number of relevant documents, rounded. | Pavlu & Aslam 2007 (statAP)
    | Where fewer than R documents were retrieved the divisor is R as it is, not rounded.
""",
    "items": """
CatalogueCoverage; recbole itemcoverage@k padding=1; recommenders catalog_coverage@k of=trained
    | The share of the catalogue's items, and of as many more as `padding`, that are recommended to
    anybody; with of=trained of the items with interactions, which may be above 1. | Ge,
    Delgado-Battenfeld & Jannach 2010
UserCoverage
    | The share of users with at least so many recommended items. | Ge, Delgado-Battenfeld & Jannach
    2010
Gini ListGini; recbole giniindex@k padding=1
    | Gini index of how often each item is recommended, those never recommended and as many more as
    `padding` among them: 0 if all are equally often, towards 1 if one alone is. | Gini 1912; Fleder
    & Hosanagar 2009
Entropy; recbole shannonentropy@k unit=nats per=recommended;
    recommenders distributional_coverage@k
    | Shannon entropy of the recommended items, in bits or nats: of the share that each has of all
    recommendations; divided by the number of items recommended (per=recommended), or by the most
    that the catalogue allows (per=most). | Shannon 1948
Personalisation Personalization
    | 1 less the mean cosine of the recommended items of two users, over all pairs of users; that of
    a user without any is 0. | Zhou et al. 2010 (inter-list distance)
AvgPopularity AveragePopularity ARP; recbole averagepopularity@k
    | Average popularity: the mean number of interactions of the first k items, or their mean share
    of users (of=users). | Yin et al. 2012
TailShare TailPercentage; recbole tailpercentage@k
    | The share of the first k items that are in the long tail: among the items with interactions
    the share `tail` with the fewest, at least one, those first in the catalogue where they have the
    same; with a tail above 1 those that have so many or fewer. | Abdollahpouri, Burke & Mobasher
    2017
Novelty SelfInformation
    | Mean self-information of the first k items, an item's {novelty}. {unseen} | Zhou et al. 2010
RunNovelty
    | Novelty of the whole run: the mean over all recommendations, not over users, of an item's
    {novelty}. {unseen} | Castells, Vargas & Wang 2011
ILD IntraListDiversity; recommenders diversity@k by=cooccurrence
    | Intra-list diversity: 1 less the mean similarity of two of the first k items; 0 of fewer than
    two. {similarity} | Ziegler et al. 2005
Unexpectedness
    | The mean over the first k items of 1 less their mean similarity to what the user had before; 1
    each for a user who had nothing. {histories} | Zhang et al. 2012
Serendipity
    | Unexpectedness of which only relevant items have their part: the mean over the first k items
    of 1 less their mean similarity to what the user had before, or 0 for one that is not relevant.
    {histories} RecTools' Serendipity, by ranks of popularity, is another. | Zhang et al. 2012
AWRF
    | Attention-weighted rank fairness: 1 - the divergence of Jensen and Shannon, of logarithms to a
    base, between the groups' shares of the attention and the target. {exposure} {target} |
    Sapiezynski et al. 2019; FAIR TREC 2022 | {ungrouped}
FairnDCG
    | nDCG times AWRF, FAIR TREC's score of a ranking: the gain of relevant items is 1, and both
    have the same discount. Documents that are not items have none. | FAIR TREC 2022 | {ungrouped}
Exposure
    | Exposure of a group: its share of the attention that items with groups get. {exposure} | Singh
    & Joachims 2018 | {ungrouped}
ExposureRatio
    | A group's share of the attention over its target: 1 is fair, more is too much. {exposure}
    {target} | Singh & Joachims 2018 | {ungrouped} 0, too, where the target is 0.
ExposureParity
    | The least of the groups' ExposureRatio over the largest, of groups whose target is not 0: 1 if
    all get what they should. | Singh & Joachims 2018 | {ungrouped}
EEL
    | Expected exposure loss: the squared distance of groups' exposure to the target. {expected}
    {target} | Diaz et al. 2020; FAIR TREC 2022 | Ranks past the end get no attention.
EED
    | Expected exposure disparity: the sum of squares of groups' exposure, see EEL. | Diaz et al.
    2020; FAIR TREC 2022 | Ranks past the end get no attention.
EER
    | Expected exposure relevance: the product of groups' exposure and the target, summed, see EEL.
    | Diaz et al. 2020; FAIR TREC 2022 | Ranks past the end get no attention.
PSP; pyxclib psprecision@k
    | Propensity-scored precision: what the first k weigh, over the most that k items weigh. A
    relevant item weighs 1 / its propensity. {means} | Jain, Prabhu & Varma 2016 | {nothing}
PSnDCG; pyxclib psndcg@k
    | Propensity-scored nDCG: the DCG of what items weigh over that of the ideal ranking, both
    divided by the most DCG that as many items of weight 1 have. A relevant item weighs 1 / its
    propensity. {means} | Jain, Prabhu & Varma 2016 | {nothing}
PSR; pyxclib psrecall@k
    | Propensity-scored recall: what the first k weigh, over the most that k items weigh, both
    divided by the number of relevant items. A relevant item weighs 1 / its propensity. {means} |
    Jain, Prabhu & Varma 2016 | {nothing}
IPS
    | Inverse propensity scoring: the sum of 1 / discount(i) times what the item at rank i weighs:
    DCG, with discount=none recall, not divided by anything. A relevant item weighs 1 / its
    propensity. | Joachims, Swaminathan & Schnabel 2017; Yang et al. 2018 | {nothing}
SNIPS
    | Self-normalised IPS: IPS over what all relevant items of the query weigh. Of all queries: the
    mean, or (over=all) the sum of IPS over what all weigh together. | Swaminathan & Joachims 2015;
    Yang et al. 2018 | {nothing}
""",
}
"""The rows of each family of measures, a module of `irbatch.measures.catalogue`."""

SENTENCES = """
stopping gain / (gain of max_grade + 1) of the readers stop at a document
shrink Ranks past the end add 0; the ideal ranking does not shrink with the ranking.
listed Candidates are the documents listed: relevant ones that are not don't count.
first The candidates are the first k, or as many as there are
behind Relevant documents not among the first k count as rank k + 1 and, at full depth, of n, as n +
    1; a query without a ranking is left out there.
repeats A document adds, for each subtopic it is relevant to, (1 - alpha)^c, c the documents of that
    subtopic above it.
novelty -log2 of its share of all interactions, or of the share of users that had it (of=users)
unseen Items without interactions count as if they had one, or add 0 (unseen=zero).
similarity Similarity is the cosine of embeddings, or of who had the items (by=cooccurrence), or as
    given (by=similarity).
histories Similarity is the cosine of embeddings, or as in the matrix given, or, where neither is
    given (or by=cooccurrence), the cosine of who had the items.
exposure An item at rank i gets 1 / discount(i) of attention, its groups their shares of that.
target The target is the one given, the same for all groups (uniform), or as the relevant items
    belong to them (relevant).
expected A group's exposure is the attention that its relevant items get (or all, of=all), the mean
    over a query's rankings; its target exposure is the target times the attention of k ranks.
ungrouped Ranks past the end get no attention. 0 if no item retrieved belongs to a group.
nothing Ranks past the end add 0.
means Of all queries: the mean over that of ideal rankings, by weight, and not the mean of queries'
    own shares. norm=none doesn't divide by the ideal.
"""

PAST_END = """
items Ranks past the end don't count.
user_models Ranks past the end, to k or max_n, are unjudged documents, which gain 0; users stop at k
    at the latest.
"""
"""What happens past the end in families in which it isn't that ranks there add 0."""

CUTOFF_FORMS = {"ntcireval": "@{k:04d}"}
"""How tools write a cutoff behind a name; others write ``@{k}``."""


class Spelling(NamedTuple):
    """What another tool calls a measure with some parameters."""

    style: str  # the tool
    full: str  # its name at full depth, "" if it has none
    cut: str = ""  # its name at a cutoff, {k}; "" if it has none
    parameters: tuple[tuple[str, object], ...] = ()  # besides those that a name spells out


class Words(NamedTuple):
    """What people read of a measure."""

    definition: str
    source: str = ""
    past_end: str = ""


def _split_rows(rows: str) -> dict[str, str]:
    """Return rows, each in one line, by the first word."""
    lines = rows.strip().replace("\n    ", " ").split("\n")
    return {line.replace(";", " ").split(None, 1)[0]: line for line in lines}


ROWS = {
    name: (family, row) for family, rows in TABLE.items() for name, row in _split_rows(rows).items()
}
"""Family and row of each measure, in the order of the table."""


def words_of(name: str) -> Words:
    """Return what is said of a measure of the table."""
    family, row = ROWS[name]
    sentences, past_end = (
        {key: line.partition(" ")[2] for key, line in _split_rows(text).items()}
        for text in (SENTENCES, PAST_END)
    )
    definition, source, past, *_ = *row.split("|")[1:], "", ""
    past = past.strip() or past_end.get(family, "Ranks past the end add 0.")
    return Words(*(text.strip().format(**sentences) for text in (definition, source, past)))


@functools.cache
def names_of(name: str) -> tuple[tuple[str, ...], tuple[Spelling, ...]]:
    """Return what a measure is called besides: here, and by other tools."""
    if name not in ROWS:
        return (), ()
    own, *others = ROWS[name][1].partition("|")[0].split(";")
    spellings = [trec.spelling for trec in TREC_EVAL if trec.meaning == name]
    for other in others:
        tools, *words = other.replace("_at_k", "_at_{k}").split()
        texts = [word for word in words if "=" in word and "(" not in word]
        pairs = [text.split("=") for text in texts]
        settings = tuple((key, float(x) if x.isdecimal() else x) for key, x in pairs)
        names = " ".join(word for word in words if word not in texts)
        names = re.sub(r"(\S+)\[@k\]", r"\1 \1@k", names)
        for tool in tools.split(","):
            spelled = names.replace("@k", CUTOFF_FORMS.get(tool, "@{k}")).split()
            full = next((form for form in spelled if "{k" not in form), "")
            cut = next((form for form in spelled if "{k" in form), "")
            spellings.append(Spelling(tool, full, cut, settings))
    return tuple(own.split()[1:]), tuple(spellings)


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
    TrecName("11pt_avg", "IPrecAvg", ALL, "several", TENTHS, ("points",)),
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
