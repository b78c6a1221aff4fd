#!/usr/bin/env python3
"""What PyTorch makes of the machine, to measure against: the product of two matrices, a copy, and the
noise step alone (noisy-or, noise model, cross-entropy, and the gradients of logits and confidence map).

    bench/torch_machine.py gemm --sizes 1024,2048
    bench/torch_machine.py copy --mib 1024 --device cuda
    bench/torch_machine.py noise --frames 26 --cells 144 --device cuda --compile

Prints one JSON line.
"""
import argparse
import json
import statistics
import time

import torch

from torch_net import cross_entropy, observed


def times(a, f):
    """Median milliseconds; a graphics card takes the time itself."""
    all = []
    for i in range(a.warmup + a.repeats):
        if a.device == "cuda":
            first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            first.record()
            f()
            last.record()
            torch.cuda.synchronize()
            took = first.elapsed_time(last)
        else:
            began = time.perf_counter()
            f()
            took = (time.perf_counter() - began) * 1e3
        if i >= a.warmup:
            all.append(took)
    return statistics.median(all)


def gemm(a):
    torch.backends.cuda.matmul.allow_tf32 = a.precision != "fp32"
    dtype = torch.bfloat16 if a.precision == "bf16" else torch.float32
    products = []
    for n in map(int, a.sizes.split(",")):
        x, w = (torch.rand(n, n, device=a.device, dtype=dtype) - 0.5 for _ in range(2))
        y = torch.empty_like(x)
        ms = times(a, lambda: torch.mm(x, w, out=y))
        products.append({"size": n, "ms": ms, "gflops": 2e-6 * n**3 / ms})
    return {"products": products}


def copy(a):
    src = torch.rand(a.mib << 18, device=a.device)
    dst = torch.empty_like(src)
    ms = times(a, lambda: dst.copy_(src))
    return {"bytes": src.nbytes, "ms": ms, "gb_per_s": 2e-6 * src.nbytes / ms}


def noise(a):
    logits = torch.randn(a.batch * a.frames, a.classes, a.cells, device=a.device, requires_grad=True)
    confidence = torch.randn(a.batch, 4 * a.classes, device=a.device, requires_grad=True)
    z = (torch.rand(a.batch, a.classes, device=a.device) < 0.02).float()

    def step():
        logits.grad = confidence.grad = None
        loss(logits, confidence).backward()

    def loss(o, c):
        return cross_entropy(observed(o, c, a.batch, True), z)

    if a.compile:
        loss = torch.compile(loss)
    return {"ms": times(a, step)}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", choices=["gemm", "copy", "noise"])
    p.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    p.add_argument("--precision", choices=["fp32", "tf32", "bf16"], default="fp32", help="of gemm")
    p.add_argument("--sizes", default="1024,2048")
    p.add_argument("--mib", type=int, default=256)
    p.add_argument("--batch", type=int, default=1)
    p.add_argument("--frames", type=int, default=26)
    p.add_argument("--cells", type=int, default=144)
    p.add_argument("--classes", type=int, default=1000)
    p.add_argument("--compile", action="store_true")
    p.add_argument("--warmup", type=int, default=2)
    p.add_argument("--repeats", type=int, default=10)
    a = p.parse_args()
    figures = {"gemm": gemm, "copy": copy, "noise": noise}[a.what](a)
    print(json.dumps({"peer": "pytorch " + torch.__version__, **vars(a), "threads": torch.get_num_threads(), **figures}))


if __name__ == "__main__":
    main()
