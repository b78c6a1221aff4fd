//go:build cuda

package train

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"nmn/internal/expect"
	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/loader"
	"nmn/model"
	"nmn/tools/conform"
	"nmn/tools/emulator"
)

// card opens the first graphics card, which the emulator may replace, in float32.
func card(noGraphs bool) func(t testing.TB) kernels.Backend { return cardIn(tensor.FP32, noGraphs) }

func cardIn(p tensor.Precision, noGraphs bool) func(t testing.TB) kernels.Backend {
	return func(t testing.TB) kernels.Backend {
		return open(t, kernels.Config{Precision: p, NoGraphs: noGraphs})
	}
}

func open(t testing.TB, c kernels.Config) kernels.Backend {
	t.Helper()
	c.Device, c.Precision, c.PlanFolder = "cuda", cmp.Or(c.Precision, tensor.FP32), planFolder(t)
	backend, _, err := kernels.Open(c)
	if errors.Is(err, kernels.ErrUnsupported) {
		conform.Skip(t, "cuda", err.Error())
	}
	expect.OK(t, err)
	t.Cleanup(func() { check(t, backend.Close()) })
	return backend
}

// planFolders holds the folder of saved plans for each test, by the test's name.
var planFolders sync.Map

// planFolder is one for all cards that a test opens: a real card takes the plan that it has measured as the fastest,
// which another time may be another, with other roundings.
func planFolder(t testing.TB) string {
	folder, known := planFolders.LoadOrStore(t.Name(), t.TempDir())
	if !known {
		t.Cleanup(func() { planFolders.Delete(t.Name()) })
	}
	return folder.(string)
}

// late makes the emulator put work off as long as events and waits allow: on all streams, or on that
// which computes.
func late(t *testing.T, streams string) { t.Setenv(emulator.LateVariable, streams) }

// recordable are settings whose steps are recorded. Each has an input that changes from step to step.
func recordable() map[string]func(*rig) {
	all := resumable()
	all["ragged bags, fd"] = func(r *rig) {
		r.source = func(s loader.Source) loader.Source { return films{s} }
		r.mil, r.noise, r.dropout, r.config.Stage1Epochs = true, model.FeatureDependent, .3, 4
		r.bags = 38 // the last batch of an epoch is smaller
	}
	all["stage 2, frozen backbone"] = func(r *rig) {
		r.stage, r.mil, r.noise, r.dropout = 2, true, model.FeatureIndependent, .3
		r.config.Freeze = []string{"backbone.*"}
	}
	all["a rate that becomes 0"] = func(r *rig) {
		r.config = sgd(r.config)
		r.config.Schedule, r.config.StepEvery, r.config.StepFactor = StepDown, 6, 1e-60
	}
	return all
}

// ranOn runs a rig and returns its losses, norms and weights.
func ranOn(t *testing.T, r rig) (trainer *Trainer, reported []float64, ended map[string][]float32) {
	t.Helper()
	r.observers = append(r.observers, Observer{Step: func(e StepDone) {
		reported = append(reported, e.Loss, e.GradNorm)
	}})
	trainer = r.trainer(t)
	run(t, trainer)
	return trainer, reported, weights(t, trainer.Net)
}

// graphs counts the recorded pieces of work of a trainer.
func graphs(trainer *Trainer) int { return trainer.updater.graphs.Graphs() }

func TestCUDA_RecordedTrainingEqualsUnrecordedBitForBit(t *testing.T) {
	for name, change := range recordable() {
		t.Run(name, func(t *testing.T) {
			r := newRig()
			change(&r)
			r.device = card(true)
			direct, want, wantWeights := ranOn(t, r)
			for _, streams := range []string{"all", "first"} {
				late(t, streams)
				r.device = card(false)
				trainer, got, gotWeights := ranOn(t, r)
				if !slices.Equal(got, want) || !maps.EqualFunc(gotWeights, wantWeights, slices.Equal) {
					t.Errorf("%s late: losses and norms %v, unrecorded %v", streams, got, want)
				}
				if graphs(trainer) < 2 || graphs(direct) != 0 {
					t.Errorf("%d graphs were recorded, and %d that should not be", graphs(trainer), graphs(direct))
				}
			}
		})
	}
}

// A recorded step must not leave the host's results by more than rounding.
func TestCUDA_TrainsAsTheHostDoes(t *testing.T) {
	for _, change := range []func(*rig){
		func(*rig) {}, func(r *rig) { r.soft = .2 }, func(r *rig) { r.certainty, r.mil = 2, true },
		func(r *rig) { r.weigh, r.noise = thirds, model.FeatureDependent },
	} {
		r := newRig()
		r.dropout, r.config.Flip, r.config.Accumulate = .3, true, 2
		change(&r)
		_, want, _ := ranOn(t, r)
		r.device = card(false)
		_, got, _ := ranOn(t, r)
		for i, w := range want {
			if !(math.Abs(got[i]-w) <= 1e-3*(1+math.Abs(w))) {
				t.Fatalf("targets %g away from labels, evidence %g, weights %t: number %d is %v, on the host %v", r.soft,
					r.certainty, r.weigh != nil, i, got[i], w)
			}
		}
	}
}

