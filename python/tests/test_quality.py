"""Scores of how well labels fit, held against cleanlab, its numbers, and Bayes' rule."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import nmn
from nmn import _fits

Array = npt.NDArray[Any]

METHODS = [(by, adjust) for by in _fits.RANKINGS for adjust in (False, True) if not (adjust and by.endswith("entropy"))]

P = np.array([[0.9, 0.2, 0.4], [0.1, 0.7, 0.6], [0.5, 0.5, 0.8], [0.3, 0.0, 1.0]])
SEVERAL = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1]])
ONE = [0, 1, 1, 2]

#: What cleanlab 2.9.0 gives for `P`: of one label each with shares of rows, of several, and of each of several.
ORACLE: dict[tuple[str, bool], tuple[list[float], list[float], list[list[float]]]] = {
    ("self_confidence", False): (
        [0.6, 0.5, 0.2777777777777778, 0.7692307692307692],
        [0.6439999999999999, 0.172, 0.512, 0.7599999999999999],
        [[0.9, 0.8, 0.6], [0.1, 0.7, 0.4], [0.5, 0.5, 0.8], [0.7, 1, 1]],
    ),
    ("self_confidence", True): (
        [0.49641478212906787, 0.568119139547711, 0.4247104247104247, 0.49641478212906787],
        [0.6429570429570429, 0.2676523476523476, 0.47968031968031966, 0.6541458541458542],
        [
            [0.9090909090909091, 0.6153846153846154, 0.7142857142857143],
            [0.18181818181818177, 0.7692307692307692, 0.5714285714285715],
            [0.45454545454545453, 0.6153846153846154, 0.5714285714285715],
            [0.6363636363636364, 0.7692307692307692, 0.7142857142857143],
        ],
    ),
    ("normalized_margin", False): (
        [0.6666666666666666, 0.5357142857142857, 0.41666666666666663, 0.7692307692307692],
        [0.6439999999999999, 0.172, 0.512, 0.7599999999999999],
        [[0.9, 0.8, 0.6], [0.1, 0.7, 0.4], [0.5, 0.5, 0.8], [0.7, 1, 1]],
    ),
    ("normalized_margin", True): (
        [0.5824600110314396, 0.6457725947521866, 0.568119139547711, 0.6191395477109763],
        [0.6429570429570428, 0.26765234765234763, 0.4796803196803197, 0.6541458541458542],
        [
            [0.9090909090909091, 0.6153846153846154, 0.7142857142857143],
            [0.18181818181818182, 0.7692307692307692, 0.5714285714285714],
            [0.4545454545454546, 0.6153846153846154, 0.5714285714285714],
            [0.6363636363636364, 0.7692307692307692, 0.7142857142857143],
        ],
    ),
    ("confidence_weighted_entropy", False): (
        [0.6242556294080039, 0.5925677990753366, 0.42897100299311797, 0.7731594273998321],
        [0.6220489124639978, 0.4036678604976791, 0.5558407405183888, 0.02589118022459089],
        [
            [0.8048989459308223, 0.7126710489424037, 0.5947819834949756],
            [0.3707289637138022, 0.6472795056147727, 0.5074594331377907],
            [0.5493061443340549, 0.5493061443340549, 0.7126710489424037],
            [0.6472795056147727, 0, 0],
        ],
    ),
}


def several(rows: int = 900, width: int = 5, seed: int = 3) -> tuple[Array, Array, Array]:
    """Return labels of several a row, scores, and which labels are wrong."""
    rng = np.random.default_rng(seed)
    o = rng.choice([-1.0, 1.0], (rows, width), p=[0.7, 0.3]) * rng.normal(4, 1.5, (rows, width))
    truth = rng.random((rows, width)) < 1 / (1 + np.exp(-o))
    flips = np.where(truth, 0.25, 0.05) > rng.random((rows, width))
    return (truth ^ flips).astype(np.uint8), (1 / (1 + np.exp(-o))).astype(np.float32), flips


def one(rows: int = 900, width: int = 4, seed: int = 4) -> tuple[Array, Array, Array]:
    """Return the same where each row has one label."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, width, rows)
    o = rng.normal(0, 1, (rows, width)) + 4 * np.eye(width)[truth]
    flips = rng.random(rows) < 0.15
    return np.where(flips, (truth + 1) % width, truth), np.exp(o) / np.exp(o).sum(axis=1, keepdims=True), flips


