#!/usr/bin/env python3
"""One training step of nmn's VGG16 in PyTorch, to measure against: the same layers, noisy-or over
the cells, feature-dependent noise model, binary cross-entropy and SGD with momentum.

    bench/torch_step.py --batch 4 --size 224 --layout nchw

Prints one JSON line: median, least and largest time of a step in milliseconds, peak memory in MiB.
Needs torch, on the CPU.
"""
import argparse
import json
import resource
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

BLOCKS = [(2, 64), (2, 128), (3, 256), (3, 512), (3, 512)]


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        channels, blocks = 3, []
        for depth, width in BLOCKS:
            layers = []
            for _ in range(depth):
                layers += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU(inplace=True)]
                channels = width
            blocks.append(nn.Sequential(*layers, nn.MaxPool2d(2, 2, ceil_mode=True)))
        self.blocks = nn.Sequential(*blocks)
        self.fc6, self.fc7, self.fc8 = nn.Conv2d(512, 4096, 7), nn.Conv2d(4096, 4096, 1), nn.Conv2d(4096, classes, 1)
        self.confidence = nn.Linear(512, 4 * classes)

    def forward(self, x):
        features = self.blocks(x)
        h = F.dropout(F.relu(self.fc6(features)), 0.5)
        h = F.dropout(F.relu(self.fc7(h)), 0.5)
        p = -torch.expm1(-F.softplus(self.fc8(h).flatten(2)).sum(-1))  # noisy-or over the cells
        o = self.confidence(features.mean((2, 3))).view(len(x), 2, 2, -1)  # observed, true, class
        q = o.softmax(1)
        return q[:, 1, 0] * (1 - p) + q[:, 1, 1] * p


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--layout", choices=["nchw", "nhwc"], default="nchw")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()

    torch.manual_seed(0)
    if args.threads:
        torch.set_num_threads(args.threads)
    layout = torch.channels_last if args.layout == "nhwc" else torch.contiguous_format
    net = Net(args.classes).to(memory_format=layout)
    x = torch.randn(args.batch, 3, args.size, args.size).contiguous(memory_format=layout)
    z = (torch.rand(args.batch, args.classes) < 0.02).float()
    optimizer = torch.optim.SGD(net.parameters(), 1.5e-4, momentum=0.9, weight_decay=5e-4, fused=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        F.binary_cross_entropy(net(x).clamp(1e-6, 1 - 1e-6), z, reduction="sum").div(args.batch).backward()
        optimizer.step()

    step()
    times = []
    for _ in range(args.repeats):
        began = time.perf_counter()
        step()
        times.append((time.perf_counter() - began) * 1e3)
    print(json.dumps({
        "peer": "pytorch " + torch.__version__, "layout": args.layout, "threads": torch.get_num_threads(),
        "step_ms": round(statistics.median(times), 1), "step_min_ms": round(min(times), 1),
        "step_max_ms": round(max(times), 1),
        "peak_memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }))


if __name__ == "__main__":
    main()
