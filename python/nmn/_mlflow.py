"""Log a run folder to MLflow."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import re
from typing import Any

from nmn._errors import NmnError
from nmn._run import Run

__all__ = ["log_to_mlflow"]

#: Events of log.jsonl, and the prefixes of their metrics.
_EVENTS = {"step": "train/", "epoch": "epoch/", "evaluation": "validation/"}
#: Keys that are neither settings nor figures.
_PLACES = ("time", "level", "msg", "step", "epoch", "resumed_at")
_ARTIFACTS = ("config.yaml", "report.html", "q.csv")


def log_to_mlflow(run: str | os.PathLike[str] | Run, *, name: str | None = None) -> str:
    """Log a run folder to MLflow: settings as parameters, metrics by step, and the page of the run.

    ``mlflow.set_tracking_uri``, ``mlflow.set_experiment`` and MLflow's environment variables set the destination. The
    active run is used if there is one.

    Parameters
    ----------
    run : path or Run
        The folder of a run, which need not be complete.
    name : str, optional
        Name of the new MLflow run; the folder's name by default.

    Returns
    -------
    str
        The id of the MLflow run.

    Raises
    ------
    NmnError
        If MLflow is not installed, or the folder holds no run.

    Examples
    --------
    >>> mlflow.set_experiment("birds")  # doctest: +SKIP
    >>> nmn.log_to_mlflow("runs/train")  # doctest: +SKIP
    """
    run = run if isinstance(run, Run) else Run(run)
    log = run._file("log.jsonl")
    try:
        import mlflow
    except ImportError as error:
        raise NmnError("log_to_mlflow needs MLflow, which is not installed: pip install mlflow") from error
    params: dict[str, Any] = {}
    metrics = []
    with open(log, encoding="utf-8") as lines:
        for line in lines:
            if not line.endswith("}\n"):  # cut off when a process was killed
                continue
            record = json.loads(line)
            event, time, step = (record.get(key) for key in ("msg", "time", "step"))
            for key in _PLACES:
                record.pop(key, None)
            if event == "configuration":
                # MLflow allows no brackets: betas[0] is betas.0.
                params = {key.replace("[", ".").replace("]", ""): value for key, value in record.items()}
            elif event in _EVENTS:
                metrics += [
                    mlflow.entities.Metric(_EVENTS[event] + key, float(value), _milliseconds(time), step)
                    for key, value in record.items()
                    if isinstance(value, (int, float)) and not isinstance(value, bool)
                ]
    name = name or run.folder.resolve().name
    active = mlflow.active_run()
    with contextlib.nullcontext(active) if active else mlflow.start_run(run_name=name) as target:
        identity: str = target.info.run_id
        mlflow.log_params(params)
        mlflow.MlflowClient().log_batch(identity, metrics=metrics)
        if run.complete:
            result, table = run.result, run.metrics
            names = table.index if hasattr(table, "index") else table["measure"]
            figures = {f"{result['split']}/{key}": value for key, value in zip(names, table["All"]) if value == value}
            mlflow.log_metrics(figures, step=result["steps"])
        for artifact in _ARTIFACTS:
            if (run.folder / artifact).is_file():
                mlflow.log_artifact(str(run.folder / artifact))
    return identity


def _milliseconds(time: str) -> int:
    """Parse a time of Go's log. Python 3.9 does not accept its fraction."""
    whole = re.sub(r"\.\d+", "", time).replace("Z", "+00:00")
    return int(datetime.datetime.fromisoformat(whole).timestamp() * 1000)
