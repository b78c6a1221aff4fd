package main

import (
	"fmt"

	"nmn/run"
	"nmn/telemetry/mlflow"
)

// Variables of the environment that MLflow's own clients read.
const (
	mlflowVariable           = "MLFLOW_TRACKING_URI"
	mlflowExperimentVariable = "MLFLOW_EXPERIMENT_NAME"
	mlflowTokenVariable      = "MLFLOW_TRACKING_TOKEN"
	mlflowUserVariable       = "MLFLOW_TRACKING_USERNAME"
	mlflowPasswordVariable   = "MLFLOW_TRACKING_PASSWORD"
)

// trackingFlags declares the flags of commands that train classifiers.
func trackingFlags(r group, t *run.Tracking) {
	r.string(&t.MLflow, "mlflow", "tell the MLflow tracking server at this `URL` of the run, such as "+
		"http://host:5000; else that of "+mlflowVariable)
	r.string(&t.Experiment, "mlflow-experiment", "`name` of MLflow's experiment; else that of "+
		mlflowExperimentVariable+", or "+run.DefaultExperiment)
	r.string(&t.RunName, "run-name", "`name` of the run in metrics and trackers (default that of its folder)")
}

// trackingFromEnvironment completes what flags and files leave open, and gives what the server asks for, which no flag
// takes: everybody sees the arguments of a process. changed reports whether a flag was given.
func (p *program) trackingFromEnvironment(t *run.Tracking, changed func(flag string) bool) mlflow.Access {
	access := mlflow.Access{Token: p.getenv(mlflowTokenVariable), Username: p.getenv(mlflowUserVariable),
		Password: p.getenv(mlflowPasswordVariable)}
	if t.MLflow == "" && !changed("mlflow") && p.getenv(mlflowVariable) != "" {
		server, own, err := mlflow.ParseURL(p.getenv(mlflowVariable))
		if err != nil {
			if !p.quiet {
				fmt.Fprintf(p.status, "mlflow  %s leads to no server, and nothing is told: %v\n", mlflowVariable, err)
			}
			return access
		}
		t.MLflow = server
		if access == (mlflow.Access{}) {
			access = own
		}
	}
	if t.MLflow != "" && t.Experiment == "" {
		t.Experiment = p.getenv(mlflowExperimentVariable)
	}
	if t.MLflow != "" && !p.quiet {
		fmt.Fprintf(p.status, "mlflow  %s\n", t.MLflow)
	}
	return access
}
