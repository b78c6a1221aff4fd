package conform

import (
	"testing"

	"nmn/kernels"
	"nmn/kernels/conv"
	"nmn/kernels/pool"
	"nmn/kernels/tensor"
	"nmn/tools/ref"
)

// RunFixtures holds a backend to the golden fixtures of single operations, each within its stated
// tolerance: noise model, multiple-instance learning, convolution, pooling and activations. The
// fixtures of whole networks are for the packages that build networks.
func RunFixtures(t *testing.T, open func(t testing.TB) kernels.Backend) {
	b := open(t)
	for _, family := range []struct {
		pattern string
		check   func(*bench, *Fixture)
	}{
		{"bce_logits", checkStep(false)}, {"nmn_fi_*", checkStep(false, true)}, {"nmn_fd_*", checkStep(false)},
		{"nmn_extreme", checkStep(false, true)}, {"posterior_table", checkPosterior}, {"mil_image", checkStep(true)},
		{"mil_video", checkStep(true)}, {"mil_bce_*", checkStep(true)}, {"mil_nmn_*", checkStep(true)},
		{"mil_extreme", checkMILExtreme},
		{"pool_g_*", checkPoolG}, {"conv_*", checkConv}, {"relu", checkReLU}, {"maxpool_ceil", checkMaxima(two)},
		{"maxpool3", checkMaxima(three)},
		{"pool_other", checkPoolOther}, {"dropout", checkDropout}, {"lstm_cell", checkLSTM},
		{"vit_layer_norm", checkLayerNorm}, {"vit_gelu", checkGELU}, {"vit_attention_*", checkAttention},
		{"vit_linear", checkLinear},
		{"vit_tokens", checkTokens},
	} {
		for _, name := range FixtureNames(t, family.pattern) {
			t.Run(name, func(t *testing.T) {
				family.check(&bench{t, b}, LoadFixture(t, name))
			})
		}
	}
}

// bench is a backend with a test that ends at the first error.
type bench struct {
	t testing.TB
	b kernels.Backend
}

func (d *bench) up(a Array, shape ...int) *tensor.Tensor {
	d.t.Helper()
	return a.Upload(d.t, d.b, shape...)
}

func (d *bench) zeros(shape ...int) *tensor.Tensor {
	d.t.Helper()
	x, err := d.b.Alloc(tensor.Float32, shape...)
	d.ok(err)
	return x
}

