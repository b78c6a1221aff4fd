"""The estimator has the numbers of the command line, and behaves as scikit-learn's estimators do."""

from __future__ import annotations

import contextlib
import errno
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import nmn
from nmn import _training
from nmn._program import program

#: Settings under which a fit lasts some tenths of a second.
QUICK: dict[str, Any] = {
    "hidden_layers": (16,),
    "noise_rates": "folds:2",
    "fold_epochs": 3,
    "epochs": 3,
    "learning_rate": 0.02,
}

#: Settings under which a fit learns what there is to learn.
LONGER: dict[str, Any] = {**QUICK, "fold_epochs": 12, "epochs": 12}


def data(rows: int = 240, classes: int = 3, seed: int = 0) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return features and a matrix of labels that depend on them."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, 6)).astype(np.float32)
    return X, (X[:, :classes] + 0.3 * random.normal(size=(rows, classes)) > 0.4).astype(np.uint8)


def blobs(rows: int = 240, seed: int = 0) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """Return features of four classes, the classes, and these with a fifth of them redrawn."""
    random = np.random.default_rng(seed)
    classes = random.integers(4, size=rows)
    X = 3 * np.eye(4)[classes] + random.normal(size=(rows, 4))
    noisy = classes.copy()
    redrawn = random.random(rows) < 0.2
    noisy[redrawn] = random.integers(4, size=redrawn.sum())
    return X, classes, noisy


@pytest.fixture
def quick_path() -> Iterator[pathlib.Path]:
    """Give a folder where the many files of a run are written fast."""
    with _training.quick_scratch(0) as folder:
        yield folder


@pytest.fixture(scope="module")
def fitted() -> nmn.NoisyLabelClassifier:
    return nmn.NoisyLabelClassifier(**QUICK).fit(*data())


def left_behind() -> set[str]:
    """Return the scratch folders of this user."""
    places = {tempfile.gettempdir(), "/dev/shm"}
    return {
        str(p)
        for place in places
        if os.path.isdir(place)
        for p in pathlib.Path(place).glob("nmn-*")
        if p.is_dir() and (p / "X.npy").exists()
    }


