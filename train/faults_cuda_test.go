//go:build cuda && emulate

package train

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"nmn/cuda"
	"nmn/internal/expect"
	"nmn/kernels"
	"nmn/model"
	"nmn/tools/emulator"
)

// freed lists the allocations that a log of calls shows as not freed. refused counts allocations that the
// driver refused.
func freed(t *testing.T, log string, refused map[string]int) {
	t.Helper()
	counts := calls(t, log, 0)
	for take, give := range map[string]string{"cuMemAlloc": "cuMemFree", "cuMemHostAlloc": "cuMemFreeHost",
		"cuStreamCreate": "cuStreamDestroy",
		"cuEventCreate":  "cuEventDestroy", "cuGraphInstantiate": "cuGraphExecDestroy"} {
		if taken := counts[take] - refused[take]; taken != counts[give] {
			t.Errorf("%s %d times, %s %d times", take, taken, give, counts[give])
		}
	}
}

// failing runs a stage on a card until a planned failure, gives everything back, and returns the error and
// the losses before it.
func failing(t *testing.T, r rig, plan string) (err error, losses []float64) {
	t.Helper()
	log := logCalls(t)
	t.Setenv(emulator.FailVariable, plan)
	t.Run("run", func(t *testing.T) { // everything is closed at its end
		r.observers = []Observer{record(&losses)}
		_, err = r.trainer(t).Run(t.Context())
	})
	t.Setenv(emulator.FailVariable, "")
	freed(t, log, nil)
	t.Setenv(emulator.LogVariable, "")
	return err, losses
}

func TestCUDA_FaultsNameTheStepAndLeaveAResumableCheckpoint(t *testing.T) {
	needsEmulator(t)
	late(t, "all")
	r := newRig()
	r.dropout, r.device, r.config.CheckpointSteps = .3, card(false), 2
	log := logCalls(t)
	var want []float64
	r.observers = []Observer{record(&want)}
	unbroken := r.trainer(t)
	run(t, unbroken)
	whole := calls(t, log, 0)
	for name, c := range map[string]struct {
		call   string // that fails when three quarters of a run are done
		code   int
		cause  error
		detail string
	}{
		"a kernel of a recorded step": {"kernel", 719, cuda.ErrFault, "graph gradients of 8 frames in 8 samples"},
		"the device is lost":          {"cuGraphLaunch", 214, cuda.ErrDeviceLost, "launch the graph"},
		"an upload fails":             {"cuMemcpyHtoDAsync", 700, cuda.ErrFault, "upload"},
		"no memory in midst of a run": {"cuGraphLaunch", 2, cuda.ErrOutOfMemory, "launch the graph"},
	} {
		t.Run(name, func(t *testing.T) {
			r := r
			r.directory = t.TempDir()
			err, losses := failing(t, r, fmt.Sprintf("%s %d %d", c.call, whole[c.call]*3/4, c.code))
			if !errors.Is(err, c.cause) {
				t.Fatalf("after %d steps: %v, want %v", len(losses), err, c.cause)
			}
			last, reading := ReadCheckpoint(filepath.Join(r.directory, LastName))
			if reading != nil {
				t.Fatalf("failed after step %d: %v: %v", len(losses), err, reading)
			}
			if len(losses) < 3 || last.Position.Step != len(losses)/2*2 {
				t.Fatalf("failed after step %d, checkpoint of step %d", len(losses), last.Position.Step)
			}
			step := len(losses) + 1
			for _, part := range []string{c.detail, fmt.Sprintf("training: step %d (epoch %d), pictures scenes-", step,
				(step+4)/5)} {
				expect.Refusal(t, err, part)
			}
			losses = losses[:last.Position.Step]
			resumed, _ := resume(t, r, &losses, 1)
			if !slices.Equal(losses, want) || !maps.EqualFunc(weights(t, resumed.Net), weights(t, unbroken.Net),
				slices.Equal) {
				t.Errorf("resumed losses %v, unbroken %v", losses, want)
			}
		})
	}
}

// If memory is full at the first step, the message names the batch size that would fit, and that size does
// fit.
func TestCUDA_OutOfMemoryTellsWhatWouldFit(t *testing.T) {
	needsEmulator(t)
	t.Setenv(emulator.MemoryVariable, strconv.Itoa(4<<20))
	log := logCalls(t)
	r := newRig()
	r.device, r.config.BatchSize = card(false), 40
	t.Run("run", func(t *testing.T) {
		o := r.options(t)
		_, err := newTrainer(t, o).Run(t.Context())
		if !errors.Is(err, kernels.ErrOutOfMemory) {
			t.Fatalf("error %v, want one of memory", err)
		}
		found := regexp.MustCompile(
			`training: step 1 \(epoch 1\), pictures .*cannot hold a batch of 40 frames in 40 samples.*at most (\d+) samples`).
			FindStringSubmatch(err.Error())
		if found == nil {
			t.Fatalf("message %q", err)
		}
		fits, err := strconv.Atoi(found[1])
		check(t, err)
		expect.Refusal(t, expect.ErrorOf(o.Net.Plan(fits+1, fits+1, true)), "", kernels.ErrOutOfMemory)
		if _, err := o.Net.Plan(fits, fits, true); err != nil {
			t.Errorf("%d bags are reported to fit: %v", fits, err)
		}
	})
	freed(t, log, map[string]int{"cuMemAlloc": 2}) // of the run's plan, and of that of one bag too many
}

// A card that cannot hold one bag is reported as such.
func TestCUDA_OutOfMemoryForASingleBag(t *testing.T) {
	needsEmulator(t)
	r := newRig()
	backend := card(false)(t)
	net, err := model.New(r.net(), backend)
	expect.OK(t, err)
	defer func() { check(t, net.Close()) }()
	held := backend.(kernels.Card).MostBytes()
	t.Setenv(emulator.MemoryVariable, strconv.Itoa(held+1000))
	expect.Refusal(t, expect.ErrorOf(net.Plan(4, 4, true)), "not one sample would fit", kernels.ErrOutOfMemory)
}

// An interrupted pass delivers the batches it has begun, and frees everything.
func TestCUDA_AnInterruptedPassLeavesNothing(t *testing.T) {
	needsEmulator(t)
	late(t, "all")
	log := logCalls(t)
	t.Run("run", func(t *testing.T) {
		net, set, config := ragged(t, card(false))
		shown, err := interrupt(t, net, set, config, 8)
		if !errors.Is(err, context.Canceled) || shown < 8 || shown > 16 {
			t.Errorf("%d bags were scored: %v", shown, err)
		}
		if _, err := Score(t.Context(), net, set, config); err != nil {
			t.Errorf("the next pass: %v", err)
		}
	})
	freed(t, log, nil)
}

func TestCUDA_AFaultOfAPassNamesItsBags(t *testing.T) {
	needsEmulator(t)
	late(t, "all")
	log := logCalls(t)
	t.Run("run", func(t *testing.T) {
		net, set, config := ragged(t, card(false))
		bags := 0
		count := func(n int) { bags += n }
		_, err := ScoreTogether(t.Context(), nil, net, set, config, count)
		check(t, err)
		t.Setenv(emulator.FailVariable, "cuGraphLaunch 4 719")
		bags = 0
		_, err = ScoreTogether(t.Context(), nil, net, set, config, count)
		expect.Refusal(t, err, "scores of samples scenes-", cuda.ErrFault)
	})
	t.Setenv(emulator.FailVariable, "")
	freed(t, log, nil)
}
