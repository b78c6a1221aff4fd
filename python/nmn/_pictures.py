"""Features of pictures from a trained net."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
import numpy.typing as npt

from nmn import _arrays, _program

__all__ = ["extract"]

_WEIGHTS = (".safetensors", ".pth", ".pt", ".bin", ".npz")


def extract(
    weights: str | os.PathLike[str],
    paths: Any,
    *,
    layer: str | None = None,
    input_size: int | None = None,
    batch_size: int = 16,
    device: str = "auto",
    skip_unreadable: bool = False,
    return_paths: bool = False,
    output: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Any:
    """Compute features of pictures with a pretrained net, or with one trained by nmn.

    Parameters
    ----------
    weights : str or path
        A file of a pretrained net (vision transformers of torchvision, timm, DINOv2 and CLIP, ResNets, VGG16:
        `.safetensors`, `.pth`, `.npz`), the name of published weights, such as ``dinov2-small``, that
        ``nmn weights get`` has downloaded, or the folder or a checkpoint of a run of ``nmn train``.
    paths : str, path, sequence, array or Series
        A folder, whose pictures are sorted by name, or pictures, whose order is kept.
    layer : str, optional
        ``cls``, ``mean``, ``cls+mean`` or ``embedding`` of transformers, ``pool5``, ``fc7`` or ``probabilities`` of
        others. By default the net's usual layer.
    input_size : int, optional
        Height and width of the input of a pretrained net, in pixels.
    batch_size : int
        Pictures computed at once. Results do not depend on it.
    device : str
        ``auto``, ``cpu``, ``cuda`` or ``cuda:N``.
    skip_unreadable : bool
        Leave out pictures that cannot be read. `return_paths` returns the remaining ones.
    return_paths : bool
        Also return the paths of the rows.
    output : str or path, optional
        A `.npy` for the features. Without it they are in an unnamed file that exists as long as the array (in memory on
        Windows).
    n_jobs : int, optional
        Threads; by default one for each processor. Results do not depend on it.
    progress : bool
        Show a progress bar.

    Returns
    -------
    ndarray of float32 of shape (N, D), or with `return_paths` a pair of it and a list of str
        A memory map.

    Raises
    ------
    FileNotFoundError
        If weights or a picture do not exist.
    ValueError
        If there are no pictures, an argument does not fit the net, or published weights are not downloaded.
    NmnError
        If a picture cannot be read, or the program fails.
    """
    if output is not None and not os.fspath(output).lower().endswith(".npy"):
        raise ValueError(f"output is {os.fspath(output)!r}: want the name of a file that ends in .npy")
    source, pretrained = _weights(weights)
    with _program.scratch() as at:
        folder = str(at)
        file = os.path.join(folder, "features.npy") if output is None else os.path.abspath(os.fspath(output))
        ids = os.path.join(folder, "rows.txt")
        named, places = _pictures(paths, folder)
        arguments = ["extract", *(["--weights", source] if pretrained else [source]), *named]
        arguments += ["--output", file, "--output-ids", ids, "--json"]
        arguments += ["--batch-size", str(int(batch_size)), "--device", device]
        if layer is not None:
            arguments += ["--layer", layer]
        if input_size is not None:
            if not pretrained:
                raise ValueError("input_size is only for a file of weights, because a run has its own: leave it out")
            arguments += ["--input-size", str(int(input_size))]
        if not skip_unreadable:
            arguments += ["--max-bad-samples", "0"]
        if n_jobs is not None and n_jobs != -1:
            arguments += ["--threads", str(int(n_jobs))]
        json.loads(_program.call(arguments, progress="pictures" if progress else None))
        array = _mapped(file, keep=output is not None)
        with open(ids, encoding="utf-8", errors="surrogateescape") as lines:
            rows = [line.rstrip("\n") for line in lines]
    if places is not None:
        array, rows = _repeated(array, rows, places)
    return (array, rows) if return_paths else array


def _weights(weights: str | os.PathLike[str]) -> tuple[str, bool]:
    """Return the path of weights, or the name of published ones, and whether they are no run's."""
    path = os.path.abspath(os.path.expanduser(os.fspath(weights)))
    if os.path.exists(path):
        return path, path.lower().endswith(_WEIGHTS) and not os.path.isdir(path)
    published = [file["name"] for file in json.loads(_program.call(["weights", "--json"]))]
    if weights in published:
        return str(weights), True
    raise FileNotFoundError(
        f"weights: there is no {path!r}: name a file of weights, the folder of a run, or published weights "
        f"({', '.join(published)})"
    )


def _repeated(array: npt.NDArray[Any], rows: list[str], places: list[str]) -> tuple[npt.NDArray[Any], list[str]]:
    """Return the row of each place. Pictures that are named more than once were computed once."""
    at = {name: i for i, name in enumerate(rows)}
    kept = [name for name in places if name in at]
    return array[[at[name] for name in kept]], kept


def _pictures(paths: Any, folder: str) -> tuple[list[str], list[str] | None]:
    """Return the arguments that name pictures, and all names if some are repeated, else None.

    Folders are passed by name, pictures as a file with a list of any length.
    """
    if _arrays.is_path(paths):
        path = os.path.abspath(os.path.expanduser(os.fspath(paths)))
        if not os.path.exists(path):
            raise FileNotFoundError(f"paths: there is no {path!r}: name a folder or pictures")
        return [path], None
    values = paths.tolist() if hasattr(paths, "tolist") else list(paths)
    if not values:
        raise ValueError("paths is empty: name a folder or pictures")
    named: list[str] = []
    for i, value in enumerate(values):
        if not isinstance(value, (str, os.PathLike)):
            raise TypeError(f"paths holds {value!r} at {i}: pass names of pictures")
        path = os.path.abspath(os.path.expanduser(os.fspath(value)))
        if "\n" in path or "\r" in path:
            raise ValueError(f"paths holds {path!r} at {i}, a name with a line end: rename the picture")
        if not os.path.isfile(path):
            raise FileNotFoundError(f"paths: there is no picture {path!r}, which is number {i} of them")
        named.append(path)
    listed = os.path.join(folder, "pictures.txt")
    with open(listed, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.writelines(p + "\n" for p in dict.fromkeys(named))
    return [listed], named if len(set(named)) < len(named) else None


def _mapped(file: str, *, keep: bool) -> npt.NDArray[np.float32]:
    """Return an array on disk. Unless its file is kept, it is removed and freed with the array."""
    if not keep and os.name == "nt":
        loaded: npt.NDArray[np.float32] = np.load(file)
        return loaded
    array: npt.NDArray[np.float32] = np.load(file, mmap_mode="r")
    if not keep:
        os.unlink(file)
    return array
