// Package metrics turns the events of package train into metrics for Prometheus, and serves and pushes them.
package metrics