def averaged(cells: Array) -> Array:
    """Return the moving average of each row, from the best label to the worst of those that are known."""
    out = np.full(len(cells), np.nan)
    for i, row in enumerate(cells):
        for value in np.sort(row[~np.isnan(row)])[::-1]:
            out[i] = value if np.isnan(out[i]) else 0.8 * value + 0.2 * out[i]
    return out


@pytest.mark.parametrize(("by", "adjust"), METHODS)
def test_numbers_are_those_of_cleanlab(by: str, adjust: bool) -> None:
    of_one, of_several, of_each = ORACLE[by, adjust]
    more: dict[str, Any] = {"method": by, "adjust_pred_probs": adjust}
    shares = P / P.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(nmn.get_label_quality_scores(ONE, shares, **more), of_one, rtol=0, atol=1e-15)
    np.testing.assert_allclose(nmn.get_label_quality_scores(SEVERAL, P, **more), of_several, rtol=0, atol=1e-15)
    each = nmn.get_label_quality_scores(SEVERAL, P, per_class=True, **more)
    np.testing.assert_allclose(each, of_each, rtol=0, atol=1e-15)


@pytest.mark.parametrize(("by", "adjust"), METHODS)
def test_as_cleanlab(by: str, adjust: bool) -> None:
    of_one = pytest.importorskip("cleanlab.rank").get_label_quality_scores
    ranks = pytest.importorskip("cleanlab.multilabel_classification.rank")
    more: dict[str, Any] = {"method": by, "adjust_pred_probs": adjust}
    z, p, _ = one()
    np.testing.assert_allclose(nmn.get_label_quality_scores(z, p, **more), of_one(z, p, **more), rtol=0, atol=1e-13)
    z, p, _ = several()
    p = p.astype(np.float64)
    lists = [np.flatnonzero(row).tolist() for row in z]
    for theirs, each in ((ranks.get_label_quality_scores, False), (ranks.get_label_quality_scores_per_class, True)):
        ours = nmn.get_label_quality_scores(lists, p, per_class=each, **more)
        want = np.asarray(theirs(lists, p, **more))
        assert (ours.dtype, ours.shape) == (want.dtype, want.shape)
        np.testing.assert_allclose(ours, want, rtol=0, atol=1e-13)


