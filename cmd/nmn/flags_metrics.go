package main

import (
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"nmn/telemetry"
)

// Variables of the environment that stand for flags of the metrics. In an image the program and its health check share
// the address, and a URL with a password is better there than in the arguments of a process, which everybody sees.
const (
	metricsVariable = "NMN_METRICS_ADDR"
	pushVariable    = "NMN_METRICS_PUSH"
)

// longestLinger is how long the metrics of a run that has finished are served for one more scrape, unless a flag says.
const longestLinger = time.Minute

// metricsOptions say where the metrics of a training go.
type metricsOptions struct {
	address  string
	textfile string
	push     string
	linger   time.Duration
	run      string // names the run; empty for the name of its folder
}

func newMetricsOptions(p *program) metricsOptions {
	return metricsOptions{address: p.getenv(metricsVariable), linger: longestLinger}
}

// metricsFlags declares the flags of commands that train.
func metricsFlags(r group, m *metricsOptions) {
	r.string(&m.address, "metrics-addr",
		"serve Prometheus metrics on this `port` of localhost, or on host:port; else where "+metricsVariable+" says")
	r.duration(&m.linger, "metrics-linger", "longest `time` to go on serving metrics after the end, until the next "+
		"scrape has seen that the run has finished; only where somebody scrapes")
	r.file(&m.textfile, "metrics-textfile", "also keep the metrics in a `file` for the textfile collector of "+
		"node_exporter, every 15 seconds and at the end", "prom")
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
func (m *metricsOptions) wanted() bool { return m.address != "" || m.textfile != "" || m.push != "" }

func (m *metricsOptions) export(p *program) telemetry.Export {
	return telemetry.Export{Textfile: m.textfile, Push: m.push, Run: m.run, Log: p.log}
}
