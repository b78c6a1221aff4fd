"""Writes evidence.json: the loss by evidence in decimal arithmetic of 60 digits, its gradient by the chain rule.

L = -log((p e^E + 1 - p) / max(1, e^E)), where p is sigmoid of the mean of the logits, or their noisy-or. Nothing here
is shared with the program: the equations are computed as they are printed, with digits enough to lose.

    python3 evidence.py > evidence.json
"""

import json
from decimal import Decimal, getcontext

getcontext().prec = 60
getcontext().Emin, getcontext().Emax = -10**9, 10**9

BAGS = [[0.25], [-3.5], [40.0], [-90.0], [1.5, -0.75, -2.0], [-6.0, -7.5, -5.25, -9.0], [12.0, -30.0],
        [-250.0, -251.5], [300.0, -20.0]]
EVIDENCE = [-1000.0, -20.5, -1.25, -0.001953125, 0.0, 0.0078125, 0.5, 3.75, 60.0, 10000.0]


def cell(logits, evidence, mil):
    o = [Decimal(x) for x in logits]
    e = Decimal(evidence).exp()
    if mil:
        none = Decimal(1)
        for x in o:
            none /= 1 + x.exp()
        hidden = [x.exp() / (1 + x.exp()) for x in o]
        # 1 - none loses digits where all are tiny: the sum over the instances does not.
        p, left = Decimal(0), Decimal(1)
        for h in hidden:
            p += left * h
            left *= 1 - h
        slopes = [none * h for h in hidden]  # dp/do
    else:
        mean = sum(o) / len(o)
        p, none = mean.exp() / (1 + mean.exp()), 1 / (1 + mean.exp())
        slopes = [p * none / len(o)] * len(o)
    total = p * e + none
    return {
        "o": logits, "evidence": evidence, "mil": mil,
        "loss": float(-(total / max(Decimal(1), e)).ln()),
        "posterior": float(p * e / total),
        "d_o": [float((1 - e) * s / total) for s in slopes],  # -(e^E - 1)/(p e^E + 1 - p) dp/do
    }


rows = [cell(o, e, mil) for o in BAGS for e in EVIDENCE for mil in (False, True)]
print("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]")
