"""Writes the .pth and .npz files of this folder: python make.py (PyTorch 2.15, NumPy 2.4)."""
import collections

import numpy
import torch

torch.manual_seed(1)
a = torch.arange(6, dtype=torch.float32).reshape(2, 3) - 2.5
tensors = collections.OrderedDict(
    a=a,
    half=a.half(),
    bfloat=a.bfloat16(),
    double=a.double() / 3,
    transposed=a.t(),  # a view of the storage of a
    cut=a[1:, 1:],  # and another
    learns=torch.nn.Parameter(torch.tensor([1.0, -2.0])),
    steps=torch.tensor(7),
    empty=torch.zeros(0, 4),
)
torch.save(tensors, "zip.pth")
torch.save(tensors, "legacy.pth", _use_new_zipfile_serialization=False)
torch.save(tensors, "protocol4.pth", pickle_protocol=4)

net = torch.nn.Sequential(torch.nn.Linear(3, 2))
loop = torch.nn.DataParallel(net)
torch.save({"epoch": 3, "lr": 0.1, "state_dict": loop.state_dict(), "optimizer": {"state": {0: {"step": 5}}}}, "loop.pth")
torch.save(net, "program.pth")  # the whole module, which wants code to run: must be refused

arrays = {name: tensors[name].numpy() for name in ("a", "half", "double")}
arrays["big"] = a.numpy().astype(">f4")
arrays["text"] = numpy.array(["cat", "dog"])
numpy.savez("arrays.npz", **arrays)
numpy.savez_compressed("compressed.npz", **arrays)
numpy.savez("fortran.npz", f=numpy.asfortranarray(a.numpy()))