// Bags are scored between recorded steps, while the next batch is being uploaded.
func TestCUDA_ScoresOnlineAsTheHostDoes(t *testing.T) {
	late(t, "all")
	var found [2]*Scores
	for i, device := range []func(testing.TB) kernels.Backend{nil, card(false)} {
		r := newRig()
		r.device = device
		o := r.options(t)
		o.Online = func(_ context.Context, s *Scores) error { found[i] = s; return nil }
		run(t, newTrainer(t, o))
	}
	want, got := found[0], found[1]
	if !slices.Equal(got.Index, want.Index) {
		t.Fatalf("bags %v, on the host %v", got.Index, want.Index)
	}
	for i, w := range want.Logits.Float32s() {
		if g := got.Logits.Float32s()[i]; !(math.Abs(float64(g-w)) <= 1e-3*(1+math.Abs(float64(w)))) {
			t.Fatalf("logit %d is %v, on the host %v", i, g, w)
		}
	}
}

func TestCUDA_ResumedRecordedTrainingEqualsUnbroken(t *testing.T) {
	late(t, "all")
	r := newRig()
	r.dropout, r.config.Flip, r.device = .4, true, card(false)
	_, want, wantWeights := ranOn(t, r)
	r.directory = t.TempDir()
	losses := interrupted(t, r, 4, 1) // the batch of step 5 has been staged by then
	trainer, _ := resume(t, r, &losses, 1)
	for i, loss := range losses {
		if loss != want[2*i] {
			t.Fatalf("loss of step %d is %v, unbroken %v", i+1, loss, want[2*i])
		}
	}
	sameWeights(t, weights(t, trainer.Net), wantWeights, "weights differ from the unbroken run")
}

// Work that waits for nothing must show, or the tests above show nothing: any one wait between the streams
// is left out.
func TestCUDA_AMissingEventShows(t *testing.T) {
	if os.Getenv(emulator.LateVariable) == "" && !emulates() {
		t.Skip("needs the emulator: on a card a missing event may go unnoticed")
	}
	r := newRig()
	r.device = card(false)
	_, want, _ := ranOn(t, r)
	seen := map[string]bool{}
	for _, streams := range []string{"all", "first"} {
		late(t, streams)
		for _, wait := range []string{"5", "6"} { // of the upload for the take before it, and of a take for its upload
			t.Setenv(emulator.FailVariable, "cuStreamWaitEvent "+wait+" -1")
			if _, got, _ := ranOn(t, r); !slices.Equal(got, want) {
				seen[wait] = true
			}
		}
	}
	if !seen["5"] || !seen["6"] {
		t.Errorf("missing waits that showed: %v, want both directions", seen)
	}
}

// emulates reports whether the driver is the emulator.
func emulates() bool { return strings.Contains(os.Getenv("NMN_LIBCUDA"), "emulator") }

func needsEmulator(t *testing.T) {
	t.Helper()
	if !emulates() {
		t.Skip("needs the emulator")
	}
}

// logCalls has the emulator log the calls of the driver in a file.
func logCalls(t *testing.T) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "calls")
	t.Setenv(emulator.LogVariable, file)
	return file
}

// calls counts the driver calls in the log after its first from bytes.
func calls(t *testing.T, path string, from int) map[string]int {
	t.Helper()
	data, err := os.ReadFile(path)
	expect.OK(t, err)
	counts := map[string]int{}
	for _, name := range strings.Fields(string(data[from:])) {
		counts[name]++
	}
	return counts
}

func TestCUDA_AStepIsTwoGraphsAndOneDownload(t *testing.T) {
	needsEmulator(t)
	path := logCalls(t)
	r := newRig()
	r.dropout, r.device, r.config.Stage1Epochs = .3, card(false), 3
	marks := map[int]int{}
	r.observers = []Observer{{Step: func(e StepDone) {
		info, err := os.Stat(path)
		check(t, err)
		marks[e.Step] = int(info.Size())
	}}}
	trainer := r.trainer(t)
	run(t, trainer)
	whole := calls(t, path, 0)
	if whole["cuStreamBeginCapture"] != 2 || whole["cuGraphLaunch"] != 2*(15-1) {
		t.Errorf("%d captures and %d launches of graphs in 15 steps, want 2 and 28",
			whole["cuStreamBeginCapture"], whole["cuGraphLaunch"])
	}
	// The last two steps of the run, in the middle of an epoch: no call allocates, and none launches a kernel.
	got := calls(t, path, marks[13])
	for name, n := range calls(t, path, marks[14]) {
		got[name] -= n
	}
	want := map[string]int{"cuGraphLaunch": 2, "cuMemcpyDtoHAsync": 1, "cuStreamSynchronize": 1, "cuLaunchKernel": 0,
		"cuMemAlloc":        0,
		"cuMemcpyHtoDAsync": 3, // Adam's constants, the pixels from where they are, the rest of the batch
		"cuMemHostAlloc":    0, "cuMemFree": 0, "cuStreamBeginCapture": 0, "cuCtxSynchronize": 0}
	delete(got, "kernel") // of the graphs
	total := 0
	for name, n := range got {
		total += n
		if expected, known := want[name]; known && n != expected {
			t.Errorf("%d calls of %s in a step, want %d", n, name, expected)
		}
	}
	t.Logf("%d calls of the driver in a step: %v", total, got)
	if got["cuGraphLaunch"] != 2 || total > 40 {
		t.Errorf("%d calls of the driver in a step: %v", total, got)
	}
}

