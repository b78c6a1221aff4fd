package ledger_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	dense "gorgonia.org/tensor"

	"nmn/kernels"
	"nmn/kernels/conv"
	"nmn/kernels/noise"
	"nmn/kernels/pixels"
	"nmn/kernels/pool"
	"nmn/kernels/tensor"
	"nmn/kernels/transformer"
	"nmn/kernels/update"
)

var rewrite = flag.Bool("update", false, "write the golden file anew")

// operations of a backend, each with its operands. maps is the type of feature maps.
type operands struct {
	kernels.Backend
	maps tensor.DType
	t    *testing.T
}

func (b operands) make(dtype tensor.DType, shape ...int) *tensor.Tensor {
	b.t.Helper()
	x, err := b.Alloc(dtype, shape...)
	must(b.t, err)
	return x
}

func (b operands) of(shape ...int) *tensor.Tensor     { return b.make(b.maps, shape...) }
func (b operands) floats(shape ...int) *tensor.Tensor { return b.make(tensor.Float32, shape...) }

// operations are large enough that partial sums do not count, and have odd sizes where those change anything.
var operations = map[string]func(b operands) error{
	"conv, ReLU without bias": func(b operands) error {
		return b.Conv(b.of(2, 8, 8, 16), b.of(2, 8, 8, 16), b.of(16, 3, 3, 16), nil, conv.Params{Pad: 1, ReLU: true})
	},
	"conv to float32, 5 channels": func(b operands) error {
		return b.Conv(b.floats(2, 16, 16, 8), b.of(2, 16, 16, 5), b.of(8, 1, 1, 5), b.floats(8), conv.Params{})
	},
	"data gradient, masked": func(b operands) error {
		return b.ConvGradData(b.of(2, 8, 8, 16), b.of(2, 8, 8, 16), b.of(16, 3, 3, 16), b.of(2, 8, 8, 16),
			conv.Params{Pad: 1})
	},
	"data gradient, its own mask": func(b operands) error {
		x := b.of(2, 8, 8, 16)
		return b.ConvGradData(x, b.of(2, 8, 8, 16), b.of(16, 3, 3, 16), x, conv.Params{Pad: 1})
	},
	"data gradient, added and masked": func(b operands) error {
		return b.ConvGradData(b.of(2, 8, 8, 16), b.of(2, 8, 8, 16), b.of(16, 3, 3, 16), b.of(2, 8, 8, 16),
			conv.Params{Pad: 1, Accumulate: true})
	},
	"data gradient of float32": func(b operands) error {
		return b.ConvGradData(b.of(2, 8, 8, 16), b.floats(2, 8, 8, 8), b.of(8, 1, 1, 16), b.of(2, 8, 8, 16),
			conv.Params{})
	},
	"filter gradient, added": func(b operands) error {
		return b.ConvGradFilter(b.floats(16, 3, 3, 16), b.of(2, 8, 8, 16), b.of(2, 8, 8, 16),
			conv.Params{Pad: 1, Accumulate: true})
	},
	"filter gradient, 5 channels, added": func(b operands) error {
		return b.ConvGradFilter(b.floats(32, 3, 3, 5), b.of(2, 8, 8, 5), b.of(2, 8, 8, 32),
			conv.Params{Pad: 1, Accumulate: true})
	},
	"bias gradient": func(b operands) error {
		return b.ConvGradBias(b.floats(32), b.of(4, 20, 20, 32), conv.Params{Accumulate: true})
	},
	"conv": func(b operands) error {
		return b.Conv(b.of(2, 8, 8, 16), b.of(2, 8, 8, 8), b.of(16, 3, 3, 8), b.floats(16), conv.Params{Pad: 1, ReLU: true})
	},
	"conv like the first": func(b operands) error {
		return b.Conv(b.of(2, 9, 70, 128), b.of(2, 9, 70, 8), b.of(128, 3, 3, 8), b.floats(128), conv.Params{Pad: 1, ReLU: true})
	},
	"conv with bias": func(b operands) error {
		return b.Conv(b.floats(2, 8, 8, 16), b.of(2, 8, 8, 8), b.of(16, 1, 1, 8), b.floats(16), conv.Params{})
	},
	"large losses": func(b operands) error {
		return b.LargeLosses(b.floats(8, 100), b.floats(8, 100), b.floats(8, 100), b.make(tensor.Int32, 1), 1)
	},
	"clip": func(b operands) error {
		norm := b.floats(1) // above the limit, so that gradients are changed
		if err := b.Upload(norm, dense.New(dense.WithShape(1), dense.WithBacking([]float32{2}))); err != nil {
			return err
		}
		return b.Clip(b.entries(), norm, 1)
	},
	"zero": func(b operands) error { return b.Zero(b.floats(100)) },
	"copy": func(b operands) error { return b.Copy(b.floats(100), b.floats(100)) },
	"nothing at all": func(b operands) error {
		return errors.Join(b.ReLU(b.of(0), b.of(0)), b.ReLUGrad(b.of(0), b.of(0), b.of(0)), b.Zero(b.floats(0)),
			b.Copy(b.floats(0), b.floats(0)), b.Add(b.floats(0), b.floats(0)), b.MaxPool(b.of(0, 1, 1, 4), b.of(0, 2, 2, 4)))
	},
	"noise step, five classes": func(b operands) error {
		out := noise.StepOutput{Loss: b.floats(40), DLogits: b.floats(40, 4, 4, 5)}
		return b.NoiseStep(out, b.floats(40, 4, 4, 5), nil, b.floats(40, 5), nil, noise.StepParams{Scale: 1})
	},
	"relu":          func(b operands) error { return b.ReLU(b.of(5000), b.of(5000)) },
	"relu gradient": func(b operands) error { return b.ReLUGrad(b.of(5000), b.of(5000), b.of(5000)) },
	"dropout": func(b operands) error {
		return b.Dropout(b.of(4, 1000), b.of(4, 1000), b.make(tensor.Int32, 4), b.make(tensor.Int32, 2), .5)
	},
	"dropout gradient in place": func(b operands) error {
		x := b.of(4, 1000)
		return b.DropoutGrad(x, x, b.make(tensor.Int32, 4), b.make(tensor.Int32, 2), .5)
	},
	"max pool": func(b operands) error { return b.MaxPool(b.of(2, 8, 7, 32), b.of(2, 15, 14, 32)) },
	"max pool gradient": func(b operands) error {
		y := b.of(2, 8, 7, 32)
		return b.MaxPoolGrad(b.of(2, 15, 14, 32), b.of(2, 8, 7, 32), b.of(2, 15, 14, 32), y, true)
	},
	"max pool gradient and bias": func(b operands) error {
		return b.MaxPoolGradBias(b.of(4, 31, 30, 32), b.floats(32), b.of(4, 16, 15, 32), b.of(4, 31, 30, 32),
			b.of(4, 16, 15, 32), pool.MaxGradParams{ReLU: true})
	},
	"3×3 max pool": func(b operands) error { return b.MaxPool3(b.of(2, 8, 7, 32), b.of(2, 15, 14, 32)) },
	"3×3 max pool gradient and bias": func(b operands) error {
		return b.MaxPool3GradBias(b.of(2, 15, 14, 32), b.floats(32), b.of(2, 8, 7, 32), b.of(2, 15, 14, 32), b.of(2, 8, 7, 32),
			pool.MaxGradParams{ReLU: true, Accumulate: true})
	},
	"strided conv and shortcut": func(b operands) error {
		return b.ConvAdd(b.of(2, 4, 4, 16), b.of(2, 8, 8, 8), b.of(16, 3, 3, 8), b.floats(16), b.of(2, 4, 4, 16),
			conv.Params{Pad: 1, Stride: 2, ReLU: true})
	},
	"conv and its own shortcut": func(b operands) error {
		y := b.of(2, 8, 8, 16)
		return b.ConvAdd(y, b.of(2, 8, 8, 8), b.of(16, 1, 1, 8), b.floats(16), y, conv.Params{ReLU: true})
	},
	"average pool": func(b operands) error { return b.AvgPool(b.floats(2, 7, 7, 32), b.floats(2, 14, 14, 32)) },
	"average pool gradient": func(b operands) error {
		return b.AvgPoolGrad(b.floats(2, 14, 14, 32), b.floats(2, 7, 7, 32))
	},
	"bag pool": func(b operands) error { return b.BagPool(b.floats(3, 64), b.of(3, 16, 16, 64), nil, pool.Mean) },
	"bag mean gradient": func(b operands) error {
		return b.BagPoolGrad(b.of(3, 8, 8, 64), b.floats(3, 64), nil, nil, nil, pool.Mean, true)
	},
	"bag max gradient": func(b operands) error {
		g := b.floats(3, 64) // maxima that no cell has, so that all are looked at
		ones := dense.New(dense.WithShape(3, 64), dense.WithBacking(slices.Repeat([]float32{1}, 3*64)))
		if err := b.Upload(g, ones); err != nil {
			return err
		}
		return b.BagPoolGrad(b.of(3, 8, 8, 64), b.floats(3, 64), b.of(3, 8, 8, 64), g, nil, pool.Max, false)
	},
	"noise step": func(b operands) error {
		const n, h, k = 4, 5, 32
		out := noise.StepOutput{Loss: b.floats(n), DLogits: b.floats(n, h, h, k), DO: b.floats(n, 2, 2, k),
			Prob: b.floats(n, k), Observed: b.floats(n, k), Posterior: b.floats(n, k), BagLogit: b.floats(n, k)}
		return b.NoiseStep(out, b.floats(n, h, h, k), b.floats(n, 2, 2, k), b.floats(n, k), nil,
			noise.StepParams{MIL: true, Scale: 1})
	},
	"noisy-or": func(b operands) error { return b.NoisyOR(b.floats(4, 32), b.floats(4, 5, 5, 32), nil) },
	"noisy-or gradient": func(b operands) error {
		return b.NoisyORGrad(b.floats(4, 5, 5, 32), b.floats(4, 32), b.floats(4, 5, 5, 32), nil)
	},
	"cross-entropy": func(b operands) error {
		return b.BCE(b.floats(8), b.floats(8, 100), b.floats(8, 100), b.floats(8, 100), 1)
	},
	"normalize": func(b operands) error {
		return b.Normalize(b.of(2, 20, 20, b.Precision().Pixels()), b.make(tensor.Uint8, 2, 20, 20, 3), nil, nil,
			pixels.Params{Scale: [3]float32{1, 1, 1}})
	},
	"sgd":      func(b operands) error { return b.SGD(b.entries(), .9) },
	"adam":     func(b operands) error { return b.Adam(b.entries(), adam) },
	"adamw":    func(b operands) error { return b.AdamW(b.entries(), adam) },
	"average":  func(b operands) error { return b.Average(b.entries(), .1) },
	"exchange": func(b operands) error { return b.Exchange(b.entries()) },
	"norm":     func(b operands) error { return b.GradNorm(b.floats(1), b.entries()) },
	"lstm": func(b operands) error {
		const t, n, h = 3, 16, 64
		return b.LSTM(b.floats(t, n, h), b.floats(t, n, h), b.floats(t, n, 4*h), b.floats(4*h, h), nil, nil)
	},
	"lstm of few units": func(b operands) error {
		const t, n, h = 6, 1, 6
		return b.LSTM(b.floats(t, n, h), b.floats(t, n, h), b.floats(t, n, 4*h), b.floats(4*h, h), nil, nil)
	},
	"lstm from a state": func(b operands) error {
		const t, n, h = 3, 16, 64
		return b.LSTM(b.floats(t, n, h), b.floats(t, n, h), b.floats(t, n, 4*h), b.floats(4*h, h), b.floats(n, h),
			b.floats(n, h))
	},
	"lstm gradient": func(b operands) error {
		const t, n, h = 3, 16, 64
		return b.LSTMGrad(b.floats(t, n, 4*h), b.floats(t, n, h), b.floats(t, n, h), b.floats(4*h, h), nil, nil, nil, nil)
	},
	"lstm gradient to a state": func(b operands) error {
		const t, n, h = 3, 16, 64
		return b.LSTMGrad(b.floats(t, n, 4*h), b.floats(t, n, h), b.floats(t, n, h), b.floats(4*h, h), b.floats(n, h),
			b.floats(n, h), b.floats(n, h), b.floats(n, h))
	},
	"layer norm": func(b operands) error {
		return b.LayerNorm(b.of(2, 50, 96), b.of(2, 50, 96), b.floats(96), b.floats(96), 1e-6)
	},
	"gelu":      func(b operands) error { return b.GELU(b.of(100, 64), b.of(100, 64), transformer.Exact) },
	"attention": func(b operands) error { return b.Attention(b.of(2, 50, 64), b.of(2, 50, 192), 2) },
	"attention of wide heads": func(b operands) error {
		return b.Attention(b.of(2, 20, 160), b.of(2, 20, 480), 2)
	},
	"linear": func(b operands) error {
		return b.Linear(b.of(2, 50, 48), b.of(2, 50, 32), b.of(48, 32), b.floats(48), transformer.LinearParams{})
	},
	"linear with gelu": func(b operands) error {
		return b.Linear(b.of(2, 50, 48), b.of(2, 50, 32), b.of(48, 32), b.floats(48), transformer.LinearParams{GELU: transformer.Exact})
	},
	"linear, added in place": func(b operands) error {
		y := b.of(2, 50, 48)
		return b.Linear(y, b.of(2, 50, 32), b.of(48, 1, 1, 32), b.floats(48), transformer.LinearParams{Scale: b.floats(48), Residual: y})
	},
	"prepared weights": func(b operands) error { return b.PrepareLinear(b.of(48, 32)) },
	"scaled sum": func(b operands) error {
		return b.AddScaled(b.of(2, 50, 48), b.of(2, 50, 48), b.of(2, 50, 48), b.floats(48))
	},
	"tokens": func(b operands) error {
		return b.Tokens(b.of(2, 52, 48), b.of(2, 50, 48), b.floats(2, 48), b.floats(50, 48))
	},
	"patch embedding": func(b operands) error {
		return b.PatchEmbed(b.of(2, 16, 48), b.of(2, 32, 32, 8), b.of(48, 8, 8, 8), b.floats(48))
	},
	"embedding": func(b operands) error {
		words, each := b.make(tensor.Int32, 30), make([]int32, 30) // each word once, so that as many rows are read
		for i := range each {
			each[i] = int32(i)
		}
		if err := b.Upload(words, dense.New(dense.WithShape(30), dense.WithBacking(each))); err != nil {
			return err
		}
		return b.Embed(b.floats(30, 64), b.floats(100, 64), words)
	},
	"embedding gradient": func(b operands) error {
		return b.EmbedGrad(b.floats(100, 64), b.floats(30, 64), b.make(tensor.Int32, 30))
	},
	"words without gradients": func(b operands) error {
		const m, v, d = 12, 50, 16
		return b.CrossEntropy(b.floats(m), nil, nil, nil, b.floats(m, d), b.floats(v, d), b.floats(v),
			b.make(tensor.Int32, m), 1)
	},
	"words": func(b operands) error {
		const m, v, d = 12, 2100, 16
		return b.CrossEntropy(b.floats(m), b.floats(m, d), b.floats(v, d), b.floats(v), b.floats(m, d), b.floats(v, d),
			b.floats(v), b.make(tensor.Int32, m), 1)
	},
	"add":         func(b operands) error { return b.Add(b.floats(50, 50), b.floats(50, 50)) },
	"log-softmax": func(b operands) error { return b.LogSoftmax(b.floats(20, 100)) },
}

