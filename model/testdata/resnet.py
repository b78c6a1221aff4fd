"""Writes resnet_basic and resnet_bottleneck, small residual nets of torchvision's own blocks with random weights and
random statistics of batch normalisation: NAME.safetensors is their state_dict(), and NAME_expected.safetensors has a
batch, what PyTorch makes of it in float64 (features of the last stage, logits of the cells) and, by automatic
differentiation, losses and gradients with respect to the folded weights and biases, for

    mean  the logits of the cells averaged, cross-entropy
    mil   the cells joined by noisy-or, cross-entropy
    fd    mil with a feature-dependent noise model on the mean of the features

    python3 resnet.py FOLDER
"""

import copy
import pathlib
import sys

import torch
from safetensors.torch import save_file
from torch.nn import functional
from torchvision.models.resnet import BasicBlock, Bottleneck

CLASSES, PICTURES, HEIGHT, WIDTH = 5, 3, 33, 27


class Net(torch.nn.Module):
    def __init__(self, block, depths, widths):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(3, widths[0], 7, stride=2, padding=3, bias=False)
        self.bn1 = torch.nn.BatchNorm2d(widths[0])
        self.stages = len(depths)
        channels = widths[0]
        for i, (depth, width) in enumerate(zip(depths, widths)):
            blocks = []
            for j in range(depth):
                stride = 2 if i > 0 and j == 0 else 1
                down = None
                if stride > 1 or channels != width * block.expansion:
                    down = torch.nn.Sequential(
                        torch.nn.Conv2d(channels, width * block.expansion, 1, stride=stride, bias=False),
                        torch.nn.BatchNorm2d(width * block.expansion))
                blocks.append(block(channels, width, stride, down))
                channels = width * block.expansion
            setattr(self, f"layer{i + 1}", torch.nn.Sequential(*blocks))
        self.fc = torch.nn.Linear(channels, CLASSES)

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        for i in range(self.stages):
            x = getattr(self, f"layer{i + 1}")(x)
        return x, functional.conv2d(x, self.fc.weight[:, :, None, None], self.fc.bias)


def folded(net):
    """The same net without normalisation: each convolution has a bias."""
    net = copy.deepcopy(net)
    for module in list(net.modules()):
        pairs = [(a, b) for a, b in [("conv1", "bn1"), ("conv2", "bn2"), ("conv3", "bn3"), ("0", "1")]
                 if isinstance(getattr(module, b, None), torch.nn.BatchNorm2d)]
        for conv, norm in pairs:
            c, n = getattr(module, conv), getattr(module, norm)
            scale = n.weight / torch.sqrt(n.running_var + n.eps)
            c.bias = torch.nn.Parameter((n.bias - n.running_mean * scale).detach())
            c.weight = torch.nn.Parameter((c.weight * scale[:, None, None, None]).detach())
            setattr(module, norm, torch.nn.Identity())
    return net


def losses(net, x, z, noise, bias):
    features, logits = net(x)
    yield "mean", functional.binary_cross_entropy_with_logits(logits.mean((2, 3)), z, reduction="sum") / PICTURES
    p = 1 - torch.exp(-functional.softplus(net(x)[1]).sum((2, 3)))
    yield "mil", functional.binary_cross_entropy(p, z, reduction="sum") / PICTURES
    features, logits = net(x)
    p = 1 - torch.exp(-functional.softplus(logits).sum((2, 3)))
    o = torch.einsum("zykd,nd->nzyk", noise, features.mean((2, 3))) + bias
    q = torch.softmax(o, 1)
    observed = q[:, 1, 1] * p + q[:, 1, 0] * (1 - p)
    yield "fd", functional.binary_cross_entropy(observed, z, reduction="sum") / PICTURES


def make(folder, name, block, depths, widths, seed):
    torch.manual_seed(seed)
    net = Net(block, depths, widths)
    for module in net.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.weight, .5, 1.5)
            torch.nn.init.normal_(module.bias, 0, .3)
            torch.nn.init.normal_(module.running_mean, 0, .3)
            torch.nn.init.uniform_(module.running_var, .3, 2)
    torch.nn.init.normal_(net.fc.weight, 0, .3)
    net.eval()
    save_file(net.state_dict(), folder / f"{name}.safetensors")
    x = torch.randn(PICTURES, 3, HEIGHT, WIDTH)
    z = (torch.rand(PICTURES, CLASSES) < .4).float()
    noise = torch.nn.Parameter(.3 * torch.randn(2, 2, CLASSES, net.fc.in_features))
    bias = torch.nn.Parameter(torch.randn(2, 2, CLASSES))
    expected = {"x": x, "z": z, "nmn.weight": noise.data.clone(), "nmn.bias": bias.data.clone()}
    net, x, z = net.double(), x.double(), z.double()
    noise, bias = (torch.nn.Parameter(v.data.double()) for v in (noise, bias))
    plain = folded(net)
    with torch.no_grad():
        for a, b in zip(net(x), plain(x)):
            assert (a - b).abs().max() < 1e-10
        expected["features"], expected["logits"] = plain(x)
    for kind, loss in losses(plain, x, z, noise, bias):
        expected[f"{kind}.loss"] = loss.detach().reshape(1)
        params = dict(plain.named_parameters())
        if kind == "fd":
            params |= {"nmn.weight": noise, "nmn.bias": bias}
        for key, g in zip(params, torch.autograd.grad(loss, list(params.values()))):
            expected[f"{kind}.{key}"] = g
    for key, value in expected.items():
        if value.dtype == torch.float64:
            expected[key] = value.float()  # computed in float64; files need no more digits than are compared
    save_file({k: v.contiguous() for k, v in expected.items()}, folder / f"{name}_expected.safetensors")


folder = pathlib.Path(sys.argv[1])
make(folder, "resnet_basic", BasicBlock, [1, 2, 1], [4, 6, 5], 1)
make(folder, "resnet_bottleneck", Bottleneck, [2, 1, 1], [4, 3, 4], 2)
