// Package telemetry turns the events of package train into metrics for Prometheus, log lines and a
// table of epochs. Each sink gives a train.Observer.
package telemetry
