//go:build cuda

package noise

import (
	"cmp"

	"nmn/cuda"
	"nmn/kernels/tensor"
)

// CUDA implements Ops on a graphics card, in float32 with the algebra of a (bag, class) in float64. A
// step is one launch. Frame offsets and labels are not checked: offsets beyond the batch are cut to it,
// an empty bag gives NaN, and any label that is not 0 counts as 1 for a noise model.
type CUDA struct {
	device *tensor.CUDA
	step   stepKernels
	large  largeKernels

	exclusive exclusiveKernels
	work      tensor.Workspace // of such a step

	partial tensor.Workspace // float64 losses of each tile of classes
	tickets tensor.Workspace // uint32 for each bag, 0 between launches
}

var _ Ops = (*CUDA)(nil)

// NewCUDA makes the family on a graphics card with the kernels of a module.
func NewCUDA(device *tensor.CUDA, module *cuda.Module) (*CUDA, error) {
	c := &CUDA{device: device}
	return c, tensor.FindKernels("noise", module, &c.step, &c.large, &c.exclusive)
}

// bagGrid is how a launch covers bags and classes: the constants of bag.cuh.
type bagGrid struct {
	grid, block cuda.Dim3
	tiles       int
	wide        bool // four classes a thread
}

const (
	bagThreads = 512
	// bagBlocks is about the number of blocks that fill a card. Tiles get narrower until there are that many.
	// It is a constant, so that results are equal on all cards.
	bagBlocks = 128
	// bagRows is the maximum number of instances for a thread, if there are enough threads.
	bagRows = 8
)

// gridOf chooses tiles and threads by the shape alone. wide needs rows at multiples of 16 bytes.
func gridOf(g geometry, wide bool) bagGrid {
	lanes, narrowest := 1, 8
	if wide {
		lanes, narrowest = 4, 2
	}
	x := 32
	for x > narrowest && (g.N*tensor.Ceil(g.K, x*lanes) < bagBlocks || x*lanes/2 >= g.K) {
		x /= 2
	}
	rows := tensor.Ceil(g.T*g.Cells(), g.N)
	y := tensor.PowerOfTwo(tensor.Ceil(rows, bagRows), 32/x, bagThreads/x)
	tiles := tensor.Ceil(g.K, x*lanes)
	return bagGrid{grid: cuda.Dim3{X: g.N * tiles}, block: cuda.Dim3{X: x, Y: y}, tiles: tiles, wide: wide}
}

// fits checks that a batch can be indexed by the kernels.
func (g geometry) fits(operation string) error {
	const most = 1<<31 - 1
	if g.T*g.Cells() > most || g.N*tensor.Ceil(g.K, 8) > most || g.K > most/4 {
		return tensor.Misfit(operation, "%d instances of %d classes in %d bags are more than a launch can have",
			g.T*g.Cells(), g.K, g.N)
	}
	return nil
}

// rowsAligned reports whether all rows of classes begin at multiples of 16 bytes.
func rowsAligned(classes int, tensors ...*tensor.Tensor) bool {
	for _, t := range tensors {
		if t != nil && (classes%4 != 0 || t.Address()%16 != 0) {
			return false
		}
	}
	return true
}

// NoiseStep implements Ops. DLogits must not be the memory of logits.
func (c *CUDA) NoiseStep(out StepOutput, logits, confidence, labels, bags *tensor.Tensor, p StepParams) error {
	const operation = "noise step"
	g, err := fitStep(out, logits, confidence, labels, bags, p)
	if err := cmp.Or(err,
		tensor.OnDevice(operation, tensor.Float32, logits, confidence, labels, p.Weights),
		tensor.OnDevice(operation, tensor.Float32, out.Loss, out.DLogits, out.DO, out.Prob, out.Observed, out.Posterior,
			out.BagLogit),
		tensor.OnDevice(operation, tensor.Int32, bags), g.fits(operation)); err != nil {
		return err
	}
	if out.DLogits != nil && out.DLogits.Address() == logits.Address() {
		return tensor.Misfit(operation, "the gradient must not overwrite the logits")
	}
	if p.Exclusive {
		return c.exclusiveStep(out, g, logits, confidence, labels, bags, p)
	}
	b := gridOf(g, rowsAligned(g.K, logits, out.DLogits))
	partial, err := c.partial.Reserve(c.device, 8*g.N*b.tiles)
	if err != nil {
		return err
	}
	tickets, err := c.tickets.Reserve(c.device, 4*g.N)
	if err != nil {
		return err
	}
	a := noiseStepArguments{
		logits: tensor.At(logits), confidence: tensor.At(confidence), labels: tensor.At(labels),
		weights: tensor.At(p.Weights), offsets: tensor.At(bags),
		loss: tensor.At(out.Loss), dLogits: tensor.At(out.DLogits), dO: tensor.At(out.DO), prob: tensor.At(out.Prob),
		observed: tensor.At(out.Observed), posterior: tensor.At(out.Posterior), bagLogit: tensor.At(out.BagLogit),
		partial: partial, tickets: tickets,
		bags: int32(g.N), frames: int32(g.T), cells: int32(g.Cells()), classes: int32(g.K),
		perBag: tensor.Flag(g.PerBag), mil: tensor.Flag(p.MIL), evidence: tensor.Flag(p.Evidence), scale: p.Scale,
		positive: p.Asymmetric.Positive, negative: p.Asymmetric.Negative, margin: p.Asymmetric.Margin,
	}
	if b.wide {
		return c.step.noiseStepWide.Launch(c.device.Stream, b.grid, b.block, a)
	}
	return c.step.noiseStep.Launch(c.device.Stream, b.grid, b.block, a)
}
