// Package telemetry is for adding a metric or a log line: it turns the events of package train into metrics for
// Prometheus, log lines and a table of epochs. Each sink gives a train.Observer.
package telemetry
