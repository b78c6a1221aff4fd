package update

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"nmn/internal/rng"
	"nmn/kernels/simd"
	"nmn/kernels/tensor"
	"nmn/tools/optest"
)

// newTestCPU computes at the level of the environment, the best one by default.
func newTestCPU(t testing.TB, threads int) *CPU {
	return newCPUAt(t, threads, optest.Level(t))
}

func newCPUAt(t testing.TB, threads int, level simd.Level) *CPU {
	return NewCPU(optest.Device(t, threads), level)
}

// drawEntries makes parameters of lengths around a block, one of them frozen, V positive.
func drawEntries(t testing.TB, seed uint64) []Entry {
	stream := rng.New(seed)
	var entries []Entry
	for i, length := range []int{1, 7, Block, 33, 2*Block + 5} {
		e := Entry{W: optest.Normal(t, &stream, 1, length), G: optest.Normal(t, &stream, 1, length),
			M: optest.Normal(t, &stream, 1, length), V: optest.Normal(t, &stream, 1, length),
			LR: 0.01 * float32(i+1), Decay: 0.1 * float32(i%2)}
		for k, v := range e.V.Float32s() {
			e.V.Float32s()[k] = v * v
		}
		if i == 3 {
			e.LR = 0
		}
		entries = append(entries, e)
	}
	return entries
}

func check(t *testing.T, what string, got *tensor.Tensor, want []float64) {
	t.Helper()
	for i, w := range want {
		if v := float64(got.Float32s()[i]); !(math.Abs(v-w) <= 1e-6*(1+math.Abs(w))) {
			t.Fatalf("%s: element %d is %g, want %g", what, i, v, w)
		}
	}
}

// Frozen entries need no state, nor even a gradient.
func TestUpdate_FrozenEntriesAreNotLookedAt(t *testing.T) {
	frozen := []Entry{{W: optest.Vector(t, 1, 2)}, {}}
	c, norm := newTestCPU(t, 1), optest.Vector(t, 7)
	optest.Must(t, c.SGD(frozen, 0.9), c.Adam(frozen, AdamParams{Step: 1}), c.AdamW(frozen, AdamParams{Step: 1}),
		c.Average(frozen, .5), c.Exchange(frozen), c.Clip(frozen, norm, 1), c.GradNorm(norm, frozen))
	check(t, "norm", norm, []float64{0})
	check(t, "weight", frozen[0].W, []float64{1, 2})
}

// Squares of these leave the range of float32, but their norm does not.
func TestGradNorm_OfHugeAndTinyGradients(t *testing.T) {
	for _, scale := range []float32{1e30, 1e-30} {
		norm := optest.Vector(t, 0)
		optest.Must(t, newTestCPU(t, 1).GradNorm(norm, []Entry{{G: optest.Vector(t, 3*scale, 4*scale), LR: 1}}))
		if v := norm.Float32s()[0] / scale; math.Abs(float64(v)-5) > 1e-5 {
			t.Errorf("norm of (3, 4)·%g is %g of it", scale, v)
		}
	}
}

func TestClip_OnlyAboveTheLimit(t *testing.T) {
	for _, test := range []struct{ norm, limit, want float64 }{
		{5, 10, 3}, {5, 5, 3}, {5, 1, 0.6}, {math.NaN(), 1, 3}, {5, math.Inf(1), 3},
	} {
		learning, frozen := Entry{G: optest.Vector(t, 3, 4), LR: 1}, Entry{G: optest.Vector(t, 3, 4)}
		optest.Must(t, newTestCPU(t, 1).Clip([]Entry{learning, frozen}, optest.Vector(t, float32(test.norm)),
			float32(test.limit)))
		check(t, fmt.Sprintf("norm %g, limit %g", test.norm, test.limit), learning.G, []float64{test.want, test.want / 3 * 4})
		check(t, "frozen", frozen.G, []float64{3, 4})
	}
}

func TestUpdate_ThreadsAndLevelsChangeNoBit(t *testing.T) {
	var first []float32
	optest.EachHost(func(level simd.Level, threads int) {
		entries, norm := drawEntries(t, 5), optest.Vector(t, 0)
		c := newCPUAt(t, threads, level)
		optest.Must(t, c.GradNorm(norm, entries), c.Clip(entries, norm, 1), c.SGD(entries, 0.9),
			c.Adam(entries, AdamParams{Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, Step: 3}),
			c.AdamW(entries, AdamParams{Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, Step: 3}))
		for i := range entries {
			entries[i].Average = entries[i].M
		}
		optest.Must(t, c.Average(entries, .3), c.Exchange(entries))
		all := append([]float32(nil), norm.Float32s()...)
		for _, e := range entries {
			all = append(all, e.W.Float32s()...)
		}
		if first == nil {
			first = all
		}
		for i, v := range all {
			if math.Float32bits(v) != math.Float32bits(first[i]) {
				t.Fatalf("%s, %d threads: element %d is %g, in Go with one thread %g", level, threads, i, v, first[i])
			}
		}
	})
}

