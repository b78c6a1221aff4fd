//go:build cuda

package nccl_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nmn/cuda"
	"nmn/cuda/nccl"
	"nmn/tools/emulator"
)

func floats(v ...float32) (b []byte) {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// place uploads bytes on a stream.
func place(r rankOf, on *cuda.Stream, b []byte) (cuda.Address, error) {
	at, err := r.device.Alloc(len(b))
	if err != nil {
		return 0, err
	}
	return at, on.Upload(at, b)
}

func fetch(on *cuda.Stream, at cuda.Address, bytes int) ([]byte, error) {
	b := make([]byte, bytes)
	return b, on.Download(b, at)
}

// follow makes a stream wait for the current work of another one.
func follow(r rankOf, later, earlier *cuda.Stream) error {
	e, err := r.device.NewEvent(false)
	if err != nil {
		return err
	}
	return errors.Join(earlier.Record(e), later.Wait(e))
}

func TestComm_SumsGathersAndBroadcasts(t *testing.T) {
	for _, late := range []string{"", "all", "first"} {
		t.Setenv(emulator.LateVariable, late)
		for ranks := 1; ranks <= 4; ranks++ {
			t.Run(fmt.Sprintf("%d ranks, late %q", ranks, late), func(t *testing.T) {
				want(t, eachRank(t, ranks, nccl.Options{}, func(r rankOf) error { return collectives(r, ranks) }))
			})
		}
	}
}

// collectives runs one of each kind, after uploads on the stream that computes.
func collectives(r rankOf, ranks int) error {
	compute, own := r.device.Compute(), float32(r.Rank()+1)
	a, err1 := place(r, compute, floats(own, 10*own, 0.5))
	b, err2 := place(r, compute, floats(100*own))
	narrow, err3 := place(r, compute, []byte{0x80, 0x3f, 0x00, 0x40}) // 1 and 2 in bfloat16
	mine, err4 := place(r, compute, []byte{byte(r.Rank()), 7})
	all, err5 := place(r, compute, make([]byte, 2*ranks))
	if err := errors.Join(err1, err2, err3, err4, err5, follow(r, r.Stream(), compute)); err != nil {
		return err
	}
	if err := errors.Join(
		r.AllReduce([]nccl.Span{{At: a, Count: 3}, {At: b, Count: 1}}, nccl.Float32),
		r.AllReduce([]nccl.Span{{At: narrow, Count: 2}}, nccl.BFloat16),
		r.AllGather(all, mine, 2), r.Broadcast(mine, 2), r.AllReduce(nil, nccl.Float32), follow(r, compute, r.Stream()),
	); err != nil {
		return err
	}
	var triangle, halves float32
	var gathered []byte
	for i := range ranks {
		triangle, halves = triangle+float32(i+1), halves+0.5
		gathered = append(gathered, byte(i), 7)
	}
	for _, c := range []struct {
		at   cuda.Address
		want []byte
	}{
		{a, floats(triangle, 10*triangle, halves)}, {b, floats(100 * triangle)}, {all, gathered}, {mine, []byte{0, 7}},
		{narrow, []byte{byte(math.Float32bits(float32(ranks)) >> 16), byte(math.Float32bits(float32(ranks)) >> 24),
			byte(math.Float32bits(float32(2*ranks)) >> 16), byte(math.Float32bits(float32(2*ranks)) >> 24)}},
	} {
		got, err := fetch(compute, c.at, len(c.want))
		if err != nil {
			return err
		}
		if !slices.Equal(got, c.want) {
			return fmt.Errorf("%v, want %v", got, c.want)
		}
	}
	return r.Err()
}

// Without the edges between the streams the emulator sums numbers before they are written, or reads them
// before they are summed.
func TestComm_MissingEventsShow(t *testing.T) {
	t.Setenv(emulator.LateVariable, "all")
	for _, missing := range []string{"before", "behind", ""} {
		errs := eachRank(t, 2, nccl.Options{}, func(r rankOf) error {
			compute := r.device.Compute()
			a, err := place(r, compute, floats(float32(r.Rank()+1)))
			if err == nil && missing != "before" {
				err = follow(r, r.Stream(), compute)
			}
			if err == nil {
				err = r.AllReduce([]nccl.Span{{At: a, Count: 1}}, nccl.Float32)
			}
			if missing == "before" {
				err = errors.Join(err, r.Stream().Sync())
			}
			if err == nil && missing == "" {
				err = follow(r, compute, r.Stream())
			}
			got, fetching := fetch(compute, a, 4)
			if err := errors.Join(err, fetching); err != nil {
				return err
			}
			if !slices.Equal(got, floats(3)) {
				return errors.New("wrong sum")
			}
			return nil
		})
		if wrong := errs[0] != nil || errs[1] != nil; wrong != (missing != "") {
			t.Errorf("the event %s the sum is missing: %v", missing, errs)
		}
	}
}

// Ranks on cards of their own meet as those on one card do.
func TestComm_SumsOverCards(t *testing.T) {
	needEmulator(t)
	t.Setenv(emulator.DevicesVariable, "2")
	id, err := nccl.NewID()
	if err != nil {
		t.Fatal(err)
	}
	errs := make([]error, 2)
	var all sync.WaitGroup
	for card := range errs {
		all.Go(func() {
			errs[card] = onCardOf(card, id, card, 2, nccl.Options{}, func(r rankOf) error { return collectives(r, 2) })
		})
	}
	all.Wait()
	want(t, errs)
	if err := onCardOf(2, id, 0, 1, nccl.Options{}, nil); !errors.Is(err, cuda.ErrNoDevice) {
		t.Errorf("a third card: %v", err)
	}
}

func TestComm_NothingIsLeft(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	t.Setenv(emulator.LogVariable, log)
	want(t, eachRank(t, 3, nccl.Options{}, func(r rankOf) error { return collectives(r, 3) }))
	count := calls(t, log)
	for made, freed := range map[string]string{
		"ncclCommInitRank": "ncclCommDestroy", "cuStreamCreate": "cuStreamDestroy", "cuEventCreate": "cuEventDestroy",
		"cuMemAlloc": "cuMemFree", "cuMemHostAlloc": "cuMemFreeHost",
	} {
		if count[made] == 0 || count[made] != count[freed] {
			t.Errorf("%s %d times, %s %d times", made, count[made], freed, count[freed])
		}
	}
}

func TestComm_ALateRankEndsTheOthers(t *testing.T) {
	var others sync.WaitGroup
	others.Add(2)
	errs := eachRank(t, 3, nccl.Options{}, func(r rankOf) error {
		if r.Rank() == 2 {
			others.Wait()
			return nil
		}
		defer others.Done()
		r.SetTimeout(100 * time.Millisecond)
		a, err := place(r, r.Stream(), floats(1))
		if err == nil {
			err = r.AllReduce([]nccl.Span{{At: a, Count: 1}}, nccl.Float32)
		}
		if err == nil {
			err = r.Stream().Sync() // returns, for the collective is given up
		}
		return errors.Join(err, r.Err())
	})
	for _, err := range errs[:2] {
		if !errors.Is(err, nccl.ErrTimeout) && !errors.Is(err, nccl.ErrAborted) {
			t.Errorf("error %v, want a timeout", err)
		}
	}
	if err := errors.Join(errs...); !errors.Is(err, nccl.ErrTimeout) || !strings.Contains(err.Error(), "all-reduce") {
		t.Errorf("error %v, want a timeout of the all-reduce", err)
	}
}

func TestComm_AnAbortEndsTheOthers(t *testing.T) {
	full := errors.New("its disk is full")
	errs := eachRank(t, 3, nccl.Options{}, func(r rankOf) error {
		if r.Rank() == 1 {
			r.Abort(full)
			r.Abort(errors.New("once more"))
			return r.Broadcast(1, 1)
		}
		a, err := place(r, r.Stream(), floats(1))
		if err == nil {
			err = r.AllReduce([]nccl.Span{{At: a, Count: 1}}, nccl.Float32)
		}
		if err == nil {
			err = r.Stream().Sync()
		}
		for err == nil {
			err = r.Err() // the goroutine that watches notices
		}
		return err
	})
	for number, err := range errs {
		if !errors.Is(err, nccl.ErrAborted) || !strings.Contains(err.Error(), fmt.Sprintf("(host:%d)", number)) {
			t.Errorf("rank %d: error %v, want ErrAborted with its name", number, err)
		}
	}
	if !errors.Is(errs[1], full) || !strings.Contains(errs[0].Error(), "rank 1 has aborted") {
		t.Errorf("errors %v, want the cause on rank 1, and its number on the others", errs)
	}
}

func TestComm_ARefusedCallIsAnError(t *testing.T) {
	for call, operation := range map[string]string{
		"ncclCommInitRank": "join the ranks", "ncclAllReduce": "all-reduce", "ncclGroupEnd": "all-reduce",
		"ncclBroadcast": "broadcast", "ncclAllGather": "all-gather", "ncclCommGetAsyncError": "a collective under way",
	} {
		t.Setenv(emulator.FailVariable, call+" 1 3")
		errs := eachRank(t, 1, nccl.Options{}, func(r rankOf) error {
			a, err := place(r, r.Stream(), floats(1))
			for err == nil {
				span := []nccl.Span{{At: a, Count: 1}}
				err = errors.Join(r.AllReduce(span, nccl.Float32), r.Broadcast(a, 4), r.AllGather(a, a, 4), r.Err())
			}
			return err
		})
		var refused *nccl.Error
		if !errors.As(errs[0], &refused) || refused.Operation != operation {
			t.Errorf("%s fails: %v, want an error of %q", call, errs[0], operation)
		}
	}
}

func TestJoin_WaitsForTheOthersForSoLong(t *testing.T) {
	needEmulator(t)
	id, err := nccl.NewID()
	if err != nil {
		t.Fatal(err)
	}
	err = onDevice(id, 0, 2, nccl.Options{Timeout: 50 * time.Millisecond, Name: "host:7"}, nil)
	if !errors.Is(err, nccl.ErrTimeout) || !strings.Contains(err.Error(), "rank 0 of 2 (host:7)") {
		t.Errorf("error %v, want a timeout with the rank's name", err)
	}
	if err := onDevice(id, 2, 2, nccl.Options{}, nil); err == nil {
		t.Error("rank 2 of 2 joins")
	}
}

func TestComm_AllocatesNothing(t *testing.T) {
	want(t, eachRank(t, 1, nccl.Options{}, func(r rankOf) error {
		a, err := place(r, r.Stream(), floats(1, 2))
		if err != nil {
			return err
		}
		spans := []nccl.Span{{At: a, Count: 1}, {At: a + 4, Count: 1}}
		if n := testing.AllocsPerRun(20, func() { err = errors.Join(err, r.AllReduce(spans, nccl.Float32)) }); n > 0 {
			err = fmt.Errorf("%v allocations", n)
		}
		return err
	}))
}
