"""Training with settings as keywords, and what a run folder shows."""

from __future__ import annotations

import json
import logging
import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import nmn
from nmn._program import program
from nmn._train import _flags, _flat


def test_settings_are_keys_however_they_are_nested():
    want = {"data.noise": 0.2, "data.features.train.labels": "y.npy", "preset": "features"}
    for settings, between in (
        ({"data__noise": 0.2, "data__features__train__labels": "y.npy", "preset": "features"}, "__"),
        ({"data": {"noise": 0.2, "features": {"train": {"labels": "y.npy"}}}, "preset": "features"}, "__"),
        ({"data.noise": 0.2, "data": {"features.train.labels": "y.npy"}, "preset": "features"}, "."),
    ):
        assert dict(_flat(settings, between)) == want


def test_settings_are_written_as_yaml():
    given = {
        "a": np.float32(0.5),
        "b": [np.int64(1), 2],
        "c": Path("x"),
        "d": True,
        "e": "ö: [",
        "f": None,
        "size": "full",
    }
    assert _flags(given) == [
        "--set=a=0.5",
        "--set=b=[1, 2]",
        '--set=c="x"',
        "--set=d=true",
        '--set=e="ö: ["',
        "--set=f=null",
        "--size=full",
    ]
    for value in (object(), float("nan"), [float("inf")]):
        with pytest.raises(nmn.UsageError, match="x is"):
            _flags({"x": value})