func TestUpdate_RefusesWhatDoesNotFit(t *testing.T) {
	c, norm := newTestCPU(t, 1), optest.Vector(t, 1)
	whole := func(change func(e *Entry)) []Entry {
		e := Entry{W: optest.Vector(t, 1, 2), G: optest.Vector(t, 1, 2), M: optest.Vector(t, 1, 2),
			V: optest.Vector(t, 1, 2), LR: 1}
		change(&e)
		return []Entry{e}
	}
	adam := AdamParams{Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, Step: 1}
	integers, _ := tensor.OfInt32s([]int32{1, 2}, 2)
	for name, err := range map[string]error{
		"no gradient":        c.SGD(whole(func(e *Entry) { e.G = nil }), 0),
		"no weight":          c.SGD(whole(func(e *Entry) { e.W = nil }), 0),
		"short average":      c.Exchange(whole(func(e *Entry) { e.Average = optest.Vector(t, 1) })),
		"short weight":       c.Adam(whole(func(e *Entry) { e.W = optest.Vector(t, 1) }), adam),
		"integer gradient":   c.GradNorm(norm, whole(func(e *Entry) { e.G = integers })),
		"no norm":            c.GradNorm(nil, nil),
		"clip without norm":  c.Clip(nil, nil, 1),
		"zero nothing":       c.Zero(nil),
		"gradient elsewhere": c.GradNorm(norm, whole(func(e *Entry) { e.G, _ = tensor.OfAddress(64, tensor.Float32, 2) })),
	} {
		if !errors.Is(err, tensor.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"beta 1":       c.Adam(nil, AdamParams{Beta1: 1, Step: 1}),
		"beta NaN":     c.Adam(nil, AdamParams{Beta2: float32(math.NaN()), Step: 1}),
		"epsilon":      c.Adam(nil, AdamParams{Epsilon: -1, Step: 1}),
		"step 0":       c.Adam(nil, AdamParams{}),
		"adamw step 0": c.AdamW(nil, AdamParams{}),
		"share above":  c.Average(nil, 1.5),
		"share is NaN": c.Average(nil, float32(math.NaN())),
		"limit 0":      c.Clip(nil, norm, 0),
		"limit is NaN": c.Clip(nil, norm, float32(math.NaN())),
	} {
		if !errors.Is(err, ErrParams) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// One parameter of 4 million elements. B/s counts bytes read and written. copy is the floor.
func BenchmarkUpdate(b *testing.B) {
	const n = 4 << 20
	var tensors [4]*tensor.Tensor
	for i := range tensors {
		tensors[i] = optest.Vector(b, make([]float32, n)...)
		for k := range tensors[i].Float32s() {
			tensors[i].Float32s()[k] = float32(k%7) / 7
		}
	}
	entries := []Entry{{W: tensors[0], G: tensors[1], M: tensors[2], V: tensors[3], LR: 1e-6, Decay: 1e-4}}
	averaged := []Entry{{W: tensors[0], G: tensors[1], Average: tensors[2], LR: 1}}
	c, norm := newTestCPU(b, 0), optest.Vector(b, 1)
	for _, test := range []struct {
		name   string
		arrays int
		f      func() error
	}{
		{"copy", 2, func() error { copy(tensors[0].Float32s(), tensors[1].Float32s()); return nil }},
		{"sgd", 5, func() error { return c.SGD(entries, 0.9) }},
		{"adam", 7, func() error { return c.Adam(entries, AdamParams{Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, Step: 9}) }},
		{"adamw", 7, func() error { return c.AdamW(entries, AdamParams{Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, Step: 9}) }},
		{"average", 3, func() error { return c.Average(averaged, 1e-3) }},
		{"exchange", 4, func() error { return c.Exchange(averaged) }},
		{"norm", 1, func() error { return c.GradNorm(norm, entries) }},
		{"clip", 2, func() error { norm.Float32s()[0] = 1.0000001; return c.Clip(entries, norm, 1) }},
		{"zero", 1, func() error { return c.Zero(tensors[1]) }},
	} {
		b.Run(test.name, func(b *testing.B) {
			b.SetBytes(int64(4 * n * test.arrays))
			b.ReportAllocs()
			for b.Loop() {
				if err := test.f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
