#!/usr/bin/env python3
"""Writes the golden fixtures of the operations of residual nets: strided convolutions, a convolution with its shortcut
and 3×3 maxima, with gradients, computed by PyTorch in float64 from inputs in float32.

    bench/torch_residual_fixtures.py tools/conform/testdata/oracle
"""
import json
import pathlib
import sys

import torch
from torch.nn.functional import conv2d, max_pool2d


def array(t):
    return {"shape": list(t.shape), "dtype": "float", "data": t.detach().double().flatten().tolist()}


def drawn(generator, *shape):
    return torch.randn(*shape, generator=generator).double().requires_grad_()


def bound(wide, narrow):
    """A tolerance of 20 times what PyTorch itself is off in float32."""
    off = (wide.detach() - narrow.detach().double()).abs().max().item()
    scale = wide.detach().abs().max().item()
    return {"atol": float(f"{20 * max(off, 1e-8 * scale):.2g}"), "f32_observed": float(f"{off:.3g}"), "scale": float(f"{scale:.3g}")}


def convolution(name, seed, x, w, pad, stride):
    generator = torch.Generator().manual_seed(seed)
    x, w, b = drawn(generator, *x), drawn(generator, *w), drawn(generator, w[0])
    shape = conv2d(x, w, b, stride, pad).shape
    dy, shortcut = drawn(generator, *shape), drawn(generator, *shape)
    results = []
    for cast in (torch.Tensor.double, torch.Tensor.float):
        a = [cast(t.detach()).requires_grad_() for t in (x, w, b)]
        y = conv2d(*a, stride, pad)
        y.backward(cast(dy.detach()))
        c = [cast(t.detach()).requires_grad_() for t in (x, w, b, shortcut)]
        added = torch.relu(conv2d(*c[:3], stride, pad) + c[3])
        added.backward(cast(dy.detach()))
        results.append(dict(y=y, y_add=added, d_x=a[0].grad, d_w=a[1].grad, d_b=a[2].grad,
                            add_d_x=c[0].grad, add_d_w=c[1].grad, add_d_b=c[2].grad, add_d_shortcut=c[3].grad))
    wide, narrow = results
    return {
        "name": name,
        "doc": f"2-d cross-correlation (no kernel flip), stride {stride}, zero padding {pad}. d_y is the given upstream "
               "gradient of y, or of y_add = max(y + shortcut, 0), whose gradients are add_d_x and so on.",
        "meta": {"padding": pad, "stride": stride, "layout": "x [N,Cin,H,W]; w [Cout,Cin,kh,kw]; b [Cout]; y [N,Cout,Ho,Wo]"},
        "inputs": {k: array(v) for k, v in dict(x=x, w=w, b=b, d_y=dy, shortcut=shortcut).items()},
        "expected": {k: array(v) for k, v in wide.items()},
        "tolerance": {k: bound(wide[k], narrow[k]) for k in wide},
    }


def maxima(name, seed):
    generator = torch.Generator().manual_seed(seed)
    inputs, expected = {}, {}
    for group, shape in dict(odd=(2, 3, 5, 7), even=(1, 2, 6, 4), one=(1, 2, 1, 1), row=(1, 1, 1, 5), ties=(2, 3, 7, 8)).items():
        x = drawn(generator, *shape)
        if group == "ties":  # zeros of a ReLU and few other numbers
            x = (x.detach().clamp(min=0) * 2).round().div(2).requires_grad_()
        y = max_pool2d(x, 3, 2, 1)
        dy = drawn(generator, *y.shape)
        y.backward(dy)
        inputs[group] = dict(x=array(x), d_y=array(dy))
        expected[group] = dict(y=array(y), d_x=array(x.grad))
    return {
        "name": name,
        "doc": "Max pool 3x3, stride 2, padding 1, floor mode; the first largest element takes the gradient d_y, and "
               "gradients of windows that overlap add.",
        "meta": {}, "inputs": inputs, "expected": expected, "tolerance": {"*": {"atol": 1e-6}},
    }


def main(folder):
    for fixture in (
        convolution("conv_1x1s2", 1, (2, 5, 5, 4), (3, 5, 1, 1), 0, 2),
        convolution("conv_3x3p1s2", 2, (2, 4, 6, 5), (5, 4, 3, 3), 1, 2),
        convolution("conv_7x7p3s2", 3, (1, 3, 11, 10), (4, 3, 7, 7), 3, 2),
        maxima("maxpool3", 4),
    ):
        path = pathlib.Path(folder) / f"{fixture['name']}.json"
        path.write_text(json.dumps(fixture) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
