// Package metrics is for adding a metric: it turns the events of package train into metrics for Prometheus, and serves
// and pushes them.
package metrics
