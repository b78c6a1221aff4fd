//go:build cuda

package train

import (
	"bytes"
	"errors"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"nmn/internal/expect"
	"nmn/kernels"
	"nmn/loader"
	"nmn/ranks"
	"nmn/tools/emulator"
)

// Recorded passes equal passes launched call by call bit for bit, and passes of the host up to rounding.
func TestCUDA_ScoresAsTheHostDoes(t *testing.T) {
	net, set, config := ragged(t, nil)
	host := asUsers(t, net, set, config)
	net, set, config = ragged(t, card(true))
	want := asUsers(t, net, set, config)
	for i, of := range want {
		for j, v := range of {
			if h := float64(host[i][j]); !(math.Abs(float64(v)-h) <= 1e-3*(1+math.Abs(h))) {
				t.Fatalf("number %d of result %d is %v, on the host %v", j, i, v, h)
			}
		}
	}
	for _, streams := range []string{"all", "first", ""} {
		late(t, streams)
		net, set, config = ragged(t, card(false))
		for i, got := range asUsers(t, net, set, config) {
			if !slices.Equal(got, want[i]) {
				t.Errorf("%q late: result %d of a recorded pass differs from that of one that is not", streams, i)
			}
		}
	}
}

// Ranks have the batches of a card that computes one while the host gathers another, in the order of the set.
func TestCUDA_RanksScoreAsOneCardDoes(t *testing.T) {
	net, set, config := ragged(t, card(false))
	set.Source, config.MaxBadSamples = spoilt{set.Source}, 38
	want, err := judged(nil, net, set, config)
	check(t, err)
	for _, n := range []int{2, 3} {
		of := netsOf{config: config}
		for range n {
			net, set, _ := ragged(t, card(false))
			set.Source = spoilt{set.Source}
			of.nets, of.sets = append(of.nets, net), append(of.sets, set)
		}
		for rank, err := range scoreOnRanks(t, n, func(g ranks.Group) error {
			got, err := judged(g, of.nets[g.Rank()], of.sets[g.Rank()], of.config)
			if err == nil && !bytes.Equal(got, want) {
				err = errors.New("other scores than one card")
			}
			return err
		}) {
			if err != nil {
				t.Errorf("rank %d of %d: %v", rank, n, err)
			}
		}
	}
}

// A wait that is left out shows, or the test above shows nothing.
func TestCUDA_AMissingEventOfAPassShows(t *testing.T) {
	needsEmulator(t)
	net, set, config := ragged(t, card(false))
	want, err := Score(t.Context(), net, set, config)
	check(t, err)
	for _, what := range []string{
		"cuStreamWaitEvent 7",  // of an upload for the take before it
		"cuStreamWaitEvent 8",  // of a take for its upload
		"cuEventSynchronize 9", // of the host for results
	} {
		seen := false
		for _, streams := range []string{"all", "first"} {
			late(t, streams)
			net, set, config := ragged(t, card(false))
			t.Setenv(emulator.FailVariable, what+" -1")
			got, err := Score(t.Context(), net, set, config)
			t.Setenv(emulator.FailVariable, "")
			seen = seen || err != nil || !slices.Equal(got.Logits.Float32s(), want.Logits.Float32s())
		}
		if !seen {
			t.Errorf("%s left out goes unnoticed", what)
		}
	}
}

// begun makes a pass over a set and reads its first batch.
func begun(t *testing.T) (*pass, *loader.Batch) {
	t.Helper()
	net, set, config := ragged(t, card(false))
	s := newScorer(net, set.Len())
	p, err := newPass(net, s.outputs, true)
	expect.OK(t, err)
	config.Size, config.Memory = net.Config().Size, p.feed.memory()
	l, err := loader.New(set, config)
	check(t, err)
	epoch, err := l.Epoch(t.Context(), 0, 0)
	check(t, err)
	batch, err := epoch.Next(t.Context())
	check(t, err)
	epoch.Close() // its workers allocate too
	t.Cleanup(func() { check(t, p.close()) })
	return p, batch
}

