#!/usr/bin/env python3
"""Prints how near the NEON loops come to the most that llvm-mca lets a processor add and multiply.

    bench/mca.py [KERNEL ...]         the table of the loops
    bench/mca.py --step FILE ...      a model of steps, from files that nmn bench ops --json printed

It builds package kernels/simd for arm64, takes the longest innermost loop of each kernel from the program, and gives it
to llvm-mca for each processor. The table is in Markdown: cycles of a turn for each sum or product of four float32, and
the share of the peak, a loop of nothing but fused multiply-adds. For Winograd's transforms it also has the share that
the vector pipes allow, because copies, and stores on Neoverse, take a slot of theirs. Code that a call may skip counts.

It is a model, not a measurement. Data is always in the first cache of it. Needs Go and LLVM 19 or later (llvm-objdump
and llvm-mca, with the version as suffix in Debian): older ones have no models of Neoverse. Apple's processors have that
of Cyclone (2013), which has three vector units and not four, and six instructions a cycle.

The model of a step takes each operation at its bytes over the bandwidth of the memory, or its sums and products over
the peak times the share of their loop, whichever is longer. It knows neither caches nor threads that wait.
"""
import glob
import json
import math
import os
import re
import subprocess
import sys
import tempfile

PIPES = {"apple-m1": 3, "neoverse-n1": 2, "neoverse-n2": 2, "neoverse-v1": 4, "neoverse-v2": 4}
STORES_TAKE_PIPES = "neoverse"
PRODUCTS = ["tile6x16", "tile6x8", "tile3x16", "tile3x8", "outer8x12", "batch6x16", "cross4x16"]
TRANSFORMS = ["winogradInput", "winogradFilter", "winogradGradient", "winogradFilterGradient", "winogradOutput",
              "winogradDataGradient"]
ARITHMETIC = re.compile(r"(fmla|fmls|fmul|fadd|fsub)\t")
ITERATIONS = 400
LEAST_VERSION = 19
LANES = 4

# GHz, fused multiply-adds of four float32 a cycle, cores, GB/s, and the model of llvm-mca. The last machine checks the
# model: its AVX2 adds and multiplies as many numbers a cycle as Neoverse V1, and its steps have been measured.
MACHINES = {
    "M1": (3.2, 4, 4, 68.3, "apple-m1"),
    "M4": (4.4, 4, 4, 120, "apple-m1"),
    "Graviton 4": (2.8, 4, 16, 537.6 * 16 / 96, "neoverse-v2"),
    "Zen 5, AVX2": (3.65, 4, 2, 55, "neoverse-v1"),
}


def newest(tool):
    """The installed version of an LLVM tool with the highest number."""
    found = {int(path.rsplit("-", 1)[1]): path for folder in os.get_exec_path()
             for path in glob.glob(os.path.join(folder, tool + "-[0-9]*"))}
    if not found or max(found) < LEAST_VERSION:
        sys.exit(f"mca.py: there is no {tool} of LLVM {LEAST_VERSION} or later (Debian package llvm-{LEAST_VERSION})")
    return found[max(found)]


def instructions(program, kernel):
    """The instructions of a kernel: address, text, and the address that it branches to or None."""
    listing = subprocess.run([newest("llvm-objdump"), "-d", "--no-show-raw-insn",
                              f"--disassemble-symbols=nmn/kernels/simd.{kernel}NEON.abi0", program],
                             check=True, capture_output=True, text=True).stdout
    found = []
    for address, text in re.findall(r"^ *([0-9a-f]+):\s+(.*?)$", listing, re.M):
        to = re.search(r"0x([0-9a-f]+) <", text)
        found.append((int(address, 16), text, int(to[1], 16) if to and text.startswith(("b", "cb", "tb")) else None))
    if not found:
        sys.exit(f"mca.py: the program has no kernel {kernel}")
    return found


def loop(program, kernel):
    """The loop without others inside that has the most arithmetic, as assembly."""
    code, best = instructions(program, kernel), []
    for end, (address, _, to) in enumerate(code):
        if to is None or to > address:
            continue
        body = [c for c in code[:end + 1] if c[0] >= to]
        if any(inner is not None and inner <= at for at, _, inner in body[:-1]):
            continue
        if count(ARITHMETIC, [text for _, text, _ in body]) > count(ARITHMETIC, best):
            best = [re.sub(r"0x[0-9a-f]+ <.*", ".Lend", text) for _, text, _ in body[:-1]]
            best.append(body[-1][1].split()[0] + "\t.Lstart")
    if not count(ARITHMETIC, best):
        sys.exit(f"mca.py: {kernel} has no loop with sums")
    return best


def count(pattern, body):
    return sum(bool(re.match(pattern, text)) for text in body)


