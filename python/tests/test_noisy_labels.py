"""The meta-estimator trains any classifier, and behaves as scikit-learn's estimators do."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import nmn

pytest.importorskip("sklearn")
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_gaussian_quantiles
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, RepeatedKFold, StratifiedKFold, cross_val_predict, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

Arrays = tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]


def blobs(rows: int = 300, share: float = 0.3, seed: int = 0) -> Arrays:
    """Return features of three classes, the classes, and these with a share of them redrawn."""
    random = np.random.default_rng(seed)
    true = random.integers(3, size=rows)
    X = 2.5 * np.eye(3)[true] + random.normal(size=(rows, 3))
    noisy = np.where(random.random(rows) < share, random.integers(3, size=rows), true)
    return X, true, noisy


def several(rows: int = 400, seed: int = 0) -> Arrays:
    """Return features, a matrix of labels, and this with a fifth of the cells flipped."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, 4))
    Y = (X[:, :3] > 0.2).astype(np.int64)
    return X, Y, np.where(random.random(Y.shape) < 0.2, 1 - Y, Y)


def test_rows_named_in_another_order_warn() -> None:
    pandas = pytest.importorskip("pandas")
    X, _, noisy = blobs(60)
    table = pandas.DataFrame(X, index=[f"r{i}" for i in range(60)])
    labels = pandas.Series(noisy, index=table.index)
    small = nmn.NoisyLabelClassifier(hidden_layers=(4,), epochs=1, fold_epochs=1)
    for model in (nmn.NoisyLabels(LogisticRegression(), cv=3), small):
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "X and y have the same row names")
            model.fit(table, labels)
            model.fit(table, labels.reset_index(drop=True))
        with pytest.warns(UserWarning, match="another order"):
            model.fit(table, labels.iloc[::-1])


def test_a_classifier_that_learns_noise_by_heart_gains() -> None:
    X, true, noisy = blobs()
    plain = RandomForestClassifier(30, random_state=0).fit(X, noisy)
    model = nmn.NoisyLabels(RandomForestClassifier(30, random_state=0)).fit(X, noisy)
    X_test, y_test, _ = blobs(seed=1)
    assert model.score(X_test, y_test) > plain.score(X_test, y_test) + 0.03
    assert not model.guard_
    issues = model.label_issues_
    rows = np.asarray(issues["row"])
    assert (noisy[rows] != true[rows]).mean() > 0.5
    np.testing.assert_array_equal(issues["given"], noisy[rows])
    assert (np.diff(issues["p_wrong"]) <= 0).all()
    np.testing.assert_allclose(np.asarray(model.noise_matrix_).sum(axis=1), 1)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_the_guard_keeps_the_plain_classifier_if_classes_overlap_and_labels_are_right() -> None:
    X, y = make_gaussian_quantiles(n_samples=800, n_features=4, n_classes=3, random_state=0)
    with pytest.warns(UserWarning, match=r"plain classifier was fitted.*guard=False"):
        model = nmn.NoisyLabels(KNeighborsClassifier(5)).fit(X, y)
    assert model.guard_
    assert model.gain_ < -5
    np.testing.assert_array_equal(model.predict_proba(X), KNeighborsClassifier(5).fit(X, y).predict_proba(X))
    assert len(model.label_issues_) > 0
    X, _, noisy = blobs(1000)
    model = nmn.NoisyLabels(KNeighborsClassifier(5)).fit(X, noisy)
    assert not model.guard_
    assert model.gain_ > 2


def test_the_guard_is_blind_to_labels_that_decide_what_is_learned() -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(300, 3)), random.integers(2, size=300)
    model = nmn.NoisyLabels(RandomForestClassifier(20, random_state=0), rounds=0).fit(X, y)
    assert abs(model.gain_) < 3  # labels at random cannot be explained better