var adam = update.AdamParams{Beta1: .9, Beta2: .999, Epsilon: 1e-8, Step: 1}

// entries are two parameters that learn, whichever way, and one between them that rests.
func (b operands) entries() (all []update.Entry) {
	for i, length := range []int{20_001, 5000, 3000} {
		e := update.Entry{W: b.floats(length), G: b.floats(length), M: b.floats(length), V: b.floats(length),
			Average: b.floats(length), LR: float32(1 - i)}
		if b.maps == tensor.BFloat16 {
			e.Copy = b.make(tensor.BFloat16, length)
		}
		all = append(all, e)
	}
	return all
}

// All launches of all operations: what the emulator's kernels are compared with, by tests of a build with CUDA.
func TestLedger_OperationsAreAsTheyWere(t *testing.T) {
	var b strings.Builder
	for _, p := range []tensor.Precision{tensor.FP32, tensor.TF32, tensor.BF16} {
		for _, name := range slices.Sorted(maps.Keys(operations)) {
			book := newBook(t, p)
			must(t, operations[name](operands{Backend: book.Ledger, maps: p.Maps(), t: t}))
			fmt.Fprintf(&b, "%s in %s, %d bytes of scratch\n", name, p, book.ScratchBytes())
			for _, l := range book.All() {
				fmt.Fprintf(&b, "\t%s: %s, %d read, %d written", l.Kernel, l.Part, l.Read, l.Written)
				if l.FLOP > 0 {
					fmt.Fprintf(&b, ", %.0f FLOP in %s", l.FLOP, l.Math)
				}
				b.WriteString("\n")
			}
		}
	}
	path := filepath.Join("testdata", "operations.txt")
	if *rewrite {
		must(t, os.MkdirAll("testdata", 0o777))
		must(t, os.WriteFile(path, []byte(b.String()), 0o666))
	}
	want, err := os.ReadFile(path)
	must(t, err)
	was, is := strings.Split(string(want), "\n"), strings.Split(b.String(), "\n")
	for i := range min(len(was), len(is)) {
		if was[i] != is[i] {
			t.Fatalf("%s, line %d: %q, was %q; if that is meant: go test ./kernels/ledger -update", path, i+1, is[i], was[i])
		}
	}
	if len(was) != len(is) {
		t.Errorf("%s has %d lines, want %d", path, len(was), len(is))
	}
}

