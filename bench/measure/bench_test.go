package measure

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"nmn/kernels"
	"nmn/loader"
	"nmn/loader/picture"
	"nmn/loader/scenes"
	"nmn/run"
)

func cpu(t *testing.T) kernels.Backend {
	t.Helper()
	backend, _, err := kernels.Open(kernels.Config{Device: "cpu", Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
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

func TestStep_CountsTheWorkOfAllFrames(t *testing.T) {
	f, err := Step(t.Context(), cpu(t), tiny, twice)
	if err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for _, l := range tiny.Model().Layers() {
		want += 2 * l.TrainFLOP / 1e9
	}
	if math.Abs(f.GFLOP-want) > 1e-9*want || f.StepMinMS > f.StepMS || f.StepMS > f.StepMaxMS || f.ForwardMS <= 0 ||
		f.UpdateMS <= 0 {
		t.Errorf("figures %+v, want %v GFLOP", f, want)
	}
	if f.Frames != 2 || f.Threads != 1 || f.Repeats != 2 || !f.MIL || !f.NMN {
		t.Errorf("measured was %+v", f.NetFigures)
	}
}

func TestOperations_SharesAreOfTheWhole(t *testing.T) {
	f, err := Operations(t.Context(), cpu(t), tiny, twice)
	if err != nil {
		t.Fatal(err)
	}
	share := 0.0
	for _, o := range f.Ops {
		share += o.Share
	}
	if math.Abs(share-1) > 1e-9 || f.TotalMS <= 0 {
		t.Errorf("shares sum to %v in %v ms", share, f.TotalMS)
	}
}

func TestCaptionStep_NamesTheSizesOfTheNet(t *testing.T) {
	n := Captioner{Batch: 2, Frames: 3, Features: 5, Vocabulary: 20, Width: .01}
	f, err := CaptionStep(t.Context(), cpu(t), n, twice)
	if err != nil {
		t.Fatal(err)
	}
	if f.WordsSaid != 4+4+2 || f.Features != 5 || f.Vocabulary != 20 || f.CaptionsPerS <= 0 {
		t.Errorf("figures %+v", f)
	}
}

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
		_, products := Products(backend, []int{2}, o)
		_, memory := Memory(backend, 1, o)
		_, load := Load(t.Context(), t.TempDir(), []string{"a.jpg"}, Loading{Options: o})
		for i, err := range []error{step, ops, caption, products, memory, load} {
			if !errors.Is(err, ErrRepeats) {
				t.Errorf("%+v, measurement %d: %v", o, i, err)
			}
		}
	}
}

func TestMachine_ProductsAndCopies(t *testing.T) {
	products, err := Products(cpu(t), []int{16, 32}, twice)
	if err != nil || len(products.Products) != 2 || products.Products[1].Size != 32 ||
		products.Products[1].GFLOPS <= 0 {
		t.Errorf("products %+v, %v", products, err)
	}
	memory, err := Memory(cpu(t), 1, twice)
	if err != nil || memory.Bytes != 1<<20 || memory.GBPerS <= 0 {
		t.Errorf("memory %+v, %v", memory, err)
	}
}

func TestLoad_GoesThroughTheFilesAgain(t *testing.T) {
	dir := t.TempDir()
	if _, err := scenes.Write(t.Context(), scenes.Config{Split: "train", N: 2, Seed: 1}, nil, dir); err != nil {
		t.Fatal(err)
	}
	images := filepath.Join(dir, "images")
	files := []string{scenes.FileName("train", 0), scenes.FileName("train", 1), "broken.jpg"}
	if err := os.WriteFile(filepath.Join(images, "broken.jpg"), []byte("\xff\xd8\xff"), 0o666); err != nil {
		t.Fatal(err)
	}
	c := loader.DefaultConfig()
	c.Size, c.BatchSize, c.Fit, c.Flip, c.Shuffle = 16, 2, picture.FitLongest, false, false
	f, err := Load(t.Context(), images, files, Loading{Options: twice, Loader: c, Images: 5})
	if err != nil {
		t.Fatal(err)
	}
	if f.Images != 5 || f.BadSamples == 0 || f.ImagesPerS <= 0 || f.ImagesMin > f.ImagesPerS || f.WaitShare > 1 {
		t.Errorf("figures %+v", f)
	}
	if _, err := Load(t.Context(), images, nil, Loading{Options: twice, Loader: c}); err == nil {
		t.Error("no file was loaded fast")
	}
	if _, err := Load(t.Context(), images, files[2:], Loading{Options: twice, Loader: c}); !errors.Is(err,
		loader.ErrCorrupt) {
		t.Errorf("a broken file alone: %v", err)
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
