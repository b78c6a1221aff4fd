#!/usr/bin/env python3
"""A training step of nmn's networks in PyTorch, to measure against: forward, backward and SGD with
momentum, on pictures that are on the device already.

    bench/torch_step.py --model vgg16 --batch 4 --size 224 --layout nchw
    bench/torch_step.py --device cuda --batch 1 --frames 26 --size 565 --precision bf16 --norm --compile
    bench/torch_step.py --model resnet50 --batch 8 --size 224 --layout nhwc --norms frozen
    bench/torch_step.py --device cuda --batch 1 --frames 26 --size 565 --precision bf16 --norm --graph

On a card PyTorch has what makes it fastest: channels last, autocast to bf16 or TF32, cuDNN's measured choice of
algorithms, SGD in one fused pass, and no wait before the step's end. --compile takes the network and its loss through
torch.compile, with reduce-overhead in CUDA graphs; --graph records the whole step, as it is, in one CUDA graph. With
--norm the norm of all gradients is computed, and the loss and the norm are read, as nmn does in every step. Weights and
what SGD keeps are float32, as nmn's.

Prints one JSON line. forward_ms is without gradients and without dropout; it is left out where that would be compiled
or recorded anew.
"""
import argparse
import json
import resource
import statistics
import sys
import time

import torch

from torch_net import NETS, cross_entropy, make

MIB = 20 if sys.platform == "darwin" else 10  # bits from the unit of ru_maxrss to MiB

MODES = ["default", "reduce-overhead", "max-autotune"]


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
    p.add_argument("--compile", nargs="?", const="default", choices=MODES, help="by torch.compile, in this mode")
    p.add_argument("--linear", action="store_true", help="last layers of VGG16 as linear ones, at its own size")
    p.add_argument("--norms", choices=["folded", "frozen"], default="folded",
                   help="batch norm of a ResNet: in the convolutions, or behind them with frozen statistics")
    p.add_argument("--graph", action="store_true", help="the whole step as one CUDA graph")
    p.add_argument("--norm", action="store_true", help="compute the norm of all gradients, read it and the loss")
    p.add_argument("--threads", type=int, default=0)
    p.add_argument("--warmup", type=int, default=1)
    p.add_argument("--repeats", type=int, default=3)
    a = p.parse_args()
    if a.graph and (a.compile or a.device != "cuda"):
        p.error("--graph records steps on a card, without --compile")
    return a


class Bench:
    def __init__(self, a):
        _, classes, size = NETS[a.model]
        a.classes, a.size = a.classes or classes, a.size or size
        self.a, layout = a, torch.channels_last if a.layout == "nhwc" else torch.contiguous_format
        self.net = make(a.model, a.classes, a.width, not a.no_mil, not a.no_nmn, a.norms, a.linear).to(a.device, memory_format=layout)
        pictures = torch.randn(a.batch * a.frames, 3, a.size, a.size, device=a.device)
        self.x = pictures.contiguous(memory_format=layout)
        self.z = (torch.rand(a.batch, a.classes, device=a.device) < 0.02).float()
        self.optimizer = torch.optim.SGD(self.net.parameters(), 1e-12, momentum=0.9, weight_decay=5e-4, fused=True)
        self.loss = torch.compile(self.eager_loss, fullgraph=True, mode=a.compile) if a.compile else self.eager_loss
        self.seen = None  # loss and norm of the last step, on the device

    def eager_loss(self):
        with torch.autocast(self.a.device, torch.bfloat16, enabled=self.a.precision == "bf16"):
            p = self.net(self.x, self.a.batch)
        return cross_entropy(p, self.z)

    def work(self):
        """A step as the device sees it."""
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss()
        loss.backward()
        if self.a.norm:
            norms = torch._foreach_norm([p.grad for p in self.net.parameters()])
            self.seen = torch.stack([loss.detach(), torch.linalg.vector_norm(torch.stack(norms))])
        self.optimizer.step()

    def record(self):
        """Captures the work as one graph, after warm-up steps on another stream that allocate memory and choose algorithms."""
        beside = torch.cuda.Stream()
        beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(beside):
            for _ in range(3):
                self.work()
        torch.cuda.current_stream().wait_stream(beside)
        self.optimizer.zero_grad(set_to_none=True)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.work()
        self.replay = graph.replay

    def step(self):
        if self.a.graph:
            self.replay()
        else:
            if self.a.compile == "reduce-overhead":
                torch.compiler.cudagraph_mark_step_begin()
            self.work()
        if self.a.norm:
            self.read = self.seen.tolist()  # waits for it

    def forward(self):
        with torch.no_grad():
            self.eager_loss()

    def times(self, f):
        """Milliseconds of the measured runs."""
        all = []
        for i in range(self.a.warmup + self.a.repeats):
            if i == self.a.warmup:
                cpu = time.process_time()
            began = time.perf_counter()
            f()
            if self.a.device == "cuda":
                torch.cuda.synchronize()
            if i >= self.a.warmup:
                all.append((time.perf_counter() - began) * 1e3)
        self.cpu_ms = (time.process_time() - cpu) / self.a.repeats * 1e3
        return all


def main():
    a = arguments()
    torch.manual_seed(0)
    if a.threads:
        torch.set_num_threads(a.threads)
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = a.precision != "fp32"
    bench = Bench(a)
    if a.graph:
        bench.record()
    steps = bench.times(bench.step)
    cpu = {"step_cpu_ms": bench.cpu_ms} if a.device == "cpu" else {}
    if a.device == "cuda":
        memory = {"peak_memory_mib": torch.cuda.max_memory_allocated() >> 20, "reserved_mib": torch.cuda.max_memory_reserved() >> 20}
    else:
        memory = {"peak_memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> MIB}
    bench.net.eval()
    forward = {} if a.compile or a.graph else {"forward_ms": statistics.median(bench.times(bench.forward))}
    if a.norm:
        memory["loss"], memory["gradient_norm"] = bench.read
    middle = statistics.median(steps)
    print(json.dumps({
        "peer": "pytorch " + torch.__version__, **vars(a), "threads": torch.get_num_threads(), "on": switches(a),
        "step_ms": middle, "step_min_ms": min(steps), "step_max_ms": max(steps), **cpu, **forward,
        "images_per_s": a.batch * a.frames / middle * 1e3, **memory,
    }))


def switches(a):
    """What was on, to be read in the figures."""
    on = {"cudnn": torch.backends.cudnn.version(), "cudnn_benchmark": torch.backends.cudnn.benchmark, "fused_sgd": True,
          "autocast": a.precision == "bf16", "tf32": a.precision != "fp32", "channels_last": a.layout == "nhwc"}
    return {**on, "card": torch.cuda.get_device_name()} if a.device == "cuda" else on


if __name__ == "__main__":
    main()
