"""A run folder as a run of MLflow: of a fake that notes its calls, and of MLflow itself if it is installed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import nmn

LOG = [
    {"time": "2026-11-26T21:23:39.6312Z", "level": "INFO", "msg": "configuration", "resumed_at": 0, "arm": "baseline"}
    | {"train.noise.miss_rate[0]": "0.35", "data.captions": ""},
    {"time": "2026-11-26T22:23:40.5+01:00", "level": "INFO", "msg": "step", "step": 1, "epoch": 1}
    | {"loss": 2.5, "lr": 0.1},
    {"time": "2026-11-26T21:23:41Z", "level": "INFO", "msg": "step", "step": 2, "epoch": 1, "loss": 2.0, "lr": 0.1},
    {"time": "2026-11-26T21:23:42Z", "level": "INFO", "msg": "evaluation", "step": 2, "epoch": 1, "best": True}
    | {"map": 0.5, "true_map": None},
    {"time": "2026-11-26T21:23:43Z", "level": "INFO", "msg": "epoch", "step": 2, "epoch": 1, "loss": 2.25},
    {"time": "2026-11-26T21:23:44Z", "level": "INFO", "msg": "checkpoint", "step": 2, "epoch": 1, "bytes": 7},
]
RESULT = {"split": "test", "steps": 2, "evaluation": {"group_size": {"All": 3}, "labels": {"ap": {"All": 0.75}}}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write the folder of a run that has been killed while it wrote a line."""
    run = tmp_path / "birds"
    run.mkdir()
    (run / "config.yaml").write_text("arm: baseline\n")
    (run / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LOG) + '{"time":"2026-11-26T21:2')
    (run / "last.safetensors").write_bytes(b"weights")
    return run


class Fake:
    """Takes the calls of MLflow that nmn makes, with the names of its parameters."""

    def __init__(self) -> None:
        self.runs: dict[str, SimpleNamespace] = {}
        self.active: Any = None
        self.entities = SimpleNamespace(Metric=self._metric)

    def _metric(self, key: str, value: float, timestamp: int, step: int) -> SimpleNamespace:
        return SimpleNamespace(key=key, value=value, timestamp=timestamp, step=step)

    def active_run(self) -> Any:
        return self.active

    def start_run(self, run_name: str | None = None) -> Any:
        run_id = str(len(self.runs))
        self.active = SimpleNamespace(info=SimpleNamespace(run_id=run_id))
        self.runs[run_id] = SimpleNamespace(name=run_name, params={}, metrics={}, files=[])
        fake = self

        class Active:
            def __enter__(self) -> Any:
                return fake.active

            def __exit__(self, *error: object) -> None:
                fake.active = None

        return Active()

    def log_params(self, params: dict[str, Any]) -> None:
        self.runs[self.active.info.run_id].params.update(params)

    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
        for key, value in metrics.items():
            self.runs[self.active.info.run_id].metrics.setdefault(key, []).append((step, value, None))

    def log_artifact(self, local_path: str) -> None:
        self.runs[self.active.info.run_id].files.append(Path(local_path).name)

    def MlflowClient(self) -> Any:
        def log_batch(run_id: str, metrics: Any = ()) -> None:
            for m in metrics:
                self.runs[run_id].metrics.setdefault(m.key, []).append((m.step, m.value, m.timestamp))

        return SimpleNamespace(log_batch=log_batch)

    def kept(self, run_id: str) -> SimpleNamespace:
        return self.runs[run_id]


class Real:
    """Reads back what MLflow has kept in a database."""

    def __init__(self, folder: Path) -> None:
        self.mlflow = pytest.importorskip("mlflow")
        self.mlflow.set_tracking_uri(f"sqlite:///{folder / 'runs.db'}")
        self.mlflow.create_experiment("birds", artifact_location=(folder / "files").as_uri())
        self.mlflow.set_experiment("birds")

    def start_run(self, run_name: str) -> Any:
        return self.mlflow.start_run(run_name=run_name)

    def kept(self, run_id: str) -> SimpleNamespace:
        client = self.mlflow.MlflowClient()
        run = client.get_run(run_id)
        metrics = {
            key: [(m.step, m.value, m.timestamp) for m in client.get_metric_history(run_id, key)]
            for key in run.data.metrics
        }
        files = [file.path for file in client.list_artifacts(run_id)]
        return SimpleNamespace(name=run.info.run_name, params=run.data.params, metrics=metrics, files=files)


@pytest.fixture(params=["fake", "real"])
def tracker(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give MLflow, or what stands in for it."""
    if request.param == "real":
        return Real(tmp_path)
    fake = Fake()
    monkeypatch.setitem(sys.modules, "mlflow", fake)
    return fake


def test_a_run_has_settings_figures_by_step_and_pages(tracker: Any, folder: Path) -> None:
    kept = tracker.kept(nmn.log_to_mlflow(folder))
    assert kept.name == "birds"
    assert kept.params == {"arm": "baseline", "train.noise.miss_rate.0": "0.35", "data.captions": ""}
    assert kept.metrics == {
        "train/loss": [(1, 2.5, 1795728220000), (2, 2.0, 1795728221000)],
        "train/lr": [(1, 0.1, 1795728220000), (2, 0.1, 1795728221000)],
        "validation/map": [(2, 0.5, 1795728222000)],
        "epoch/loss": [(2, 2.25, 1795728223000)],
    }
    assert kept.files == ["config.yaml"]


def test_what_a_complete_run_was_judged_by_comes_too(tracker: Any, folder: Path) -> None:
    (folder / "result.json").write_text(json.dumps(RESULT))
    (folder / "report.html").write_text("page")
    kept = tracker.kept(nmn.log_to_mlflow(nmn.Run(folder), name="mine"))
    assert kept.name == "mine"
    assert [entry[:2] for entry in kept.metrics["test/labels.ap"]] == [(2, 0.75)]
    assert sorted(kept.files) == ["config.yaml", "report.html"]


def test_an_active_run_is_used(tracker: Any, folder: Path) -> None:
    with tracker.start_run(run_name="mine") as active:
        assert nmn.log_to_mlflow(folder) == active.info.run_id
    assert tracker.kept(active.info.run_id).name == "mine"


def test_without_mlflow_an_error_says_what_to_install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(nmn.NmnError, match="pip install mlflow"):
        nmn.log_to_mlflow(folder)
    with pytest.raises(nmn.NmnError, match="holds no run"):
        nmn.log_to_mlflow(folder / "nowhere")
