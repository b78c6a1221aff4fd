//go:build cuda

package product

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"strings"
	"time"

	"nmn/cuda"
	"nmn/cuda/cublas"
	"nmn/cuda/cudnn"
	"nmn/kernels/tensor"
)

// Options choose how ways are found.
type Options struct {
	// CacheFolder stores the choices between runs; empty for no file.
	CacheFolder string
	// Only, if not empty, is the library that computes all products.
	Only Library
	// Logger receives the choices and warnings about unfit files; nil for the default one.
	Logger *slog.Logger
}

// Products computes products on the stream of a device. It serves one goroutine at a time.
type Products struct {
	device  *tensor.CUDA
	cudnn   *cudnn.Handle
	cublas  *cublas.Handle // nil if the host has none
	options Options

	plans   map[shape]*cublas.Plan // nil for cuDNN
	kept    *choices
	file    string // path of the stored choices; empty for none
	scratch tensor.Workspace
	events  [2]*cuda.Event // to measure between
}

// shape is a pass of a 1×1 convolution over this number of rows, which is a product: x is rows×C, w K×C, y
// rows×K.
type shape struct {
	pass cudnn.Pass
	conv cudnn.Conv
}

// New opens cuBLASLt if the host has it. Without it cuDNN computes all products. That is logged at debug
// level, and is an error only if Only is cuBLASLt.
func New(device *tensor.CUDA, library *cudnn.Handle, o Options) (*Products, error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	p := &Products{device: device, cudnn: library, options: o, plans: map[shape]*cublas.Plan{}}
	if o.Only == CuDNN {
		return p, nil
	}
	var err error
	if p.cublas, err = cublas.Open(device.Stream); err != nil {
		if o.Only == CuBLASLt || !errors.Is(err, cublas.ErrNoLibrary) {
			return nil, err
		}
		o.Logger.Debug("cuDNN computes all products", "reason", err)
		return p, nil
	}
	p.readChoices()
	return p, nil
}

// Has reports whether a library is used.
func (p *Products) Has(l Library) bool {
	return l == CuDNN && p.options.Only != CuBLASLt || l == CuBLASLt && p.cublas != nil
}

// Count is the number of shapes that each library computes, by its name. Without cuBLASLt it is empty: cuDNN
// itself keeps its plans.
func (p *Products) Count() map[string]int {
	count := map[string]int{}
	for _, plan := range p.plans {
		if plan == nil {
			count[string(CuDNN)]++
		} else {
			count[string(CuBLASLt)]++
		}
	}
	return count
}

// readChoices reads the choices of earlier runs. An unfit file is reported and replaced later.
func (p *Products) readChoices() {
	info := p.device.Device.Info()
	device := fmt.Sprintf("%s sm_%d%d %d multiprocessors", info.Name, info.Major, info.Minor, info.Multiprocessors)
	p.kept = newChoices(cublas.Version(), cudnn.Version(), device)
	if p.options.CacheFolder == "" || p.options.Only != "" {
		return
	}
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(device))
	p.file = filepath.Join(p.options.CacheFolder, fmt.Sprintf("products-%d-%d-%s.json", cublas.Version(),
		cudnn.Version(), plain))
	if err := p.kept.read(p.file); err != nil {
		p.options.Logger.Warn("the libraries for products are chosen again", "reason", err)
	}
}

// Close frees the memory of cuBLASLt. Closing twice is harmless.
func (p *Products) Close() error {
	var errs []error
	for _, plan := range p.plans {
		if plan != nil {
			plan.Close()
		}
	}
	clear(p.plans)
	for _, event := range p.events {
		if event != nil {
			errs = append(errs, event.Close())
		}
	}
	p.events = [2]*cuda.Event{}
	if p.cublas != nil {
		errs = append(errs, p.cublas.Close())
	}
	return errors.Join(errs...)
}

// Run enqueues a pass of a 1×1 convolution over this number of rows, with or without bias and without ReLU,
// in float32 or TF32. Operands are at multiples of 16 bytes. The first run of a shape takes the choice from
// the file or measures both libraries, which overwrites the destination and waits. It must not be within a
// capture. If cuDNN has no plan for a shape in TF32, it computes it in float32.
func (p *Products) Run(pass cudnn.Pass, rows, inputs, outputs int, o cudnn.Operands) error {
	s := shape{pass, cudnn.Conv{N: rows, H: 1, W: 1, C: inputs, K: outputs, R: 1, S: 1}}
	if p.device.Precision() == tensor.TF32 {
		s.conv.Precision = cudnn.TF32
	}
	if p.cublas == nil {
		return p.convolve(s, o)
	}
	plan, known := p.plans[s]
	if !known {
		var err error
		if plan, err = p.choose(s, o); err != nil {
			return err
		}
		p.plans[s] = plan
	}
	if plan == nil {
		return p.convolve(s, o)
	}
	return p.multiply(s, plan, o)
}

// convolve has cuDNN compute a product.
func (p *Products) convolve(s shape, o cudnn.Operands) error {
	if s.conv.Precision == cudnn.TF32 {
		if err := p.cudnn.Run(s.pass, s.conv, o); !errors.Is(err, cudnn.ErrUnsupported) {
			return err
		}
		s.conv.Precision = cudnn.Float32
	}
	return p.cudnn.Run(s.pass, s.conv, o)
}

// multiply has cuBLASLt compute it.
func (p *Products) multiply(s shape, plan *cublas.Plan, o cudnn.Operands) error {
	scratch, err := p.scratch.Reserve(p.device, plan.Way.Workspace)
	if err != nil {
		return err
	}
	return plan.Run(s.operands(o), scratch)
}

