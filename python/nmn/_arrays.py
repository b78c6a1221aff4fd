"""Arrays as files for the program. Arrays that are on disk are passed on, others are written once."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from typing import IO, Any, Union

import numpy as np
import numpy.typing as npt

__all__ = ["as_npy", "blocks", "shape_of", "whole_file"]

PathLike = Union[str, "os.PathLike[str]"]

#: Types of features that the program reads without conversion.
FEATURES: tuple[str, ...] = ("f4", "f8", "f2", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")

_BLOCK_BYTES = 8 << 20


def is_path(value: object) -> bool:
    """Report whether a value is the path of a file."""
    return isinstance(value, (str, os.PathLike))


def checked_path(path: PathLike, name: str) -> str:
    """Return the absolute path of an existing file.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    IsADirectoryError
        If the path names a folder.

    """
    text = os.path.abspath(os.path.expanduser(os.fspath(path)))
    if os.path.isdir(text):
        raise IsADirectoryError(f"{name}: {text!r} is a folder: name a file in it")
    if not os.path.exists(text):
        raise FileNotFoundError(f"{name}: there is no file {text!r}: name one, or pass an array")
    return text


def whole_file(array: object) -> str | None:
    """Return the `.npy` file that an array maps completely, or ``None``.

    It returns ``None`` for a view of a part, a private map (``mmap_mode="c"``) and a map of raw bytes. Writes to a
    shared map are flushed, so that another process sees them.
    """
    if not isinstance(array, np.ndarray) or array.size == 0:
        return None
    owner: Any = array
    while isinstance(owner, np.ndarray) and isinstance(owner.base, np.ndarray):
        owner = owner.base
    if not isinstance(owner, np.memmap) or owner.mode == "c" or owner.filename is None:
        return None
    path = os.fspath(owner.filename)
    if not (isinstance(path, str) and path.endswith(".npy") and os.path.isfile(path)):
        return None
    if not _same_memory(array, owner) or not array.flags.c_contiguous:
        return None
    try:
        with open(path, "rb") as file:
            shape, fortran, dtype = _read_header(file)
            start, end = file.tell(), os.fstat(file.fileno()).st_size
    except (OSError, ValueError):
        return None
    stated = (tuple(shape), dtype, start, end)
    if fortran or stated != (array.shape, array.dtype, owner.offset, owner.offset + array.nbytes):
        return None
    if owner.mode != "r":
        owner.flush()
    return os.path.abspath(path)


def _same_memory(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    return (a.ctypes.data, a.shape, a.strides, a.dtype) == (b.ctypes.data, b.shape, b.strides, b.dtype)


def _read_header(file: IO[bytes]) -> tuple[Sequence[int], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(file)
    if version == (2, 0):
        return np.lib.format.read_array_header_2_0(file)
    raise ValueError("unknown version of .npy")


def shape_of(value: Any, name: str) -> tuple[int, ...]:
    """Return the shape of an array, a table or nested lists, without a copy of the first two.

    Raises
    ------
    ValueError
        If rows differ in length.
    TypeError
        If the value is not an array.

    """
    shape = getattr(value, "shape", None)
    if shape is not None:
        return tuple(int(n) for n in shape)
    return np.shape(as_array(value, name))


def as_array(value: Any, name: str) -> npt.NDArray[Any]:
    """Return lists, Series and tables as one array. Arrays are returned unchanged.

    Raises
    ------
    TypeError
        If the value is sparse or not an array.
    ValueError
        If rows differ in length.

    """
    if isinstance(value, np.ndarray):
        return value
    if is_sparse(value):
        raise TypeError(
            f"{name} is a sparse matrix, and features are dense: reduce it, for example by sklearn.decomposition."
            f"TruncatedSVD(100).fit_transform({name}), or pass {name}.toarray() if that fits memory"
        )
    if hasattr(value, "to_numpy"):
        return np.asarray(value.to_numpy())
    if isinstance(value, (str, bytes, dict, set, frozenset)) or value is None:
        raise TypeError(f"{name} is {_kind(value)}: pass an array, a table or the path of a .npy file")
    try:
        with warnings.catch_warnings():
            # NumPy before 1.24 only warns about rows of several lengths and makes an array of lists.
            warnings.filterwarnings("error", "Creating an ndarray from ragged")
            array = np.asarray(value)
    except (ValueError, UserWarning) as error:
        raise ValueError(f"{name} is not an array, {error}: rows need the same length") from error
    return array


def is_sparse(value: object) -> bool:
    """Report whether a value has the methods of a sparse SciPy matrix."""
    return hasattr(value, "tocsr") and hasattr(value, "nnz")


def _kind(value: object) -> str:
    return "None" if value is None else f"of type {type(value).__name__}"


def blocks(value: Any, name: str) -> Iterator[tuple[int, npt.NDArray[Any]]]:
    """Yield blocks of some megabytes: the number of the first row, and the rows.

    A table with several types is converted block by block.
    """
    table = value if hasattr(value, "iloc") and hasattr(value, "to_numpy") else None
    array = value if table is not None else as_array(value, name)
    rows = int(array.shape[0])
    per_row = max(1, int(np.prod(array.shape[1:], dtype=np.int64))) * 8
    step = max(1, _BLOCK_BYTES // per_row)
    for start in range(0, rows, step):
        part = array[start : start + step] if table is None else table.iloc[start : start + step].to_numpy()
        yield start, np.asarray(part)


def as_npy(
    array_or_path: Any,
    folder: PathLike,
    name: str,
    *,
    dtypes: Sequence[str] = FEATURES,
    finite: bool = True,
    keep: npt.NDArray[np.bool_] | None = None,
) -> str:
    """Return the path of a file with an array, and write it only if it is not on disk.

    Parameters
    ----------
    array_or_path : array, memory map, Series, DataFrame, nested lists, str or path
        A path is passed on, and so is the file of a memory map of a whole `.npy` in one of `dtypes`. Anything else is
        written block by block.
    folder : path
        If to write, as ``name + ".npy"``.
    name : str
        Name of the argument in messages.
    dtypes : sequence of str
        Accepted types. Others are converted to the first.
    finite : bool
        Refuse NaN and infinite values in arrays that are written.
    keep : ndarray of bool, optional
        The rows to write.

    Returns
    -------
    str
        The absolute path.

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If a path names no file.
    TypeError
        If values are not numbers.
    ValueError
        If there are no rows, rows differ in length, or a value is NaN or infinite. The message names the row.

    """
    if is_path(array_or_path):
        return checked_path(array_or_path, name)
    allowed = [np.dtype(t) for t in dtypes]
    mapped = whole_file(array_or_path)
    if mapped is not None and array_or_path.dtype in allowed and keep is None:
        return mapped
    value = array_or_path if hasattr(array_or_path, "iloc") else as_array(array_or_path, name)
    shape = tuple(int(n) for n in value.shape)
    if not shape or 0 in shape:
        raise ValueError(f"{name} has shape {shape} and is empty: pass at least one row")
    dtype = _stored(value, allowed, name)
    path = os.path.join(os.path.abspath(os.fspath(folder)), name + ".npy")
    if keep is not None:
        shape = (int(keep.sum()), *shape[1:])
    with open(path, "wb") as file:
        header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for start, part in blocks(value, name):
            numbers = as_numbers(part, name, start)
            if finite:
                check_finite(numbers, name, start)
            if keep is not None:
                numbers = numbers[keep[start : start + len(part)]]
            np.ascontiguousarray(_narrowed(numbers, dtype, name, start)).tofile(file)
    return path


def _stored(value: Any, allowed: Sequence[np.dtype[Any]], name: str) -> np.dtype[Any]:
    dtype = getattr(value, "dtype", None)
    if isinstance(dtype, np.dtype):
        if dtype.kind == "c":
            raise ValueError(f"{name}: Complex data not supported: pass real numbers, such as {name}.real")
        if dtype in allowed:
            return dtype
    return allowed[0]


def _narrowed(numbers: npt.NDArray[Any], dtype: np.dtype[Any], name: str, start: int) -> npt.NDArray[Any]:
    if numbers.dtype == dtype:
        return numbers
    with np.errstate(over="ignore", invalid="ignore"):
        out = numbers.astype(dtype)
    if dtype.kind == "f" and numbers.dtype.kind == "f":
        lost = np.isinf(out) & ~np.isinf(numbers)
        if lost.any():
            row, column = first_place(lost, start)
            raise ValueError(f"{name} holds a value too large for {dtype} at row {row}{column}: scale the column")
    return out


def as_numbers(part: npt.NDArray[Any], name: str, start: int) -> npt.NDArray[Any]:
    """Return rows as numbers. Objects are converted.

    Raises
    ------
    TypeError
        If a value is not a number. The message names row and column.

    """
    if part.dtype.kind == "c":
        raise ValueError(f"{name}: Complex data not supported: pass real numbers, such as {name}.real")
    if part.dtype.kind in "biuf":
        return part.astype(np.uint8) if part.dtype.kind == "b" else part
    try:
        return part.astype(np.float64)
    except (TypeError, ValueError) as error:
        row, column, value = _culprit(part, start)
        kind = ValueError if isinstance(value, str) and isinstance(error, ValueError) else TypeError
        raise kind(
            f"{name} is of type {part.dtype} with {value!r} at row {row}{column}; each value as argument must be a "
            f"string that reads as a number or a real number: convert the column, or leave it out"
        ) from error


def _culprit(part: npt.NDArray[Any], start: int) -> tuple[int, str, object]:
    for index in np.ndindex(part.shape):
        try:
            float(part[index])
        except (TypeError, ValueError):
            column = f", column {', '.join(map(str, index[1:]))}" if len(index) > 1 else ""
            return start + index[0], column, part[index]
    return start, "", part.dtype


def weights_of_rows(value: Any, known: npt.NDArray[np.bool_], name: str) -> npt.NDArray[np.float64] | None:
    """Return one weight for each row with a known label, or None without weights.

    Raises
    ------
    ValueError
        If there is not one weight for each row, one is negative or not finite in float32, or all are 0.
    """
    if value is None:
        return None
    given = as_array(value, name)
    if given.shape != known.shape:
        raise ValueError(f"{name} has shape {given.shape}: pass one weight for each of the {len(known)} rows")
    weights = np.asarray(as_numbers(given, name, 0), np.float64)
    for wrong, words in (  # as in scikit-learn
        (np.isnan(weights), f"Input {name} contains NaN"),
        (weights < 0, f"Negative values in data passed to `{name}`"),
        (weights > np.finfo(np.float32).max, f"Input {name} contains infinity or a value too large for float32"),
    ):
        if wrong.any():
            at, _ = first_place(wrong)
            raise ValueError(f"{words}: {name}[{at}] is {given[at]}, want a finite number of at least 0")
    if not weights[known].any():
        raise ValueError(f"{name} is zero for all {known.sum()} rows with known labels: nothing can be learned")
    return weights[known]


def first_place(mask: npt.NDArray[Any], start: int = 0) -> tuple[int, str]:
    """Return the row and, as text, the column of the first true entry of a mask."""
    index = np.unravel_index(int(np.argmax(mask)), mask.shape)
    column = f", column {', '.join(str(int(i)) for i in index[1:])}" if len(index) > 1 else ""
    return start + int(index[0]), column


def check_finite(numbers: npt.NDArray[Any], name: str, start: int = 0) -> None:
    """Refuse NaN, infinity and values too large for float32, and name the first row with one.

    Raises
    ------
    ValueError
        If there is such a value.

    """
    if numbers.dtype.kind != "f":
        return
    with np.errstate(over="ignore"):
        bad = ~np.isfinite(numbers.astype(np.float32, copy=False))
    if not bad.any():
        return
    row, column = first_place(bad, start)
    what, cure = "infinity", f"numpy.nan_to_num({name}) or sklearn.impute.SimpleImputer"
    if np.isnan(numbers).any():
        what = "NaN"
    elif np.isfinite(numbers).all():
        what, cure = "a value too large for dtype('float32')", "sklearn.preprocessing.StandardScaler"
    raise ValueError(
        f"Input {name} contains {what} at row {row}{column}: leave such rows out, or change the values, for example by "
        f"{cure}"
    )


def refused(path: str, name: str) -> ValueError | None:
    """Return the error of bad values in a `.npy` of features, with their place. None if its values are fine."""
    if not path.endswith(".npy"):
        return None
    try:
        for start, part in blocks(np.load(path, mmap_mode="r", allow_pickle=False), name):
            check_finite(part, name, start)
    except (OSError, EOFError):
        return None
    except ValueError as error:
        return error
    return None
