"""Runs what nmn export writes in the programs it is for. Each line of the plan given names a mode and files:

    onnx GRAPH INPUT OUTPUT...    ONNX Runtime: the input .npy goes in, outputs come out as .npy
    check GRAPH                   the checker of the format
    pth WEIGHTS TO                safetensors and NumPy read both files of WEIGHTS, PyTorch writes TO.pth of
                                  them in the zip format and TO.legacy.pth in the one before
    vgg16 FOLDER                  torchvision's VGG16 with random weights: PyTorch writes it in both formats, and
                                  its logits at 224 and 565 pixels as a fully convolutional network; the same
                                  weights as .safetensors under torchvision's and timm's names, .npz and
                                  .caffemodel
    has MODULE...                 nothing; fails where a module is missing
"""
import importlib
import sys

import numpy


def run_onnx(graph, source, *outputs):
    import onnxruntime

    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    results = session.run(None, {session.get_inputs()[0].name: numpy.load(source)})
    assert len(results) == len(outputs), [o.name for o in session.get_outputs()]
    for result, path in zip(results, outputs):
        numpy.save(path, result)


def check_onnx(graph):
    import onnx

    onnx.checker.check_model(onnx.load(graph), full_check=True)


def write_pth(weights, to):
    import safetensors.numpy
    import torch

    tensors = safetensors.numpy.load_file(weights + ".safetensors")
    arrays = numpy.load(weights + ".npz")
    assert sorted(arrays.files) == sorted(tensors), (arrays.files, sorted(tensors))
    for name, tensor in tensors.items():
        assert numpy.array_equal(arrays[name], tensor), name
    state = {name: torch.from_numpy(tensor.copy()) for name, tensor in tensors.items()}
    torch.save(state, to + ".pth")
    torch.save(state, to + ".legacy.pth", _use_new_zipfile_serialization=False)


def write_vgg16(folder):
    import torch
    import torchvision

    torch.manual_seed(3)
    net = torchvision.models.vgg16(weights=None).eval()
    for layer in net.modules():
        if hasattr(layer, "weight"):
            torch.nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            torch.nn.init.normal_(layer.bias, std=0.1)
        if isinstance(layer, torch.nn.MaxPool2d):
            layer.ceil_mode = True
    torch.save(net.state_dict(), folder + "/zip.pth")
    torch.save(net.state_dict(), folder + "/legacy.pth", _use_new_zipfile_serialization=False)
    write_others(net.state_dict(), folder)
    fc6, fc7, fc8 = net.classifier[0], net.classifier[3], net.classifier[6]
    with torch.no_grad():
        for size in (224, 565):
            x = torch.randn(1, 3, size, size)
            numpy.save(f"{folder}/x{size}.npy", x.numpy())
            y = net.features(x)
            y = torch.relu(torch.nn.functional.conv2d(y, fc6.weight.reshape(4096, 512, 7, 7), fc6.bias))
            y = torch.relu(torch.nn.functional.conv2d(y, fc7.weight[:, :, None, None], fc7.bias))
            y = torch.nn.functional.conv2d(y, fc8.weight[:, :, None, None], fc8.bias)
            numpy.save(f"{folder}/logits{size}.npy", y.permute(0, 2, 3, 1).contiguous().numpy())
            if size == 224:
                print("torchvision's own logits differ by", (net(x) - y.flatten(1)).abs().max().item())


def write_others(state, folder):
    import safetensors.torch

    safetensors.torch.save_file(state, folder + "/torchvision.safetensors")
    numpy.savez(folder + "/arrays.npz", **{name: tensor.numpy() for name, tensor in state.items()})
    timm = {}
    for name, tensor in state.items():
        layer, kind = name.rsplit(".", 1)
        layer = {"classifier.0": "pre_logits.fc1", "classifier.3": "pre_logits.fc2", "classifier.6": "head.fc"}.get(layer, layer)
        if kind == "weight" and layer.startswith("pre_logits"):  # convolutions there
            tensor = tensor.reshape(4096, 512, 7, 7) if layer.endswith("1") else tensor[:, :, None, None]
        timm[layer + "." + kind] = tensor.contiguous()
    safetensors.torch.save_file(timm, folder + "/timm.safetensors")
    write_caffe(state, folder + "/released.caffemodel")


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes([n]))


def write_caffe(state, path):
    """The released kind: layers of the first form, blobs with num, channels, height and width, BGR."""
    names = [f"conv{block}_{i}" for block, depth in enumerate((2, 2, 3, 3, 3), 1) for i in range(1, depth + 1)] + ["fc6", "fc7", "fc8"]
    weights = [name for name in state if name.endswith(".weight")]
    field = lambda number, payload: (varint(number << 3 | 2), varint(len(payload)), payload)
    with open(path, "wb") as file:
        for layer, name in zip(names, weights, strict=True):
            parts = list(field(4, layer.encode()))
            for kind in ("weight", "bias"):
                values = state[name.removesuffix("weight") + kind].numpy()
                if layer == "conv1_1" and kind == "weight":
                    values = values[:, ::-1]
                shape = [1] * (4 - values.ndim) + list(values.shape)
                data = numpy.ascontiguousarray(values, "<f4").tobytes()
                sizes = b"".join(varint(number << 3) + varint(n) for number, n in enumerate(shape, 1))
                head = sizes + varint(5 << 3 | 2) + varint(len(data))
                parts += [varint(6 << 3 | 2), varint(len(head) + len(data)), head, data]
            file.write(varint(2 << 3 | 2) + varint(sum(map(len, parts))))
            file.writelines(parts)


def has(*names):
    for name in names:
        importlib.import_module(name)


modes = {"onnx": run_onnx, "check": check_onnx, "pth": write_pth, "vgg16": write_vgg16, "has": has}
for line in open(sys.argv[1], encoding="utf-8"):
    mode, *files = line.rstrip("\n").split("\t")
    modes[mode](*files)
