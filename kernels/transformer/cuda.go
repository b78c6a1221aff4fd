//go:build cuda

package transformer

import (
	"math"

	"nmn/cuda"
	"nmn/kernels/conv"
	"nmn/kernels/tensor"
)

// CUDA implements Ops on a graphics card in float32, or in bfloat16 if all maps and the weights of products
// are bfloat16. Products are 1×1 convolutions, and the steps after them are one more pass. Heads have up to
// 160 numbers. Tensors of products must be at multiples of 16 bytes, as from Alloc.
type CUDA struct {
	device    *tensor.CUDA
	conv      *conv.CUDA
	rows      rowsKernels
	attention attentionKernels

	products tensor.Workspace // used if the destination holds a residual
	patches  tensor.Workspace // as rows
}

var _ Ops = (*CUDA)(nil)

const (
	threads   = 256 // of a block
	queryTile = 32  // queries of a block
	// tensorTile are the queries of a block on tensor cores, and tensorThreads its threads.
	tensorTile, tensorThreads = 64, 128
	widest                    = 160 // numbers of a head
	mostGrid                  = 65535
)

// NewCUDA makes the family on a graphics card with the kernels of a module and the convolutions of the same device.
func NewCUDA(device *tensor.CUDA, module *cuda.Module, convolutions *conv.CUDA) (*CUDA, error) {
	c := &CUDA{device: device, conv: convolutions}
	return c, tensor.FindKernels("transformer", module, &c.rows, &c.attention)
}

// small refuses counts beyond the kernels' 32 bits.
func small(operation string, counts ...int) error {
	for _, n := range counts {
		if n > math.MaxInt32/4 {
			return tensor.Misfit(operation, "%d is more than a kernel counts to", n)
		}
	}
	return nil
}

// ready checks the type of maps, that vectors are float32 in device memory, and the kernels' counts.
func ready(operation string, maps, vectors []*tensor.Tensor, counts ...int) (tensor.DType, error) {
	dtype, err := tensor.Computing(operation, maps...)
	if err == nil {
		err = tensor.OnDevice(operation, tensor.Float32, vectors...)
	}
	if err == nil {
		err = small(operation, counts...)
	}
	return dtype, err
}

func (c *CUDA) LayerNorm(y, x, gain, bias *tensor.Tensor, eps float32) error {
	rows, err := FitLayerNorm(y, x, gain, bias, eps)
	if err != nil {
		return err
	}
	dtype, err := ready("layer norm", []*tensor.Tensor{y, x}, []*tensor.Tensor{gain, bias}, rows.Width)
	if err != nil || rows.Count == 0 {
		return err
	}
	grid, block := cuda.Dim3{X: min(tensor.Ceil(rows.Count, threads/32), mostGrid)}, cuda.Dim3{X: threads}
	a := layerNormArguments{y: tensor.At(y), x: tensor.At(x), gain: tensor.At(gain), bias: tensor.At(bias),
		rows: int64(rows.Count), width: int32(rows.Width), epsilon: eps}
	return c.rows.layerNorm.Launch(c.device.Stream, dtype, grid, block, a)
}

func (c *CUDA) GELU(y, x *tensor.Tensor, kind GELUKind) error {
	if err := FitGELU(y, x, kind); err != nil {
		return err
	}
	return c.follow("gelu", y, x, nil, nil, kind)
}

func (c *CUDA) AddScaled(y, x, r, scale *tensor.Tensor) error {
	if _, err := FitAddScaled(y, x, r, scale); err != nil {
		return err
	}
	return c.follow("scaled sum", y, x, r, scale, None)
}

// follow computes y = r + scale ⊙ GELU(x). Each part may be left out.
func (c *CUDA) follow(operation string, y, x, r, scale *tensor.Tensor, kind GELUKind) error {
	dtype, err := ready(operation, []*tensor.Tensor{y, x, r}, []*tensor.Tensor{scale}, y.Dim(-1))
	if err != nil || y.Len() == 0 {
		return err
	}
	grid, block := tensor.Cover(tensor.Ceil(y.Len()*dtype.Size(), 16), threads, 1), cuda.Dim3{X: threads}
	a := followArguments{y: tensor.At(y), x: tensor.At(x), r: tensor.At(r), scale: tensor.At(scale),
		length: int64(y.Len()),
		width:  int32(y.Dim(-1)), kind: int32(kind)}
	return c.rows.follow.Launch(c.device.Stream, dtype, grid, block, a)
}

func (c *CUDA) Attention(y, qkv *tensor.Tensor, heads int) error {
	const operation = "attention"
	s, err := FitAttention(y, qkv, heads)
	if err != nil {
		return err
	}
	dtype, err := ready(operation, []*tensor.Tensor{y, qkv}, nil, s.T, s.D())
	if err != nil || y.Len() == 0 {
		return err
	}
	if s.Width > widest || heads > mostGrid {
		return tensor.Misfit(operation, "%d heads of %d numbers: a card computes heads of %d at most", heads, s.Width, widest)
	}
	for first := 0; first < s.N; first += mostGrid { // a grid has at most this number of pictures
		count := min(mostGrid, s.N-first)
		grid, block := cuda.Dim3{X: tensor.Ceil(s.T, queryTile), Y: heads, Z: count}, cuda.Dim3{X: threads}
		byTensorCores := dtype == tensor.BFloat16 && s.OnTensorCores() && (tensor.At(y)|tensor.At(qkv))%16 == 0
		if byTensorCores {
			grid.X, block.X = tensor.Ceil(s.T, tensorTile), tensorThreads
		}
		skip := cuda.Address(first * s.T * s.D() * dtype.Size())
		a := attention64Arguments{y: tensor.At(y) + skip, qkv: tensor.At(qkv) + 3*skip, tokens: int32(s.T),
			heads: int32(heads),
			width: int32(s.Width), scale: float32(1 / math.Sqrt(float64(s.Width)))}
		if byTensorCores || dtype == tensor.Float32 && s.Width <= 64 {
			err = c.attention.attention64.Launch(c.device.Stream, dtype, grid, block, a)
		} else {
			err = c.attention.attention160.Launch(c.device.Stream, dtype, grid, block, attention160Arguments(a))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *CUDA) Tokens(y, patches, prefix, position *tensor.Tensor) error {
	s, err := FitTokens(y, patches, prefix, position)
	if err != nil {
		return err
	}
	dtype, err := ready("tokens", []*tensor.Tensor{y, patches}, []*tensor.Tensor{prefix, position}, s.Prefix,
		s.Patches, s.D)
	if err != nil || y.Len() == 0 {
		return err
	}
	grid, block := tensor.Spread(y.Len(), threads), cuda.Dim3{X: threads}
	a := tokensArguments{y: tensor.At(y), patches: tensor.At(patches), before: tensor.At(prefix),
		position: tensor.At(position),
		pictures: int64(s.N), prefix: int32(s.Prefix), count: int32(s.Patches), width: int32(s.D)}
	return c.rows.tokens.Launch(c.device.Stream, dtype, grid, block, a)
}