@pytest.fixture(autouse=True)
def real():
    """Skip if the program is missing."""
    try:
        program()
    except nmn.NmnError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"data__nois": 0.2}, r"^there is no setting data\.nois; did you mean data\.noise\?$"),
        ({"train_size": 2}, r"did you mean data\.train_size\?$"),
        ({"data__train_size": -1}, r"^data\.train_size is -1, want at least 0$"),
        ({"preset": "pictures"}, "scenes, moving-scenes"),
        ({"data": {"images": "none"}}, r"^data\.images: folder"),
    ],
)
def test_mistakes_are_value_errors_that_name_the_setting(settings, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        nmn.train(**({"preset": "scenes"} | settings), run_dir=tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()


def test_no_run():
    with pytest.raises(nmn.NmnError, match="holds no run"):
        nmn.Run("nowhere")


def blobs(n: int = 240, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.random((n, 3)) < 0.4
    x = y @ rng.normal(size=(3, 8)) * 2 + rng.normal(size=(n, 8))
    return x.astype(np.float32), (y & (rng.random(y.shape) > 0.2)).astype(np.uint8)


QUICK = {"train__stage1_epochs": 2, "train__stage2_epochs": 2, "arm": "baseline", "recipe__form": "paper"}


def test_arrays_are_trained_on_and_the_run_is_shown(tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    x, y = blobs()
    names = [["a" * bool(row[0]), "b" * bool(row[1]), "c" * bool(row[2])] for row in y]
    names = [[n for n in row if n] for row in names]
    run = nmn.train(
        data__features__train__features=x,
        data__features__train__labels=names,
        run_dir=tmp_path / "run",
        progress=False,
        **QUICK,
    )
    assert list(scratch.iterdir()) == []
    assert run.complete
    assert run.config["arm"] == "baseline"
    config = run.config
    assert (config["train.stage1_epochs"], type(config["train.stage1_epochs"])) == (2, int)
    assert all(isinstance(config[key], float) for key in config if key.endswith("learning_rate"))
    assert not any(key.startswith("build") for key in config)
    assert {type(value) for value in config.values()} >= {bool, int, float, str, list}
    assert 0 < run.threshold < 1
    assert "All" in run.metrics
    assert sorted(run.history["msg"]) == ["epoch", "epoch", "evaluation", "evaluation"]
    assert "<iframe" in run.page._repr_html_()
    assert "<b>" in run._repr_html_()
    assert "not finished" not in run._repr_html_()
    assert "shown" in (run.folder / "result.json").read_text()
    assert "shown" not in run.result
    p = run.predict(x[:5])
    assert sorted(n for n in p if n != "id") == ["a", "b", "c"]
    assert len(p["a"]) == 5
    with pytest.raises(nmn.NmnError, match="8 features"):
        run.predict(x[:5, :3])
    with pytest.raises(nmn.UsageError, match="run"):
        nmn.train(preset="scenes", run_dir=tmp_path / "run", progress=False)


@pytest.mark.skipif(os.name == "nt", reason="interrupts differ")
def test_an_interrupt_saves_and_resuming_ends_as_if_there_had_been_none(tmp_path):
    x, y = blobs(1500)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    settings = {"data.features.train": {"features": tmp_path / "x.npy", "labels": tmp_path / "y.npy"}}
    settings |= {"arm": "baseline", "recipe.form": "paper", "train.stage1_epochs": 60, "train.stage2_epochs": 2}
    log = tmp_path / "cut" / "stage1" / "log.jsonl"

    def interrupt() -> None:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if log.exists() and '"msg":"step"' in log.read_text():
                break
            time.sleep(0.005)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt, match="run the same command again to continue"):
        nmn.train(settings, run_dir=tmp_path / "cut", progress=False)
    thread.join()
    assert not nmn.Run(tmp_path / "cut").complete
    resumed = nmn.train(settings, run_dir=tmp_path / "cut", progress=False)
    whole = nmn.train(settings, run_dir=tmp_path / "whole", progress=False)
    assert resumed.result["evaluation"] == whole.result["evaluation"]
    with pytest.raises(nmn.UsageError, match="holds another run"):
        nmn.train(settings, run_dir=tmp_path / "cut", progress=False, train__seed=2)
    again = nmn.train(settings, run_dir=tmp_path / "cut", progress=False, restart=True, train__seed=2)
    assert again.complete
    assert again.config["train.seed"] == 2


def test_progress_is_a_bar_and_messages_are_logged(tmp_path, monkeypatch, caplog):
    tqdm = pytest.importorskip("tqdm.auto")
    shown: list[tuple[str, int, int]] = []

    class Recorder:
        n = 0

        def __init__(self, total, desc, unit):
            self.total, self.desc, self.unit = total, desc, unit

        def update(self, n):
            self.n += n
            shown.append((self.desc, self.n, self.total))

        def set_postfix_str(self, text, refresh):
            assert text.startswith("loss ")
            assert not refresh

        def close(self):
            pass

    monkeypatch.setattr(tqdm, "tqdm", Recorder)
    x, y = blobs(100)
    with caplog.at_level(logging.INFO, logger="nmn"):
        nmn.train(
            {"data.features.train": {"features": x, "labels": y}},
            run_dir=tmp_path / "run",
            **QUICK,
        )
    stages = list(dict.fromkeys(desc for desc, _, _ in shown))
    assert len(stages) == 2
    for stage in stages:
        done, total = [(n, total) for desc, n, total in shown if desc == stage][-1]
        assert done == total
    assert any(record.levelname == "INFO" for record in caplog.records)
    assert '{"progress"' not in caplog.text


def test_history_has_each_epoch_and_each_validation_once(tmp_path):
    (tmp_path / "config.yaml").write_text("arm: baseline\n")
    lines = [
        {"msg": "configuration", "time": "2026-11-26T21:23:39Z", "level": "INFO", "arm": "baseline"},
        {"msg": "step", "step": 2, "epoch": 1, "loss": 3.5},
        {"msg": "evaluation", "step": 2, "epoch": 1, "best": True, "map": 0.5},
        {"msg": "epoch", "step": 2, "epoch": 1, "loss": 9, "samples": 4},
        {"msg": "configuration", "resumed_at": 2},
        {"msg": "epoch", "step": 2, "epoch": 1, "loss": 2.5, "samples": 4},
        {"msg": "epoch", "step": 4, "epoch": 2, "loss": 2, "samples": 4},
    ]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"msg":"ep')
    history = nmn.Run(tmp_path).history
    assert list(history) == ["msg", "step", "epoch", "best", "map", "loss", "samples"]
    assert list(history["msg"]) == ["evaluation", "epoch", "epoch"]
    assert list(history["step"]) == [2, 2, 4]
    assert list(history["best"]) == [True, "", ""]
    np.testing.assert_array_equal(history["loss"], [np.nan, 2.5, 2])
    np.testing.assert_array_equal(history["map"], [0.5, np.nan, np.nan])


def test_an_arm_without_noise_rates_says_so(tmp_path):
    (tmp_path / "config.yaml").write_text("arm: caption-filter\n")
    run = nmn.Run(tmp_path)
    with pytest.raises(nmn.NmnError, match=r"has no q\.csv yet"):
        _ = run.noise_rates
    (tmp_path / "result.json").write_text('{"arm": "caption-filter"}')
    with pytest.raises(nmn.NmnError, match="arm caption-filter learns no noise rates"):
        _ = run.noise_rates