// The layers are reported when a step is enqueued call by call, its phases always.
func TestCUDA_TellsAProfilerLayersAndPhases(t *testing.T) {
	needsEmulator(t)
	library, log := filepath.Join(t.TempDir(), "libprofiler.so"), filepath.Join(t.TempDir(), "log")
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", library,
		"../cuda/testdata/profiler.c").CombinedOutput(); err != nil {
		t.Skipf("needs a C compiler: %v\n%s", err, out)
	}
	t.Setenv("NVTX_INJECTION64_PATH", library)
	t.Setenv("FAKE_PROFILER_LOG", log)
	r := newRig()
	r.dropout, r.config.MaxSteps = .3, 3
	r.validation, r.config.EvaluateSteps = true, 3 // three batches are scored
	r.device = func(t testing.TB) kernels.Backend { return open(t, kernels.Config{NVTX: true}) }
	run(t, r.trainer(t))
	data, err := os.ReadFile(log)
	check(t, err)
	reported := map[string]int{}
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		reported[line]++
	}
	// The second step records, and so also enqueues its layers. The third step replays.
	for name, want := range map[string]int{"take the batch": 6, "gradients": 3, "wait": 6, "update": 3,
		"stage the next batch": 3, "scores": 3,
		"forward conv1_1": 4, "forward fc8": 4, "forward noise": 4, "backward fc8": 2, "backward conv1_1": 2} {
		if reported[name] != want {
			t.Errorf("%s was reported %d times, want %d", name, reported[name], want)
		}
	}
	begun := 0
	for name, n := range reported {
		if name != "end" {
			begun += n
		}
	}
	if begun != reported["end"] {
		t.Errorf("%d sections begun, %d ended", begun, reported["end"])
	}
}

func TestCUDA_RecordedStepAllocatesNothing(t *testing.T) {
	r := newRig()
	r.dropout, r.device, r.config.Accumulate, r.config.EMA = .3, card(false), 2, .9
	trainer := r.trainer(t)
	check(t, trainer.fetch(t.Context()))
	trainer.batches.epoch.Close() // its workers allocate too
	updates := 0
	step := func() {
		updates++
		e := StepDone{Progress: Progress{Step: updates}}
		expect.OK(t, trainer.updater.update(t.Context(), &trainer.batches, &e))
	}
	step()
	step()
	step()
	allocatesNothing(t, step)
}

// More shapes than graphs are kept for: the oldest give way, and the results stay.
func TestCUDA_KeepsABoundedNumberOfGraphs(t *testing.T) {
	backend := card(false)(t)
	r := kernels.NewGraphCache[work](backend, maxGraphs)
	x, err := backend.Alloc(tensor.Float32, 4)
	check(t, err)
	plans := make([]*model.Plan, maxGraphs+3)
	for range 3 {
		for i := range plans {
			if plans[i] == nil {
				plans[i] = &model.Plan{Frames: i + 1, Bags: 1}
			}
			check(t, r.Do(work{plan: plans[i]}, func() error { return backend.Zero(x) }))
			check(t, r.Do(work{plan: plans[0]}, func() error { return backend.Zero(x) })) // used all the time
		}
	}
	if n := r.Graphs(); n < 1 || n > maxGraphs {
		t.Errorf("%d graphs are held, want that in use and %d at most", n, maxGraphs)
	}
	check(t, r.Close())
}

func TestCUDA_NonFiniteStepOfARecordedRunChangesNothing(t *testing.T) {
	late(t, "all")
	r := newRig()
	r.device = card(false)
	trainer, before, err := diverged(t, r, 4)
	var broken *NonFiniteError
	if !errors.As(err, &broken) || broken.Step != 5 || len(broken.IDs) != 8 {
		t.Fatalf("error %v", err)
	}
	if graphs(trainer) != 2 || !maps.EqualFunc(weights(t, trainer.Net), before, slices.Equal) {
		t.Error("the step was not recorded, or changed parameters")
	}
}
