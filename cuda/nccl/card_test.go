//go:build cuda

package nccl_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nmn/cuda/nccl"
)

// onCard reports whether NMN_REQUIRE asks for tests on a real card, or on the libraries that NMN_LIBCUDA and
// NMN_LIBNCCL name.
func onCard() bool { return slices.Contains(strings.Split(os.Getenv("NMN_REQUIRE"), ","), "cuda") }

// figuresVariable names a file that gets the figures of the tests on a card as JSON.
const figuresVariable = "NMN_RANKS_FIGURES"

// figures are the figures of bench/gpu.sh.
type figures struct {
	Device  string  `json:"device"`
	NCCL    string  `json:"nccl"`
	Ranks   int     `json:"ranks"`
	MiB     int     `json:"mib"`
	Ms      float64 `json:"ms"`       // of an all-reduce
	Latency float64 `json:"us_small"` // of one of 4 bytes, in microseconds
	Rate    float64 `json:"gb_per_s"` // bytes of the tensor over the time
}

// One card allows one rank, or two if NCCL is configured for it (from 2.30 on) and supports it.
func TestCard_OneRank(t *testing.T) { measureRanks(t, 1) }

func TestCard_TwoRanksOnOneCard(t *testing.T) {
	t.Setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1")
	measureRanks(t, 2)
}

func measureRanks(t *testing.T, ranks int) {
	if !onCard() {
		t.Skip("runs on a real card, with NMN_REQUIRE=cuda")
	}
	id, err := nccl.NewID()
	if err != nil {
		t.Fatalf("%v", err)
	}
	mib := 256
	if os.Getenv("REHEARSAL") != "" {
		mib = 1
	}
	found, errs := make([]figures, ranks), make([]error, ranks)
	var all sync.WaitGroup
	for rank := range ranks {
		all.Go(func() {
			errs[rank] = onDevice(id, rank, ranks, nccl.Options{Timeout: 20 * time.Second}, func(r rankOf) (err error) {
				found[rank], err = allReduces(r, ranks, mib)
				return err
			})
		})
	}
	all.Wait()
	err = errors.Join(errs...)
	var refused *nccl.Error
	if ranks > 1 && errors.As(err, &refused) && refused.Operation == "join the ranks" {
		t.Skipf("NCCL refuses %d ranks on one card: %v", ranks, refused)
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := json.Marshal(found[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", line)
	if path := os.Getenv(figuresVariable); path != "" {
		if err := os.WriteFile(path, line, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// allReduces checks sums, and measures them.
func allReduces(r rankOf, ranks, mib int) (f figures, err error) {
	f = figures{Device: r.device.Info().String(), NCCL: nccl.FormatVersion(nccl.Version()), Ranks: ranks, MiB: mib}
	compute := r.device.Compute()
	small, err1 := place(r, compute, floats(float32(r.Rank()+1), 2))
	large, err2 := r.device.Alloc(mib << 20)
	if err := errors.Join(err1, err2, follow(r, r.Stream(), compute)); err != nil {
		return f, err
	}
	if err := r.AllReduce([]nccl.Span{{At: small, Count: 2}}, nccl.Float32); err != nil {
		return f, err
	}
	sum := float32(ranks * (ranks + 1) / 2)
	if got, err := fetch(r.Stream(), small, 8); err != nil || !slices.Equal(got, floats(sum, float32(2*ranks))) {
		return f, fmt.Errorf("the sum is %v, want %v and %v; %w", got, sum, 2*ranks, err)
	}
	if f.Latency, err = timed(r, nccl.Span{At: small, Count: 1}, 100); err != nil {
		return f, err
	}
	f.Latency *= 1000
	if f.Ms, err = timed(r, nccl.Span{At: large, Count: mib << 18}, 20); err != nil {
		return f, err
	}
	if f.Ms > 0 {
		f.Rate = float64(mib<<20) / f.Ms / 1e6
	}
	return f, r.Err()
}

// timed is the time of an all-reduce in milliseconds, the mean of some in a row.
func timed(r rankOf, span nccl.Span, times int) (ms float64, err error) {
	before, err1 := r.device.NewEvent(true)
	after, err2 := r.device.NewEvent(true)
	if err := errors.Join(err1, err2); err != nil {
		return 0, err
	}
	spans := []nccl.Span{span}
	for i := range times + 5 { // five to warm up
		if i == 5 {
			err = r.Stream().Record(before)
		}
		if err = errors.Join(err, r.AllReduce(spans, nccl.Float32)); err != nil {
			return 0, err
		}
	}
	if err := errors.Join(r.Stream().Record(after), r.Stream().Sync(), r.Err()); err != nil {
		return 0, err
	}
	took, err := before.Elapsed(after)
	return took.Seconds() * 1000 / float64(times), err
}