def cycles(body, processor):
    """Cycles of a turn of a loop."""
    source = ".Lstart:\n" + "\n".join(body) + "\n.Lend:\n"
    out = subprocess.run([newest("llvm-mca"), "-mtriple=aarch64", f"-mcpu={processor}", f"-iterations={ITERATIONS}"],
                         check=True, input=source, capture_output=True, text=True).stdout
    return int(re.search(r"Total Cycles: *(\d+)", out)[1]) / ITERATIONS


def most(body, processor):
    """The share of the peak at which the vector pipes are full."""
    slots = count(ARITHMETIC, body)
    others = count(r"mov\tv|fcm..\t|bic\t", body)
    if processor.startswith(STORES_TAKE_PIPES):
        others += count(r"st", body)
    return slots / (slots + others)


def table(loops):
    print("| loop | " + " | ".join(PIPES) + " |")
    print("|:--" + "|--:" * len(PIPES) + "|")
    for kernel, body in loops.items():
        cells = []
        for processor, pipes in PIPES.items():
            each = cycles(body, processor) / count(ARITHMETIC, body)
            cells.append(f"{each:.3f}, {100 / each / pipes:.0f} %")
            if kernel in TRANSFORMS:
                cells[-1] += f" of {100 * most(body, processor):.0f}"
        print(f"| {kernel} | " + " | ".join(cells) + " |")


def operation(op):
    """The work of an operation by kernel: turns of the loops of transforms, GFLOP of products."""
    if "gflop" not in op:
        return {}
    algorithm, backward = op["algorithm"], "gradient" in op["pass"]
    if not algorithm.startswith("Winograd"):
        return {"outer8x12" if algorithm.startswith("outer") else "tile6x16": op["gflop"]}
    (n, h, w, c), (k, r, s, _) = [[int(x) for x in part.split("×")] for part in op["shape"].split(" * ")]
    cells = round(op["gflop"] * 1e9 / (2 * n * k * r * s * c))  # of a picture's output
    if cells == h * w or "data" in op["pass"]:
        tiles = n * math.ceil(h / 4) * math.ceil(w / 4)
    else:
        tiles = n * math.ceil(math.sqrt(cells) / 4) ** 2
    products = 2 * 36 * tiles * c * k / 1e9
    if "filter" in op["pass"]:
        return {"cross4x16": products, "winogradInput": tiles * c / LANES, "winogradGradient": tiles * k / LANES,
                "winogradFilterGradient": c * k / LANES}
    if backward:
        c, k = k, c
    return {"batch6x16": products, "winogradInput": tiles * c / LANES, "winogradFilter": c * k / LANES,
            "winogradDataGradient" if backward else "winogradOutput": tiles * k / LANES}


def seconds(op, loops, machine, cores):
    """The time of an operation, and the part of it that its memory takes alone."""
    clock, pipes, _, bandwidth, processor = machine
    arithmetic = 0
    for kernel, work in operation(op).items():
        turn = loops[kernel][processor]
        if kernel in TRANSFORMS:
            arithmetic += work * turn["cycles"] / clock / 1e9
        else:
            arithmetic += work / (2 * LANES * pipes * clock * turn["share"])
    return max(arithmetic / cores, op.get("bytes", 0) / bandwidth / 1e9)


def step(loops, files):
    processors = {machine[4] for machine in MACHINES.values()}
    turns = {kernel: {p: {"cycles": cycles(body, p), "share": count(ARITHMETIC, body) / PIPES[p] / cycles(body, p)}
                      for p in processors} for kernel, body in loops.items()}
    print("| machine | step | one core, ms | GFLOP/s | cores | all of them, ms |")
    print("|:--|:--|--:|--:|--:|--:|")
    for name, machine in MACHINES.items():
        for file in files:
            with open(file, encoding="utf-8") as f:
                bench = json.load(f)
            one, all_cores = (sum(seconds(op, turns, machine, n) for op in bench["ops"]) for n in (1, machine[2]))
            work = sum(op.get("gflop", 0) for op in bench["ops"])
            print(f"| {name} | {bench['model']} {bench['batch']}×{bench['size']} | {1e3 * one:.1f} | {work / one:.0f} | "
                  f"{machine[2]} | {1e3 * all_cores:.1f} |")


def main():
    arguments = sys.argv[1:]
    steps = arguments[:1] == ["--step"]
    kernels = PRODUCTS + TRANSFORMS if steps or not arguments else arguments
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "simd.test")
        root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
        subprocess.run(["go", "test", "-c", "-o", program, "./kernels/simd"], check=True, cwd=root,
                       env={**os.environ, "GOARCH": "arm64", "GOOS": "linux", "CGO_ENABLED": "0"})
        loops = {kernel: loop(program, kernel) for kernel in kernels}
    if steps:
        step(loops, arguments[1:])
    else:
        table(loops)


if __name__ == "__main__":
    main()
