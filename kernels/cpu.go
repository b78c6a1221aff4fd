package kernels

import (
	"fmt"

	"nmn/kernels/activation"
	"nmn/kernels/conv"
	"nmn/kernels/noise"
	"nmn/kernels/pixels"
	"nmn/kernels/pool"
	"nmn/kernels/recurrent"
	"nmn/kernels/simd"
	"nmn/kernels/tensor"
	"nmn/kernels/transformer"
	"nmn/kernels/update"
)

// CPUConfig chooses how the host computes. The zero value is the fastest.
type CPUConfig struct {
	// Threads is the number of goroutines that compute, including the caller's. 0 means one for each
	// processor that Go may use. Results do not depend on it.
	Threads int
	// SIMD names the vector instructions, as simd.Select does. Empty means the level in the environment
	// variable simd.Environment, or else the processor's best level. Results of different levels differ in
	// their last bits.
	SIMD string
	// ConvExact keeps convolutions to sums of the products themselves: slower than Winograd's algorithm,
	// and closer to the exact result by about one bit.
	ConvExact bool
	// Precision is the number format of the products of linear layers: BF16, or float32 for all others.
	Precision tensor.Precision
}

// The families' implementations under names of their own, so that one struct can embed them all.
type (
	memory         = tensor.CPU
	convolutions   = conv.CPU
	activations    = activation.CPU
	pools          = pool.CPU
	noiseModel     = noise.CPU
	updates        = update.CPU
	normalizations = pixels.CPU
	sequences      = recurrent.CPU
	transformers   = transformer.CPU
)

// cpu is the Backend of the host.
type cpu struct {
	*memory
	*convolutions
	*activations
	*pools
	*noiseModel
	*updates
	*normalizations
	*sequences
	*transformers
}

// OpenCPU opens the host as a backend. A negative number of threads and instructions that are unknown or missing here
// are errors. If the instructions do not multiply bfloat16, the error of BF16 wraps tensor.ErrPrecision.
func OpenCPU(c CPUConfig) (Backend, error) {
	if c.Threads < 0 {
		return nil, fmt.Errorf("cpu: %d threads: want 0 (all processors) or more", c.Threads)
	}
	level, err := selectLevel(c.SIMD)
	if err != nil {
		return nil, fmt.Errorf("cpu: %w", err)
	}
	device := tensor.NewCPU(c.Threads, level.String())
	if c.Precision == tensor.BF16 {
		if err := level.BFloat16(); err != nil {
			return nil, fmt.Errorf("precision %s: %w (choose fp32 or auto): %w", c.Precision, err, tensor.ErrPrecision)
		}
		device.LinearWeights = tensor.BFloat16
	}
	return &cpu{
		memory:         device,
		convolutions:   conv.NewCPU(device, level, c.ConvExact),
		activations:    activation.NewCPU(device, level),
		pools:          pool.NewCPU(device, level),
		noiseModel:     noise.NewCPU(device, level),
		updates:        update.NewCPU(device, level),
		normalizations: pixels.NewCPU(device, level),
		sequences:      recurrent.NewCPU(device, level),
		transformers:   transformer.NewCPU(device, level),
	}, nil
}

func (c *cpu) MaxPoolGradBias(dx, db, dy, x, y *tensor.Tensor, p pool.MaxGradParams) error {
	return poolAndBias("gradient of max pooling and bias", c.MaxPoolGrad, c, dx, db, dy, x, y, p)
}

func (c *cpu) MaxPool3GradBias(dx, db, dy, x, y *tensor.Tensor, p pool.MaxGradParams) error {
	return poolAndBias("gradient of 3×3 max pooling and bias", c.MaxPool3Grad, c, dx, db, dy, x, y, p)
}

// poolAndBias computes the gradients of a pool and of the bias below in two passes. The sums equal ConvGradBias in
// every bit.
func poolAndBias(operation string, gradient func(dx, dy, x, y *tensor.Tensor, relu bool) error, b conv.Ops,
	dx, db, dy, x, y *tensor.Tensor, p pool.MaxGradParams) error {
	g, err := pool.FitMaxGrad(operation, dx, dy, x, y)
	if err != nil {
		return err
	}
	if err := g.FitChannels(operation, db); err != nil { // before anything is written
		return err
	}
	if err := gradient(dx, dy, x, y, p.ReLU); err != nil {
		return err
	}
	return b.ConvGradBias(db, dx, conv.Params{Accumulate: p.Accumulate})
}

// selectLevel selects a named level, which overrides the environment.
func selectLevel(name string) (simd.Level, error) {
	if name == "" {
		return simd.Detect()
	}
	return simd.Select(name)
}