def test_given_scores_take_the_place_of_the_first_fits() -> None:
    X, _, noisy = blobs()
    names = np.array(["a", "b", "c"])[noisy]
    scores = cross_val_predict(LogisticRegression(), X, noisy, method="predict_proba")
    model = nmn.NoisyLabels(DecisionTreeClassifier(random_state=0), rounds=0, guard=False).fit(
        X, names, pred_probs=scores
    )
    np.testing.assert_array_equal(model.pred_probs_, scores)
    found = nmn.find_label_issues(noisy, scores, details=True)
    np.testing.assert_array_equal(np.sort(model.label_issues_["row"]), np.sort(found["row"]))
    kept = np.setdiff1d(np.arange(len(X)), found["row"])
    want = DecisionTreeClassifier(random_state=0).fit(X[kept], names[kept]).predict(X)
    np.testing.assert_array_equal(model.predict(X), want)
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(scores[:, ::-1], columns=["c", "b", "a"])
    again = nmn.NoisyLabels(DecisionTreeClassifier(random_state=0), rounds=0, guard=False).fit(
        X, names, pred_probs=table
    )
    np.testing.assert_array_equal(again.pred_probs_, scores)
    with pytest.raises(ValueError, match=r"pred_probs has the columns \['c', 'b', 'x'\].*name them alike"):
        again.fit(X, names, pred_probs=table.rename(columns={"a": "x"}))


@pytest.mark.parametrize(
    "classifier",
    [
        DecisionTreeClassifier(max_depth=4, random_state=0),  # probabilities are a list of arrays
        KNeighborsClassifier(9),  # takes no weights
        OneVsRestClassifier(LogisticRegression()),  # probabilities are a matrix
    ],
)
def test_rows_with_several_labels(classifier: Any) -> None:
    X, true, noisy = several()
    model = nmn.NoisyLabels(classifier).fit(X, noisy)
    X_test, y_test, _ = several(seed=1)
    assert model.predict(X_test).shape == y_test.shape
    assert model.predict_proba(X_test).shape == y_test.shape
    issues = model.label_issues_
    at = np.asarray(issues["row"]), np.asarray(issues["label"])
    assert (true[at] != noisy[at]).mean() > 0.7
    np.testing.assert_array_equal(issues["given"], noisy[at])
    assert abs(np.asarray(model.noise_rates_["q01"]).mean() - 0.2) < 0.1
    assert not hasattr(model, "noise_matrix_")
    model.fit(*blobs(120)[::2])
    assert not hasattr(model, "noise_rates_")
    assert np.shape(model.noise_matrix_) == (3, 3)


def test_corrected_labels_help_rows_with_several_labels() -> None:
    X, _, noisy = several()
    X_test, y_test, _ = several(seed=1)
    plain = (RandomForestClassifier(30, random_state=0).fit(X, noisy).predict(X_test) == y_test).all(axis=1).mean()
    model = nmn.NoisyLabels(RandomForestClassifier(30, random_state=0)).fit(X, noisy)
    assert model.score(X_test, y_test) > plain + 0.02


def test_names_for_each_row() -> None:
    X, true, noisy = several()
    lists = [[n for n, given in zip("abc", row) if given] for row in noisy]
    model = nmn.NoisyLabels(DecisionTreeClassifier(max_depth=3, random_state=0)).fit(X, lists)
    predicted = model.predict(X)
    want = model.estimator_.predict(X)
    assert predicted == [[n for n, given in zip("abc", row) if given] for row in want]
    assert model.score(X, [[n for n, given in zip("abc", row) if given] for row in true]) > 0.5


def test_tables_and_sparse_features_pass_through() -> None:
    pandas = pytest.importorskip("pandas")
    sparse = pytest.importorskip("scipy.sparse")
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    X, _, noisy = blobs()
    table = pandas.DataFrame(X, columns=["x", "y", "z"], index=np.arange(len(X)) + 1000)
    table["word"] = np.array(["low", "high"])[(X[:, 0] > 1).astype(int)]
    columns = make_column_transformer((OneHotEncoder(), ["word"]), remainder="passthrough")
    model = nmn.NoisyLabels(make_pipeline(columns, LogisticRegression(max_iter=500))).fit(table, noisy)
    assert model.feature_names_in_.tolist() == ["x", "y", "z", "word"]
    assert model.n_features_in_ == 4
    assert model.label_issues_.index.min() >= 1000
    np.testing.assert_array_equal(model.label_issues_.index, model.label_issues_["row"] + 1000)
    dense = nmn.NoisyLabels(LogisticRegression(), random_state=3).fit(X, noisy)
    for kind in (sparse.csr_matrix, sparse.coo_matrix):
        p = nmn.NoisyLabels(LogisticRegression(), random_state=3).fit(kind(X), noisy).predict_proba(kind(X))
        np.testing.assert_allclose(p, dense.predict_proba(X), atol=1e-6)


