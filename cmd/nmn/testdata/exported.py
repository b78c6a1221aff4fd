"""Runs what nmn export writes in the programs it is for. Each line of the plan given names a mode and files:

    onnx GRAPH INPUT OUTPUT...    ONNX Runtime: the input .npy goes in, outputs come out as .npy
    check GRAPH                   the checker of the format
    pth WEIGHTS TO                safetensors and NumPy read both files of WEIGHTS, PyTorch writes TO.pth of
                                  them in the zip format and TO.legacy.pth in the one before
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


def has(*names):
    for name in names:
        importlib.import_module(name)


modes = {"onnx": run_onnx, "check": check_onnx, "pth": write_pth, "has": has}
for line in open(sys.argv[1], encoding="utf-8"):
    mode, *files = line.rstrip("\n").split("\t")
    modes[mode](*files)
