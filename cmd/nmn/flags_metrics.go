package main

import (
	"path/filepath"

	"github.com/spf13/cobra"
)

// Environment variables for the flags of the metrics. A container image sets the address. A URL with a password
// is safer in a variable than in the arguments of a process, which all users can see.
const (
	metricsVariable = "NMN_METRICS_ADDR"
	pushVariable    = "NMN_METRICS_PUSH"
)

// metricsOptions select where the metrics of a training go.
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
	r.string(&m.address, "metrics-addr", "serve Prometheus metrics on this `port` or host:port (or "+metricsVariable+")")
	r.string(&m.push, "metrics-push", "push metrics to the Pushgateway at this `URL` (or "+pushVariable+")")
	r.string(&m.run, "run-name", "set the `name` of the run in metrics")
	r.rare("metrics-push", "run-name")
}

// resolve completes the options of a command that writes a run folder.
func (m *metricsOptions) resolve(cmd *cobra.Command, p *program, dir string) {
	if !cmd.Flags().Changed("metrics-push") { // a default of the flag would show the password in the help
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