def test_weights_reach_the_last_step_of_a_pipeline() -> None:
    X, _, noisy = blobs()
    inside = nmn.NoisyLabels(make_pipeline(StandardScaler(with_mean=False, with_std=False), LogisticRegression()))
    p = inside.fit(X, noisy).predict_proba(X)
    np.testing.assert_allclose(p, nmn.NoisyLabels(LogisticRegression()).fit(X, noisy).predict_proba(X), atol=1e-6)


class Weights(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that remembers the weights of its fits."""

    seen: list[Any] = []  # noqa: RUF012

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Weights:
        Weights.seen.append((len(X), sample_weight))
        self._model = LogisticRegression().fit(X, y, sample_weight=sample_weight)
        self.classes_ = self._model.classes_
        return self

    def predict_proba(self, X: Any) -> Any:
        return self._model.predict_proba(X)

    def predict(self, X: Any) -> Any:
        return self._model.predict(X)


def test_folds_learn_expected_labels_and_the_last_fit_learns_given_ones() -> None:
    X, _, noisy = blobs()
    Weights.seen = []
    nmn.NoisyLabels(Weights(), cv=3, guard=False).fit(X, noisy)
    assert len(Weights.seen) == 3 + 3 + 1
    for rows, weights in Weights.seen[:3]:
        assert rows == 200
        assert weights is None
    for rows, weights in Weights.seen[3:6]:
        assert rows > 200  # a row for each plausible class
        assert weights.min() >= 0.02
        assert weights.sum() == pytest.approx(200, abs=3)
    assert Weights.seen[6][0] < 300
    assert Weights.seen[6][1] is None


def test_weights_of_rows_multiply_those_of_expected_labels() -> None:
    X, _, noisy = blobs()
    seen = []
    for weights in (None, np.ones(300), np.arange(300) % 3):
        Weights.seen = []
        model = nmn.NoisyLabels(Weights(), cv=3, guard=False).fit(X, noisy, sample_weight=weights)
        seen.append((Weights.seen, model.pred_probs_))
    (plain, p), (ones, q), (thirds, r) = seen
    np.testing.assert_array_equal(p, q)
    assert (p != r).any()
    for (rows, weights), (n, ws) in zip(plain, ones):
        assert rows == n
        np.testing.assert_array_equal(np.ones(n) if weights is None else weights, ws)
    assert set(thirds[0][1]) == {0, 1, 2}
    assert len(thirds[6][1]) == thirds[6][0]
    y = noisy.astype(float)
    y[::10] = np.nan  # weights of rows without a label do not count
    weights = np.where(np.isnan(y), 1e6, np.arange(300) % 3)
    Weights.seen = []
    nmn.NoisyLabels(Weights(), cv=3, guard=False).fit(X, y, sample_weight=weights)
    assert max(ws.max() for _, ws in Weights.seen) == 2


def test_rows_of_weight_0_teach_nothing() -> None:
    X, true, _ = blobs()
    turned = (true + 1) % 3
    both, weights = (np.r_[X, X], np.r_[true, turned]), np.r_[np.ones(300), np.zeros(300)]
    for first in (LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())):
        model = nmn.NoisyLabels(first, guard=False, rounds=0).fit(*both, sample_weight=weights)
        assert np.mean(model.predict(X) == true) > 0.8
    X, true, _ = several()
    both = np.r_[X, X], np.r_[true, 1 - true]
    weights = np.r_[np.ones(len(X)), np.zeros(len(X))]
    model = nmn.NoisyLabels(DecisionTreeClassifier(max_depth=3), rounds=0, guard=False)
    assert np.mean(model.fit(*both, sample_weight=weights).predict(X) == true) > 0.8


@pytest.mark.parametrize("make", [blobs, several])
def test_min_error_changes_only_the_issues(make: Any) -> None:
    X, _, noisy = make()
    classifier = DecisionTreeClassifier(max_depth=3, random_state=0)
    model, every, few = (
        nmn.NoisyLabels(classifier, min_error=p, rounds=0, guard=False).fit(X, noisy) for p in (0.5, 0, 0.8)
    )
    assert len(every.label_issues_) == noisy.size
    assert len(few.label_issues_) < len(model.label_issues_) < noisy.size
    assert np.asarray(few.label_issues_["p_wrong"]).min() >= 0.8
    np.testing.assert_array_equal(every.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(few.predict_proba(X), model.predict_proba(X))


def test_groups_stay_in_one_fold() -> None:
    X, _, noisy = blobs()
    groups = np.repeat(np.arange(100), 3)
    copies = np.repeat(X[::3], 3, axis=0)  # rows of a group are equal, and one nearest row gives the label away
    one = KNeighborsClassifier(1)
    apart = nmn.NoisyLabels(one, rounds=0, guard=False).fit(copies, noisy, groups=groups)
    mixed = nmn.NoisyLabels(one, rounds=0, guard=False).fit(copies, noisy)
    assert not np.array_equal(apart.pred_probs_, mixed.pred_probs_)
    for group in range(100):
        rows = groups == group
        assert (apart.pred_probs_[rows] == apart.pred_probs_[rows][0]).all()


@pytest.mark.parametrize("classifier", [DecisionTreeClassifier(max_depth=3, random_state=0), KNeighborsClassifier(5)])
def test_a_label_that_is_absent_from_a_fold_has_the_score_0_there(classifier: Any) -> None:
    X, _, noisy = several(150)
    rare = np.zeros((150, 1), int)
    rare[3] = 1
    model = nmn.NoisyLabels(classifier, rounds=0, guard=False).fit(X, np.hstack([noisy, rare]))
    assert model.pred_probs_[3, 3] == 0
    assert model.pred_probs_[:, 3].mean() < 0.1


def test_folds_are_rows_of_x_also_with_unknown_labels() -> None:
    X, _, noisy = blobs(150)
    y = noisy.astype(float)
    y[::10] = np.nan
    known = ~np.isnan(y)
    folds = [(np.setdiff1d(np.arange(150), test), test) for test in np.array_split(np.arange(150), 5)]
    model = nmn.NoisyLabels(LogisticRegression(), cv=folds, rounds=0, guard=False).fit(X, y)
    for train, test in folds:
        some, held = train[known[train]], test[known[test]]
        want = LogisticRegression().fit(X[some], noisy[some]).predict_proba(X[held])
        np.testing.assert_allclose(model.pred_probs_[np.cumsum(known)[held] - 1], want)


def test_rows_of_any_kind() -> None:
    _, true, noisy = blobs(150)
    rows = [["x"] * (1 + 2 * k) for k in true]  # lists of several lengths
    counts = FunctionTransformer(lambda rows: np.array([[len(row)] for row in rows]))
    assert nmn.NoisyLabels(make_pipeline(counts, DecisionTreeClassifier())).fit(rows, noisy).score(rows, true) > 0.9


def test_unknown_labels_are_left_out() -> None:
    X, true, noisy = blobs()
    y = noisy.astype(float)
    y[::10] = np.nan
    model = nmn.NoisyLabels(LogisticRegression()).fit(X, y)
    known = ~np.isnan(y)
    same = nmn.NoisyLabels(LogisticRegression()).fit(X[known], noisy[known])
    np.testing.assert_array_equal(model.predict_proba(X), same.predict_proba(X))
    np.testing.assert_array_equal(model.label_issues_["row"], np.flatnonzero(known)[same.label_issues_["row"]])
    assert model.score(X, true) == same.score(X, true)
    with pytest.raises(ValueError, match="no known label"):
        nmn.NoisyLabels(LogisticRegression()).fit(X, np.full(len(X), np.nan))
    X, _, Y = several(50)
    Z = Y.astype(float)
    Z[2] = np.nan
    Z[7, 1] = np.nan
    with pytest.raises(ValueError, match=r"known and unknown labels at row 7.*NoisyLabelClassifier"):
        nmn.NoisyLabels(DecisionTreeClassifier()).fit(X, Z)


def test_a_class_that_folds_lack() -> None:
    X, _, noisy = blobs()
    noisy[:2] = 3
    model = nmn.NoisyLabels(DecisionTreeClassifier(random_state=0)).fit(X, noisy)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert model.predict_proba(X).shape == (300, 4)
    noisy[1] = 0  # one row, which its own fold lacks
    model = nmn.NoisyLabels(LogisticRegression()).fit(X, noisy)
    assert model.pred_probs_[0, 3] == 0
    assert model.estimator_.classes_.tolist() == [0, 1, 2, 3]


def test_parts_of_few_rows_do_not_decide() -> None:
    X, y = np.arange(10.0)[:, None], np.array([0, 0, 0, 0, 0, 0, 0, 0, 1, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = nmn.NoisyLabels(LogisticRegression(), cv=StratifiedKFold(5), rounds=0).fit(
            X, y, pred_probs=np.eye(2)[y]
        )
    assert not model.guard_
    assert model.predict(X).shape == (10,)


def test_constant_features() -> None:
    X, _, noisy = blobs(120)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = nmn.NoisyLabels(LogisticRegression()).fit(np.ones_like(X), noisy)
    assert len(np.unique(model.predict(np.ones_like(X)))) == 1
    wide = np.hstack([X, np.ones((len(X), 1))])
    assert nmn.NoisyLabels(LogisticRegression()).fit(wide, noisy).n_features_in_ == 4


def test_refusals_name_the_cure() -> None:
    X, _, noisy = blobs(60)
    with pytest.raises(TypeError, match=r"no predict_proba.*CalibratedClassifierCV"):
        nmn.NoisyLabels(RidgeClassifier()).fit(X, noisy)
    assert nmn.NoisyLabels(CalibratedClassifierCV(RidgeClassifier(), cv=2)).fit(X, noisy).score(X, noisy) > 0.5
    model = nmn.NoisyLabels(LogisticRegression())
    with pytest.raises(ValueError, match="only one class, 1, in 60 samples"):
        model.fit(X, np.ones(60, int))
    with pytest.raises(ValueError, match=r"pred_probs has shape \(60, 2\): want \(60, 3\)"):
        model.fit(X, noisy, pred_probs=np.full((60, 2), 0.5))
    scores = np.full((60, 3), 1 / 3)
    scores[4] = np.nan
    with pytest.raises(ValueError, match="pred_probs holds nan at row 4"):
        model.fit(X, noisy, pred_probs=scores)
    y = np.r_[np.nan, noisy[1:]]
    with pytest.raises(ValueError, match="pred_probs holds nan at row 4"):
        model.fit(X, y, pred_probs=scores)
    scores[4] = 0.5
    with pytest.raises(ValueError, match=r"pred_probs sums to 1\.5 at row 4"):
        model.fit(X, y, pred_probs=scores)
    for weights, words in (
        (np.r_[-1, np.ones(59)], r"^Negative values in data passed to `sample_weight`: sample_weight\[0\] is -1.0"),
        (np.r_[np.nan, np.ones(59)], r"^Input sample_weight contains NaN"),
        (np.zeros(60), "^sample_weight is zero for all 60 rows"),
        (np.ones(59), r"^sample_weight has shape \(59,\)"),
    ):
        with pytest.raises(ValueError, match=words):
            model.fit(X, noisy, sample_weight=weights)
    with pytest.raises(ValueError, match=r"KNeighborsClassifier\(\) does not support sample weights"):
        nmn.NoisyLabels(KNeighborsClassifier()).fit(X, noisy, sample_weight=np.ones(60))
    with pytest.raises(TypeError, match="unexpected keyword argument 'weights'"):
        model.fit(X, noisy, weights=np.ones(60))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, noisy[:50])
    with pytest.raises(ValueError, match="rounds is -1"):
        nmn.NoisyLabels(LogisticRegression(), rounds=-1).fit(X, noisy)
    with pytest.raises(ValueError, match="min_error is 2"):
        nmn.NoisyLabels(LogisticRegression(), min_error=2).fit(X, noisy)
    with pytest.raises(ValueError, match="cv has 2 folds, and the guard needs 3"):
        nmn.NoisyLabels(LogisticRegression(), cv=2).fit(X, noisy)
    for cv, times in (([(np.arange(30), np.arange(30, 60))], 0), (RepeatedKFold(n_splits=3, n_repeats=2), 2)):
        with pytest.raises(ValueError, match=f"cv has row 0 in the test rows of {times} folds"):
            nmn.NoisyLabels(LogisticRegression(), cv=cv, guard=False).fit(X, noisy)
    Y = np.c_[noisy == 1, np.ones(60, bool)].astype(int)
    with pytest.raises(ValueError, match="same value in all rows of the class 1"):
        nmn.NoisyLabels(DecisionTreeClassifier()).fit(X, Y)
    with pytest.raises(ValueError, match="not fitted yet"):
        nmn.NoisyLabels(LogisticRegression()).predict(X)


def test_parameters_of_the_classifier_are_parameters() -> None:
    X, _, noisy = blobs(150)
    model = nmn.NoisyLabels(LogisticRegression())
    assert model.get_params()["estimator__C"] == 1.0
    assert "estimator__C" not in model.get_params(deep=False)
    search = GridSearchCV(model, {"estimator__C": [0.01, 1.0], "rounds": [0], "guard": [False]}, cv=2).fit(X, noisy)
    assert search.best_params_["estimator__C"] in (0.01, 1.0)
    assert clone(model.set_params(estimator__C=7, cv=3)).estimator.C == 7
    with pytest.raises(ValueError, match="Invalid parameter 'strange'"):
        model.set_params(strange=1)
    fitted = model.fit(X, noisy)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))


@pytest.mark.parametrize(("package", "name"), [("lightgbm", "LGBMClassifier"), ("xgboost", "XGBClassifier")])
def test_trees_of_other_packages(package: str, name: str) -> None:
    make = getattr(pytest.importorskip(package), name)
    X, y, noisy = blobs()
    model = nmn.NoisyLabels(make(n_estimators=10, n_jobs=1)).fit(X, noisy)
    assert model.score(X, y) > 0.8
    table = nmn.find_label_issues(noisy, model.pred_probs_, details=True, min_error=0).sort_values("row")
    assert table["row"].tolist() == list(range(len(noisy)))
    weighted = make(n_estimators=10, n_jobs=1).fit(X, noisy, sample_weight=1 - table["p_wrong"])
    assert weighted.score(X, y) > 0.8


def test_metadata_is_routed_as_for_classifiers_of_scikit_learn() -> None:
    sklearn = pytest.importorskip("sklearn")
    pytest.importorskip("sklearn.utils.metadata_routing")
    X, _, noisy = blobs(120)
    weights = np.r_[np.ones(60), np.zeros(60)]
    with sklearn.config_context(enable_metadata_routing=True):
        asks = nmn.NoisyLabels(LogisticRegression()).set_score_request(sample_weight=True)
        asks = make_pipeline(StandardScaler(), clone(asks)).fit(X, noisy)
        assert asks.score(X, noisy, sample_weight=weights) == pytest.approx(asks.score(X[:60], noisy[:60]))
        with pytest.raises(ValueError, match=r"sample_weight.* not explicitly set"):
            cross_validate(nmn.NoisyLabels(LogisticRegression()), X, noisy, cv=2, params={"sample_weight": weights})
        weighs = nmn.NoisyLabels(Weights(), rounds=0, guard=False).set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        Weights.seen = []
        make_pipeline(scaler, clone(weighs)).fit(X, noisy, sample_weight=1 + weights)
        assert set(Weights.seen[-1][1]) == {1, 2}
        inside = nmn.NoisyLabels(make_pipeline(StandardScaler(), LogisticRegression())).fit(X, noisy)
        assert inside.score(X, noisy) > 0.5


def test_checks_of_scikit_learn() -> None:
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    if not hasattr(checks, "estimator_checks_generator"):
        pytest.skip("scikit-learn before 1.6 checks otherwise")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it does not inherit from BaseEstimator
        # A row that comes twice is in other folds than a row of weight 2, and rates count it twice.
        expected = {
            f"check_sample_weight_equivalence_on_{kind}_data": "folds are drawn" for kind in ("dense", "sparse")
        }
        results = checks.check_estimator(
            nmn.NoisyLabels(LogisticRegression(max_iter=300)), on_skip=None, expected_failed_checks=expected
        )
    statuses = [r["status"] for r in results]
    assert set(statuses) <= {"passed", "skipped", "xfail"}
    assert statuses.count("skipped") <= 1
    assert len(statuses) >= 50
