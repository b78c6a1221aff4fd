"""Residual nets of torchvision and timm with random weights and random statistics, for the tests of nmn. Each line of
the plan given names a mode and its arguments:

    write SOURCE NAME SIZE FOLDER   the net NAME of torchvision or timm: net.pth and net.safetensors are its state_dict(),
                                    x.npy pictures of SIZE pixels and logits.npy what it makes of them
    names SOURCE NAME FOLDER        net.safetensors alone
    folded NAME WEIGHTS FOLDER      torchvision's net NAME without batch normalisation and with biases takes WEIGHTS
                                    strictly: again.npy is what it makes of x.npy
    has MODULE...                   nothing; fails where a module is missing
"""
import importlib
import sys

import numpy


def make(source, name):
    import torch

    torch.manual_seed(5)
    if source == "timm":
        import timm

        net = timm.create_model(name, pretrained=False)
    else:
        import torchvision

        net = getattr(torchvision.models, name)(weights=None)
    for layer in net.modules():
        if isinstance(layer, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(layer.weight, 0.3, 0.8)
            torch.nn.init.normal_(layer.bias, std=0.2)
            torch.nn.init.normal_(layer.running_mean, std=0.2)
            torch.nn.init.uniform_(layer.running_var, 0.5, 1.5)
    return net.eval()


def write(source, name, size, folder):
    import torch

    net = make(source, name)
    torch.save(net.state_dict(), folder + "/net.pth")
    save(net, folder)
    x = torch.randn(2, 3, int(size), int(size))
    numpy.save(folder + "/x.npy", x.numpy())
    with torch.no_grad():
        numpy.save(folder + "/logits.npy", net(x).numpy())


def names(source, name, folder):
    save(make(source, name), folder)


def save(net, folder):
    from safetensors.torch import save_file

    save_file(net.state_dict(), folder + "/net.safetensors")


def folded(name, weights, folder):
    import torch
    import torchvision
    from safetensors.torch import load_file

    net = getattr(torchvision.models, name)(weights=None, norm_layer=lambda channels: torch.nn.Identity())
    for layer in net.modules():
        if isinstance(layer, torch.nn.Conv2d):
            layer.bias = torch.nn.Parameter(torch.zeros(layer.out_channels))
    net.load_state_dict(load_file(weights))
    with torch.no_grad():
        numpy.save(folder + "/again.npy", net.eval()(torch.from_numpy(numpy.load(folder + "/x.npy"))).numpy())


def has(*modules):
    for module in modules:
        importlib.import_module(module)


modes = {"write": write, "names": names, "folded": folded, "has": has}
for line in open(sys.argv[1], encoding="utf-8"):
    mode, *arguments = line.rstrip("\n").split("\t")
    modes[mode](*arguments)
