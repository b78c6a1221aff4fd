package conform

import (
	"math"

	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/tools/ref"
)

// sequence is an LSTM layer with its operands before they are bound to a device. h0, c0 and dcLast may be
// left out.
type sequence struct {
	ref.LSTM
	projected, wh, h0, c0, dh, dcLast []float32
}

// drawSequence draws a layer whose pre-activations are around so large.
func (v *values) drawSequence(l ref.LSTM, states bool, size float32) sequence {
	s := sequence{LSTM: l, projected: v.normal(l.T * l.N * 4 * l.H), wh: v.normal(4 * l.H * l.H),
		dh: v.normal(l.T * l.N * l.H)}
	for i := range s.projected {
		s.projected[i] *= size
	}
	for i := range s.wh {
		s.wh[i] /= float32(math.Sqrt(float64(l.H)))
	}
	if states {
		s.h0, s.c0, s.dcLast = v.normal(l.N*l.H), v.normal(l.N*l.H), v.normal(l.N*l.H)
	}
	return s
}

func (s sequence) forward() (h, c, gates []float64) {
	return s.Forward(wide(s.projected), wide(s.wh), wide(s.h0), wide(s.c0))
}

// state is an operand of one step.
func (s sequence) state(name string, data []float32) *operand {
	if data == nil {
		return none()
	}
	return input(name, data, s.N, s.H)
}

// lstmShapes are one below, at and one above tiles of rows and of units, and odd ones.
var lstmShapes = []ref.LSTM{
	{T: 1, N: 1, H: 1}, {T: 3, N: 1, H: 3}, {T: 2, N: 3, H: 5}, {T: 4, N: 2, H: 8}, {T: 3, N: 11, H: 15},
	{T: 2, N: 12, H: 16},
	{T: 3, N: 13, H: 17}, {T: 2, N: 31, H: 31}, {T: 3, N: 32, H: 32}, {T: 2, N: 33, H: 33}, {T: 2, N: 5, H: 65},
}

func lstmCases() []Case {
	var list []Case
	for i, shape := range lstmShapes {
		list = append(list, lstmCase(shape, i%2 == 0, 1, false), lstmGradCase(shape, i%2 == 0, 1, false))
	}
	odd := ref.LSTM{T: 3, N: 3, H: 6}
	for _, size := range []float32{20, 1e4} { // gates that are 0 and 1
		list = append(list, lstmCase(odd, true, size, false), lstmGradCase(odd, true, size, false))
	}
	paper := ref.LSTM{T: 2, N: 32, H: 700}
	list = append(list, lstmCase(odd, false, 1, false), lstmGradCase(odd, false, 1, false), lstmCase(paper, false, 1,
		true), lstmGradCase(paper, false, 1, true))
	return append(list, lstmRefusals()...)
}

func lstmName(l ref.LSTM, states bool, size float32) string {
	return named("t=%d,n=%d,h=%d,states=%v,size=%d", l.T, l.N, l.H, states, int(size))
}

func lstmCase(l ref.LSTM, states bool, size float32, large bool) Case {
	return Case{Op: "LSTM", Name: lstmName(l, states, size), Large: large, build: func(r *values) *call {
		s := r.drawSequence(l, states, size)
		wantH, wantC, wantGates := s.forward()
		judge := sums(l.T * l.H)
		h, c := output("h", wantH, judge, l.T, l.N, l.H), output("c", wantC, judge, l.T, l.N, l.H)
		gates := output("gates", wantGates, judge, l.T, l.N, 4*l.H)
		gates.float32s = s.projected
		wh, h0, c0 := input("wh", s.wh, 4*l.H, l.H), s.state("h0", s.h0), s.state("c0", s.c0)
		return &call{
			operands: []*operand{h, c, gates, wh, h0, c0}, flops: 8 * float64(l.H*l.H) * float64(l.N*l.T),
			run: func(k kernels.Backend) error { return k.LSTM(h.t, c.t, gates.t, wh.t, h0.t, c0.t) },
		}
	}}
}

