#!/usr/bin/env python3
"""Prints how near the NEON loops of matrix products come to the most that llvm-mca lets a processor multiply.

    bench/mca.py [KERNEL ...]

It builds package kernels/simd for arm64, takes the innermost loop of each kernel from the program, and gives it to
llvm-mca for each processor. The table is in Markdown: cycles for a fused multiply-add of four float32, and the share
of a loop of nothing else. It is a model, not a measurement. Data is always in the first cache of it. Needs Go and LLVM
19 or later (llvm-objdump and llvm-mca, with the version as suffix in Debian): older ones have no models of Neoverse.
Apple's processors have that of Cyclone (2013), which has three vector units and not four, and six instructions a cycle.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

PROCESSORS = ["apple-m1", "neoverse-n1", "neoverse-n2", "neoverse-v1", "neoverse-v2"]
KERNELS = ["tile6x16NEON", "tile6x8NEON", "tile3x16NEON", "tile3x8NEON", "outer8x12NEON", "batch6x16NEON", "cross4x16NEON"]
FMA = "fmla\t"
ITERATIONS = 400
LEAST_VERSION = 19


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
                              f"--disassemble-symbols=nmn/kernels/simd.{kernel}.abi0", program],
                             check=True, capture_output=True, text=True).stdout
    found = []
    for address, text in re.findall(r"^ *([0-9a-f]+):\s+(.*?)$", listing, re.M):
        to = re.search(r"0x([0-9a-f]+) <", text)
        found.append((int(address, 16), text, int(to[1], 16) if to and text.startswith(("b", "cb", "tb")) else None))
    if not found:
        sys.exit(f"mca.py: the program has no kernel {kernel}")
    return found


def loop(program, kernel):
    """The loop without others inside that has the most multiply-adds, as assembly."""
    code, best = instructions(program, kernel), []
    for end, (address, _, to) in enumerate(code):
        if to is None or to > address:
            continue
        body = [c for c in code[:end + 1] if c[0] >= to]
        if any(inner is not None for _, _, inner in body[:-1]):
            continue
        if count([text for _, text, _ in body]) > count(best):
            best = [text for _, text, _ in body[:-1]] + [body[-1][1].split()[0] + "\t.Lstart"]
    if not count(best):
        sys.exit(f"mca.py: {kernel} has no loop with multiply-adds")
    return best


def count(body):
    return sum(text.startswith(FMA) for text in body)


def cycles(body, processor):
    """Cycles for one multiply-add of a loop."""
    source = ".Lstart:\n" + "\n".join(body) + "\n"
    out = subprocess.run([newest("llvm-mca"), "-mtriple=aarch64", f"-mcpu={processor}", f"-iterations={ITERATIONS}"],
                         check=True, input=source, capture_output=True, text=True).stdout
    return int(re.search(r"Total Cycles: *(\d+)", out)[1]) / ITERATIONS / count(body)


def main():
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "simd.test")
        root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
        subprocess.run(["go", "test", "-c", "-o", program, "./kernels/simd"], check=True, cwd=root,
                       env={**os.environ, "GOARCH": "arm64", "GOOS": "linux", "CGO_ENABLED": "0"})
        peak = {p: cycles([f"{FMA}v{i}.4s, v24.4s, v25.s[0]" for i in range(24)], p) for p in PROCESSORS}
        print("| loop | " + " | ".join(PROCESSORS) + " |")
        print("|---" * (len(PROCESSORS) + 1) + "|")
        for kernel in sys.argv[1:] or KERNELS:
            body = loop(program, kernel)
            cells = [f"{cycles(body, p):.3f}, {100 * peak[p] / cycles(body, p):.0f} %" for p in PROCESSORS]
            print(f"| {kernel.removesuffix('NEON')} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
