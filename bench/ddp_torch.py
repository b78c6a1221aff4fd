#!/usr/bin/env python3
"""A training step of nmn's networks in PyTorch on several ranks of the CPU, to measure against: DistributedDataParallel
over Gloo, the same net, batch and optimizer as bench/torch_step.py.

    bench/ddp_torch.py --ranks 2 --batch 4 --size 224 --layout nchw     starts its ranks itself, by torch's own spawn
    torchrun --nproc-per-node 2 bench/ddp_torch.py --batch 4 --size 224

--batch is that of all ranks together: each has its share, and the gradients of all are averaged so that a step learns what
one process would. DDP reduces in buckets of --bucket-mib while the backward pass goes on, and each rank updates.

Prints one JSON line: the time of a step is that of the slowest rank, the median over steps; memory is that of every rank, and the time of
all processors the mean of a step, over all ranks.
sums_ms is one all-reduce of all gradients, in DDP's buckets, with nothing beside it.
"""
import argparse
import json
import os
import resource
import socket
import statistics
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

from torch_net import NETS, Net, cross_entropy


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--ranks", type=int, default=0, help="processes; 0 for those that torchrun has started")
    p.add_argument("--model", choices=sorted(NETS), default="vgg16")
    p.add_argument("--batch", type=int, default=4, help="bags of a step, of all ranks")
    p.add_argument("--size", type=int, default=0, help="pixels; 0 for that of the network")
    p.add_argument("--width", type=float, default=1.0)
    p.add_argument("--layout", choices=["nchw", "nhwc"], default="nhwc")
    p.add_argument("--threads", type=int, default=1, help="of each rank")
    p.add_argument("--bucket-mib", type=float, default=25, help="DDP's buckets")
    p.add_argument("--warmup", type=int, default=2)
    p.add_argument("--repeats", type=int, default=5)
    a = p.parse_args()
    if not a.ranks and "RANK" not in os.environ:
        p.error("no ranks: give --ranks, or start by torchrun")
    if min(a.batch, a.threads, a.repeats) < 1 or a.ranks < 0 or a.warmup < 1:
        p.error("--batch, --threads, --warmup and --repeats are at least 1")
    return a


class Bench:
    def __init__(self, a):
        self.rank, self.ranks = dist.get_rank(), dist.get_world_size()
        torch.manual_seed(0)
        torch.set_num_threads(a.threads)
        shape, classes, size = NETS[a.model]
        layout = torch.channels_last if a.layout == "nhwc" else torch.contiguous_format
        self.batch, self.bags = a.batch, a.batch // self.ranks + (self.rank < a.batch % self.ranks)
        if a.batch < self.ranks:
            raise SystemExit(f"{a.batch} bags are not enough for {self.ranks} ranks")
        net = Net(shape, classes, a.width).to(memory_format=layout)
        self.net = DistributedDataParallel(net, bucket_cap_mb=a.bucket_mib, gradient_as_bucket_view=True)
        self.x = torch.randn(self.bags, 3, a.size or size, a.size or size).contiguous(memory_format=layout)
        self.z = (torch.rand(self.bags, classes) < 0.02).float()
        self.optimizer = torch.optim.SGD(self.net.parameters(), 1e-12, momentum=0.9, weight_decay=5e-4, fused=True)

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        # DDP averages over ranks, the loss over a rank's bags: the weight makes of both the mean over all bags.
        loss = cross_entropy(self.net(self.x, self.bags), self.z) * (self.bags * self.ranks / self.batch)
        loss.backward()
        self.optimizer.step()

    def sums(self):
        """All gradients summed with nothing else running, in pieces of DDP's size."""
        flat = torch.cat([p.grad.flatten() for p in self.net.parameters()])
        dist.barrier()
        began = time.perf_counter()
        for piece in flat.split(25 << 18):
            dist.all_reduce(piece)
        return (time.perf_counter() - began) * 1e3

    def times(self, warmup, repeats):
        """Milliseconds of the measured steps, each that of the slowest rank."""
        all = []
        for i in range(warmup + repeats):
            if i == warmup:
                cpu = time.process_time()
            dist.barrier()
            began = time.perf_counter()
            self.step()
            took = torch.tensor((time.perf_counter() - began) * 1e3)
            dist.all_reduce(took, dist.ReduceOp.MAX)
            if i >= warmup:
                all.append(took.item())
        spent = torch.tensor((time.process_time() - cpu) / repeats * 1e3)
        dist.all_reduce(spent)
        return all, spent.item()


def work(rank, a, port):
    if a.ranks:
        os.environ.update(RANK=str(rank), WORLD_SIZE=str(a.ranks), LOCAL_RANK=str(rank), MASTER_ADDR="127.0.0.1",
                          MASTER_PORT=str(port))
    dist.init_process_group("gloo")
    bench = Bench(a)
    steps, cpu = bench.times(a.warmup, a.repeats)
    peak = [None] * bench.ranks
    dist.all_gather_object(peak, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
    sums = statistics.median(bench.sums() for _ in range(3))
    if bench.rank == 0:
        middle = statistics.median(steps)
        print(json.dumps({
            "peer": "pytorch " + torch.__version__ + ", DDP, Gloo", **vars(a), "ranks": bench.ranks,
            "step_ms": middle, "step_min_ms": min(steps), "step_max_ms": max(steps), "step_cpu_ms": cpu, "sums_ms": sums,
            "images_per_s": a.batch / middle * 1e3, "peak_memory_mib": max(peak), "rank_memory_mib": peak,
        }), flush=True)
    dist.barrier()
    dist.destroy_process_group()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def main():
    a = arguments()
    if a.ranks:
        mp.start_processes(work, (a, free_port()), a.ranks, start_method="spawn")
    else:
        work(None, a, 0)


if __name__ == "__main__":
    main()