def test_quality_is_the_posterior() -> None:
    z, p, flips = several()
    rates = {"q01": [0.25] * 5, "q10": [0.05] * 5, "usable": [True, True, False, True, True]}
    each = nmn.get_label_quality_scores(z, p, noise_rates=rates, per_class=True)
    present, absent = p.astype(float), 1 - p.astype(float)
    right = np.where(z == 1, 0.75 * present, 0.95 * absent)
    wrong = np.where(z == 1, 0.05 * absent, 0.25 * present)
    want = right / (right + wrong)
    want[:, 2] = np.nan  # which is not audited
    np.testing.assert_allclose(each, want, rtol=0, atol=1e-6)
    rows = nmn.get_label_quality_scores(z, p, noise_rates=rates)
    assert (rows.dtype, rows.shape, each.dtype) == (np.float64, (len(z),), np.float64)
    np.testing.assert_allclose(rows, averaged(each), rtol=0, atol=1e-12)
    issues: Any = nmn.find_label_issues(z, p, noise_rates=rates, details=True, min_error=0)
    assert (each[issues["row"], issues["class"]] == 1 - np.asarray(issues["p_wrong"])).all()
    estimated = nmn.get_label_quality_scores(z, p, n_jobs=1)
    assert estimated.min() >= 0
    assert estimated.max() <= 1
    worst = np.argsort(estimated)
    assert flips.any(axis=1)[worst[:200]].mean() > 0.9
    mask = nmn.find_label_issues(z, p)
    ranked = nmn.find_label_issues(z, p, return_indices_ranked_by="quality")
    assert ranked.tolist() == [i for i in np.argsort(estimated, kind="stable") if mask[i]]
    known: Any = nmn.estimate_rates(z, p)
    q01, q10, a, b = (np.asarray(known[name], float) for name in ("q01", "q10", "a", "b"))
    present = 1 / (1 + np.exp(-(a * np.log(p.astype(float) / (1 - p.astype(float))) + b)))
    right = np.where(z == 1, (1 - q01) * present, (1 - q10) * (1 - present))
    wrong = np.where(z == 1, q10 * (1 - present), q01 * present)
    again = nmn.get_label_quality_scores(z, p, noise_rates=known, calibrate=True, per_class=True)
    np.testing.assert_allclose(again, right / (right + wrong), rtol=0, atol=1e-6)


def test_quality_of_one_label_each() -> None:
    z, p, flips = one()
    scores = nmn.get_label_quality_scores(z, p)
    assert (scores.dtype, scores.shape) == (np.float64, (len(z),))
    assert ((scores >= 0) & (scores <= 1)).all()
    assert flips[np.argsort(scores)[:100]].all()
    issues: Any = nmn.find_label_issues(z, p, details=True, min_error=0)
    np.testing.assert_allclose(scores[issues["row"]], 1 - np.asarray(issues["p_wrong"]), rtol=0, atol=1e-12)


@pytest.mark.parametrize("by", ["quality", *_fits.RANKINGS])
def test_unknown_labels_are_nan_and_have_no_part(by: str) -> None:
    z, p, _ = several(rows=400)
    gaps = np.where(np.random.default_rng(1).random(z.shape) < 0.3, -1, z.astype(int))
    gaps[7] = -1
    for labels in (gaps, np.where(gaps < 0, np.nan, gaps)):
        each = nmn.get_label_quality_scores(labels, p, method=by, per_class=True)
        assert (np.isnan(each) == (gaps < 0)).all()
        rows = nmn.get_label_quality_scores(labels, p, method=by)
        np.testing.assert_allclose(rows, averaged(each), rtol=0, atol=1e-6)  # of numbers of 32 bits
        assert np.flatnonzero(np.isnan(rows)).tolist() == np.flatnonzero((gaps < 0).all(axis=1)).tolist()
    if by != "quality":  # which has other rates then
        whole = nmn.get_label_quality_scores(z, p, method=by, per_class=True)
        assert (each[gaps >= 0] == whole[gaps >= 0]).all()
    c, s, _ = one(rows=400)
    want = nmn.get_label_quality_scores(c, s, method=by)
    more = {"method": by, "unknown": -1}
    scores = nmn.get_label_quality_scores([*c.tolist(), -1, -1], np.concatenate([s, s[:2]]), **more)
    assert np.isnan(scores[-2:]).all()
    np.testing.assert_allclose(scores[:-2], want, rtol=0, atol=1e-12)


