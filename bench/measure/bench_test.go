package measure

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"nmn/internal/expect"
	"nmn/kernels"
	"nmn/model/vit"
	"nmn/ranks/local"
	"nmn/run"
)

func cpu(t *testing.T) kernels.Backend {
	t.Helper()
	backend, _, err := kernels.Open(kernels.Config{Device: "cpu", Threads: 1})
	expect.OK(t, err)
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

// Every rank makes the steps and has the memory of all ranks. The figures of a step are equal on each.
func TestStep_OnRanks(t *testing.T) {
	const ranks = 3
	net := tiny
	net.Batch = 4 // two, one and one
	figures, failed := make([]*StepFigures, ranks), make([]error, ranks)
	var all sync.WaitGroup
	for rank, g := range local.New(ranks, time.Hour) {
		backend, o := cpu(t), twice
		o.Group = g
		all.Go(func() {
			figures[rank], failed[rank] = Step(t.Context(), backend, net, o)
			if failed[rank] != nil {
				g.Abort(failed[rank])
			}
		})
	}
	all.Wait()
	for rank, f := range figures {
		if failed[rank] != nil {
			t.Fatalf("rank %d: %v", rank, failed[rank])
		}
		if f.Ranks != ranks || len(f.RankMemoryMiB) != ranks || f.SumsMS <= 0 || f.Batch != 4 ||
			f.PeakMemoryMiB != f.RankMemoryMiB[rank] {
			t.Errorf("rank %d: %+v", rank, f)
		}
		first := figures[0]
		if f.StepMS != first.StepMS || f.StepMaxMS != first.StepMaxMS || f.GradientBytes != first.GradientBytes {
			t.Errorf("rank %d measured %g ms, rank 0 %g", rank, f.StepMS, figures[0].StepMS)
		}
	}
}

func TestStep_RefusesRanksWithoutBags(t *testing.T) {
	o := twice
	o.Group = local.New(2, time.Hour)[1]
	if _, err := Step(t.Context(), cpu(t), tiny, o); err == nil || !strings.Contains(err.Error(), "2 ranks") {
		t.Errorf("error %v", err)
	}
}

// One process says nothing of ranks.
func TestStep_AloneHasNoRanks(t *testing.T) {
	f, err := Step(t.Context(), cpu(t), tiny, twice)
	if err != nil || f.Ranks != 0 || f.RankMemoryMiB != nil {
		t.Errorf("%+v, %v", f, err)
	}
}

// The number of weights equals that of the nets with these names.
func TestTransformers_AreTheNetsOfTheirNames(t *testing.T) {
	for name, want := range map[run.NetName]struct {
		net     string
		layout  vit.Layout
		size, b int
	}{
		ViTS14: {"ViT-S/14", vit.TimmDINOv2, 224, 22_056_192}, ViTB16: {"ViT-B/16", vit.Timm, 224, 85_798_656},
		ViTL14: {"ViT-L/14", vit.TimmDINOv2, 224, 304_367_616},
	} {
		w := newRandomWeights(name)
		c, mapping, err := Transformer{Name: name}.recognise(w)
		expect.OK(t, err)
		if c.Name() != want.net || c.Layout != want.layout || c.Size != [2]int{want.size, want.size} ||
			len(mapping.Unused) != 0 {
			t.Errorf("%s is %s (%s) for %v pixels, without %v", name, c.Name(), c.Layout, c.Size, mapping.Unused)
		}
		numbers := 0
		for _, shape := range w.shapes {
			n := 1
			for _, d := range shape {
				n *= d
			}
			numbers += n
		}
		if numbers != want.b {
			t.Errorf("%s has %d parameters, want %d", name, numbers, want.b)
		}
	}
	if err := (Transformer{Name: ViTS14, Batch: 1, Size: 225}).Validate(); !errors.Is(err, vit.ErrSize) {
		t.Errorf("225 pixels: %v", err)
	}
	if _, _, err := newRandomWeights(ViTS14).Info("head.weight"); err == nil {
		t.Error("a tensor that is not there has a shape")
	}
}
