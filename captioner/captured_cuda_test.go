//go:build cuda

package captioner

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/captioner/metrics"
	"nmn/captioner/s2vt"
	"nmn/internal/expect"
	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/tools/conform"
	"nmn/tools/emulator"
	"nmn/train"
)

// card opens the first graphics card, which the emulator may stand for, in float32.
func card(noGraphs bool) func(testing.TB) kernels.Backend {
	return func(t testing.TB) kernels.Backend {
		t.Helper()
		backend, _, err := kernels.Open(kernels.Config{Device: "cuda", Precision: tensor.FP32, NoGraphs: noGraphs,
			PlanFolder: t.TempDir()})
		if errors.Is(err, kernels.ErrUnsupported) {
			conform.Skip(t, "cuda", err.Error())
		}
		expect.OK(t, err)
		t.Cleanup(func() { expect.OK(t, backend.Close()) })
		return backend
	}
}

// putOff makes the emulator put work off as long as events and waits allow.
func putOff(t *testing.T) { t.Setenv(emulator.LateVariable, "all") }

// ranOn runs a rig and returns its losses, norms and weights.
func ranOn(t *testing.T, r rig) (trainer *Trainer, reported []float64, ended []float32) {
	t.Helper()
	r.observers = append(r.observers, Observer{Step: func(e StepDone) {
		reported = append(reported, e.Loss, e.GradNorm)
	}})
	trainer = r.trainer(t)
	run(t, trainer)
	return trainer, reported, weights(t, trainer.Net)
}

// recordable are settings whose steps are recorded, each with something of its own that changes from step to step.
func recordable() map[string]func(*rig) {
	return map[string]func(*rig){
		"dropout, adam": func(r *rig) { r.dropout = .3 },
		"sgd whose rate becomes 0": func(r *rig) {
			r.config.Optimizer, r.config.LearningRate = train.SGD, .1
			r.config.Schedule, r.config.StepEvery, r.config.StepFactor = train.StepDown, 6, 1e-60
		},
		"captions are searched for in between": func(r *rig) { // which moves the net's memory
			r.config.ValidateEpochs = 1
			r.validate = func(_ context.Context, n *s2vt.Net) (metrics.Scores, error) {
				clips := make([][]float32, 30)
				for i := range clips {
					clips[i] = make([]float32, n.Config().Features)
				}
				_, err := n.Beam(clips, s2vt.BeamOptions{Width: 2, MaxLength: 9})
				return metrics.Scores{CIDErD: 1}, err
			}
		},
	}
}

func TestCUDA_RecordedTrainingEqualsUnrecordedBitForBit(t *testing.T) {
	for name, change := range recordable() {
		t.Run(name, func(t *testing.T) {
			r := newRig()
			r.config.Epochs = 6
			change(&r)
			r.device = card(true)
			direct, want, wantWeights := ranOn(t, r)
			putOff(t)
			r.device = card(false)
			trainer, got, gotWeights := ranOn(t, r)
			if !slices.Equal(got, want) || !slices.Equal(gotWeights, wantWeights) {
				t.Errorf("losses and norms %v, unrecorded %v", got, want)
			}
			if trainer.replays.Graphs() < 2 || direct.replays.Graphs() != 0 {
				t.Errorf("%d graphs were recorded, %d where none should be", trainer.replays.Graphs(),
					direct.replays.Graphs())
			}
		})
	}
}

func TestCUDA_ResumedRecordedTrainingEqualsUnbroken(t *testing.T) {
	putOff(t)
	r := newRig()
	r.dropout, r.config.Epochs, r.device = .4, 4, card(false)
	_, want, wantWeights := ranOn(t, r)
	r.directory = t.TempDir()
	r.interrupt(t, 6)
	var losses []float64
	r.observers = []Observer{{Step: func(e StepDone) { losses = append(losses, e.Loss, e.GradNorm) }}}
	resumed := r.resumed(t)
	run(t, resumed)
	if !slices.Equal(losses, want[2*6:]) || !slices.Equal(weights(t, resumed.Net), wantWeights) {
		t.Errorf("losses and norms %v, unbroken %v", losses, want[2*6:])
	}
}

// calls counts the calls of the driver from a place of the emulator's log on, by name.
func calls(t *testing.T, path string, from int64) map[string]int {
	t.Helper()
	data, err := os.ReadFile(path)
	expect.OK(t, err)
	counts := map[string]int{}
	for _, name := range strings.Fields(string(data[from:])) {
		counts[name]++
	}
	return counts
}

// Once a shape of batch has come twice, a step is a graph for the gradients and one for the update, and waits once.
func TestCUDA_AStepIsTwoGraphsAndOneDownload(t *testing.T) {
	r := newRig()
	r.dropout, r.device = .3, card(false)
	trainer := r.trainer(t)
	step := func() {
		expect.OK(t, trainer.step())
		trainer.at.Batch %= trainer.Batches()
	}
	for range 4 * trainer.Batches() {
		step()
	}
	path := filepath.Join(t.TempDir(), "calls")
	t.Setenv(emulator.LogVariable, path)
	step()
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		t.Skip("needs the emulator, which counts calls")
	}
	got, kernels := calls(t, path, 0), 0
	kernels, got["kernel"] = got["kernel"], 0 // in the graphs
	maps.DeleteFunc(got, func(_ string, n int) bool { return n == 0 })
	want := map[string]int{"cuGraphLaunch": 2, "cuMemcpyDtoHAsync": 1, "cuStreamSynchronize": 1,
		"cuMemcpyHtoDAsync":    3, // features, integers, Adam's constants
		"cuStreamWriteValue32": 2} // a mark after each graph
	if !maps.Equal(got, want) {
		t.Errorf("calls of the driver in a step: %v, want %v", got, want)
	}
	t.Logf("%d kernels in the graphs", kernels)
}
