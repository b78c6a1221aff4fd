"""Features of pictures."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nmn

Image = pytest.importorskip("PIL.Image")


@pytest.fixture(autouse=True)
def nothing_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Have temporary files in a folder of the test, which must be empty in the end."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield
    assert os.listdir(place) == []


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a small transformer of timm's layout with random weights."""
    numpy = pytest.importorskip("safetensors.numpy")
    rng, d = np.random.default_rng(0), 64
    shapes: dict[str, tuple[int, ...]] = {
        "cls_token": (1, 1, d),
        "pos_embed": (1, 1 + 5 * 5, d),
        "patch_embed.proj.weight": (d, 3, 14, 14),
        "patch_embed.proj.bias": (d,),
        "blocks.0.attn.qkv.weight": (3 * d, d),
        "blocks.0.attn.qkv.bias": (3 * d,),
        "blocks.0.attn.proj.weight": (d, d),
        "blocks.0.attn.proj.bias": (d,),
        "blocks.0.mlp.fc1.weight": (4 * d, d),
        "blocks.0.mlp.fc1.bias": (4 * d,),
        "blocks.0.mlp.fc2.weight": (d, 4 * d),
        "blocks.0.mlp.fc2.bias": (d,),
        "blocks.0.ls1.gamma": (d,),
        "blocks.0.ls2.gamma": (d,),
    }
    for norm in ("norm", "blocks.0.norm1", "blocks.0.norm2"):
        shapes[norm + ".weight"] = shapes[norm + ".bias"] = (d,)
    path = tmp_path_factory.mktemp("weights") / "tiny.safetensors"
    numpy.save_file({k: rng.normal(0, 0.2, s).astype(np.float32) for k, s in shapes.items()}, path)
    return path


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Write pictures of noise."""
    rng, folder = np.random.default_rng(1), tmp_path_factory.mktemp("pictures")
    paths = [folder / f"p{i}.png" for i in range(5)]
    for path in paths:
        Image.fromarray(rng.integers(0, 255, (40, 50, 3), dtype=np.uint8)).save(path)
    return paths


def test_rows_are_in_the_order_of_the_paths(weights: Path, pictures: list[Path], tmp_path: Path) -> None:
    whole = nmn.extract(weights, pictures[0].parent, input_size=70, device="cpu")
    assert whole.shape == (5, 64)
    assert whole.dtype == np.float32
    assert isinstance(whole, np.memmap)
    order = [3, 0, 4, 3]
    some, rows = nmn.extract(weights, [pictures[i] for i in order], input_size=70, device="cpu", return_paths=True)
    assert (some == whole[order]).all()
    assert rows == [str(pictures[i]) for i in order]
    kept = nmn.extract(weights, np.array([str(p) for p in pictures]), input_size=70, output=tmp_path / "x.npy")
    assert (np.load(tmp_path / "x.npy") == kept).all()
    assert (kept == whole).all()


def test_pictures_that_cannot_be_read(weights: Path, pictures: list[Path], tmp_path: Path) -> None:
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"no picture")
    paths = [pictures[1], broken, pictures[0]]
    with pytest.raises(nmn.NmnError, match=r"broken\.png"):
        nmn.extract(weights, paths, input_size=70)
    rows, names = nmn.extract(weights, paths, input_size=70, skip_unreadable=True, return_paths=True)
    assert len(rows) == 2
    assert names == [str(pictures[1]), str(pictures[0])]


def test_published_weights(
    weights: Path, pictures: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))  # where macOS keeps its cache
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="dinov2-small is not downloaded yet: nmn weights get dinov2-small"):
        nmn.extract("dinov2-small", pictures)
    with pytest.raises(FileNotFoundError, match=r"weights: there is no .*dinov2-smal'.*dinov2-small, dinov2-base"):
        nmn.extract("dinov2-smal", pictures)
    cache = tmp_path / ("Library/Caches" if sys.platform == "darwin" else "cache") / "nmn" / "weights"
    cache.mkdir(parents=True)
    shutil.copy(weights, cache / "dinov2-small.pth")
    rows = nmn.extract("dinov2-small", pictures, input_size=70)
    assert (rows == nmn.extract(weights, pictures, input_size=70)).all()


def test_bad_arguments(weights: Path, pictures: list[Path], tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="weights: there is no"):
        nmn.extract(tmp_path / "none.pth", pictures)
    with pytest.raises(FileNotFoundError, match=r"paths: there is no picture .*none\.png.*number 1"):
        nmn.extract(weights, [pictures[0], tmp_path / "none.png"])
    with pytest.raises(FileNotFoundError, match="paths: there is no"):
        nmn.extract(weights, tmp_path / "none")
    with pytest.raises(ValueError, match="paths is empty"):
        nmn.extract(weights, [])
    with pytest.raises(TypeError, match="paths holds 3 at 0"):
        nmn.extract(weights, [3])
    with pytest.raises(ValueError, match=r"output is .*\.csv"):
        nmn.extract(weights, pictures, output="x.csv")
    with pytest.raises(ValueError, match="conv1"):
        nmn.extract(weights, pictures, layer="conv1")
    with pytest.raises(ValueError, match="input_size is only for a file of weights"):
        nmn.extract(tmp_path, pictures, input_size=70)