func lstmGradCase(l ref.LSTM, states bool, size float32, large bool) Case {
	return Case{Op: "LSTMGrad", Name: lstmName(l, states, size), Large: large, build: func(r *values) *call {
		s := r.drawSequence(l, states, size)
		_, wideC, wideGates := s.forward()
		activations, cells := wideToFloat(wideGates), wideToFloat(wideC)
		da, wantH0, wantC0 := s.Backward(wide(activations), wide(s.dh), wide(cells), wide(s.wh), wide(s.c0), wide(s.dcLast))
		judge := sums(4 * l.T * l.H)
		gates := output("gates", da, judge, l.T, l.N, 4*l.H)
		gates.float32s = activations
		dh, c, wh := input("dh", s.dh, l.T, l.N, l.H), input("c", cells, l.T, l.N, l.H), input("wh", s.wh, 4*l.H, l.H)
		c0, dcLast := s.state("c0", s.c0), s.state("dcLast", s.dcLast)
		dh0, dc0 := none(), none()
		if states {
			dh0, dc0 = output("dh0", wantH0, judge, l.N, l.H), output("dc0", wantC0, judge, l.N, l.H)
			if !large && size == 1 {
				s.differentiate(gates, dh0, dc0)
			}
		}
		return &call{
			operands: []*operand{gates, dh, c, wh, c0, dcLast, dh0, dc0}, flops: 8 * float64(l.H*l.H) * float64(l.N*l.T),
			run: func(k kernels.Backend) error {
				return k.LSTMGrad(gates.t, dh.t, c.t, wh.t, c0.t, dcLast.t, dh0.t, dc0.t)
			},
		}
	}}
}

func (s sequence) differentiate(gates, dh0, dc0 *operand) {
	projected, wh, h0, c0 := wide(s.projected), wide(s.wh), wide(s.h0), wide(s.c0)
	upstream := append(wide(s.dh), wide(s.dcLast)...)
	forward := func() []float64 {
		h, c, _ := s.Forward(projected, wh, h0, c0)
		return append(h, c[(s.T-1)*s.N*s.H:]...)
	}
	gates.numeric = differences(projected, upstream, forward)
	dh0.numeric = differences(h0, upstream, forward)
	dc0.numeric = differences(c0, upstream, forward)
}

func lstmRefusals() []Case {
	h, c, gates, wh, state := []int{2, 3, 4}, []int{2, 3, 4}, []int{2, 3, 16}, []int{16, 4}, []int{3, 4}
	list := refuseShapes("LSTM",
		[]namedShape{{"h", h}, {"c", c}, {"gates", gates}, {"wh", wh}, {"h0", state}, {"c0", state}},
		[]namedShape{
			{"h", []int{2, 3, 5}}, {"c", []int{3, 2, 4}}, {"gates", []int{2, 3, 15}}, {"gates", []int{0, 3, 16}},
			{"wh", []int{15, 4}}, {"h0", []int{4, 3}}, {"c0", []int{3, 4, 1}},
		},
		func(k kernels.Backend, t []*tensor.Tensor) error { return k.LSTM(t[0], t[1], t[2], t[3], t[4], t[5]) })
	return append(list, refuseShapes("LSTMGrad",
		[]namedShape{{"gates", gates}, {"dh", h}, {"c", c}, {"wh", wh}, {"c0", state}, {"dcLast", state}, {"dh0", state},
			{"dc0", state}},
		[]namedShape{
			{"gates", []int{2, 4, 16}}, {"dh", []int{2, 3, 3}}, {"c", []int{6, 4}}, {"wh", []int{16, 5}}, {"c0", []int{3, 5}},
			{"dcLast", []int{2, 4}}, {"dh0", []int{12}}, {"dc0", []int{3, 3}},
		},
		func(k kernels.Backend, t []*tensor.Tensor) error {
			return k.LSTMGrad(t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7])
		})...)
}
