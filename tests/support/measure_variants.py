"""The parameters that each measure is tried with."""

from __future__ import annotations

from typing import Any

from irbatch.measures import CATALOGUE, MARKED, measure, parse_measures


def builtin_names(reads: str | None = None) -> set[str]:
    """The catalogue's measures that read grades alone, or those that read something else."""
    return {
        name for name, each in CATALOGUE.items()
        if each.builtin and (each.reads == reads if reads else each.reads not in (*MARKED, "items"))
    }  # fmt: skip


AS_THEY_ARE = "Unjudged Judged NumQ NumRet"
OF_LEVELS = """
    R Rcap Success RR Rprec BinG GMAP GMBpref SetAP GAUC RankingLoss CoverageError LRAP FallOut
    FirstRank MeanRank MedianRank NumRel NumRelRet
"""  # also with rel=2
# The default comes first; the largest grade that problems have is 2^40.
WITH_OTHERS = """
    P P(rel=2) P(rel=0) P(norm=retrieved) P(norm=retrieved,rel=2)
    F F(beta=2) F(beta=0.5,rel=2) F(weight=2)
    AP AP(rel=2) AP(norm=min) AP(norm=found) AP(norm=min,rel=3)
    Bpref Bpref(rel=2) Bpref(rel=0) Bpref(norm=R) Bpref(norm=N) Bpref(norm=relative)
    Rpref Rpref(norm=relative) Rpref(norm=N) Rpref(norm=N,max_grade=1099511627776,rel=2)
    InfAP InfAP(rel=2) InfAP(rel=0)
    IPrec IPrec(recall=0.1) IPrec(recall=0.25) IPrec(recall=0.5) IPrec(recall=1)
    IPrec(recall=0.1,rounding=up) IPrec(recall=0.25,rounding=up) IPrec(recall=1,rounding=up)
    IPrec(recall=0.5,rounding=up) IPrec(recall=0.5,rel=2) IPrec(recall=0.5,rounding=up,rel=2)
    IPrecAvg IPrecAvg(rounding=up) IPrecAvg(rel=2) IPrecAvg(points={0.25,0.5,0.75})
    IPrecAvg(points={0,1},rounding=up,rel=2)
    RprecMult RprecMult(times=0.2) RprecMult(times=0.5,rel=2) RprecMult(times=1.4)
    RprecMult(times=2) YAAP YAAP(rel=2) YAAP(rel=0) AUC AUC(rel=2) AUC(rel=0)
    Utility Utility(rel=2) Utility(a=2,b=-0.5,c=-1) Utility(d=0.25,docs=1000)
    Utility(a=3,b=-2,c=-0.1,d=0.3,docs=500,rel=2)
    NumNonRelRet NumNonRelRet(rel=2) NumNonRelRet(rel=0)
    CG CG(gain=exp) CG(gain=binary) CG(gain={1:3,2:9}) CG(rel=2)
    DCG DCG(gain=exp) DCG(gain=binary) DCG(gain={0:0.5,2:9}) DCG(rel=2) DCG(discount=ln)
    DCG(discount=log10) DCG(discount=jk2) DCG(discount=jk10) DCG(discount=rank) DCG(discount=none)
    IDCG IDCG(gain=exp) IDCG(gain=binary) IDCG(gain={1:3,2:2}) IDCG(rel=2) IDCG(discount=jk2)
    nDCG nDCG(gain=exp) nDCG(gain=binary) nDCG(gain=binary,rel=2) nDCG(gain={1:3,2:2})
    nDCG(rel=2) nDCG(discount=ln)
    G G(gain=exp) G(gain=binary) G(gain={1:3,2:9}) G(gain={0:0.5,2:9}) G(rel=2)
    G(gain=binary,rel=2)
    nDCGrel nDCGrel(gain=exp) nDCGrel(gain=binary) nDCGrel(gain={0:0.5,2:9}) nDCGrel(rel=2)
    nDCGrel(discount=ln) nDCGrel(discount=jk2) nDCGrel(discount=rank) nDCGrel(discount=none)
    RnDCG RnDCG(gain=exp) RnDCG(gain=binary) RnDCG(gain={1:3,3:3}) RnDCG(gain={0:0.5,2:9})
    RnDCG(rel=2) RnDCG(discount=log10) RnDCG(discount=jk2) RnDCG(discount=rank)
    RnDCG(discount=none)
    RBP RBP(p=0.5) RBP(p=0.95,gain=binary) RBP(p=0.3,gain=exp) RBP(gain={1:0.25,2:0.5})
    RBP(gain={0:0.5,2:9}) RBP(rel=2) RBP(gain=binary,rel=2) RBP(max_grade=1099511627776)
    nRBP nRBP(p=0.5,gain=binary,rel=2) RBPupper RBPupper(p=0.5,rel=2,max_grade=1099511627776)
    RBPresid RBPresid(p=0.5) RBPresid(tail=always) RBPresid(p=0.95,tail=always)
    nCG nCG(gain=exp) nCG(gain={1:3,2:2},rel=2)
    GAP GAP(gain=linear,rel=2) GAP(gain={0:0.5,1:9,2:3})
    ERR ERR(max_grade=1099511627776,gain=linear) ERR(max_grade=50,rel=2)
    nERR nERR(max_grade=1099511627776,gain=linear)
    EBR EBR(beta=10,max_grade=1099511627776) nEBR nEBR(max_grade=1099511627776)
    iRBU iRBU(p=0.5,max_grade=1099511627776) niRBU niRBU(max_grade=1099511627776)
    Qmeasure Qmeasure(beta=0) Qmeasure(beta=10,gain={0:0.5,1:3,2:2}) Qmeasure(rel=2)
    Omeasure Omeasure(beta=10,rel=2) Pmeasure Pmeasure(beta=10,gain={0:0.5,1:3,2:2})
    Pplus Pplus(gain={0:0.5,1:3,2:2},rel=1)
    NCUrb NCUrb(utility=P,gamma=1) NCUrb(utility=IE,gamma=0.5,p=0.8)
    NCUgu NCUgu(utility=P,stops={0:2,1:3,2:1},gain={0:0.5,2:9})
    Compat Compat(p=0.5,normalize=False,gain={0:0.5,1:3,2:3},rel=0)
    Tau Tau(ties=a,rel=2) TauAP TauAP(ties=b,gain={0:0.5,1:3,2:2})
"""
# Users who stop at rank 9, so that not all is past the end.
WALKING = """
    cwlP cwlP(number=ETU,gain=exp,rel=2) cwlRBP cwlRBP(p=0.5,number=resETU) NPV
    SDCG SDCG(number=resEU) INSQ INSQ(T=3,number=ED)
    INST INST(T=2.5,number=ETU) INST(T=2.5,number=EC) INST(T=2.5,number=ETC)
    INST(T=2.5,number=resED) BPM BPM(T=2,hb=0.3,number=resEU)
    BPM(T=9,K=5,hc=0.75,median=0.25,number=ETC) TBG TBG(h=2,number=ETC) Umeasure
    Umeasure(L=4,number=ETU) IFT IFT(rule=goal,T=0.5,b1=2,R1=1,number=ETU)
    IFT(rule=rate,A=0.5,b2=2,R2=1,number=resETC) NERR8 NERR8(number=ETU) NERR9
    NERR10 NERR10(p=0.5) NERR11 NERR11(T=2) cwlRR cwlRR(number=ED,rel=3)
    cwlAP cwlAP(number=ETU) cwlAP(number=ED) cwlAP(number=resEU)
    cwlTrAP cwlTrAP(number=ETU) cwlSET cwlSET(beta=0.8,number=ED)
"""
MEASURES = [
    *parse_measures(AS_THEY_ARE + WITH_OTHERS),
    *(each(**more) for each in parse_measures(OF_LEVELS) for more in ({}, {"rel": 2})),
    *(each(max_grade=4, max_n=9) for each in parse_measures(WALKING)),
    measure("cwlRBP")(max_grade=4, max_n=500),
    measure("INST")(T=0.5, max_grade=2**40),
]


def plain(key: str, value: Any) -> Any:
    """Return a parameter's value as a twin takes it."""
    if key in ("gain", "stops") and not isinstance(value, str):
        return dict(value)
    return int(value) if key == "max_n" else value


VARIANTS: dict[str, list[dict[str, Any]]] = {each.name: [] for each in MEASURES}
for each in MEASURES:
    VARIANTS[each.name].append({key: plain(key, each[key]) for key, _ in each.parameters})
