//go:build cuda

package pool

import (
	"cmp"

	"nmn/cuda"
	"nmn/kernels/tensor"
)

// The constants of bag.cu.
const (
	bagTile   = 32 // channels of a block
	bagStrips = 8  // threads of a channel, times the channels of a thread
	// bagPart is the intended number of cells for a thread. Bags are cut into parts by their mean size, so
	// that results are equal on all cards.
	bagPart     = 16
	bagMaxParts = 64
)

// fitBag checks the tensors of both operations: maps are float32 or bfloat16, vectors float32.
func (c *CUDA) fitBag(operation string, g, x, bags *tensor.Tensor, kind Kind) (bagGeometry, error) {
	const most = 1<<31 - 1
	s, err := FitBag(operation, g, x, bags)
	if err != nil {
		return s, err
	}
	_, err = tensor.Computing(operation, x)
	if err := cmp.Or(err, fitKind(operation, kind), tensor.OnDevice(operation, tensor.Float32, g),
		tensor.OnDevice(operation, tensor.Int32, bags)); err != nil {
		return s, err
	}
	if s.Cells() > most || s.T > most || s.N*tensor.Ceil(s.D, bagTile) > most {
		return s, tensor.Misfit(operation, "maps %s are more than a launch can have", x)
	}
	return s, nil
}

// tiles is the number of blocks side by side.
func (s bagGeometry) tiles() int { return s.N * tensor.Ceil(s.D, bagTile) }

func (c *CUDA) BagPool(g, x, bags *tensor.Tensor, kind Kind) error {
	s, err := c.fitBag("bag pooling", g, x, bags, kind)
	if err != nil {
		return err
	}
	lanes := 16 / x.DType().Size()
	if s.D%lanes != 0 || x.Address()%16 != 0 {
		lanes = 1
	}
	mean := tensor.Ceil(s.T*s.Cells(), s.N)
	parts := min(tensor.Ceil(mean, bagStrips*bagPart), bagMaxParts)
	partial, err := c.partial.Reserve(c.device, 8*s.tiles()*bagTile*parts)
	if err != nil {
		return err
	}
	tickets, err := c.tickets.Reserve(c.device, 4*s.tiles())
	if err != nil {
		return err
	}
	grid, block := cuda.Dim3{X: s.tiles(), Y: parts}, cuda.Dim3{X: bagTile / lanes, Y: bagStrips * lanes}
	a := bagPoolArguments{
		g: tensor.At(g), x: tensor.At(x), offsets: tensor.At(bags), partial: partial, tickets: tickets,
		bags: int32(s.N), frames: int32(s.T), cells: int32(s.Cells()), channels: int32(s.D), top: tensor.Flag(kind == Max),
		lanes: int32(lanes),
	}
	return c.bag.bagPool.Launch(c.device.Stream, x.DType(), grid, block, a)
}

func (c *CUDA) BagPoolGrad(dx, dg, x, g, bags *tensor.Tensor, kind Kind, accumulate bool) error {
	const operation = "gradient of bag pooling"
	s, err := c.fitBag(operation, dg, dx, bags, kind)
	if err != nil {
		return err
	}
	if kind == Mean {
		return c.meanGrad(s, dx, dg, bags, accumulate)
	}
	if err := cmp.Or(fitLike(operation, dx, x), fitLike(operation, dg, g),
		tensor.OnDevice(operation, dx.DType(), x), tensor.OnDevice(operation, tensor.Float32, g)); err != nil {
		return err
	}
	strips := tensor.PowerOfTwo(tensor.Ceil(s.T*s.Cells(), s.N*bagPart), 1, 32)
	grid, block := cuda.Dim3{X: s.tiles()}, cuda.Dim3{X: bagTile, Y: strips}
	a := bagMaxGradientArguments{
		dx: tensor.At(dx), dg: tensor.At(dg), x: tensor.At(x), g: tensor.At(g), offsets: tensor.At(bags),
		bags: int32(s.N), frames: int32(s.T), cells: int32(s.Cells()), channels: int32(s.D),
		accumulate: tensor.Flag(accumulate),
	}
	return c.bag.bagMaxGradient.Launch(c.device.Stream, dx.DType(), grid, block, a)
}

// meanGrad gives each frame its own blocks.
func (c *CUDA) meanGrad(s bagGeometry, dx, dg, bags *tensor.Tensor, accumulate bool) error {
	const threads = 256
	parts := min(max(1, tensor.Ceil(s.Cells()*s.D, threads*bagPart)), bagMaxParts)
	grid, block := cuda.Dim3{X: s.T, Y: parts}, cuda.Dim3{X: threads}
	a := bagMeanGradientArguments{
		dx: tensor.At(dx), dg: tensor.At(dg), offsets: tensor.At(bags),
		bags: int32(s.N), cells: int32(s.Cells()), channels: int32(s.D), accumulate: tensor.Flag(accumulate),
	}
	return c.bag.bagMeanGradient.Launch(c.device.Stream, dx.DType(), grid, block, a)
}
