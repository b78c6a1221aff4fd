//go:build cuda && emulate

package ledger_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	dense "gorgonia.org/tensor"

	"nmn/cuda"
	"nmn/cuda/cudnn"
	"nmn/kernels"
	"nmn/kernels/conform"
	"nmn/kernels/conv"
	"nmn/kernels/emulator"
	"nmn/kernels/ledger"
	"nmn/kernels/noise"
	"nmn/kernels/pixels"
	"nmn/kernels/pool"
	"nmn/kernels/tensor"
	"nmn/kernels/update"
)

// openCounting opens an emulated card whose kernels count what they read and write, in the file that it names.
func openCounting(t *testing.T) (open func(tensor.Precision) kernels.Backend, traffic string) {
	t.Helper()
	folder := t.TempDir()
	sources, err := filepath.Glob("../*/*.cu")
	if err != nil {
		t.Fatal(err)
	}
	library, err := emulator.BuildCounting(folder, sources...)
	if errors.Is(err, emulator.ErrCompiler) {
		conform.Skip(t, "emulate", err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	traffic = filepath.Join(folder, "traffic")
	t.Setenv(cuda.DriverVariable, library)
	t.Setenv(cudnn.LibraryVariable, library)
	t.Setenv(emulator.TrafficVariable, traffic)
	return func(p tensor.Precision) kernels.Backend {
		b, err := kernels.OpenCUDA(kernels.CUDAConfig{Precision: p, NoGraphs: true,
			Device: cuda.Options{SyncLaunches: true}})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}, traffic
}

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
	"embedding gradient": func(b operands) error {
		return b.EmbedGrad(b.floats(100, 64), b.floats(30, 64), b.make(tensor.Int32, 30))
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

// entries are two parameters that learn and one that rests.
func (b operands) entries() (all []update.Entry) {
	for i, length := range []int{20_001, 3000, 5000} {
		e := update.Entry{W: b.floats(length), G: b.floats(length), M: b.floats(length), V: b.floats(length),
			Average: b.floats(length), LR: float32(2 - i)}
		if b.maps == tensor.BFloat16 {
			e.Copy = b.make(tensor.BFloat16, length)
		}
		all = append(all, e)
	}
	return all
}

// What kernels read and write on the emulator is what a ledger has written down, partial sums and lists of parameters
// apart. cuDNN's kernels are not at hand: what a plan moves is known by its operands alone.
func TestCUDA_TrafficIsThatOfTheLedger(t *testing.T) {
	open, traffic := openCounting(t)
	for _, p := range []tensor.Precision{tensor.FP32, tensor.BF16} {
		card, book := open(p), newBook(t, p)
		for name, operation := range operations {
			t.Run(fmt.Sprintf("%s/%s", p, name), func(t *testing.T) {
				b := operands{Backend: card, maps: p.Maps(), t: t}
				must(t, operation(b)) // plans are chosen
				must(t, os.WriteFile(traffic, nil, 0o600))
				must(t, operation(b))
				must(t, b.Sync())
				text, err := os.ReadFile(traffic)
				must(t, err)
				before := len(book.All())
				must(t, operation(operands{Backend: book.Ledger, maps: p.Maps(), t: t}))
				compareTraffic(t, string(text), slices.DeleteFunc(slices.Clone(book.All()[before:]), notOurs))
			})
		}
		must(t, card.Close())
	}
}

func compareTraffic(t *testing.T, counted string, launches []ledger.Launch) {
	t.Helper()
	for line := range strings.Lines(counted) {
		var kernel string
		var read, written int
		if _, err := fmt.Sscanf(line, "%s %d %d", &kernel, &read, &written); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		if len(launches) == 0 || launches[0].Kernel != kernel {
			t.Fatalf("%s runs, the ledger has %+v", kernel, launches)
		}
		l := launches[0]
		launches = launches[1:]
		if slack := 512 + l.Bytes()/30; !near(read, l.Read, slack) || !near(written, l.Written, slack) {
			t.Errorf("%s reads %d and writes %d bytes, the ledger has %d and %d", kernel, read, written, l.Read, l.Written)
		}
	}
	if len(launches) > 0 {
		t.Errorf("the ledger has %+v, nothing more runs", launches)
	}
}

// notOurs reports whether a launch is none of a kernel of our own.
func notOurs(l ledger.Launch) bool {
	return strings.HasPrefix(l.Kernel, "cudnn ") || l.Kernel == ledger.Memcpy || l.Kernel == ledger.Memset
}

// near allows for partial sums, and for lists of parameters.
func near(counted, want, slack int) bool { return max(counted-want, want-counted) <= slack }