// product is a pass for cuBLASLt: y = x wᵀ, dx = y w, dw = yᵀ x.
func (s shape) product() cublas.Product {
	c := s.conv
	p := cublas.Product{Rows: c.N, Inner: c.C, Columns: c.K, TransposeB: true, Bias: s.pass == cudnn.ForwardBias}
	switch s.pass {
	case cudnn.DataGradient:
		p = cublas.Product{Rows: c.N, Inner: c.K, Columns: c.C}
	case cudnn.FilterGradient:
		p = cublas.Product{Rows: c.K, Inner: c.N, Columns: c.C, TransposeA: true}
	}
	if c.Precision == cudnn.TF32 {
		p.Precision = cublas.TF32
	}
	return p
}

func (s shape) operands(o cudnn.Operands) cublas.Operands {
	switch s.pass {
	case cudnn.DataGradient:
		return cublas.Operands{A: o.Y, B: o.W, D: o.X}
	case cudnn.FilterGradient:
		return cublas.Operands{A: o.Y, B: o.X, D: o.W}
	}
	return cublas.Operands{A: o.X, B: o.W, D: o.Y, Bias: o.Bias}
}

// String names the shape in files and logs.
func (s shape) String() string {
	return fmt.Sprintf("%v of %d rows, %d by %d, %v", s.pass, s.conv.N, s.conv.C, s.conv.K, s.conv.Precision)
}

// choose finds the way of a shape: the one that was kept, or else the fastest. nil is cuDNN's.
func (p *Products) choose(s shape, o cudnn.Operands) (*cublas.Plan, error) {
	if p.device.Stream.Capturing() {
		return nil, fmt.Errorf("product: %v: the way to compute it must be chosen before a capture: run the step once before",
			s)
	}
	key := s.String()
	if kept, known := p.kept.Products[key]; known && p.options.Only == "" {
		if kept.Way == nil {
			return nil, nil
		}
		plan, err := p.cublas.Restore(s.product(), o.Bias, *kept.Way)
		if err == nil {
			return plan, nil
		}
		p.options.Logger.Warn("a stored choice for a product does not work, choosing again", "product", key, "reason", err)
	}
	plan, choice, err := p.fastest(s, o)
	if err != nil {
		return nil, err
	}
	p.options.Logger.Debug("chose a library for a product", "product", key, "library", choice.Library,
		"cublaslt_microseconds", choice.CuBLASLt, "cudnn_microseconds", choice.CuDNN)
	p.kept.Products[key] = choice
	if p.file != "" {
		if err := p.kept.write(p.file); err != nil {
			p.options.Logger.Warn("ways to compute products are kept for this run alone", "reason", err)
			p.file = "" // once is enough
		}
	}
	return plan, nil
}

// measured is how many ways of cuBLASLt are timed.
const measured = 8

// fastest measures the plans of both libraries for a shape.
func (p *Products) fastest(s shape, o cudnn.Operands) (best *cublas.Plan, c Choice, err error) {
	least := math.Inf(1)
	if p.options.Only != CuBLASLt {
		took, err := p.measure(func() error { return p.convolve(s, o) })
		if err != nil && !errors.Is(err, cudnn.ErrUnsupported) {
			return nil, c, err
		}
		if err == nil {
			c, least = Choice{Library: CuDNN, CuDNN: took}, took
		}
	}
	plans, err := p.cublas.Plans(s.product(), o.Bias, measured)
	if err != nil && (!errors.Is(err, cublas.ErrUnsupported) || c.Library == "") {
		return nil, c, err
	}
	for _, plan := range plans {
		took, err := p.measure(func() error { return p.multiply(s, plan, o) })
		if fatal(err) {
			return nil, c, err
		}
		if err != nil {
			continue
		}
		if c.CuBLASLt == 0 || took < c.CuBLASLt {
			c.CuBLASLt = took
		}
		if took < least {
			best, least = plan, took
			c.Library, c.Way = CuBLASLt, &plan.Way
		}
	}
	for _, plan := range plans {
		if plan != best {
			plan.Close()
		}
	}
	if c.Library == "" {
		return nil, c, fmt.Errorf("product: %v: none of %d ways runs: %w", s, len(plans), cublas.ErrUnsupported)
	}
	return best, c, nil
}

// fatal reports whether a device is lost to all ways.
func fatal(err error) bool {
	return errors.Is(err, cuda.ErrFault) || errors.Is(err, cuda.ErrDeviceLost)
}

// measure runs a product once to warm up and returns the least time of a few batches of runs, in microseconds for
// each run: one alone is not much longer than a launch.
func (p *Products) measure(run func() error) (microseconds float64, err error) {
	const batches, runs = 3, 4
	for i := range p.events {
		if p.events[i] == nil {
			if p.events[i], err = p.device.Device.NewEvent(true); err != nil {
				return 0, err
			}
		}
	}
	if err := run(); err != nil {
		return 0, err
	}
	least := time.Duration(math.MaxInt64)
	for range batches {
		err := p.device.Stream.Record(p.events[0])
		for i := 0; i < runs && err == nil; i++ {
			err = run()
		}
		if err := errors.Join(err, p.device.Stream.Record(p.events[1]), p.device.Stream.Sync()); err != nil {
			return 0, err
		}
		took, err := p.events[0].Elapsed(p.events[1])
		if err != nil {
			return 0, err
		}
		least = min(least, took)
	}
	return max(float64(least.Nanoseconds())/1e3/runs, 1e-3), nil
}
