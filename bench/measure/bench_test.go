package measure

import (
	"context"
	"errors"
	"math"
	"testing"

	"nmn/kernels"
	"nmn/run"
)

func cpu(t *testing.T) kernels.Backend {
	t.Helper()
	backend, _, err := kernels.Open(kernels.Config{Device: "cpu", Threads: 1})
	check(t, err)
	t.Cleanup(func() {
		if err := backend.Close(); err != nil {
			t.Error(err)
		}
	})
	return backend
}

var (
	twice = Options{Repeats: 2, Warmup: 1, Threads: 1}
	tiny  = Net{Arch: run.NetScenes, Batch: 1, Frames: 2, Size: 32, Width: .1, MIL: true, Noise: true}
)

func TestMeasurements_EndWithTheirContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Step(ctx, cpu(t), tiny, twice); !errors.Is(err, run.ErrInterrupted) {
		t.Errorf("a step: %v", err)
	}
	if _, err := CaptionStep(ctx, cpu(t), Captioner{Batch: 1, Frames: 2, Features: 3, Vocabulary: 9, Width: .01},
		twice); !errors.Is(err, run.ErrInterrupted) {
		t.Errorf("a step of the captioner: %v", err)
	}
}

func TestMeasurements_RefuseToMeasureNothing(t *testing.T) {
	backend := cpu(t)
	for _, o := range []Options{{}, {Repeats: 1, Warmup: -1}} {
		_, step := Step(t.Context(), backend, tiny, o)
		_, ops := Operations(t.Context(), backend, tiny, o)
		_, caption := CaptionStep(t.Context(), backend, Captioner{Batch: 1, Width: .01}, o)
		_, machine := Machine(backend, []int{2}, 1, o)
		_, load := Load(t.Context(), t.TempDir(), []string{"a.jpg"}, Loading{Options: o})
		for i, err := range []error{step, ops, caption, machine, load} {
			if !errors.Is(err, ErrRepeats) {
				t.Errorf("%+v, measurement %d: %v", o, i, err)
			}
		}
	}
	if _, err := Load(t.Context(), t.TempDir(), nil, Loading{Options: twice}); err == nil {
		t.Error("no file was loaded fast")
	}
}

// An operation is compared with products of its own type, or with a copy if it comes nearer to that.
func TestOperations_AreComparedByType(t *testing.T) {
	f := OperationFigures{
		ProductGFLOPS: map[string]float64{"float32": 50, "bfloat16": 800}, CopyGBPerS: 10,
		Ops: []Operation{
			{MS: 1, GFLOPS: 400, GBPerS: 1, Factors: "bfloat16"}, {MS: 2, GFLOPS: 40, GBPerS: 1, Factors: "float32"},
			{MS: 4, GFLOPS: 10, GBPerS: 5, Factors: "float32"}, {MS: 8, GBPerS: 2.5},
		},
	}
	f.compare()
	for i, want := range []float64{.5, .8, .5, .25} {
		if got := f.Ops[i].Reached; math.Abs(got-want) > 1e-12 {
			t.Errorf("operation %d reaches %v, want %v", i, got, want)
		}
	}
	if want := .5 + 1.6 + 2 + 2; math.Abs(f.LeastMS-want) > 1e-12 {
		t.Errorf("all take %v ms at least, want %v", f.LeastMS, want)
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
