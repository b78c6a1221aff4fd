"""nmn's networks in PyTorch, to measure against: convolutions, noisy-or over the instances of a bag,
feature-dependent noise model, binary cross-entropy."""
import torch
from torch import nn
from torch.nn import functional as F

# Convolutions and channels of each block, whether the last block ends in a pool although there are
# instances, fc6 with its kernel, fc7, dropout, size of the input; fc6 is padded by fc6_pad, 0 if it is missing.
VGG16 = dict(blocks=[(2, 64), (2, 128), (3, 256), (3, 512), (3, 512)], last_pool=True, fc=(4096, 7, 4096), dropout=0.5)
SCENES = dict(blocks=[(1, 16), (1, 32), (1, 64), (1, 128)], last_pool=False, fc=(256, 3, 256), dropout=0.0)
NETS = {"vgg16": (VGG16, 1000, 224), "scenes": (SCENES, 36, 48)}


class Net(nn.Module):
    def __init__(self, shape, classes, width=1.0, mil=True, nmn=True):
        super().__init__()
        wide = lambda channels: channels if width == 1 else max(8, int(channels * width / 8 + 0.5) * 8)
        channels, layers = 3, []
        for i, (depth, features) in enumerate(shape["blocks"]):
            for _ in range(depth):
                layers += [nn.Conv2d(channels, wide(features), 3, padding=1), nn.ReLU(inplace=True)]
                channels = wide(features)
            if i < len(shape["blocks"]) - 1 or shape["last_pool"] or not mil:
                layers.append(nn.MaxPool2d(2, 2, ceil_mode=True))
        self.blocks = nn.Sequential(*layers)
        fc6, kernel, fc7 = shape["fc"]
        self.fc6, self.fc7 = nn.Conv2d(channels, wide(fc6), kernel, padding=shape.get("fc6_pad", 0)), nn.Conv2d(wide(fc6), wide(fc7), 1)
        self.fc8 = nn.Conv2d(wide(fc7), classes, 1)
        self.confidence = nn.Linear(channels, 4 * classes) if nmn else None
        self.mil, self.dropout = mil, shape["dropout"]

    def forward(self, x, bags):
        features = self.blocks(x)
        h = F.dropout(F.relu(self.fc6(features)), self.dropout, self.training)
        h = F.dropout(F.relu(self.fc7(h)), self.dropout, self.training)
        logits = self.fc8(h).flatten(2).float()
        confidence = None
        if self.confidence is not None:
            pooled = features.float().mean((2, 3)).view(bags, -1, features.shape[1]).mean(1)
            confidence = self.confidence(pooled)
        return observed(logits, confidence, bags, self.mil)


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
