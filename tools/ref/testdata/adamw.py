"""Writes adamw.json: parameters under torch.optim.AdamW in float64, after each of several steps.

    python3 adamw.py > adamw.json
"""
import json
import math

import torch

steps, size = 6, 5
cases = []
for lr, decay, betas, epsilon in [(1e-3, 1e-2, (.9, .999), 1e-8), (.1, .5, (.8, .95), 1e-3), (.03, 0, (0., .99), 1e-8)]:
    start = [math.sin(1.7 * i + .3) for i in range(size)]
    gradients = [[math.cos(.9 * i + 1.3 * t) * 10 ** (i - 2) for i in range(size)] for t in range(steps)]
    w = torch.tensor(start, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.AdamW([w], lr=lr, betas=betas, eps=epsilon, weight_decay=decay)
    weights = []
    for g in gradients:
        w.grad = torch.tensor(g, dtype=torch.float64)
        optimizer.step()
        weights.append(w.detach().tolist())
    cases.append({"lr": lr, "decay": decay, "beta1": betas[0], "beta2": betas[1], "epsilon": epsilon, "start": start,
                  "gradients": gradients, "weights": weights})
print(json.dumps({"torch": torch.__version__.split("+")[0], "cases": cases}, indent=1))
