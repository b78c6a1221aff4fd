// Package telemetry is for adding a log line: it turns the events of package train into log lines and events for
// TensorBoard. Each sink gives a train.Observer.
package telemetry