def on_the_command_line(folder: pathlib.Path, X: Any, Y: Any, *flags: str) -> npt.NDArray[Any]:
    """Train and predict as a user of the command line does."""
    np.save(folder / "x.npy", X)
    np.save(folder / "y.npy", Y)
    run = [program(), "train", "x.npy", "--labels", "y.npy", "--run-dir", "run", "--quiet", *flags]
    subprocess.run(run, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    predict = [program(), "predict", "run", "x.npy", "--format", "csv", "--quiet"]
    text = subprocess.run(predict, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout
    return np.loadtxt(text.splitlines(), delimiter=",", skiprows=1, ndmin=2)[:, 1:].astype(np.float32)


def test_numbers_are_those_of_the_command_line(quick_path: pathlib.Path) -> None:
    X, Y = data(150)
    want = on_the_command_line(
        quick_path, X, Y, "--set=data.validation_share=0", "--set=data.test_share=0", "--set=train.checkpoint_epochs=0"
    )
    model = nmn.NoisyLabelClassifier().fit(X, Y)
    assert model.predict_proba(X).tobytes() == want.tobytes()
    rates = _training.read_table(quick_path / "run" / "recipe" / "rates.csv")
    np.testing.assert_array_equal(np.asarray(model.noise_rates_["q01"]), np.asarray(rates["q01"], float))
    issues = _training.read_table(quick_path / "run" / "recipe" / "audit.csv")
    np.testing.assert_array_equal(model.label_issues_["row"], np.asarray(issues["id"], int) - 1)
    np.testing.assert_array_equal(model.label_issues_["p_wrong"], np.asarray(issues["p_wrong"], float))


def test_settings_are_those_of_the_command_line(quick_path: pathlib.Path) -> None:
    X, Y = data()
    flags = [
        "--set=data.test_share=0",
        "--set=data.validation_share=0.25",
        "--arm=nmn-fd",
        "--set=net.hidden=[8,4]",
        "--epochs=4",
        "--seed=7",
    ]
    flags += [
        "--batch-size=32",
        "--learning-rate=0.01",
        "--set=train.optimizer=adamw",
        "--set=train.weight_decay=0.02",
        "--set=net.dropout=0.1",
    ]
    flags += [
        "--set=data.features.standardise=false",
        "--set=train.patience=2",
        "--set=train.noise.miss_rate=[0.2,0.1,0.3]",
        "--set=train.noise.false_rate=[0.05]",
        "--set=train.ema=0.9",
    ]
    want = on_the_command_line(quick_path, X, Y, *flags)
    model = nmn.NoisyLabelClassifier(
        arm="nmn-fd",
        hidden_layers=(8, 4),
        epochs=4,
        random_state=7,
        batch_size=32,
        learning_rate=0.01,
        optimizer="adamw",
        weight_decay=0.02,
        dropout=0.1,
        standardise=False,
        validation_share=0.25,
        patience=2,
        miss_rate=[0.2, 0.1, 0.3],
        false_rate=0.05,
        threads=1,
        device="cpu",
        options={"train.ema": 0.9},
    ).fit(X, Y)
    assert model.predict_proba(X).tobytes() == want.tobytes()
    assert not hasattr(model, "label_issues_")


def test_known_rates_are_held() -> None:
    X, Y = data()
    rates = [(0.3, 0.05), (0.1, 0.02), (0.2, 0.01)]
    model = nmn.NoisyLabelClassifier(recipe="estimate", noise_rates=rates, hidden_layers=(), epochs=2).fit(X, Y)
    np.testing.assert_allclose(np.asarray(model.noise_rates_["q01"]), [0.3, 0.1, 0.2], rtol=1e-6)
    with pytest.raises(ValueError, match="matrix of 3 rows"):
        nmn.NoisyLabelClassifier(noise_rates=[(0.1, 0.2)] * 2).fit(X, Y)


def test_forms_of_features_do_not_matter(fitted: nmn.NoisyLabelClassifier, tmp_path: pathlib.Path) -> None:
    X, Y = data()
    want = fitted.predict_proba(X)
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    for given in (str(tmp_path / "x.npy"), tmp_path / "x.npy", np.load(tmp_path / "x.npy", mmap_mode="r"), X.tolist()):
        np.testing.assert_array_equal(fitted.predict_proba(given), want)
    again = nmn.NoisyLabelClassifier(**QUICK).fit(tmp_path / "x.npy", tmp_path / "y.npy")
    np.testing.assert_array_equal(again.predict_proba(np.asfortranarray(X)), want)


def test_threshold_and_decision(fitted: nmn.NoisyLabelClassifier) -> None:
    X, Y = data()
    p, holds = fitted.predict_proba(X), fitted.predict(X)
    np.testing.assert_array_equal(holds, p > fitted.threshold_)
    np.testing.assert_array_equal(fitted.decision_function(X) > 0, holds == 1)
    assert fitted.score(X, Y) == np.mean((holds == Y).all(axis=1)) > 0.5
    fitted_at = nmn.NoisyLabelClassifier(**QUICK, threshold=0.9).fit(X, Y)
    np.testing.assert_array_equal(fitted_at.predict(X), p > 0.9)


def test_one_class_each() -> None:
    X, classes, noisy = blobs()
    names = np.array(["ant", "bee", "cat", "dog"])
    model = nmn.NoisyLabelClassifier(**LONGER).fit(X, names[noisy])
    assert list(model.classes_) == list(names)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_array_equal(names[p.argmax(axis=1)], model.predict(X))
    np.testing.assert_array_equal(p.argmax(axis=1), model.decision_function(X).argmax(axis=1))
    assert model.score(X, names[classes]) > 0.9
    issues = model.label_issues_
    rows = np.asarray(issues["row"])
    assert np.mean(classes[rows] != noisy[rows]) > 0.9
    np.testing.assert_array_equal(np.asarray(issues["given"]), names[noisy[rows]])
    assert np.mean(np.asarray(issues["suggested"]) == names[classes[rows]]) > 0.8
    assert (np.diff(np.asarray(issues["p_wrong"])) <= 0).all()
    matrix = np.asarray(model.noise_matrix_)
    np.testing.assert_allclose(matrix.sum(axis=1), 1)
    assert (matrix.argmax(axis=1) == range(4)).all()
    assert np.abs(np.diag(matrix) - 0.85).max() < 0.15
    with pytest.raises(AttributeError, match="noise_matrix_ needs one label for each row"):
        nmn.NoisyLabelClassifier(**QUICK).fit(*data()).noise_matrix_  # noqa: B018


@pytest.mark.parametrize("classes", [2, 4])
def test_classes_that_exclude_each_other(classes: int, tmp_path: pathlib.Path) -> None:
    X, true, noisy = blobs(480)
    true, noisy = true % classes, noisy % classes
    names = np.array(["ant", "bee", "cat", "7"])
    exclusive = {"data.classes": "exclusive"}
    run = tmp_path / "run"
    model = nmn.NoisyLabelClassifier(
        **LONGER, validation_share=0.25, options=exclusive, min_error=0, run_folder=run
    ).fit(X, names[noisy])
    p = model.predict_proba(X)
    assert p.shape == (480, classes)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(model.predict(X), model.classes_[p.argmax(axis=1)])
    assert model.score(X, names[true]) > 0.9
    matrix = np.asarray(model.noise_matrix_)
    np.testing.assert_allclose(matrix.sum(axis=1), 1, rtol=1e-5)
    assert np.abs(np.diag(matrix) - (0.85 if classes == 4 else 0.9)).max() < 0.15
    with pytest.raises(AttributeError, match="use noise_matrix_"):
        model.noise_rates_  # noqa: B018
    issues = model.label_issues_
    rows, given = np.asarray(issues["row"]), np.asarray(issues["given"])
    assert len(set(rows)) == len(rows) == 360
    np.testing.assert_array_equal(given, names[noisy[rows]])
    assert (np.asarray(issues["suggested"]) != given).all()
    table = tmp_path / "rows.csv"
    subprocess.run([program(), "audit", str(run), f"--rows={table}", "--page=", "--min-error=0", "--json"], check=True)
    want = _training.read_table(table)
    p_wrong = dict(zip(map(int, want["id"]), map(float, want["p_wrong"])))
    np.testing.assert_allclose(np.asarray(issues["p_wrong"]), [p_wrong[row + 1] for row in rows], rtol=1e-6)
    assert np.mean(true[rows[:20]] != noisy[rows[:20]]) > 0.8
    model.save(tmp_path / "model.nmn")
    again = nmn.NoisyLabelClassifier.load(tmp_path / "model.nmn")
    np.testing.assert_array_equal(again.predict_proba(X), p)
    np.testing.assert_array_equal(np.asarray(again.noise_matrix_), matrix)
    if classes == 2:
        with pytest.raises(ValueError, match="no threshold is estimated"):
            nmn.NoisyLabelClassifier(**LONGER, options=exclusive, threshold="f1").fit(X, noisy)


def test_held_out_rows_of_one_class_each_are_no_issues() -> None:
    X, _, noisy = blobs()
    model = nmn.NoisyLabelClassifier(**QUICK, validation_share=0.25, min_error=0).fit(X, noisy)
    rows = np.asarray(model.label_issues_["row"])
    assert len(set(rows)) == len(rows) == 180
    assert (np.asarray(model.label_issues_["given"]) == noisy[rows]).all()
    assert (np.asarray(model.label_issues_["suggested"]) != noisy[rows]).all()


def test_two_classes() -> None:
    X, _, noisy = blobs()
    y = np.where(noisy > 1, "yes", "no")
    model = nmn.NoisyLabelClassifier(**LONGER).fit(X, y)
    p = model.predict_proba(X)
    assert p.shape == (len(X), 2)
    assert model.decision_function(X).shape == (len(X),)
    np.testing.assert_array_equal(model.predict(X), model.classes_[p.argmax(axis=1)])
    np.testing.assert_array_equal(model.predict(X) == "yes", model.decision_function(X) > 0)
    assert len(model.noise_rates_) == 1
    issues = model.label_issues_
    np.testing.assert_array_equal(np.asarray(issues["given"]), y[np.asarray(issues["row"])])
    assert (np.asarray(issues["given"]) != np.asarray(issues["suggested"])).all()
    matrix = np.asarray(model.noise_matrix_)
    np.testing.assert_allclose(matrix.sum(axis=1), 1)
    assert np.abs(np.diag(matrix) - 0.9).max() < 0.1
    balanced = nmn.NoisyLabelClassifier(**LONGER, threshold="f1").fit(X, y)
    yes = balanced.predict_proba(X)[:, 1]
    assert 0 < balanced.threshold_ < 1
    assert balanced.threshold_ != 0.5
    np.testing.assert_array_equal(balanced.predict(X) == balanced.classes_[1], yes > balanced.threshold_)
    np.testing.assert_array_equal(balanced.decision_function(X) > 0, yes > balanced.threshold_)
    strict = nmn.NoisyLabelClassifier(**LONGER, threshold=0.9).fit(X, y)
    np.testing.assert_array_equal(strict.predict(X) == "yes", p[:, 1] > np.float32(0.9))


def test_minus_one_is_a_class_unless_it_means_unknown() -> None:
    X, _, noisy = blobs()
    plain = nmn.NoisyLabelClassifier(**QUICK).fit(X, noisy)
    shifted = nmn.NoisyLabelClassifier(**QUICK).fit(X, noisy - 1)
    assert list(shifted.classes_) == [-1, 0, 1, 2]
    np.testing.assert_array_equal(shifted.predict(X), plain.predict(X) - 1)
    assert shifted.score(X, noisy - 1) == plain.score(X, noisy)
    holes = np.where(np.arange(len(X)) % 5 == 0, -1, noisy)
    left_out = nmn.NoisyLabelClassifier(**QUICK, unknown=-1).fit(X, holes)
    assert list(left_out.classes_) == [0, 1, 2, 3]
    known = holes >= 0
    np.testing.assert_array_equal(
        left_out.predict_proba(X), nmn.NoisyLabelClassifier(**QUICK).fit(X[known], noisy[known]).predict_proba(X)
    )
    assert left_out.score(X, holes) == left_out.score(X[known], noisy[known])


def test_a_column_of_labels_is_one_label_each() -> None:
    X, Y = data()
    want = nmn.NoisyLabelClassifier(**QUICK).fit(X, Y[:, 0]).predict_proba(X)
    columns: list[Any] = [Y[:, :1]]
    with contextlib.suppress(ImportError):
        import pandas

        columns.append(pandas.DataFrame({"ill": Y[:, 0]}))
    for column in columns:
        with pytest.warns(
            UserWarning, match=r"A column-vector y .* shape \(240, 1\) .* one label for each row; pass y"
        ):
            model = nmn.NoisyLabelClassifier(**QUICK).fit(X, column)
        assert list(model.classes_) == [0, 1]
        np.testing.assert_array_equal(model.predict_proba(X), want)


def test_lists_of_names(fitted: nmn.NoisyLabelClassifier) -> None:
    X, Y = data()
    names = np.array(["sky", "sea, rough", "sun"])  # columns are sorted
    order = np.argsort(names)
    lists = [list(names[row == 1]) for row in Y]
    model = nmn.NoisyLabelClassifier(**QUICK).fit(X, lists)
    assert list(model.classes_) == sorted(names)
    plain = nmn.NoisyLabelClassifier(**QUICK).fit(X, Y[:, order])
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    got = model.predict(X)
    assert got == [list(names[order][row == 1]) for row in plain.predict(X)]
    assert set(np.asarray(model.label_issues_["label"])) <= set(names)
    assert model.score(X, got) == 1
    ordered = nmn.NoisyLabelClassifier(**QUICK, classes=list(names)).fit(X, lists)
    np.testing.assert_array_equal(ordered.predict_proba(X), fitted.predict_proba(X))


def test_unknown_labels() -> None:
    X, Y = data()
    holes = Y.astype(float)
    holes[::3] = np.nan
    rows = nmn.NoisyLabelClassifier(**QUICK).fit(X, holes)
    known = ~np.isnan(holes).all(axis=1)
    plain = nmn.NoisyLabelClassifier(**QUICK).fit(X[known], holes[known])
    np.testing.assert_array_equal(rows.predict_proba(X), plain.predict_proba(X))
    holes[1, 1] = holes[4, 0] = np.nan
    model = nmn.NoisyLabelClassifier(**QUICK, min_error=0).fit(X, holes)
    assert not np.array_equal(model.predict_proba(X), plain.predict_proba(X))
    issues = model.label_issues_
    asked = set(zip(np.asarray(issues["row"]).tolist(), np.asarray(issues["label"]).tolist()))
    assert asked == {(r, k) for r, k in zip(*np.nonzero(~np.isnan(holes)))}
    assert all(Y[r, k] == g for r, k, g in zip(issues["row"], issues["label"], issues["given"]))


def test_unknown_labels_are_not_absent_ones() -> None:
    X, Y = data(900)
    train, test = slice(0, 600), slice(600, None)
    unknown = np.random.default_rng(5).random((600, Y.shape[1])) < 0.5
    left_out = nmn.NoisyLabelClassifier(**LONGER).fit(X[train], np.where(unknown, -1, Y[train].astype(int)))
    absent = nmn.NoisyLabelClassifier(**LONGER).fit(X[train], np.where(unknown, 0, Y[train]))
    assert np.asarray(left_out.noise_rates_["q01"]).mean() < 0.1 < 0.3 < np.asarray(absent.noise_rates_["q01"]).mean()
    labels = np.asarray(left_out.noise_rates_["labels"])
    np.testing.assert_array_equal(labels, (Y[train] * ~unknown).sum(axis=0))
    wrong = [np.abs(m.predict_proba(X[test]) - Y[test]).mean() for m in (left_out, absent)]
    assert wrong[0] < wrong[1]


def test_wrong_labels_come_first() -> None:
    X, Y = data(600)
    random = np.random.default_rng(3)
    wrong = (Y == 1) & (random.random(Y.shape) < 0.3)
    model = nmn.NoisyLabelClassifier(**LONGER, min_error=0).fit(X, np.where(wrong, 0, Y))
    first = model.label_issues_[: int(wrong.sum() / 2)]
    assert np.mean(wrong[np.asarray(first["row"]), np.asarray(first["label"])]) > 0.8
    rates = model.noise_rates_
    assert np.abs(np.asarray(rates["q01"]) - 0.3).mean() < 0.15
    assert (np.asarray(rates["q01_low"]) <= np.asarray(rates["q01_high"])).all()


def test_issues_have_the_index_of_the_table(tmp_path: pathlib.Path) -> None:
    pandas = pytest.importorskip("pandas")
    X, _, noisy = blobs()
    names = pandas.Index([f"r{i}" for i in range(len(X))], name="sample")
    times = pandas.date_range("2026-01-01", periods=len(X), tz="UTC")
    for table, label in (
        (pandas.DataFrame(X, index=names), noisy),
        (X, pandas.Series(noisy, index=names)),
        (X, pandas.Series(noisy, index=times)),
        (
            X,
            pandas.Series(
                np.eye(4, dtype=int)[noisy].tolist(), index=pandas.MultiIndex.from_product([range(60), [*"abcd"]])
            ),
        ),
    ):
        model = nmn.NoisyLabelClassifier(**QUICK, min_error=0).fit(table, label)
        index = (table if hasattr(table, "index") else label).index
        issues = model.label_issues_
        assert len(issues) > 0
        assert issues.index.equals(index[issues["row"]])
        assert issues.index.name == index.name
        model.save(tmp_path / "model.nmn")
        again = nmn.NoisyLabelClassifier.load(tmp_path / "model.nmn").label_issues_
        assert [*map(str, again.index)] == [*map(str, issues.index)]
        assert again.index.name == index.name
    assert model.fit(X, noisy).label_issues_.index.equals(pandas.RangeIndex(len(model.label_issues_)))


def test_no_issues_are_explained_if_rates_cannot_be_told_from_0() -> None:
    random = np.random.default_rng(2)
    X, Y = random.normal(size=(120, 3)), random.integers(2, size=(120, 2))  # independent of X
    model = nmn.NoisyLabelClassifier(**QUICK).fit(X, Y)
    with pytest.warns(
        UserWarning, match=r"label_issues_ is empty, and the noise rates of 2 of 2 classes do not differ"
    ):
        assert len(model.label_issues_) == 0


def test_saved_and_pickled(fitted: nmn.NoisyLabelClassifier, tmp_path: pathlib.Path) -> None:
    X, _ = data()
    want = fitted.predict_proba(X)
    fitted.save(tmp_path / "model.nmn")
    assert [p.name for p in tmp_path.iterdir()] == ["model.nmn"]
    for again in (nmn.NoisyLabelClassifier.load(tmp_path / "model.nmn"), pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(again.predict_proba(X), want)
        np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
        np.testing.assert_array_equal(np.asarray(again.label_issues_), np.asarray(fitted.label_issues_))
        np.testing.assert_array_equal(np.asarray(again.noise_rates_["q10"]), np.asarray(fitted.noise_rates_["q10"]))
        assert again.get_params()["fold_epochs"] == 3
    for broken in (b"", b"PK", (tmp_path / "model.nmn").read_bytes()[:-50]):
        (tmp_path / "broken.nmn").write_bytes(broken)
        with pytest.raises(ValueError, match=r"is no file of NoisyLabelClassifier\.save"):
            nmn.NoisyLabelClassifier.load(tmp_path / "broken.nmn")
    with pytest.raises(FileNotFoundError, match="there is no file"):
        nmn.NoisyLabelClassifier.load(tmp_path / "none.nmn")
    with pytest.raises(ValueError, match="not fitted yet"):
        nmn.NoisyLabelClassifier().save(tmp_path / "none.nmn")


def test_a_run_folder_is_kept(quick_path: pathlib.Path) -> None:
    X, Y = data()
    before = left_behind() | {str(quick_path)}
    model = nmn.NoisyLabelClassifier(**QUICK, run_folder=quick_path / "run").fit(X, Y)
    for name in ("config.yaml", "report.html", "last.safetensors", "q.csv"):
        assert (quick_path / "run" / name).exists()
    assert (quick_path / "run" / "vocabulary.txt").read_text().startswith("class 0")
    np.testing.assert_array_equal(model.predict_proba(X), nmn.NoisyLabelClassifier(**QUICK).fit(X, Y).predict_proba(X))
    again = nmn.NoisyLabelClassifier(**QUICK, run_folder=quick_path / "run").fit(X, Y)  # which is read
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    subprocess.run([program(), "audit", "run", "--page="], cwd=quick_path, check=True, stdout=subprocess.DEVNULL)
    with pytest.raises(nmn.UsageError, match=r"run_folder: .* holds a run on other data \(X\.npy differs\)"):
        nmn.NoisyLabelClassifier(**QUICK, run_folder=quick_path / "run").fit(X + 1, Y)
    with pytest.raises(nmn.UsageError, match="holds another run"):
        nmn.NoisyLabelClassifier(**(QUICK | {"learning_rate": 0.1}), run_folder=quick_path / "run").fit(X, Y)
    assert left_behind() <= before


def large(X: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return features with values that float32 does not hold."""
    return np.where(X > 2, 1e300, X.astype(float))


def saved(X: npt.NDArray[Any]) -> str:
    """Write features to a file, and return its path."""
    with tempfile.NamedTemporaryFile(suffix=".npy", delete=False) as file:
        np.save(file, X)
    return file.name


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda X, Y: (X, Y[1:]), ValueError, "inconsistent numbers of samples: X has 240 rows and y 239"),
        (lambda X, Y: (X, Y * 0), ValueError, r"y has no row with the class 0 and 2 more.*empty_classes='keep'"),
        (lambda X, Y: (X, Y * [1, 0, 1]), ValueError, r"y has no row with the class 1,.*leave out its column"),
        (lambda X, Y: (X, Y.astype(int) * 0 - 1), ValueError, "y holds no known label:"),
        (lambda X, Y: (X, np.ones(len(Y))), ValueError, "y holds only one class, 1.0"),
        (lambda X, Y: (np.where(X > 2, np.inf, X), Y), ValueError, r"X contains infinity at row \d+, column \d: leave"),
        (lambda X, Y: (large(X), Y), ValueError, r"^Input X contains a value too large for .* at row 13, column 1"),
        (lambda X, Y: (saved(large(X)), Y), ValueError, r"^Input X contains a value too large .* row 13, column 1"),
        (lambda X, Y: (saved(np.where(X > 2, np.inf, X)), Y), ValueError, r"^Input X .* infinity at row 13, column 1"),
        (lambda X, Y: (np.where(X > 2, np.nan, X), Y), ValueError, r"X contains NaN at row \d+, column \d: leave"),
        (lambda X, Y: (np.where(X > 2, {}, X), Y), TypeError, r"X .* with \{\} at row \d+, column \d; .*convert"),
        (lambda X, Y: (X[:, 0], Y), ValueError, "Expected 2D array, got 1D array instead.*Reshape"),
        (lambda X, Y: (X, Y * 2), ValueError, r"y holds 2 at row \d+, column \d, want 1, 0"),
        (lambda _, Y: ("x.csv", Y), FileNotFoundError, "X: there is no file"),
        (lambda X, _: (X, None), ValueError, "requires y to be passed"),
    ],
)
def test_refused(change: Any, error: type[Exception], words: str) -> None:
    before = left_behind()
    X, Y = change(*data())
    with pytest.raises(error, match=words):
        nmn.NoisyLabelClassifier(**QUICK).fit(X, Y)
    if isinstance(X, str) and os.path.exists(X):
        os.remove(X)
    assert left_behind() == before


def test_wrong_settings_are_refused() -> None:
    X, Y = data()
    for settings, words in (
        ({"learning_rate": "fast"}, '^learning_rate: "fast" is not a number'),
        ({"arm": "leg"}, "arm"),
        ({"arm": "clean", "noise_rates": None}, "true labels of the training set, which X does not have"),
        ({"epochs": -1}, "^epochs is -1, want at least 0"),
        ({"epochs": 1.5}, r"^epochs is 1\.5: pass a whole number"),
        ({"hidden_layers": 16}, r"^hidden_layers is 16: pass the width of each hidden layer, such as \(256, 256\)"),
        ({"hidden_layers": (0,)}, r"^hidden_layers is \(0,\)"),
        ({"random_state": -5}, "^random_state is -5: pass an integer from 0"),
        ({"classes": ["a", "b", "a"]}, "^y has two classes called 'a'"),
        ({"options": {"no_such.setting": 1}}, "there is no setting no_such.setting"),
        ({"random_state": "x"}, "random_state is 'x'"),
        ({"empty_classes": "x"}, "empty_classes is 'x', want"),
        ({"min_error": 1.1}, "min_error is 1.1: want 0 to 1"),
    ):
        with pytest.raises(ValueError, match=words):
            nmn.NoisyLabelClassifier(**(QUICK | settings)).fit(X, Y)
    with pytest.raises(ValueError, match="threshold is 3, want"):
        nmn.NoisyLabelClassifier(**QUICK, threshold=3).fit(X, Y).predict(X)
    for weights, words in (
        ([1.0, 2], rf"^sample_weight has shape \(2,\): pass one weight for each of the {len(X)} rows"),
        (
            np.r_[1, -1, np.ones(len(X) - 2)],
            r"^Negative values in data passed to `sample_weight`: sample_weight\[1\] is -1.0",
        ),
        (
            np.r_[np.ones(len(X) - 1), np.nan],
            rf"^Input sample_weight contains NaN: sample_weight\[{len(X) - 1}\] is nan",
        ),
        (
            np.r_[np.ones(len(X) - 1), 1e300],
            rf"^Input sample_weight .* too large for float32: sample_weight\[{len(X) - 1}\] is 1e\+300",
        ),
        (np.zeros(len(X)), f"^sample_weight is zero for all {len(X)} rows"),
    ):
        with pytest.raises(ValueError, match=words):
            nmn.NoisyLabelClassifier(**QUICK).fit(X, Y, sample_weight=weights)
    with pytest.raises(TypeError, match="unexpected keyword argument 'weights'"):
        nmn.NoisyLabelClassifier().fit(X, Y, weights=np.ones(len(X)))
    with pytest.raises(ValueError, match=r"Invalid parameter 'speed'.*options"):
        nmn.NoisyLabelClassifier().set_params(speed=1)


def test_weights_of_rows() -> None:
    X, Y = data()
    p = nmn.NoisyLabelClassifier(**QUICK).fit(X, Y).predict_proba(X)
    same = nmn.NoisyLabelClassifier(**QUICK).fit(X, Y, sample_weight=np.full(len(X), 2.0))
    np.testing.assert_array_equal(same.predict_proba(X), p)
    # Rows that say the contrary have nearly no weight, and nothing is learned of them.
    settings: dict[str, Any] = {"arm": "stage1", "hidden_layers": (), "epochs": 60, "learning_rate": 0.05}
    both = np.r_[X, X], np.r_[Y, 1 - Y]
    weights = np.r_[np.ones(len(X)), np.zeros(len(X))]
    weighted = nmn.NoisyLabelClassifier(**settings).fit(*both, sample_weight=weights)
    assert np.mean((weighted.predict_proba(X) > 0.5) == Y) > 0.85
    turned = nmn.NoisyLabelClassifier(**settings).fit(*both, sample_weight=list(1 - weights))
    assert np.mean((turned.predict_proba(X) > 0.5) == Y) < 0.15


def test_empty_classes_are_kept() -> None:
    X, Y = data()
    Y[:, 1] = 0
    model = nmn.NoisyLabelClassifier(**QUICK, empty_classes="keep").fit(X, Y)
    assert model.predict_proba(X).shape == Y.shape
    assert len(model.noise_rates_) == 3


def fit_for_long(folder: pathlib.Path, fits: str) -> subprocess.Popen[str]:
    """Start Python code that fits for long, in a session of its own."""
    script = f"""
import numpy as np, nmn
X = np.random.default_rng(0).normal(size=(4000, 50))
model = nmn.NoisyLabelClassifier(fold_epochs=1000, threads=1)
def fit():
    try:
        model.fit(X, X[:, :5] > 0)
    except KeyboardInterrupt as error:
        print("interrupted:", error, flush=True)
{fits}
"""
    return subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "TMPDIR": str(folder)},
        start_new_session=True,
    )


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.02)


def training(folder: pathlib.Path) -> int:
    """Count the programs that train in scratch folders."""
    return len([*folder.glob("nmn-py-*/run/config.yaml")])


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_fit_that_is_ended_leaves_nothing_behind(number: signal.Signals, tmp_path: pathlib.Path) -> None:
    with fit_for_long(tmp_path, "fit()") as process:
        wait_until(lambda: training(tmp_path) > 0)
        process.send_signal(number)
        assert process.stdout is not None
        said = process.stdout.read()
    assert process.returncode == (0 if number == signal.SIGINT else -number)
    assert said == ("interrupted: interrupted; nothing is kept without run_folder\n" if number == signal.SIGINT else "")
    wait_until(lambda: not any(tmp_path.glob("nmn-*")))


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
def test_what_parallel_fits_leave_when_they_are_interrupted_is_removed_by_the_next_call(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("joblib")
    with fit_for_long(tmp_path, "import joblib; joblib.Parallel(2)(joblib.delayed(fit)() for _ in '12')") as process:
        wait_until(lambda: training(tmp_path) > 1)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        process.communicate()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))  # joblib kills its processes and their programs

    def removed() -> bool:
        nmn.estimate_rates(np.eye(2, dtype=int), np.eye(2))
        return not any(tmp_path.glob("nmn-*"))

    wait_until(removed)


def test_a_full_disk_is_named_with_its_cure() -> None:
    before = left_behind()

    def fill() -> None:
        with _training.quick_scratch(0) as folder:
            if not str(folder).startswith("/dev/shm"):
                pytest.skip("scratch folders lie on disk here")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(nmn.NmnError, match=r"no room is left in .*TMPDIR"):
        fill()
    assert left_behind() == before


def test_works_without_scikit_learn_and_pandas() -> None:
    script = textwrap.dedent(
        f"""
        import sys
        for name in ("sklearn", "pandas", "scipy", "tqdm"):
            sys.modules[name] = None
        import numpy as np, nmn
        X = np.random.default_rng(0).normal(size=(60, 4))
        model = nmn.NoisyLabelClassifier(**{QUICK!r}).fit(X, X[:, :2] > 0)
        assert model.noise_rates_.dtype.names[:3] == ("class", "q01", "q10"), model.noise_rates_
        assert model.label_issues_.dtype.names == ("row", "label", "given", "p_wrong")
        assert model.predict(X).shape == (60, 2)
        assert repr(model.set_params(epochs=4)).count("epochs=4") == 1
        try:
            nmn.NoisyLabelClassifier().predict(X)
        except AttributeError as error:
            assert "not fitted yet" in str(error)
        """
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_scikit_learn_is_not_imported_before_it_is_needed() -> None:
    script = "import sys, nmn; nmn.NoisyLabelClassifier(); assert not {'sklearn', 'pandas', 'scipy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_tools_of_scikit_learn() -> None:
    pytest.importorskip("sklearn")
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, Y = data(120)
    y = np.where(Y[:, 0], "yes", "no")
    model = nmn.NoisyLabelClassifier(**QUICK)
    copy = clone(model)
    assert copy is not model
    assert repr(copy) == repr(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search = GridSearchCV(model, {"learning_rate": [1e-4, 1e-2]}, cv=2).fit(X, y)
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()
        assert set(search.predict(X)) <= {"yes", "no"}
        pipeline = make_pipeline(StandardScaler(), model).fit(X, Y)
        assert pipeline.predict_proba(X).shape == Y.shape
        assert pipeline.score(X, Y) >= 0
        assert cross_val_predict(model, X, Y, cv=2, method="predict_proba").shape == Y.shape
        assert set(cross_val_predict(model, X, y, cv=2)) <= {"yes", "no"}


def test_metadata_is_routed_as_for_classifiers_of_scikit_learn() -> None:
    sklearn = pytest.importorskip("sklearn")
    pytest.importorskip("sklearn.utils.metadata_routing")
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV, cross_validate
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, Y = data(120)
    y, weights = Y[:, 0], np.r_[np.ones(60), np.zeros(60)]
    with sklearn.config_context(enable_metadata_routing=True):
        model = nmn.NoisyLabelClassifier(**QUICK)
        pipeline = make_pipeline(StandardScaler(), model).fit(X, y)
        assert pipeline.score(X, y) > 0
        search = GridSearchCV(pipeline, {"noisylabelclassifier__learning_rate": [1e-4, 1e-2]}, cv=2).fit(X, y)
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()
        with pytest.raises(ValueError, match=r"sample_weight.* not explicitly set"):
            cross_validate(model, X, y, cv=2, params={"sample_weight": weights})
        weighs = clone(model.set_fit_request(sample_weight=True).set_score_request(sample_weight=False))
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        weighs = make_pipeline(scaler, weighs).fit(X, y, sample_weight=1 + weights)
        assert (weighs.predict_proba(X) != pipeline.predict_proba(X)).any()
        asks = clone(model.set_score_request(sample_weight=True))
        asks = make_pipeline(StandardScaler(), asks).fit(X, y)
        assert asks.score(X, y, sample_weight=weights) == pytest.approx(asks.score(X[:60], y[:60]))


def test_a_notebook_shows_the_diagram_of_scikit_learn() -> None:
    sklearn = pytest.importorskip("sklearn")
    model = nmn.NoisyLabelClassifier(fold_epochs=7)
    html = model._repr_html_()
    assert html is not None
    assert "sk-container" in html
    assert "fold_epochs" in html
    with sklearn.config_context(display="text"):
        assert model._repr_html_() is None


def test_checks_of_scikit_learn() -> None:
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    if not hasattr(checks, "estimator_checks_generator"):
        pytest.skip("scikit-learn before 1.6 checks otherwise")
    settings = {**QUICK, "hidden_layers": (32,), "fold_epochs": 6, "epochs": 6}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it does not inherit from BaseEstimator
        # One is skipped, which needs SCIPY_ARRAY_API. Training is by batches and folds, so a row that comes twice is in
        # other batches and folds than a row of weight 2.
        expected = {"check_sample_weight_equivalence_on_dense_data": "batches and folds are drawn"}
        results = checks.check_estimator(
            nmn.NoisyLabelClassifier(**settings), on_skip=None, expected_failed_checks=expected
        )
    statuses = [r["status"] for r in results]
    assert set(statuses) <= {"passed", "skipped", "xfail"}
    assert statuses.count("skipped") <= 1
    assert len(statuses) >= 50
