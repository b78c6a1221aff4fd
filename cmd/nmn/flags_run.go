package main

import (
	"github.com/spf13/cobra"

	"nmn/kernels/tensor"
	"nmn/run"
)

func deviceFlag(cmd *cobra.Command, r group, device *string) {
	r.string(device, "device", "`device` that computes: auto, cpu, cuda or cuda:n")
	r.completes("device", "auto", "cpu", "cuda")
}

// deviceFlags declare what a command computes with.
func deviceFlags(cmd *cobra.Command, r group, device *string, threads *int) {
	deviceFlag(cmd, r, device)
	r.int(threads, "threads", "`goroutines` that compute; 0 for one on each processor. Results do not depend on it")
}

// precisionFlag declares --precision beside --device.
func precisionFlag(r group, c *run.Resources) {
	enum(r, &c.Precision, "precision", "`format` of numbers; auto is bf16 on a card that has it, the CPU computes "+
		"in fp32", tensor.Precisions()...)
}

// convExactFlag declares --conv-exact beside --device.
func convExactFlag(r group, c *run.Resources) {
	r.bool(&c.ConvExact, "conv-exact", "convolutions on the CPU as sums of the products themselves: slower, and "+
		"closer to the exact result by about a bit")
}

func checkpointFlag(r group, v *run.Checkpoint) {
	enum(r, v, "checkpoint", "of a run folder, the `checkpoint` to take", run.Last, run.Best)
}

func completeModels(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}
