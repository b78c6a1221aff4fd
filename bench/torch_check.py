#!/usr/bin/env python3
"""Holds torch_net.py to the golden numbers that nmn is held to: loss, probabilities and the gradients of all weights
of a small net, so that what is measured beside nmn computes the same.

    bench/torch_check.py tools/conform/testdata/oracle

Prints the largest difference in units of the tolerance of each number; exit code 1 where one is above 1.
"""
import json
import pathlib
import sys

import torch

from torch_net import Net, cross_entropy


def tensor(array):
    values = torch.tensor(array["data"] if isinstance(array, dict) else array, dtype=torch.float32)
    return values.view(array["shape"]) if isinstance(array, dict) else values


def network(meta, params):
    blocks = [(len(channels), channels[0]) for channels in meta["blocks"]]
    shape = dict(blocks=blocks, last_pool=True, fc=(meta["fc"], params["fc6.w"]["shape"][2], meta["fc"]),
                 fc6_pad=meta["fc6_pad"], dropout=0.0)
    net = Net(shape, meta["K"])
    convolutions = [layer for layer in net.blocks if isinstance(layer, torch.nn.Conv2d)]
    names = [f"conv{i + 1}_{j + 1}" for i, (depth, _) in enumerate(blocks) for j in range(depth)]
    return net, dict(zip(names, convolutions), fc6=net.fc6, fc7=net.fc7, fc8=net.fc8)


def main(folder):
    read = lambda name: json.loads((pathlib.Path(folder) / f"{name}.json").read_text())
    given, golden = read("tiny_net_params"), read("tiny_net")
    params, expected, tolerance = given["inputs"]["params"], golden["expected"], golden["tolerance"]
    net, layers = network(given["meta"], params)
    places = {}
    for name, layer in layers.items():
        places[f"{name}.w"], places[f"{name}.b"] = layer.weight, layer.bias
    places["nmn.U"], places["nmn.b"] = net.confidence.weight, net.confidence.bias
    with torch.no_grad():
        for name, place in places.items():
            place.copy_(tensor(params[name]).reshape(place.shape))
    x, z = tensor(given["inputs"]["x"]), tensor(given["inputs"]["z"]).float()
    p = net(x, len(x))
    loss = cross_entropy(p, z)
    loss.backward()
    computed = {"loss": loss, "p_obs": p}
    computed.update({f"grads.{name}": place.grad for name, place in places.items()})
    worst = 0.0
    for name, got in computed.items():
        group, _, key = name.partition(".")
        want = tensor(expected[group][key] if key else expected[group])
        bound = tolerance[name]["atol"] + tolerance[name].get("rtol", 0) * want.abs()
        apart = ((got.detach().reshape(want.shape) - want).abs() / bound).max().item()
        worst = max(worst, apart) if apart == apart else float("inf")
        if not apart <= 1:
            print(f"{name} is {apart:.3g} tolerances apart")
    print(f"{len(computed)} tensors, at most {worst:.3g} tolerances apart; loss {loss.item():.7g}")
    sys.exit(worst > 1)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
