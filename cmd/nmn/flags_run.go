package main

import (
	"github.com/spf13/cobra"

	"nmn/kernels/tensor"
	"nmn/run"
)

func deviceFlag(cmd *cobra.Command, r group, device *string) {
	r.string(device, "device", "compute on this `device`: auto, cpu, cuda or cuda:n")
	r.completes("device", "auto", "cpu", "cuda")
}

// deviceFlags declares --device and --threads.
func deviceFlags(cmd *cobra.Command, r group, device *string, threads *int) {
	deviceFlag(cmd, r, device)
	r.int(threads, "threads", "compute with this many `goroutines`")
}

// precisionFlag declares --precision.
func precisionFlag(r group, c *run.Resources) {
	enum(r, &c.Precision, "precision", "compute in this `format`", tensor.Precisions()...)
}

// convExactFlag declares --conv-exact.
func convExactFlag(r group, c *run.Resources) {
	r.bool(&c.ConvExact, "conv-exact", "convolve on the CPU without Winograd: slower, slightly more exact")
}

func checkpointFlag(r group, v *run.Checkpoint) {
	enum(r, v, "checkpoint", "read this `checkpoint` of a run folder", run.Last, run.Best)
}

func completeModels(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}
