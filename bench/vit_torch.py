"""Times the features of vision transformers, and the operations of a block, in PyTorch on the CPU:

    python3 bench/vit_torch.py [--net vit_small_patch14_dinov2] [--batch 16] [--threads 0] [--rounds 7] [--compile] [--ops]
    python3 bench/vit_torch.py --net vit_base_patch16_224 --json eager

Weights are random, and it runs in inference mode. --json prints the figures of one form, eager or compile, as
bench/table.py keeps them: medians of the clock, the mean of the processors' time. Else each line has the least and the
median of the clock's and of the processor's time in milliseconds, and the arithmetic of products for each second of the latter. What it is compared with: BenchmarkViT of kernels/transformer.
"""

import argparse
import json
import resource
import statistics
import sys
import time

import timm
import torch
import torch.nn.functional as F

MIB = 20 if sys.platform == "darwin" else 10  # bits from the unit of ru_maxrss to MiB


def spent():
    u = resource.getrusage(resource.RUSAGE_SELF)
    return u.ru_utime + u.ru_stime


def timed(name, run, rounds, flop=0.0):
    run()
    clock, processor = [], []
    for _ in range(rounds):
        begun, before = time.perf_counter(), spent()
        run()
        clock.append(time.perf_counter() - begun)
        processor.append(spent() - before)
    rate = f"  {flop / min(processor) / 1e9:.0f} GFLOP/cpu-s" if flop else ""
    print(f"{name:24} clock {min(clock) * 1e3:9.3f} {statistics.median(clock) * 1e3:9.3f}"
          f"  processor {min(processor) * 1e3:9.3f} {statistics.median(processor) * 1e3:9.3f}{rate}", flush=True)


def figures(form, net, x, warmup, rounds):
    """Milliseconds of a picture in one form, as a line of JSON."""
    run = torch.compile(net) if form == "compile" else net
    for _ in range(warmup):
        run(x)
    clock, before = [], spent()
    for _ in range(rounds):
        begun = time.perf_counter()
        run(x)
        clock.append(time.perf_counter() - begun)
    print(json.dumps({
        "peer": "pytorch " + torch.__version__, "form": form, "batch": len(x), "size": x.shape[-1],
        "threads": torch.get_num_threads(), "image_ms": statistics.median(clock) / len(x) * 1e3,
        "image_cpu_ms": (spent() - before) / rounds / len(x) * 1e3,
        "peak_memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> MIB,
    }))


def operations(net, batch, size, rounds):
    d, heads = net.embed_dim, net.blocks[0].attn.num_heads
    patch = net.patch_embed.patch_size[0]
    tokens = (size // patch) ** 2 + net.num_prefix_tokens
    hidden = net.blocks[0].mlp.fc1.out_features
    rows = batch * tokens
    x, wide = torch.randn(batch, tokens, d), torch.randn(batch, tokens, hidden)
    gain = torch.randn(d)
    for name, source, c, k in [("qkv", x, d, 3 * d), ("out", x, d, d), ("up", x, d, hidden), ("down", wide, hidden, d)]:
        w, b = torch.randn(k, c) * .05, torch.randn(k)
        timed(name, lambda: F.linear(source, w, b), rounds, 2.0 * rows * c * k)
    q, k, v = (torch.randn(batch, heads, tokens, d // heads) for _ in range(3))
    timed("attend", lambda: F.scaled_dot_product_attention(q, k, v), rounds, 4.0 * rows * tokens * d)
    timed("norm", lambda: F.layer_norm(x, (d,), gain, gain, 1e-6), rounds)
    timed("gelu", lambda: F.gelu(wide), rounds)
    pictures, filters = torch.randn(batch, 3, size, size), net.patch_embed.proj.weight
    timed("patches", lambda: F.conv2d(pictures, filters, stride=patch), rounds, 2.0 * batch * (tokens - 1) * d * patch * patch * 3)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--net", default="vit_small_patch14_dinov2")
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--size", type=int, default=224)
    p.add_argument("--threads", type=int, default=0, help="0 for one on each processor")
    p.add_argument("--warmup", type=int, default=2, help="runs before those of --json")
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--json", choices=["eager", "compile"])
    p.add_argument("--compile", action="store_true")
    p.add_argument("--ops", action="store_true")
    a = p.parse_args()
    if a.threads:
        torch.set_num_threads(a.threads)
    torch.manual_seed(1)
    net = timm.create_model(a.net, pretrained=False, img_size=a.size, num_classes=0).eval()
    with torch.inference_mode():
        if a.ops:
            operations(net, a.batch, a.size, a.rounds)
            return
        x = torch.randn(a.batch, 3, a.size, a.size)
        if a.json:
            figures(a.json, net, x, a.warmup, a.rounds)
            return
        timed("eager", lambda: net(x), a.rounds)
        if a.compile:
            compiled = torch.compile(net)
            timed("compile", lambda: compiled(x), a.rounds)
    print(f"most memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> MIB} MiB")


if __name__ == "__main__":
    main()
