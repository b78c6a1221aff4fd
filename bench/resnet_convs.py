"""Times the convolutions of ResNet-50 one by one in PyTorch: 8 pictures of 224 pixels, channels last, two threads.

The shapes come from BenchmarkResNet50 in kernels/conv. Each line has milliseconds, the least of some runs, of the
forward pass with bias and ReLU (and the shortcut, where a block ends), of the data gradient and of the filter gradient.
"""

import sys
import time

import torch

SHAPES = [  # name, times, add, height, channels in, out, filter, padding, stride
    ("stem", 1, 0, 224, 3, 64, 7, 3, 2),
    ("1_reduce_first", 1, 0, 56, 64, 64, 1, 0, 1),
    ("1_reduce", 2, 0, 56, 256, 64, 1, 0, 1),
    ("1_3x3", 3, 0, 56, 64, 64, 3, 1, 1),
    ("1_expand", 3, 1, 56, 64, 256, 1, 0, 1),
    ("1_project", 1, 0, 56, 64, 256, 1, 0, 1),
    ("2_reduce_first", 1, 0, 56, 256, 128, 1, 0, 1),
    ("2_3x3_stride", 1, 0, 56, 128, 128, 3, 1, 2),
    ("2_project", 1, 0, 56, 256, 512, 1, 0, 2),
    ("2_reduce", 3, 0, 28, 512, 128, 1, 0, 1),
    ("2_3x3", 3, 0, 28, 128, 128, 3, 1, 1),
    ("2_expand", 4, 1, 28, 128, 512, 1, 0, 1),
    ("3_reduce_first", 1, 0, 28, 512, 256, 1, 0, 1),
    ("3_3x3_stride", 1, 0, 28, 256, 256, 3, 1, 2),
    ("3_project", 1, 0, 28, 512, 1024, 1, 0, 2),
    ("3_reduce", 5, 0, 14, 1024, 256, 1, 0, 1),
    ("3_3x3", 5, 0, 14, 256, 256, 3, 1, 1),
    ("3_expand", 6, 1, 14, 256, 1024, 1, 0, 1),
    ("4_reduce_first", 1, 0, 14, 1024, 512, 1, 0, 1),
    ("4_3x3_stride", 1, 0, 14, 512, 512, 3, 1, 2),
    ("4_project", 1, 0, 14, 1024, 2048, 1, 0, 2),
    ("4_reduce", 2, 0, 7, 2048, 512, 1, 0, 1),
    ("4_3x3", 2, 0, 7, 512, 512, 3, 1, 1),
    ("4_expand", 3, 1, 7, 512, 2048, 1, 0, 1),
]


def least(f, runs):
    times = []
    for _ in range(runs):
        began = time.process_time()
        f()
        times.append(time.process_time() - began)
    return 1e3 * min(times)


def main():
    torch.set_num_threads(int(sys.argv[2]) if len(sys.argv) > 2 else 2)
    torch.manual_seed(1)
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    last = torch.channels_last
    total = [0.0, 0.0, 0.0]
    for name, times, add, size, c, k, r, pad, stride in SHAPES:
        x = torch.randn(8, c, size, size).contiguous(memory_format=last)
        w = torch.randn(k, c, r, r).contiguous(memory_format=last)
        b = torch.randn(k)
        y = torch.conv2d(x, w, b, stride, pad)
        dy, shortcut = torch.randn_like(y), torch.randn_like(y)

        def forward():
            out = torch.conv2d(x, w, b, stride, pad)
            if add:
                out.add_(shortcut)
            out.relu_()

        def backward(dx, dw):
            torch.ops.aten.convolution_backward(dy, x, w, None, [stride] * 2, [pad] * 2, [1, 1], False, [0, 0], 1,
                                                [dx, dw, False])

        with torch.no_grad():
            row = [least(forward, runs), 0.0 if c == 3 else least(lambda: backward(True, False), runs),
                   least(lambda: backward(False, True), runs)]
        flop = 2 * y.numel() * c * r * r
        rates = [flop / ms / 1e6 if ms else 0 for ms in row]
        print(f"{name} {times} " + " ".join(f"{ms:.2f} ({rate:.0f})" for ms, rate in zip(row, rates)), flush=True)
        total = [t + times * ms for t, ms in zip(total, row)]
    print("all " + " ".join(f"{t:.1f}" for t in total), f"ms of the processors, {torch.__version__}")


if __name__ == "__main__":
    main()
