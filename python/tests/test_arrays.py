"""Arrays are passed on where they are files, and written once where they are not."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from nmn._arrays import as_npy, whole_file


@pytest.fixture
def saved(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "saved.npy"
    np.save(path, np.arange(12, dtype=np.float32).reshape(4, 3))
    return path


def test_maps_of_whole_files_are_passed_on(saved: pathlib.Path, tmp_path: pathlib.Path) -> None:
    whole = np.load(saved, mmap_mode="r")
    assert as_npy(whole, tmp_path, "X") == str(saved)
    assert as_npy(np.asarray(whole), tmp_path, "X") == str(saved)
    assert as_npy(str(saved), tmp_path, "X") == str(saved)
    assert not (tmp_path / "X.npy").exists()


def test_what_is_no_whole_file_is_written(saved: pathlib.Path, tmp_path: pathlib.Path) -> None:
    private = np.load(saved, mmap_mode="c")
    private[0, 0] = 7
    whole = np.load(saved, mmap_mode="r")
    for part in (whole[1:], whole[:, ::2], whole[::-1], private, whole.T, whole.copy(), np.asfortranarray(whole)):
        path = as_npy(part, tmp_path, "X")
        assert path == str(tmp_path / "X.npy")
        np.testing.assert_array_equal(np.load(path), part)


def test_changes_of_a_shared_map_are_flushed(saved: pathlib.Path) -> None:
    shared = np.load(saved, mmap_mode="r+")
    shared[0, 0] = 9
    assert whole_file(shared) == str(saved)
    assert np.load(saved)[0, 0] == 9


def test_types_are_kept_or_brought_to_the_first(tmp_path: pathlib.Path) -> None:
    for dtype in (np.float16, np.float32, np.float64, np.int8, np.uint8, np.int64):
        assert np.load(as_npy(np.eye(3, dtype=dtype), tmp_path, "X")).dtype == dtype
    assert np.load(as_npy(np.eye(3) > 0, tmp_path, "X")).dtype == np.float32
    assert np.load(as_npy(np.eye(3), tmp_path, "X", dtypes=("f4",))).dtype == np.float32
    np.testing.assert_array_equal(np.load(as_npy([[1, 2], [3, 4]], tmp_path, "X")), [[1, 2], [3, 4]])
    objects = np.array([[1, "2.5"], [3, 4]], object)
    np.testing.assert_array_equal(np.load(as_npy(objects, tmp_path, "X")), [[1, 2.5], [3, 4]])


def test_rows_beyond_a_block_are_all_written(tmp_path: pathlib.Path) -> None:
    x = np.random.default_rng(0).normal(size=(70_000, 40))
    np.testing.assert_array_equal(np.load(as_npy(x, tmp_path, "X")), x)


def test_tables(tmp_path: pathlib.Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2, 3], "b": [0.5, 1.5, 2.5], "c": [True, False, True]})
    np.testing.assert_array_equal(np.load(as_npy(frame, tmp_path, "X")), [[1, 0.5, 1], [2, 1.5, 0], [3, 2.5, 1]])
    with pytest.raises(ValueError, match=r"X is of type object with 'dog' at row 1, column 1"):
        as_npy(frame.assign(b=[1, "dog", 2]), tmp_path, "X")


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        ([[1, 2], [3]], ValueError, "X is not an array.*same length"),
        ([[1.0, np.nan]], ValueError, r"Input X contains NaN at row 0, column 1: .*nan_to_num"),
        ([[1.0, 2.0], [np.inf, 0]], ValueError, r"X contains infinity at row 1, column 0"),
        ([[1, None]], ValueError, r"X contains NaN at row 0, column 1"),
        ([[{"a": 1}, 2]], TypeError, r"row 0, column 0; .*convert"),
        ([[1j, 2]], ValueError, "Complex data not supported"),
        (np.empty((0, 3)), ValueError, r"X has shape \(0, 3\) and is empty"),
        (np.empty((3, 0)), ValueError, r"X has shape \(3, 0\)"),
        ([[0, 1e300]], ValueError, r"Input X contains a value too large for dtype\('float32'\) at row 0, column 1"),
        (None, TypeError, "X is None"),
        ("/no/such/file.npy", FileNotFoundError, "X: there is no file"),
        ("/", IsADirectoryError, "X: .* is a folder"),
    ],
)
def test_refused(value: object, error: type[Exception], words: str, tmp_path: pathlib.Path) -> None:
    with pytest.raises(error, match=words):
        as_npy(value, tmp_path, "X", dtypes=("f4",))


def test_sparse_features_are_refused(tmp_path: pathlib.Path) -> None:
    scipy = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match=r"X is a sparse matrix.*TruncatedSVD\(100\).*toarray"):
        as_npy(scipy.csr_matrix(np.eye(3)), tmp_path, "X")