@pytest.mark.parametrize("by", ["quality", "normalized_margin"])
def test_every_form_has_its_rows_in_their_order(by: str, tmp_path: Path) -> None:
    z, p, _ = several(rows=300)
    want = nmn.get_label_quality_scores(z, p, method=by, per_class=True)
    np.save(tmp_path / "z.npy", z)
    np.save(tmp_path / "p.npy", p)
    names = np.array(list("abcde"))
    forms: list[tuple[Any, Any, dict[str, Any]]] = [
        ([np.flatnonzero(row).tolist() for row in z], p.astype(np.float64), {}),
        ([names[row == 1].tolist() for row in z], p, {"classes": list(names)}),
        (tmp_path / "z.npy", str(tmp_path / "p.npy"), {}),
        (z, np.log(p / (1 - p.astype(float))), {"logits": True}),
    ]
    if importlib.util.find_spec("scipy"):
        forms.append((importlib.import_module("scipy.sparse").csr_matrix(z), p, {}))
    if importlib.util.find_spec("pandas"):
        frame = importlib.import_module("pandas").DataFrame
        forms.append((frame(z, columns=names)[names[::-1]], frame(p, columns=names), {}))
    for labels, scores, more in forms:
        got = nmn.get_label_quality_scores(labels, scores, method=by, per_class=True, **more)
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-5 if more.get("logits") else 1e-7)
    turned = nmn.get_label_quality_scores(z[::-1], p[::-1], method=by, per_class=True)
    np.testing.assert_allclose(turned[::-1], want, rtol=0, atol=1e-9)
    c, s, _ = one(rows=300)
    want = nmn.get_label_quality_scores(c, s, method=by)
    named = nmn.get_label_quality_scores(np.array(list("wxyz"))[c].tolist(), s, method=by, classes=list("wxyz"))
    assert named.tolist() == want.tolist()
    odds = nmn.get_label_quality_scores(c, np.log(s) + 3, method=by, logits=True)
    np.testing.assert_allclose(odds, want, rtol=0, atol=1e-5)


BAD: list[tuple[str, Any, Any, dict[str, Any], str]] = [
    ("a method", SEVERAL, P, {"method": "margin"}, "method is 'margin': choose one of quality, self_confidence"),
    ("adjusted quality", SEVERAL, P, {"adjust_pred_probs": True}, "adjust_pred_probs needs method self_conf"),
    ("rates", SEVERAL, P, {"method": "self_confidence", "noise_rates": {}}, "noise_rates needs method='quality'"),
    ("calibration", SEVERAL, P, {"calibrate": True}, "calibrate needs noise_rates"),
    ("rates of one label", ONE, P, {"noise_rates": {}}, "noise_rates need several labels a row"),
    ("cells of one label", ONE, P, {"per_class": True}, "per_class needs several labels a row"),
    ("a column", [0] * 4, P[:, :1], {"method": "self_confidence"}, "pred_probs has one column"),
    ("threads", SEVERAL, P, {"n_jobs": 0}, "n_jobs is 0"),
    ("rows", SEVERAL, P[:3], {}, "labels has 4 rows and pred_probs has 3"),
    *(
        ("above 1, " + by, SEVERAL, P + 0.5, {"method": by}, r"pred_probs holds 1.4 at row 0, column 0.*logits=True")
        for by in ("quality", "self_confidence")
    ),
    ("a label", 2 * SEVERAL, P, {"method": "self_confidence"}, "labels holds 2 at row 0, column 0"),
]


@pytest.mark.parametrize(("labels", "scores", "more", "says"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_bad_arguments_are_named(labels: Any, scores: Any, more: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        nmn.get_label_quality_scores(labels, scores, **more)


def test_files_of_text_are_for_the_noise_model(tmp_path: Path) -> None:
    z, p, _ = several(rows=300)
    np.savetxt(tmp_path / "z.csv", z, "%d", ",", header="a,b,c,d,e", comments="")
    np.savetxt(tmp_path / "p.csv", p, "%.9g", ",", header="a,b,c,d,e", comments="")
    for each in (False, True):
        want = nmn.get_label_quality_scores(z, p, per_class=each)
        assert (nmn.get_label_quality_scores(tmp_path / "z.csv", tmp_path / "p.csv", per_class=each) == want).all()
    with pytest.raises(ValueError, match=r"'p.csv' is a text file, and method='self_confidence' needs arrays"):
        nmn.get_label_quality_scores(tmp_path / "z.csv", tmp_path / "p.csv", method="self_confidence")
