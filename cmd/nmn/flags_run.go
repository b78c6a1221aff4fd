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

func runFlags(cmd *cobra.Command, c *run.Resources) {
	r := under(cmd, "Run")
	deviceFlag(cmd, r, &c.Device)
	precisionFlag(r, c)
	convExactFlag(r, c)
	r.bool(&c.SyncLaunches, "sync-launches", "wait for each kernel of a graphics card, so that a fault names the "+
		"one that failed; slow")
	r.bool(&c.NoGraphs, "no-graphs", "launch the kernels of a step one by one on a graphics card, instead of "+
		"replaying a recorded step")
	r.bool(&c.TensorBoard, "tensorboard", "also write the run for TensorBoard, into the folder tensorboard of the "+
		"run: losses, measures, precision-recall curves, pictures of the surest mistakes")
	r.bool(&c.NVTX, "nvtx", "name layers and phases to a profiler, such as Nsight Systems, that has started this "+
		"program")
	r.int(&c.Threads, "threads", "`goroutines` that compute; 0 for one on each processor. Results do not depend on it")
	r.int(&c.Workers, "workers", "`goroutines` that load pictures. Results do not depend on it")
	r.int(&c.Prefetch, "prefetch", "`batches` loaded ahead")
	r.bool(&c.VerifyData, "verify-data", "know pictures and frames again by their content, which is read once more, "+
		"and not by size and time of modification alone, when a run goes on or its results are shown")
	r.int(&c.LabelMemory, "label-memory", "labels of --clips that are held in memory, `MiB`; beyond it they are "+
		"read from their file as clips come up. What is learned does not depend on it")
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
