package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"nmn/telemetry"
)

func newHealthcheck(p *program) *cobra.Command {
	address, timeout := p.getenv(metricsVariable), 3*time.Second
	if address == "" {
		address = "9090"
	}
	cmd := &cobra.Command{
		Use:   "healthcheck",
		Short: "Ask whether training is up, for containers",
		Long: `Ask the training on this host, by the address of its --metrics-addr, whether it is up
and gets ahead. The exit code is 0 if so. It is 1 where nothing answers, and where a training
has made no step and validated nothing for ten minutes, or for twenty times its longest step
if that is longer: what a container's health check wants, without another program in the
image.`,
		Example: `  nmn healthcheck
  nmn healthcheck --metrics-addr 9091 && echo up`,
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			if err := telemetry.Healthy(ctx, address); err != nil {
				return err
			}
			_, err := fmt.Fprintln(p.out, "up")
			return err
		},
	}
	r := under(cmd, "Health")
	r.string(&address, "metrics-addr", "the `port` of localhost, or host:port, that training serves metrics on")
	r.duration(&timeout, "timeout", "longest `time` to wait for the answer")
	return cmd
}
