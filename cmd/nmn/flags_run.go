package main

import (
	"github.com/spf13/cobra"

	"nmn/kernels/tensor"
	"nmn/run"
)

func deviceFlag(r group, device *string) {
	r.string(device, "device", "compute on this `device`: auto, cpu, cuda or cuda:n")
	r.completes("device", "auto", "cpu", "cuda")
}

// deviceFlags declares --device and --threads.
func deviceFlags(r group, device *string, threads *int) {
	deviceFlag(r, device)
	r.int(threads, "threads", "compute with this many `goroutines`")
}

// precisionFlag declares --precision.
func precisionFlag(r group, c *run.Resources) {
	enum(r, &c.Precision, "precision", "compute in this `format`", tensor.Precisions()...)
}

func checkpointFlag(r group, v *run.Checkpoint) {
	enum(r, v, "checkpoint", "read this `checkpoint` of a run folder", run.Last, run.Best)
}

func completeModels(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}
