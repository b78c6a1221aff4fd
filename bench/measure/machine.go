package measure

import (
	"cmp"
	"fmt"

	"nmn/internal/rng"
	"nmn/kernels"
	"nmn/kernels/conv"
	"nmn/kernels/tensor"
)

// MachineFigures are the rates of a device.
type MachineFigures struct {
	Setting
	Products []Product `json:"products,omitempty"`
	Copy     *Copy     `json:"copy,omitempty"`
}

// Product is the product of two matrices of Size × Size.
type Product struct {
	Size      int     `json:"size"`
	MS        float64 `json:"ms"` // median
	GFLOPS    float64 `json:"gflops"`
	Algorithm string  `json:"algorithm,omitempty"`
}

// Copy is a copy within the memory of a device.
type Copy struct {
	Bytes  int     `json:"bytes"` // copied at a time
	MS     float64 `json:"ms"`    // median
	GBPerS float64 `json:"gb_per_s"`
}

// Machine measures products of two matrices of each size, which is the rate that the largest layers can reach, and
// copies of mib MiB, which is the lower bound for operations with little arithmetic. It makes no copy if mib is 0.
func Machine(backend kernels.Backend, sizes []int, mib int, o Options) (f *MachineFigures, err error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	f = &MachineFigures{Setting: settingOf(backend, o)}
	for _, n := range sizes {
		product, err := o.product(backend, n, backend.Formats().Maps)
		if err != nil {
			return nil, err
		}
		f.Products = append(f.Products, product)
	}
	if mib > 0 {
		f.Copy, err = o.copied(backend, mib)
	}
	return f, err
}

// product measures y = x·wᵀ: a 1×1 convolution of a picture of n×1 pixels with n channels.
func (o Options) product(backend kernels.Backend, n int, dtype tensor.DType) (p Product, err error) {
	arena, stream := tensor.NewArena(backend), rng.New(1)
	defer func() { err = cmp.Or(err, arena.Close()) }()
	var operands [3]*tensor.Tensor
	for i, shape := range [][]int{{1, n, 1, n}, {1, n, 1, n}, {n, 1, 1, n}} {
		if operands[i], err = randomTensor(arena, backend, &stream, dtype, shape...); err != nil {
			return p, fmt.Errorf("bench: the product of matrices of %d×%d: %w", n, n, err)
		}
	}
	y, x, w := operands[0], operands[1], operands[2]
	took, err := o.medianOf(backend, func() error { return backend.Conv(y, x, w, nil, conv.Params{}) })
	if err != nil {
		return p, fmt.Errorf("bench: the product of matrices of %d×%d: %w", n, n, err)
	}
	p = Product{Size: n, MS: milliseconds(took), GFLOPS: rate(2*float64(n)*float64(n)*float64(n)/1e9, took)}
	if explainer, ok := backend.(conv.Explainer); ok {
		p.Algorithm = explainer.Algorithm(conv.Forward, conv.Geometry{N: 1, H: n, W: 1, C: n, K: n, R: 1, S: 1, P: n, Q: 1})
	}
	return p, nil
}

// randomTensor is device memory that holds numbers from -1 to 1.
func randomTensor(arena *tensor.Arena, device tensor.Device, stream *rng.Stream, dtype tensor.DType,
	shape ...int) (*tensor.Tensor, error) {
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

// copied measures copies of mib MiB, and counts bytes read and bytes written.
func (o Options) copied(backend kernels.Backend, mib int) (c *Copy, err error) {
	arena, stream := tensor.NewArena(backend), rng.New(1)
	defer func() { err = cmp.Or(err, arena.Close()) }()
	src, err := randomTensor(arena, backend, &stream, tensor.Float32, mib<<18)
	if err != nil {
		return nil, err
	}
	dst, err := arena.Alloc(tensor.Float32, mib<<18)
	if err != nil {
		return nil, err
	}
	took, err := o.medianOf(backend, func() error { return backend.Copy(dst, src) })
	if err != nil {
		return nil, err
	}
	return &Copy{Bytes: src.Bytes(), MS: milliseconds(took), GBPerS: rate(2*float64(src.Bytes())/1e9, took)}, nil
}
