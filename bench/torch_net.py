"""nmn's networks in PyTorch, to measure against: convolutions, noisy-or over the instances of a bag,
feature-dependent noise model, binary cross-entropy."""
import torch
from torch import nn
from torch.nn import functional as F

# Convolutions and channels of each block, whether the last block ends in a pool although there are
# instances, fc6 with its kernel, fc7, dropout, size of the input; fc6 is padded by fc6_pad, 0 if it is missing.
VGG16 = dict(blocks=[(2, 64), (2, 128), (3, 256), (3, 512), (3, 512)], last_pool=True, fc=(4096, 7, 4096), dropout=0.5)
SCENES = dict(blocks=[(1, 16), (1, 32), (1, 64), (1, 128)], last_pool=False, fc=(256, 3, 256), dropout=0.0)
# Blocks of each stage of a residual net, and whether these are bottlenecks.
RESNETS = dict(resnet18=((2, 2, 2, 2), False), resnet34=((3, 4, 6, 3), False), resnet50=((3, 4, 6, 3), True),
               resnet101=((3, 4, 23, 3), True))
NETS = {"vgg16": (VGG16, 1000, 224), "scenes": (SCENES, 36, 48),
        **{name: (shape, 1000, 224) for name, shape in RESNETS.items()}}


def make(model, classes, width=1.0, mil=True, nmn=True, norms="folded", linear=False):
    """A network of NETS. linear: a VGG16 whose last layers are linear, for pictures of its own size alone."""
    kind = ResNet if model in RESNETS else Net
    return kind(NETS[model][0], classes, width, mil, nmn, **(dict(norms=norms) if kind is ResNet else dict(linear=linear)))


def widened(channels, width):
    return channels if width == 1 else max(8, int(channels * width / 8 + 0.5) * 8)


class Net(nn.Module):
    def __init__(self, shape, classes, width=1.0, mil=True, nmn=True, linear=False):
        super().__init__()
        wide = lambda channels: widened(channels, width)
        channels, layers = 3, []
        for i, (depth, features) in enumerate(shape["blocks"]):
            for _ in range(depth):
                layers += [nn.Conv2d(channels, wide(features), 3, padding=1), nn.ReLU(inplace=True)]
                channels = wide(features)
            if i < len(shape["blocks"]) - 1 or shape["last_pool"] or not mil:
                layers.append(nn.MaxPool2d(2, 2, ceil_mode=True))
        self.blocks = nn.Sequential(*layers)
        fc6, kernel, fc7 = shape["fc"]
        self.linear = linear
        if linear:  # fc6 sees a single cell, and torchvision's VGG16 is written like this
            self.fc6, self.fc7 = nn.Linear(channels * kernel * kernel, wide(fc6)), nn.Linear(wide(fc6), wide(fc7))
            self.fc8 = nn.Linear(wide(fc7), classes)
        else:
            self.fc6 = nn.Conv2d(channels, wide(fc6), kernel, padding=shape.get("fc6_pad", 0))
            self.fc7, self.fc8 = nn.Conv2d(wide(fc6), wide(fc7), 1), nn.Conv2d(wide(fc7), classes, 1)
        self.confidence = nn.Linear(channels, 4 * classes) if nmn else None
        self.mil, self.dropout = mil, shape["dropout"]

    def forward(self, x, bags):
        features = self.blocks(x)
        h = features.flatten(1) if self.linear else features
        h = F.dropout(F.relu(self.fc6(h)), self.dropout, self.training)
        h = F.dropout(F.relu(self.fc7(h)), self.dropout, self.training)
        logits = self.fc8(h)
        return head(self, logits[:, :, None] if self.linear else logits, features, bags)


class FrozenNorm(nn.Module):
    """Batch norm whose statistics, gain and bias stay as they are."""

    def __init__(self, channels):
        super().__init__()
        for name, value in dict(mean=0.0, variance=1.0, gain=1.0, bias=0.0).items():
            self.register_buffer(name, torch.full((channels,), value))

    def forward(self, x):
        return F.batch_norm(x, self.mean, self.variance, self.gain, self.bias, training=False)


class ResNet(nn.Module):
    """A residual net as torchvision has it, fully convolutional, with its batch norm folded into the convolutions'
    weights and biases or frozen after them."""

    def __init__(self, shape, classes, width=1.0, mil=True, nmn=True, norms="folded"):
        super().__init__()
        depths, bottleneck = shape

        def conv(channels, out, size, stride=1):
            folded = norms == "folded"
            layer = nn.Conv2d(channels, out, size, stride, size // 2, bias=folded)
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            return layer if folded else nn.Sequential(layer, FrozenNorm(out))

        channels = widened(64, width)
        self.stem, self.pool = conv(3, channels, 7, 2), nn.MaxPool2d(3, 2, 1)
        self.blocks = nn.ModuleList()
        for stage, depth in enumerate(depths):
            inner = widened(64 << stage, width)
            out = 4 * inner if bottleneck else inner
            for i in range(depth):
                stride = 2 if stage > 0 and i == 0 else 1
                if bottleneck:
                    layers = [conv(channels, inner, 1), conv(inner, inner, 3, stride), conv(inner, out, 1)]
                else:
                    layers = [conv(channels, inner, 3, stride), conv(inner, out, 3)]
                down = conv(channels, out, 1, stride) if stride > 1 or channels != out else nn.Identity()
                self.blocks.append(nn.ModuleDict(dict(layers=nn.ModuleList(layers), down=down)))
                channels = out
        self.fc, self.mil = nn.Conv2d(channels, classes, 1), mil
        self.confidence = nn.Linear(channels, 4 * classes) if nmn else None

    def forward(self, x, bags):
        x = self.pool(F.relu_(self.stem(x)))
        for block in self.blocks:
            shortcut = block["down"](x)
            for layer in block["layers"][:-1]:
                x = F.relu_(layer(x))
            x = F.relu_(block["layers"][-1](x).add_(shortcut))
        return head(self, self.fc(x), x, bags)


def head(net, logits, features, bags):
    """p(z=1) of bags from the classes' maps and the last feature map."""
    confidence = None
    if net.confidence is not None:
        pooled = features.float().mean((2, 3)).view(bags, -1, features.shape[1]).mean(1)
        confidence = net.confidence(pooled)
    return observed(logits.flatten(2).float(), confidence, bags, net.mil)


def observed(logits, confidence, bags, mil):
    """p(z=1) of bags from logits, frames × classes × cells, and the confidence map, bags × 4 classes."""
    if mil:  # noisy-or: the probabilities that an instance is negative are multiplied
        p = -torch.expm1(-F.softplus(logits).sum(-1).view(bags, -1, logits.shape[1]).sum(1))
    else:
        p = torch.sigmoid(logits.mean(-1))
    if confidence is None:
        return p
    q = confidence.float().view(bags, 2, 2, -1).softmax(1)  # observed, true, class
    return q[:, 1, 0] * (1 - p) + q[:, 1, 1] * p


def cross_entropy(p, z):
    """Summed over classes, averaged over bags."""
    return F.binary_cross_entropy(p.float().clamp(1e-6, 1 - 1e-6), z, reduction="sum") / len(z)
