package conform

import "nmn/kernels/conv"

// checkLSTM is one step of a whole cell: the projection and the gradients of the weights are
// convolutions, as in a net.
func checkLSTM(d *bench, f *Fixture) {
	inputs := f.Input("x").Shape
	n, in, hidden := inputs[0], inputs[1], f.Input("h").Shape[1]
	picture := func(name string, channels int, of func(string) Array) Array {
		a := of(name)
		a.Shape = []int{len(a.Data) / channels, 1, 1, channels}
		return a
	}
	x, wx, b := d.up(picture("x", in, f.Input)), d.up(picture("Wx", in, f.Input)), d.up(f.Input("b"))
	h0, c0, wh := d.up(f.Input("h")), d.up(f.Input("c")), d.up(f.Input("Wh"))
	dh, dc := d.up(f.Input("d_h_out"), 1, n, hidden), d.up(f.Input("d_c_out"))
	gates, h, c := d.zeros(1, n, 4*hidden), d.zeros(1, n, hidden), d.zeros(1, n, hidden)
	flat, err := gates.Reshape(n, 1, 1, 4*hidden)
	d.ok(err)
	d.ok(d.b.Conv(flat, x, wx, b, conv.Params{}))
	d.ok(d.b.LSTM(h, c, gates, wh, h0, c0))
	d.want(f.Expected("h_out"), h)
	d.want(f.Expected("c_out"), c)

	dh0, dc0, dx, dwx, dwh, db := d.zeros(n, hidden), d.zeros(n, hidden), d.zeros(x.Shape()...), d.zeros(wx.Shape()...),
		d.zeros(4*hidden, 1, 1, hidden), d.zeros(4*hidden)
	before, err := h0.Reshape(n, 1, 1, hidden)
	d.ok(err)
	d.ok(d.b.LSTMGrad(gates, dh, c, wh, c0, dc, dh0, dc0))
	d.ok(d.b.ConvGradData(dx, flat, wx, nil, conv.Params{}))
	d.ok(d.b.ConvGradFilter(dwx, x, flat, conv.Params{}))
	d.ok(d.b.ConvGradFilter(dwh, before, flat, conv.Params{}))
	d.ok(d.b.ConvGradBias(db, flat, conv.Params{}))
	d.want(f.Expected("d_h"), dh0)
	d.want(f.Expected("d_c"), dc0)
	d.want(f.Expected("d_x"), dx)
	d.want(f.Expected("d_Wx"), dwx)
	d.want(f.Expected("d_Wh"), dwh)
	d.want(f.Expected("d_b"), db)
}