func (d *bench) ok(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// want compares a tensor of the device with an expected array of the same layout.
func (d *bench) want(a Array, x *tensor.Tensor) {
	d.t.Helper()
	a.Check(d.t, Download(d.t, d.b, x))
}

func checkConv(d *bench, f *Fixture) {
	padding, _ := f.Meta["padding"].(float64)
	stride, strided := f.Meta["stride"].(float64)
	p := conv.Params{Pad: int(padding), Stride: int(stride)}
	x, w, b, dy := d.up(f.Input("x").NHWC()), d.up(f.Input("w").NHWC()), d.up(f.Input("b")), d.up(f.Input("d_y").NHWC())
	y, dx, dw, db := d.zeros(dy.Shape()...), d.zeros(x.Shape()...), d.zeros(w.Shape()...), d.zeros(b.Shape()...)
	d.ok(d.b.Conv(y, x, w, b, p))
	d.ok(d.b.ConvGradData(dx, dy, w, nil, p))
	d.ok(d.b.ConvGradFilter(dw, x, dy, p))
	d.ok(d.b.ConvGradBias(db, dy, p))
	d.want(f.Expected("y").NHWC(), y)
	d.want(f.Expected("d_x").NHWC(), dx)
	d.want(f.Expected("d_w").NHWC(), dw)
	d.want(f.Expected("d_b"), db)
	if strided { // these have a shortcut too
		p.ReLU = true
		d.ok(d.b.ConvAdd(y, x, w, b, d.up(f.Input("shortcut").NHWC()), p))
		d.want(f.Expected("y_add").NHWC(), y)
		checkShortcut(d, f, conv.Params{Pad: p.Pad, Stride: p.Stride}, x, w, y, dy)
	}
}

// checkShortcut compares the gradients of y = max(conv(x) + shortcut, 0) with the fixture's. The gradient of
// y, masked, is also the gradient of the shortcut and of the convolution.
func checkShortcut(d *bench, f *Fixture, p conv.Params, x, w, y, dy *tensor.Tensor) {
	masked, dx, dw := d.zeros(dy.Shape()...), d.zeros(x.Shape()...), d.zeros(w.Shape()...)
	db := d.zeros(w.Dim(0))
	d.ok(d.b.ConvGradData(masked, dy, d.identity(y.Dim(3)), y, conv.Params{}))
	d.ok(d.b.ConvGradData(dx, masked, w, nil, p))
	d.ok(d.b.ConvGradFilter(dw, x, masked, p))
	d.ok(d.b.ConvGradBias(db, masked, p))
	d.want(f.Expected("add_d_shortcut").NHWC(), masked)
	d.want(f.Expected("add_d_x").NHWC(), dx)
	d.want(f.Expected("add_d_w").NHWC(), dw)
	d.want(f.Expected("add_d_b"), db)
}

func checkReLU(d *bench, f *Fixture) {
	x, dy := d.up(f.Input("x").NHWC()), d.up(f.Input("d_y").NHWC())
	y, dx := d.zeros(x.Shape()...), d.zeros(x.Shape()...)
	w := d.identity(x.Dim(3))
	d.ok(d.b.Conv(y, x, w, nil, conv.Params{ReLU: true}))
	d.ok(d.b.ConvGradData(dx, dy, w, y, conv.Params{}))
	d.want(f.Expected("y").NHWC(), y)
	d.want(f.Expected("d_x").NHWC(), dx)
}

// identity is the filter of a 1×1 convolution that changes nothing but by its ReLU or mask.
func (d *bench) identity(channels int) *tensor.Tensor {
	a := Array{Shape: []int{channels, 1, 1, channels}, Data: make([]float64, channels*channels)}
	for c := range channels {
		a.Data[c*channels+c] = 1
	}
	return d.up(a)
}

// checkMaxima holds windows of maxima and their gradient to a fixture.
func checkMaxima(wd windows) func(d *bench, f *Fixture) {
	return func(d *bench, f *Fixture) {
		for _, group := range f.Subgroups("inputs") {
			x, dy := d.up(f.Input(group+".x").NHWC()), d.up(f.Input(group+".d_y").NHWC())
			y, dx := d.zeros(dy.Shape()...), d.zeros(x.Shape()...)
			d.ok(wd.forward(d.b, y, x))
			d.ok(wd.run(d.b, dx, dy, x, y, false))
			d.want(f.Expected(group+".y").NHWC(), y)
			d.want(f.Expected(group+".d_x").NHWC(), dx)
		}
	}
}

func checkPoolOther(d *bench, f *Fixture) {
	for _, group := range f.Subgroups("inputs") {
		x, dy := d.up(f.Input(group+".x").NHWC()), d.up(f.Input(group+".d_y").NHWC())
		y, dx := d.zeros(dy.Shape()...), d.zeros(x.Shape()...)
		switch group {
		case "global_mean", "global_max":
			kind := pool.Mean
			if group == "global_max" {
				kind = pool.Max
			}
			d.ok(d.b.BagPool(y, x, nil, kind))
			d.ok(d.b.BagPoolGrad(dx, dy, x, y, nil, kind, false))
		case "avg2x2_floor": // no net has it
			continue
		default:
			d.t.Errorf("no operation for %q", group)
		}
		d.want(f.Expected(group+".y").NHWC(), y)
		d.want(f.Expected(group+".d_x").NHWC(), dx)
	}
}

func checkPoolG(d *bench, f *Fixture) {
	x, bags := d.up(f.Input("X").NHWC()), d.up(f.Input("frame_offsets"))
	for group, kind := range map[string]pool.Kind{"mean": pool.Mean, "max": pool.Max} {
		dg := d.up(f.Expected(group + ".d_g")) // the given upstream gradient
		g, dx := d.zeros(dg.Shape()...), d.zeros(x.Shape()...)
		d.ok(d.b.BagPool(g, x, bags, kind))
		d.ok(d.b.BagPoolGrad(dx, dg, x, g, bags, kind, false))
		d.want(f.Expected(group+".g"), g)
		d.want(f.Expected(group+".d_X").NHWC(), dx)
	}
}

// checkDropout cannot pass the fixture's mask to an operation that draws its own. It tries seeds and takes
// each element from a run that drew the fixture's mask for it, by the reference.
func checkDropout(d *bench, f *Fixture) {
	x, dy, rate := f.Input("x").NHWC(), f.Input("d_y").NHWC(), float32(f.Input("p").Scalar())
	mask, rows := f.Input("mask").NHWC(), x.Shape[0]
	wantY, wantDX := f.Expected("y").NHWC(), f.Expected("d_x").NHWC()
	keys := Array{Shape: []int{rows}, Data: make([]float64, rows), exact: true}
	for t := range keys.Data {
		keys.Data[t] = float64(7*t - 3)
	}
	deviceX, deviceDY, deviceKeys := d.up(x), d.up(dy), d.up(keys)
	y, dx := d.zeros(x.Shape...), d.zeros(x.Shape...)
	gotY, gotDX := make([]float32, len(x.Data)), make([]float32, len(x.Data))
	missing := len(x.Data)
	done := make([]bool, missing)
	for seed := uint64(1); missing > 0 && seed < 1000; seed++ {
		words := d.up(Array{Shape: []int{2}, Data: []float64{float64(seed), 0}, exact: true})
		d.ok(d.b.Dropout(y, deviceX, deviceKeys, words, rate))
		d.ok(d.b.DropoutGrad(dx, deviceDY, deviceKeys, words, rate))
		someY, someDX := Download(d.t, d.b, y), Download(d.t, d.b, dx)
		for i, m := range ref.DropoutMask(keys.Int32s(), len(x.Data)/rows, rate, seed) {
			if m == mask.Data[i] && !done[i] {
				gotY[i], gotDX[i], done[i] = someY[i], someDX[i], true
				missing--
			}
		}
	}
	if missing > 0 {
		d.t.Errorf("%d elements never had the fixture's mask", missing)
	}
	wantY.Check(d.t, gotY)
	wantDX.Check(d.t, gotDX)
}

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
