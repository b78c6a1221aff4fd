package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nmn/internal/rng"
	"nmn/kernels"
	"nmn/kernels/conv"
	"nmn/kernels/tensor"
	"nmn/run"
)

// gemmFigures are what nmn bench gemm tells.
type gemmFigures struct {
	Device    string        `json:"device"`
	Precision string        `json:"precision"`
	Threads   int           `json:"threads"` // 0: one for each processor
	Repeats   int           `json:"repeats"`
	Products  []gemmProduct `json:"products"`
	Build     run.Build     `json:"build"`
}

// gemmProduct is the product of two matrices of Size × Size.
type gemmProduct struct {
	Size      int     `json:"size"`
	MS        float64 `json:"ms"` // median
	GFLOPS    float64 `json:"gflops"`
	Algorithm string  `json:"algorithm,omitempty"`
}

func (b *benchCommand) gemmFlags(cmd *cobra.Command) {
	under(cmd, "Measurement").ints(&b.sizes, "sizes", "rows and columns of the matrices, separated by commas")
}

func (b *benchCommand) validateGEMM() error {
	const most = 1 << 15 // three matrices of 4 GiB
	if len(b.sizes) == 0 || slices.Min(b.sizes) < 1 || slices.Max(b.sizes) > most {
		return fmt.Errorf("bench: --sizes is %v, want one or more numbers from 1 to %d", b.sizes, most)
	}
	return nil
}

func (b *benchCommand) gemm(_ *cobra.Command, p *program, backend kernels.Backend) error {
	f := gemmFigures{Device: backend.Name(), Precision: string(backend.Precision()), Threads: b.run.Threads, Repeats: b.repeats, Build: run.ThisBuild()}
	for _, n := range b.sizes {
		product, err := b.product(backend, n)
		if err != nil {
			return fmt.Errorf("bench: the product of matrices of %d×%d: %w", n, n, err)
		}
		f.Products = append(f.Products, product)
	}
	if b.asJSON {
		return writeJSON(p.out, f)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n\n%-6s  %9s  %9s  %s\n", f.Device, "size", "ms", "GFLOP/s", "algorithm")
	for _, g := range f.Products {
		fmt.Fprintf(&text, "%-6d  %9.3f  %9.1f  %s\n", g.Size, g.MS, g.GFLOPS, g.Algorithm)
	}
	_, err := p.out.Write([]byte(text.String()))
	return err
}

// product measures y = x·wᵀ: a 1×1 convolution of a picture of n×1 pixels with n channels.
func (b *benchCommand) product(backend kernels.Backend, n int) (g gemmProduct, err error) {
	arena, stream := tensor.NewArena(backend), rng.New(1)
	defer func() { err = cmp.Or(err, arena.Close()) }()
	var operands [3]*tensor.Tensor
	for i, shape := range [][]int{{1, n, 1, n}, {1, n, 1, n}, {n, 1, 1, n}} {
		if operands[i], err = randomTensor(arena, backend, &stream, backend.Precision().Maps(), shape...); err != nil {
			return g, err
		}
	}
	y, x, w := operands[0], operands[1], operands[2]
	took, err := b.median(backend, func() error { return backend.Conv(y, x, w, nil, conv.Params{}) })
	g = gemmProduct{Size: n, MS: milliseconds(took), GFLOPS: rate(2*float64(n)*float64(n)*float64(n)/1e9, took)}
	if explainer, ok := backend.(conv.Explainer); ok {
		g.Algorithm = explainer.Algorithm(conv.Forward, conv.Geometry{N: 1, H: n, W: 1, C: n, K: n, R: 1, S: 1, P: n, Q: 1})
	}
	return g, err
}

// randomTensor is device memory that holds numbers from -1 to 1.
func randomTensor(arena *tensor.Arena, device tensor.Device, stream *rng.Stream, dtype tensor.DType, shape ...int) (*tensor.Tensor, error) {
	t, err := arena.Alloc(dtype, shape...)
	if err != nil {
		return nil, err
	}
	values := make([]float32, t.Len())
	for i := range values {
		values[i] = float32(stream.Uniform(-1, 1))
	}
	return t, device.Upload(t, tensor.HostArray(dtype, values))
}

// memoryFigures are what nmn bench memory tells.
type memoryFigures struct {
	Device  string    `json:"device"`
	Threads int       `json:"threads"` // 0: one for each processor
	Repeats int       `json:"repeats"`
	Bytes   int       `json:"bytes"` // copied at a time
	MS      float64   `json:"ms"`    // median
	GBPerS  float64   `json:"gb_per_s"`
	Build   run.Build `json:"build"`
}

func (b *benchCommand) memoryFlags(cmd *cobra.Command) {
	under(cmd, "Measurement").int(&b.mib, "mib", "size of a copy in `MiB`: several times that of the caches")
}

func (b *benchCommand) validateMemory() error {
	const most = 1 << 16 // 64 GiB
	if b.mib < 1 || b.mib > most {
		return fmt.Errorf("bench: --mib is %d, want 1 to %d", b.mib, most)
	}
	return nil
}

func (b *benchCommand) memory(_ *cobra.Command, p *program, backend kernels.Backend) (err error) {
	arena, stream := tensor.NewArena(backend), rng.New(1)
	defer func() { err = cmp.Or(err, arena.Close()) }()
	src, err := randomTensor(arena, backend, &stream, tensor.Float32, b.mib<<18)
	if err != nil {
		return err
	}
	dst, err := arena.Alloc(tensor.Float32, b.mib<<18)
	if err != nil {
		return err
	}
	took, err := b.median(backend, func() error { return backend.Copy(dst, src) })
	if err != nil {
		return err
	}
	f := memoryFigures{Device: backend.Name(), Threads: b.run.Threads, Repeats: b.repeats, Bytes: src.Bytes(), MS: milliseconds(took),
		GBPerS: rate(2*float64(src.Bytes())/1e9, took), Build: run.ThisBuild()}
	if b.asJSON {
		return writeJSON(p.out, f)
	}
	_, err = fmt.Fprintf(p.out, "%s\ncopied %d MiB in %.3f ms: %.1f GB/s read and written\n", f.Device, b.mib, f.MS, f.GBPerS)
	return err
}
