"""Training as on the command line, with settings as keywords."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nmn import _arrays, _labels, _program, _training
from nmn._errors import UsageError
from nmn._run import Run

__all__ = ["train"]

#: Settings that have flags of their own.
_BASES = ("preset", "size")

#: Settings for files of features, and settings for files of labels.
_FEATURES = tuple(f"data.features.{split}.features" for split in ("train", "validation", "test"))
_LABELS = tuple(
    f"data.features.{split}.{kind}" for split in ("train", "validation", "test") for kind in ("labels", "truth")
)


def train(
    config: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    *,
    run_dir: str | os.PathLike[str] | None = None,
    restart: bool = False,
    progress: bool = True,
    **settings: Any,
) -> Run:
    """Train like ``nmn train``, and return the finished run.

    An interrupt saves first. Repeat the call to continue as if the run had not stopped. A folder with another run is
    refused.

    Parameters
    ----------
    config : mapping or path, optional
        Settings with the keys of a configuration file, in sections (``{"data": {"noise": 0.2}}``) or with the
        sections before them (``{"data.noise": 0.2}``), or the path of such a file.
    run_dir : path, optional
        Folder of the run; ``runs/train`` by default.
    restart : bool
        Whether to remove the run in the folder and start again.
    progress : bool
        Whether to show a progress bar, if tqdm is installed.
    **settings
        Settings that override `config`: the key of a configuration file with ``__`` between its parts, as in
        ``data__noise=0.2``, or sections as mappings, ``data={"noise": 0.2}``. ``data__features__train__features`` and
        similar keys also accept arrays, ``...__labels`` and ``...__truth`` labels in every form of the estimator.

    Returns
    -------
    Run
        The folder of the run, with its tables and pages.

    Raises
    ------
    UsageError
        For settings that do not exist, with the name of the closest one, or that exclude each other.
    NmnError
        If the training fails.
    KeyboardInterrupt
        If it was interrupted, after saving.

    Examples
    --------
    >>> run = nmn.train(preset="scenes", train__stage1_epochs=2)  # doctest: +SKIP
    >>> run.noise_rates  # doctest: +SKIP
    """
    arguments = ["train", "--json", "--progress=json"]  # messages then name settings by their keys
    if restart:
        arguments.append("--restart")
    folder = os.fspath("runs/train" if run_dir is None else run_dir)
    arguments.append(f"--run-dir={folder}")
    given: dict[str, Any] = {}
    if isinstance(config, Mapping):
        given.update(_flat(config, "."))
    elif config is not None:
        arguments.append(f"--config={_arrays.checked_path(config, 'config')}")
    given.update(_flat(settings, "__"))
    with _program.scratch() as temporary:
        names = _write_arrays(given, temporary)
        arguments += _flags(given)
        _program.call(arguments, progress="training" if progress else None, names=names)
    return Run(folder)


def _flat(settings: Mapping[str, Any], between: str, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield single settings with their full keys, also from nested sections."""
    for name, value in settings.items():
        if not isinstance(name, str):
            raise UsageError(f"the name of a setting is {name!r}: use the keys of a configuration file")
        key = prefix + name.replace(between, ".")
        if isinstance(value, Mapping) and value:
            yield from _flat(value, ".", key + ".")
        else:
            yield key, value


def _flags(given: Mapping[str, Any]) -> list[str]:
    flags = []
    for key, value in given.items():
        if key in _BASES:
            flags.append(f"--{key}={value}")
        else:
            flags.append(f"--set={key}={_yaml(key, value)}")
    return flags


def _yaml(key: str, value: Any) -> str:
    try:
        return _training.yaml_of(key, value)
    except TypeError as error:
        raise UsageError(str(error)) from error


def _write_arrays(given: dict[str, Any], folder: Path) -> dict[str, str]:
    """Replace arrays by files, and return the names of these files in messages."""
    names: dict[str, str] = {}
    for key in _FEATURES:
        if key in given and not _arrays.is_path(given[key]):
            path = _arrays.as_npy(given[key], folder, key)
            given[key], names[path] = path, key
    classes: list[Any] | None = None
    for key in _LABELS:
        if key not in given or _arrays.is_path(given[key]):
            continue
        labels = _labels.labels_of(given[key], classes=classes, name=key)
        matrix = labels.indicator()
        if matrix.dtype.kind == "i" and (matrix < 0).any():
            raise UsageError(f"{key} has unknown labels, which only NoisyLabelClassifier takes: leave out their rows")
        classes = list(labels.classes)
        path = _arrays.as_npy(matrix, folder, key, dtypes=("u1",))
        given[key], names[path] = path, key
        if not given.get("data.vocabulary"):
            words = folder / "classes.txt"
            words.write_text("".join(f"{name}\n" for name in _training.safe_names(labels.names)), encoding="utf-8")
            given["data.vocabulary"], names[str(words)] = str(words), "the classes"
    return names
