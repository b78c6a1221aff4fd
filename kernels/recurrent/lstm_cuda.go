//go:build cuda

package recurrent

import (
	"cmp"

	"nmn/cuda"
	"nmn/cuda/cudnn"
	"nmn/kernels/tensor"
)

func (c *CUDA) LSTM(h, cell, gates, wh, h0, c0 *tensor.Tensor) error {
	l, err := FitLSTM(h, cell, gates, wh, h0, c0)
	if err := cmp.Or(err, placed("lstm", h, cell, gates, wh, h0, c0)); err != nil {
		return err
	}
	products, err := c.products.Reserve(c.device, 4*4*l.N*l.H)
	if err != nil {
		return err
	}
	units := l.N * l.H
	before, cellBefore := tensor.At(h0), tensor.At(c0)
	for t := range l.T {
		a := lstmGatesArguments{
			gates: offset(tensor.At(gates), 4*t*units), before: cellBefore,
			c: offset(tensor.At(cell), t*units), h: offset(tensor.At(h), t*units), units: int32(units), hidden: int32(l.H),
		}
		if before != 0 {
			a.products = products
			x, err := c.aligned(before, 4*units)
			if err != nil {
				return err
			}
			if err := c.multiply.Run(cudnn.Forward, l.N, l.H, 4*l.H, cudnn.Operands{X: x, W: tensor.At(wh),
				Y: products}); err != nil {
				return err
			}
		}
		if err := c.lstm.lstmGates.Launch(c.device.Stream, tensor.Spread(units, threads), cuda.Dim3{X: threads},
			a); err != nil {
			return err
		}
		before, cellBefore = a.h, a.c
	}
	return nil
}

func (c *CUDA) LSTMGrad(gates, dh, cell, wh, c0, dcLast, dh0, dc0 *tensor.Tensor) error {
	l, err := FitLSTMGrad(gates, dh, cell, wh, c0, dcLast, dh0, dc0)
	if err := cmp.Or(err, placed("lstm gradient", gates, dh, cell, wh, c0, dcLast, dh0, dc0)); err != nil {
		return err
	}
	units := l.N * l.H
	products, err := c.products.Reserve(c.device, 4*units)
	if err != nil {
		return err
	}
	carried, err := c.carried.Reserve(c.device, 4*units)
	if err != nil {
		return err
	}
	if dcLast != nil {
		err = c.device.Stream.Copy(carried, tensor.At(dcLast), 4*units)
	} else {
		err = c.device.Stream.Zero(carried, 4*units)
	}
	for t := l.T - 1; t >= 0 && err == nil; t-- {
		err = c.stepBack(l, t, products, carried, gates, dh, cell, wh, c0)
	}
	if err == nil && dh0 != nil {
		err = c.multiply.Run(cudnn.DataGradient, l.N, l.H, 4*l.H, cudnn.Operands{X: tensor.At(dh0), W: tensor.At(wh),
			Y: tensor.At(gates)})
	}
	if err != nil || dc0 == nil {
		return err
	}
	return c.device.Stream.Copy(tensor.At(dc0), carried, 4*units)
}

// stepBack is step t of LSTMGrad.
func (c *CUDA) stepBack(l Layer, t int, products, carried cuda.Address, gates, dh, cell, wh, c0 *tensor.Tensor) error {
	units := l.N * l.H
	a := lstmGatesGradientArguments{
		gates: offset(tensor.At(gates), 4*t*units), dh: offset(tensor.At(dh), t*units), before: tensor.At(c0),
		c: offset(tensor.At(cell), t*units), dc: carried, units: int32(units), hidden: int32(l.H),
	}
	if t > 0 {
		a.before = offset(tensor.At(cell), (t-1)*units)
	}
	if t < l.T-1 {
		a.carried = products
		behind := offset(tensor.At(gates), 4*(t+1)*units)
		if err := c.multiply.Run(cudnn.DataGradient, l.N, l.H, 4*l.H, cudnn.Operands{X: products, W: tensor.At(wh),
			Y: behind}); err != nil {
			return err
		}
	}
	return c.lstm.lstmGatesGradient.Launch(c.device.Stream, tensor.Spread(units, threads), cuda.Dim3{X: threads}, a)
}
