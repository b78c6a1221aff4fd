// Package telemetry turns the events of package train into log lines and events for TensorBoard. Each sink is
// a train.Observer.
package telemetry