func TestCUDA_APassAllocatesNothing(t *testing.T) {
	p, batch := begun(t)
	once := func() {
		expect.OK(t, p.begin(batch))
		if len(p.begun) == 2 {
			expect.OK(t, expect.ErrorOf(p.finish(batch)))
		}
	}
	for range 4 {
		once()
	}
	allocatesNothing(t, once)
}

func TestCUDA_ABatchIsOneGraphAndOneDownload(t *testing.T) {
	needsEmulator(t)
	path := logCalls(t)
	p, batch := begun(t)
	size := func() int {
		info, err := os.Stat(path)
		check(t, err)
		return int(info.Size())
	}
	var from int
	for n := range 6 {
		if n == 5 {
			from = size()
		}
		check(t, p.begin(batch))
		if len(p.begun) == 2 {
			_, err := p.finish(batch)
			check(t, err)
		}
	}
	got := calls(t, path, from)
	delete(got, "kernel") // of the graph
	total := 0
	for _, n := range got {
		total += n
	}
	t.Logf("%d calls of the driver for a batch: %v", total, got)
	for name, want := range map[string]int{"cuGraphLaunch": 1, "cuMemcpyDtoHAsync": 1, "cuLaunchKernel": 0,
		"cuMemcpyHtoDAsync":   2, // the pixels from where they are, and the rest
		"cuStreamSynchronize": 0, "cuMemAlloc": 0, "cuMemHostAlloc": 0, "cuCtxSynchronize": 0, "cuMemFree": 0,
		"cuStreamBeginCapture": 0} {
		if got[name] != want {
			t.Errorf("%d calls of %s for a batch, want %d", got[name], name, want)
		}
	}
	if total > 20 {
		t.Errorf("%d calls of the driver for a batch: %v", total, got)
	}
}

// A pass over one batch has nothing to overlap with, so it makes no stream, pinned memory or graph.
func TestCUDA_APassOverOneBatchTakesNothingMore(t *testing.T) {
	needsEmulator(t)
	path := logCalls(t)
	net, set, config := ragged(t, card(false))
	config.BatchSize = set.Len()
	var of [2][]float32
	var last map[string]int
	for i := range of {
		info, err := os.Stat(path)
		check(t, err)
		scores, err := Score(t.Context(), net, set, config)
		expect.OK(t, err)
		of[i], last = scores.Logits.Float32s(), calls(t, path, int(info.Size()))
	}
	if last["cuStreamCreate"]+last["cuMemHostAlloc"]+last["cuEventCreate"]+last["cuStreamBeginCapture"] > 0 {
		t.Errorf("calls of the driver for a batch alone: %v", last)
	}
	if !slices.Equal(of[0], of[1]) {
		t.Error("the same batch has other scores")
	}
}

// A card that training has filled still validates: there is no room for the next batch, which waits for its turn.
func TestCUDA_AFullCardScoresWithoutStaging(t *testing.T) {
	needsEmulator(t)
	late(t, "all")
	net, set, config := ragged(t, card(false))
	want, err := Score(t.Context(), net, set, config)
	check(t, err)
	t.Setenv(emulator.MemoryVariable, strconv.Itoa(net.Backend().(kernels.Card).MostBytes()-20_000))
	got, err := Score(t.Context(), net, set, config)
	expect.OK(t, err)
	if !slices.Equal(got.Logits.Float32s(), want.Logits.Float32s()) {
		t.Error("scores differ on a full card")
	}
}

// A validation between recorded steps keeps no memory of the card: it uses the net's buffers.
func TestCUDA_ValidationSharesTheBuffersOfTraining(t *testing.T) {
	late(t, "all")
	r := newRig()
	r.device, r.validation, r.config.EvaluateEpochs = card(false), true, 1
	var bytes []int
	var trainer *Trainer
	r.observers = []Observer{{Step: func(StepDone) { bytes = append(bytes, trainer.Net.Bytes()) }}}
	trainer = r.trainer(t)
	run(t, trainer)
	if bytes[0] != bytes[len(bytes)-1] {
		t.Errorf("the net takes %d bytes in the first step and %d in the last", bytes[0], bytes[len(bytes)-1])
	}
	if graphs(trainer) != 2 {
		t.Errorf("%d graphs of the steps are left after validation, want 2", graphs(trainer))
	}
}
