package conform

import (
	"nmn/kernels/tensor"
	"nmn/kernels/transformer"
)

func checkLayerNorm(d *bench, f *Fixture) {
	x, gain, bias := d.up(f.Input("x")), d.up(f.Input("gain")), d.up(f.Input("bias"))
	eps, _ := f.Meta["eps"].(float64)
	y := d.zeros(x.Shape()...)
	d.ok(d.b.LayerNorm(y, x, gain, bias, float32(eps)))
	d.want(f.Expected("y"), y)
}

func checkGELU(d *bench, f *Fixture) {
	x := d.up(f.Input("x"))
	y := d.zeros(x.Shape()...)
	for _, kind := range []transformer.GELUKind{transformer.Exact, transformer.Tanh, transformer.Quick} {
		d.ok(d.b.GELU(y, x, kind))
		d.want(f.Expected(kind.String()), y)
	}
}

func checkAttention(d *bench, f *Fixture) {
	qkv, heads := d.up(f.Input("qkv")), f.Meta["heads"].(float64)
	y := d.zeros(qkv.Dim(0), qkv.Dim(1), qkv.Dim(2)/3)
	d.ok(d.b.Attention(y, qkv, int(heads)))
	d.want(f.Expected("y"), y)
}

func checkLinear(d *bench, f *Fixture) {
	x, w, b := d.up(f.Input("x")), d.up(f.Input("w")), d.up(f.Input("b"))
	scale, residual := d.up(f.Input("scale")), d.up(f.Input("residual"))
	y := d.zeros(residual.Shape()...)
	for name, p := range map[string]transformer.LinearParams{
		"y": {}, "gelu": {GELU: transformer.Exact}, "sum": {Scale: scale, Residual: residual},
	} {
		d.ok(d.b.Linear(y, x, w, b, p))
		d.want(f.Expected(name), y)
	}
	d.ok(d.b.Linear(y, x, w, b, transformer.LinearParams{}))
	d.ok(d.b.AddScaled(y, y, residual, scale))
	d.want(f.Expected("sum"), y)
}

func checkTokens(d *bench, f *Fixture) {
	x, w, b := d.up(f.Input("x").NHWC()), d.up(f.Input("w").NHWC()), d.up(f.Input("b"))
	prefix, position := d.up(f.Input("prefix")), d.up(f.Input("position"))
	shape := func(name string) *tensor.Tensor { return d.zeros(f.Expected(name).Shape...) }
	patches, y := shape("patches"), shape("tokens")
	d.ok(d.b.PatchEmbed(patches, x, w, b))
	d.want(f.Expected("patches"), patches)
	d.ok(d.b.Tokens(y, patches, prefix, position))
	d.want(f.Expected("tokens"), y)
}
