"""Writes the golden fixtures of the operations of transformers, vit_*.json, by PyTorch in float64:

    python3 transformer.py oracle

Inputs are exact in float32. The tolerances are sixteen times what PyTorch's own float32 is off by, at least.
"""

import json
import sys

import torch
import torch.nn.functional as F

torch.manual_seed(19)


def draw(*shape, scale=1.0):
    return (torch.randn(*shape) * scale).float().double()


def entry(x):
    return {"shape": list(x.shape), "dtype": "float", "data": [float(v) for v in x.flatten()]}


def fixture(name, doc, inputs, expected, meta=None):
    """expected maps names to functions of the inputs, which are evaluated in both precisions."""
    results, tolerance = {}, {}
    for key, f in expected.items():
        exact = f(**inputs)
        single = f(**{k: v.float() for k, v in inputs.items()}).double()
        off, scale = float((single - exact).abs().max()), float(exact.abs().max())
        results[key] = entry(exact)
        tolerance[key] = {"atol": float(f"{max(16 * off, 1e-6 * scale):.2g}"), "f32_observed": float(f"{off:.3g}"),
                          "scale": float(f"{scale:.3g}")}
    with open(f"{sys.argv[1]}/{name}.json", "w") as out:
        json.dump({"name": name, "doc": doc, "meta": meta or {}, "inputs": {k: entry(v) for k, v in inputs.items()},
                   "expected": results, "tolerance": tolerance}, out)
        out.write("\n")


def heads_of(qkv, heads):
    n, t, d = qkv.shape
    return qkv.reshape(n, t, 3, heads, d // 3 // heads).permute(2, 0, 3, 1, 4)


def attend(qkv, heads):
    q, k, v = heads_of(qkv, heads)
    y = F.scaled_dot_product_attention(q, k, v)
    return y.transpose(1, 2).reshape(qkv.shape[0], qkv.shape[1], -1)


rows = torch.cat([draw(3, 24), draw(1, 24) * .25 + 100, torch.full((1, 24), 3.5, dtype=torch.float64)]).float().double()
fixture("vit_layer_norm", "Layer norm over the last dimension; the fourth row lies about 100, the fifth is constant.",
        {"x": rows, "gain": draw(24), "bias": draw(24)},
        {"y": lambda x, gain, bias: F.layer_norm(x, (24,), gain, bias, 1e-6)}, {"eps": 1e-6})

points = torch.cat([torch.linspace(-6, 6, 97), torch.tensor([0, 1e-4, -1e-4, 30, -30, 1e4, -1e4])]).float().double()
fixture("vit_gelu", "The three kinds of GELU: exact, tanh, and CLIP's quick one.", {"x": points}, {
    "exact": lambda x: F.gelu(x),
    "tanh": lambda x: F.gelu(x, approximate="tanh"),
    "quick": lambda x: x * torch.sigmoid(1.702 * x),
})

for name, n, t, heads, width, scale in [("one", 2, 1, 3, 8, 1), ("few", 2, 11, 2, 16, 1), ("many", 1, 70, 1, 8, 1.5), ("wide", 1, 6, 1, 80, 1)]:
    fixture(f"vit_attention_{name}", "Multi-head attention; qkv is N×T×3D as [q k v], each head after head.",
            {"qkv": draw(n, t, 3 * heads * width, scale=scale)}, {"y": lambda qkv: attend(qkv, heads)}, {"heads": heads})

x, w, b = draw(2, 3, 20), draw(13, 20, scale=.3), draw(13)
fixture("vit_linear", "A linear layer: alone, with GELU, and with LayerScale and residual.",
        {"x": x, "w": w, "b": b, "scale": draw(13), "residual": draw(2, 3, 13)}, {
            "y": lambda x, w, b, scale, residual: F.linear(x, w, b),
            "gelu": lambda x, w, b, scale, residual: F.gelu(F.linear(x, w, b)),
            "sum": lambda x, w, b, scale, residual: residual + scale * F.linear(x, w, b),
        })

pictures, filters = draw(2, 3, 8, 12), draw(10, 3, 4, 4, scale=.3)
fixture("vit_tokens", "Patch embedding as a convolution with stride 4, class token and register before the patches, positions.",
        {"x": pictures, "w": filters, "b": draw(10), "prefix": draw(2, 10), "position": draw(6, 10)}, {
            "patches": lambda x, w, b, prefix, position: F.conv2d(x, w, b, stride=4).flatten(2).transpose(1, 2),
            "tokens": lambda x, w, b, prefix, position: torch.cat(
                [prefix.expand(2, 2, 10), F.conv2d(x, w, b, stride=4).flatten(2).transpose(1, 2) + position], 1),
        })
