//go:build unix

package transformer

import (
	"fmt"
	"math"
	"syscall"
	"testing"

	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// net is the part of a vision transformer that decides how fast it is, for pictures of 224×224 pixels.
type net struct {
	name                         string
	patch, tokens, width, heads  int
	prefix, layers, hidden, size int
}

var nets = []net{
	{"ViT-S_14", 14, 257, 384, 6, 1, 12, 1536, 224},
	{"ViT-B_16", 16, 197, 768, 12, 1, 12, 3072, 224},
	{"ViT-L_14", 14, 257, 1024, 16, 1, 24, 4096, 224},
}

// rig is the memory of a net for a batch.
type rig struct {
	net
	c                                         *CPU
	x, patches, tokens, y, qkv, hidden        *tensor.Tensor
	filter, wQKV, wOut, wUp, wDown            *tensor.Tensor
	bias, biasQKV, biasUp, position, classTok *tensor.Tensor
}

func newRig(t testing.TB, n net, batch, threads int, level simd.Level, weights tensor.DType) *rig {
	t.Helper()
	dev := tensor.NewCPU(threads, level.String())
	t.Cleanup(func() { _ = dev.Close() })
	of := func(scale float32, shape ...int) *tensor.Tensor {
		x, err := dev.Alloc(tensor.Float32, shape...)
		if err != nil {
			t.Fatal(err)
		}
		for i, state := 0, uint32(len(shape)); i < x.Len(); i++ {
			state = state*1664525 + 1013904223
			x.Float32s()[i] = (float32(state>>8)/(1<<23) - 1) * scale
		}
		return x
	}
	d, l := n.width, n.tokens-n.prefix
	r := &rig{net: n, c: NewCPU(dev, level)}
	r.x, r.patches, r.tokens, r.y = of(1, batch, n.size, n.size, 3), of(1, batch, l, d), of(1, batch, n.tokens, d),
		of(1, batch, n.tokens, d)
	r.qkv, r.hidden = of(1, batch, n.tokens, 3*d), of(1, batch, n.tokens, n.hidden)
	r.filter, r.wQKV, r.wOut = of(.05, d, n.patch, n.patch, 3), of(.05, 3*d, d), of(.05, d, d)
	r.wUp, r.wDown, r.bias = of(.05, n.hidden, d), of(.05, d, n.hidden), of(1, d)
	r.biasQKV, r.biasUp, r.position, r.classTok = of(.1, 3*d), of(.1, n.hidden), of(.1, l, d), of(.1, n.prefix, d)
	for _, w := range []**tensor.Tensor{&r.wQKV, &r.wOut, &r.wUp, &r.wDown} {
		numbers, shape := (*w).Float32s(), (*w).Shape()
		var err error
		if *w, err = dev.Alloc(weights, shape...); err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{dev.Upload(*w, tensor.HostArray(weights, numbers)), r.c.PrepareLinear(*w)} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return r
}

// steps are the operations of a block, and of the way to the tokens, by their names.
func (r *rig) steps() map[string]func() error {
	c := r.c
	return map[string]func() error{
		"patches": func() error { return c.PatchEmbed(r.patches, r.x, r.filter, r.bias) },
		"tokens":  func() error { return c.Tokens(r.tokens, r.patches, r.classTok, r.position) },
		"norm":    func() error { return c.LayerNorm(r.y, r.tokens, r.bias, r.bias, 1e-6) },
		"qkv":     func() error { return c.Linear(r.qkv, r.y, r.wQKV, r.biasQKV, LinearParams{Prepared: true}) },
		"attend":  func() error { return c.Attention(r.y, r.qkv, r.heads) },
		"out": func() error {
			return c.Linear(r.tokens, r.y, r.wOut, r.bias, LinearParams{Scale: r.bias, Residual: r.tokens, Prepared: true})
		},
		"up": func() error {
			return c.Linear(r.hidden, r.y, r.wUp, r.biasUp, LinearParams{GELU: Exact, Prepared: true})
		},
		"down": func() error {
			return c.Linear(r.tokens, r.hidden, r.wDown, r.bias, LinearParams{Scale: r.bias, Residual: r.tokens, Prepared: true})
		},
	}
}

// flops counts the products of a step for a batch.
func (r *rig) flops(step string) float64 {
	rows, d := float64(r.y.Len()/r.width), float64(r.width)
	switch step {
	case "patches":
		return 2 * float64(r.patches.Len()*r.patch*r.patch*3)
	case "qkv":
		return 6 * rows * d * d
	case "out":
		return 2 * rows * d * d
	case "up", "down":
		return 2 * rows * d * float64(r.hidden.Dim(2))
	case "attend":
		return 4 * rows * float64(r.net.tokens) * d
	}
	return 0
}

var block = []string{"norm", "qkv", "attend", "out", "norm", "up", "down"}

// features are all operations of a net, with the weights of a block for every block.
func (r *rig) features() error {
	steps := r.steps()
	for _, name := range []string{"patches", "tokens"} {
		if err := steps[name](); err != nil {
			return err
		}
	}
	for range r.layers {
		for _, name := range block {
			if err := steps[name](); err != nil {
				return err
			}
		}
	}
	return steps["norm"]()
}

// benchmarked are instructions and a type of weights.
type benchmarked struct {
	level   simd.Level
	weights tensor.DType
}

// cases are the vector levels, with bfloat16 for those that multiply it.
func cases() (list []benchmarked) {
	for _, level := range simd.Levels()[1:] {
		list = append(list, benchmarked{level, tensor.Float32})
		if level.BFloat16() == nil {
			list = append(list, benchmarked{level, tensor.BFloat16})
		}
	}
	return list
}

// BenchmarkViT measures each operation of a net, and all of it, on one thread and on two.
func BenchmarkViT(b *testing.B) {
	for _, n := range nets {
		for _, batch := range []int{1, 4, 16} {
			for _, threads := range []int{1, 2} {
				for _, c := range cases() {
					r := newRig(b, n, batch, threads, c.level, c.weights)
					name := fmt.Sprintf("net=%s/batch=%d/threads=%d/simd=%s/weights=%s", n.name, batch, threads, c.level, c.weights)
					for _, step := range []string{"patches", "tokens", "norm", "qkv", "attend", "out", "up", "down"} {
						run := r.steps()[step]
						b.Run(name+"/op="+step, func(b *testing.B) { measure(b, run, r.flops(step)) })
					}
					b.Run(name+"/op=all", func(b *testing.B) { measure(b, r.features, r.total()) })
				}
			}
		}
	}
}

func (r *rig) total() float64 {
	sum := r.flops("patches")
	for _, step := range block {
		sum += float64(r.layers) * r.flops(step)
	}
	return sum
}

// measure reports the least time of the processor that a run has taken, and the arithmetic for each second of it: other
// programs on the machine change it less than they change the clock's time.
func measure(b *testing.B, run func() error, flops float64) {
	least := math.Inf(1)
	for b.Loop() {
		before := spent(b)
		if err := run(); err != nil {
			b.Fatal(err)
		}
		least = min(least, spent(b)-before)
	}
	b.ReportMetric(least*1e3, "cpu-ms")
	if flops > 0 {
		b.ReportMetric(flops/least/1e9, "GFLOP/cpu-s")
	}
}

// spent is the time of the processor that the program has taken so far, in seconds.
func spent(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
