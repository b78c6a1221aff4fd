// Package mlflow tells an MLflow tracking server of a run, by its REST API: parameters, metrics by step, tags, the state
// at the end and files. Nothing of it blocks or fails training: everything goes through a bounded queue to a goroutine,
// and what a server that is gone does not take lies in the run folder until it does (SpoolFile). A run that is resumed
// goes on as the same run of the server (StateFile).
package mlflow