// Shapes that do not fit are refused as by any device, and nothing is written down.
func TestLedger_RefusesWhatDoesNotFit(t *testing.T) {
	book := newBook(t, tensor.FP32)
	b := operands{Backend: book.Ledger, maps: tensor.Float32, t: t}
	x, vector, one := b.floats(2, 4, 4, 3), b.floats(5), b.floats(1)
	wrong := []update.Entry{{W: one, G: vector, M: one, V: one, Average: one, LR: 1}}
	words := b.make(tensor.Int32, 2)
	for i, err := range []error{
		b.Conv(x, x, x, nil, conv.Params{}), b.ConvGradData(x, x, x, nil, conv.Params{}),
		b.ConvGradData(x, x, b.floats(3, 1, 1, 3), b.floats(2, 4, 4, 5), conv.Params{}),
		b.ConvGradFilter(x, x, x, conv.Params{}), b.ConvGradBias(vector, x, conv.Params{}),
		b.ConvGradBias(nil, x, conv.Params{}), b.Conv(b.floats(0, 4, 4, 3), b.floats(0, 4, 4, 3), b.floats(3, 1, 1, 3), nil,
			conv.Params{}),
		b.ReLU(x, vector), b.ReLUGrad(x, x, vector), b.Dropout(x, vector, words, words, .5),
		b.DropoutGrad(x, vector, words, words, .5),
		b.MaxPool(x, x), b.MaxPoolGrad(x, x, x, x, true), b.MaxPoolGradBias(x, one, x, x, x, pool.MaxGradParams{}),
		b.AvgPool(x, x), b.AvgPoolGrad(x, x), b.BagPool(x, x, nil, pool.Mean), b.BagPool(b.floats(2, 3), x, nil, 77),
		b.BagPoolGrad(x, x, x, x, nil, pool.Max, false), b.BagPoolGrad(x, b.floats(2, 3), vector, b.floats(2, 3), nil,
			pool.Max, false),
		b.NoiseStep(noise.StepOutput{}, vector, nil, nil, nil, noise.StepParams{}), b.NoisyOR(x, vector, nil),
		b.NoisyORGrad(x, vector, x, nil), b.BCE(x, x, x, vector, 1), b.LargeLosses(x, x, vector, words, 1),
		b.SGD(wrong, 0), b.Adam(wrong, adam), b.AdamW(wrong, adam), b.Average(wrong, .5), b.Exchange(wrong),
		b.GradNorm(vector, wrong), b.Clip(wrong, vector, 1), b.Zero(nil), b.Normalize(x, x, nil, nil, pixels.Params{}),
		b.Copy(x, vector), b.LSTM(x, x, x, x, nil, nil), b.LSTMGrad(x, x, x, x, nil, nil, nil, nil), b.Embed(x, x, words),
		b.EmbedGrad(x, x, words), b.CrossEntropy(x, nil, nil, nil, x, x, x, words, 1), b.LogSoftmax(x), b.Add(x, vector),
		b.LayerNorm(x, x, vector, vector, 1), b.GELU(x, vector, transformer.Exact), b.Attention(x, x, 1),
		b.Linear(x, x, x, nil, transformer.LinearParams{}), b.PrepareLinear(x), b.AddScaled(x, x, vector, nil),
		b.Tokens(x, x, nil, nil), b.PatchEmbed(x, x, x, nil),
	} {
		if !errors.Is(err, tensor.ErrShape) {
			t.Errorf("call %d: %v, want a refusal", i, err)
		}
	}
	if len(book.All()) != 0 {
		t.Errorf("%+v were written down", book.All())
	}
}
