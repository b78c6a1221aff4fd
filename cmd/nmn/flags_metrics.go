package main

import (
	"path/filepath"

	"github.com/spf13/cobra"
)

// Variables of the environment that stand for flags of the metrics. An image sets the address, and a URL with a
// password is better there than in the arguments of a process, which everybody sees.
const (
	metricsVariable = "NMN_METRICS_ADDR"
	pushVariable    = "NMN_METRICS_PUSH"
)

// metricsOptions say where the metrics of a training go.
type metricsOptions struct {
	address string
	push    string
	run     string // names the run; empty for the name of its folder
}

func newMetricsOptions(p *program) metricsOptions {
	return metricsOptions{address: p.getenv(metricsVariable)}
}

// metricsFlags declares the flags of commands that train.
func metricsFlags(r group, m *metricsOptions) {
	r.string(&m.address, "metrics-addr",
		"serve Prometheus metrics on this `port` of localhost, or on host:port; else where "+metricsVariable+" says")
	r.string(&m.push, "metrics-push", "also push the metrics to the Pushgateway at this `URL`, every 15 seconds and "+
		"at the end; else to that of "+pushVariable)
	r.string(&m.run, "run-name", "`name` of the run in metrics (default that of its folder)")
}

// resolve completes the options of a command that writes a run folder.
func (m *metricsOptions) resolve(cmd *cobra.Command, p *program, dir string) {
	if !cmd.Flags().Changed("metrics-push") { // no default of the flag: help would show its password
		m.push = p.getenv(pushVariable)
	}
	if m.run != "" {
		return
	}
	if absolute, err := filepath.Abs(dir); err == nil {
		dir = absolute
	}
	m.run = filepath.Base(dir)
}

// wanted reports whether metrics go anywhere.
func (m *metricsOptions) wanted() bool { return m.address != "" || m.push != "" }
