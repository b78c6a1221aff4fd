#!/usr/bin/env python3
"""A training step of nmn's networks in PyTorch, to measure against: forward, backward and SGD with
momentum, on pictures that are on the device already.

    bench/torch_step.py --model vgg16 --batch 4 --size 224 --layout nchw
    bench/torch_step.py --device cuda --batch 1 --frames 26 --size 565 --precision bf16 --compile

Prints one JSON line. forward_ms is without gradients and without dropout.
"""
import argparse
import json
import resource
import statistics
import time

import torch

from torch_net import NETS, Net, cross_entropy


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--model", choices=sorted(NETS), default="vgg16")
    p.add_argument("--batch", type=int, default=4, help="bags of a step")
    p.add_argument("--frames", type=int, default=1, help="pictures of a bag")
    p.add_argument("--size", type=int, default=0, help="pixels; 0 for that of the network")
    p.add_argument("--width", type=float, default=1.0)
    p.add_argument("--classes", type=int, default=0)
    p.add_argument("--no-mil", action="store_true")
    p.add_argument("--no-nmn", action="store_true")
    p.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    p.add_argument("--precision", choices=["fp32", "tf32", "bf16"], default="fp32")
    p.add_argument("--layout", choices=["nchw", "nhwc"], default="nhwc")
    p.add_argument("--compile", action="store_true", help="by torch.compile")
    p.add_argument("--threads", type=int, default=0)
    p.add_argument("--warmup", type=int, default=1)
    p.add_argument("--repeats", type=int, default=3)
    return p.parse_args()


class Bench:
    def __init__(self, a):
        shape, classes, size = NETS[a.model]
        a.classes, a.size = a.classes or classes, a.size or size
        self.a, layout = a, torch.channels_last if a.layout == "nhwc" else torch.contiguous_format
        self.net = Net(shape, a.classes, a.width, not a.no_mil, not a.no_nmn).to(a.device, memory_format=layout)
        pictures = torch.randn(a.batch * a.frames, 3, a.size, a.size, device=a.device)
        self.x = pictures.contiguous(memory_format=layout)
        self.z = (torch.rand(a.batch, a.classes, device=a.device) < 0.02).float()
        self.optimizer = torch.optim.SGD(self.net.parameters(), 1e-12, momentum=0.9, weight_decay=5e-4, fused=True)
        self.run = torch.compile(self.net) if a.compile else self.net

    def loss(self):
        with torch.autocast(self.a.device, torch.bfloat16, enabled=self.a.precision == "bf16"):
            p = self.run(self.x, self.a.batch)
        return cross_entropy(p, self.z)

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        self.loss().backward()
        self.optimizer.step()

    def forward(self):
        with torch.no_grad():
            self.loss()

    def times(self, f):
        """Milliseconds of the measured runs."""
        all = []
        for i in range(self.a.warmup + self.a.repeats):
            began = time.perf_counter()
            f()
            if self.a.device == "cuda":
                torch.cuda.synchronize()
            if i >= self.a.warmup:
                all.append((time.perf_counter() - began) * 1e3)
        return all


def main():
    a = arguments()
    torch.manual_seed(0)
    if a.threads:
        torch.set_num_threads(a.threads)
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = a.precision != "fp32"
    bench = Bench(a)
    steps = bench.times(bench.step)
    if a.device == "cuda":
        memory = {"peak_memory_mib": torch.cuda.max_memory_allocated() >> 20, "reserved_mib": torch.cuda.max_memory_reserved() >> 20}
    else:
        memory = {"peak_memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10}
    bench.net.eval()
    forward = bench.times(bench.forward)
    middle = statistics.median(steps)
    print(json.dumps({
        "peer": "pytorch " + torch.__version__, **vars(a), "threads": torch.get_num_threads(),
        "step_ms": middle, "step_min_ms": min(steps), "step_max_ms": max(steps), "forward_ms": statistics.median(forward),
        "images_per_s": a.batch * a.frames / middle * 1e3, **memory,
    }))


if __name__ == "__main__":
    main()
