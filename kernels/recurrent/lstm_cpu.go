package recurrent

import (
	"math"

	"nmn/kernels/tensor"
)

// LSTM implements Ops.
func (c *CPU) LSTM(h, cell, gates, wh, h0, c0 *tensor.Tensor) error {
	l, err := FitLSTM(h, cell, gates, wh, h0, c0)
	if err != nil {
		return err
	}
	if err := onHost("lstm", h, cell, gates, wh, h0, c0); err != nil {
		return err
	}
	rows := l.N * l.H
	for t := range l.T {
		before, cellBefore := list(h0), list(c0)
		if t > 0 {
			before, cellBefore = h.Float32s()[(t-1)*rows:], cell.Float32s()[(t-1)*rows:]
		}
		for n := range l.N {
			at := t*rows + n*l.H
			a := gates.Float32s()[4*at : 4*(at+l.H)]
			if before != nil {
				for k := range a {
					a[k] += dot(wh.Float32s()[k*l.H:(k+1)*l.H], before[n*l.H:])
				}
			}
			for j := range l.H {
				a[j], a[l.H+j], a[2*l.H+j], a[3*l.H+j] = sigmoid(a[j]), sigmoid(a[l.H+j]), tanh(a[2*l.H+j]), sigmoid(a[3*l.H+j])
				value := a[j] * a[2*l.H+j]
				if cellBefore != nil {
					value += a[l.H+j] * cellBefore[n*l.H+j]
				}
				cell.Float32s()[at+j] = value
				h.Float32s()[at+j] = a[3*l.H+j] * tanh(value)
			}
		}
	}
	return nil
}

// LSTMGrad implements Ops.
func (c *CPU) LSTMGrad(gates, dh, cell, wh, c0, dcLast, dh0, dc0 *tensor.Tensor) error {
	l, err := FitLSTMGrad(gates, dh, cell, wh, c0, dcLast, dh0, dc0)
	if err != nil {
		return err
	}
	if err := onHost("lstm gradient", gates, dh, cell, wh, c0, dcLast, dh0, dc0); err != nil {
		return err
	}
	rows := l.N * l.H
	c.carried = grow(c.carried, 2*rows)
	carriedH, carriedC := c.carried[:rows], c.carried[rows:]
	clear(c.carried)
	copy(carriedC, list(dcLast))
	for t := l.T - 1; t >= 0; t-- {
		before := list(c0)
		if t > 0 {
			before = cell.Float32s()[(t-1)*rows:]
		}
		for n := range l.N {
			at := t*rows + n*l.H
			a := gates.Float32s()[4*at : 4*(at+l.H)]
			for j := range l.H {
				state, in, forget, gate, out := n*l.H+j, a[j], a[l.H+j], a[2*l.H+j], a[3*l.H+j]
				total, th := dh.Float32s()[at+j]+carriedH[state], tanh(cell.Float32s()[at+j])
				dc := carriedC[state] + total*out*(1-th*th)
				a[j], a[2*l.H+j], a[3*l.H+j] = dc*gate*in*(1-in), dc*in*(1-gate*gate), total*th*out*(1-out)
				a[l.H+j] = 0
				if before != nil {
					a[l.H+j] = dc * before[state] * forget * (1 - forget)
				}
				carriedC[state] = dc * forget
			}
			to := carriedH[n*l.H : (n+1)*l.H]
			clear(to)
			for k, da := range a {
				c.level.AddScaled(to, wh.Float32s()[k*l.H:], da)
			}
		}
	}
	copy(list(dh0), carriedH)
	copy(list(dc0), carriedC)
	return nil
}

func dot(a, b []float32) (sum float32) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

func sigmoid(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }

func tanh(x float32) float32 { return float32(math.Tanh(float64(x))) }
