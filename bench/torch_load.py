#!/usr/bin/env python3
"""Loading a folder of JPEG photographs in PyTorch, to measure against `nmn bench load`: torchvision
decodes (libjpeg-turbo), bilinear interpolation, with --resize antialias the one that smooths, brings the longest
side to --size, or with --fit square both sides, and the picture stands in the top left corner of a canvas of zeros. A DataLoader makes batches on --workers processes, which
stay from pass to pass.

    bench/torch_load.py --size 565 --workers 2 --canvas float FOLDER

--canvas float has the mean subtracted, as a net takes it; uint8 leaves that to the device, as nmn does; pil has
Pillow decode and resize (antialias alone), and is uint8.
Prints one JSON line: medians of the repeats.
"""
import argparse
import json
import os
import pathlib
import statistics
import time

import numpy
import torch
import torch.nn.functional as F
import torchvision
from PIL import Image
from torchvision.io import ImageReadMode, decode_jpeg, read_file

MEAN = torch.tensor([123.68, 116.779, 103.939]).view(3, 1, 1)


class Photographs(torch.utils.data.Dataset):
    """The pictures of a folder, over again until there are enough."""

    def __init__(self, files, images, size, canvas, fit, resize):
        self.files, self.images, self.size, self.floats = files, images, size, canvas == "float"
        self.pil, self.square, self.smooth = canvas == "pil", fit == "square", resize == "antialias"

    def __len__(self):
        return self.images

    def extent(self, width, height):
        if self.square:
            return self.size, self.size
        scale = self.size / max(height, width)
        return max(1, round(width * scale)), max(1, round(height * scale))

    def __getitem__(self, i):
        if self.pil:
            picture = Image.open(self.files[i % len(self.files)]).convert("RGB")
            width, height = self.extent(*picture.size)
            small = torch.from_numpy(numpy.array(picture.resize((width, height), Image.Resampling.BILINEAR)))
            canvas = torch.zeros(3, self.size, self.size, dtype=torch.uint8)
            canvas[:, :height, :width] = small.permute(2, 0, 1)
            return canvas, height, width
        picture = decode_jpeg(read_file(self.files[i % len(self.files)]), mode=ImageReadMode.RGB)
        width, height = self.extent(picture.shape[2], picture.shape[1])
        if self.floats:
            picture = picture.float()
        small = F.interpolate(picture[None], size=(height, width), mode="bilinear", align_corners=False,
                              antialias=self.smooth)[0]
        canvas = torch.zeros(3, self.size, self.size, dtype=small.dtype)
        canvas[:, :height, :width] = small - MEAN if self.floats else small
        return canvas, height, width


def processor_seconds(pids):
    """What processes have taken of all processors."""
    ticks = 0
    for pid in pids:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder")
    p.add_argument("--images", type=int, default=0, help="of a pass; 0 for those of the folder")
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--workers", type=int, default=2)
    p.add_argument("--prefetch", type=int, default=4, help="batches that each worker makes ahead")
    p.add_argument("--size", type=int, default=565)
    p.add_argument("--canvas", choices=["float", "uint8", "pil"], default="float")
    p.add_argument("--fit", choices=["longest", "square"], default="longest")
    p.add_argument("--resize", choices=["bilinear", "antialias"], default="bilinear")
    p.add_argument("--warmup", type=int, default=1)
    p.add_argument("--repeats", type=int, default=5)
    a = p.parse_args()
    torch.set_num_threads(1)
    files = sorted(str(f) for f in pathlib.Path(a.folder).rglob("*") if f.suffix.lower() in (".jpg", ".jpeg"))
    a.images = a.images or len(files)
    batches = torch.utils.data.DataLoader(
        Photographs(files, a.images, a.size, a.canvas, a.fit, a.resize), batch_size=a.batch, num_workers=a.workers,
        persistent_workers=a.workers > 0, prefetch_factor=a.prefetch if a.workers else None)
    took, cpu = [], []
    for i in range(a.warmup + a.repeats):
        iterator = iter(batches)
        pids = [os.getpid()] + [w.pid for w in getattr(iterator, "_workers", [])]
        before, began = processor_seconds(pids), time.perf_counter()
        images = sum(len(canvas) for canvas, *_ in iterator)
        if i >= a.warmup:
            took.append((time.perf_counter() - began) / images)
            cpu.append((processor_seconds(pids) - before) / images)
    middle = statistics.median(took)
    print(json.dumps({
        "peer": f"pytorch {torch.__version__}, torchvision {torchvision.__version__}", **vars(a),
        "images_per_s": 1 / middle, "images_per_s_min": 1 / max(took), "images_per_s_max": 1 / min(took),
        "image_ms": middle * 1e3, "image_cpu_ms": statistics.median(cpu) * 1e3,
    }))


if __name__ == "__main__":
    main()
