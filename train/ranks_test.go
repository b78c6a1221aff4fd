package train

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"nmn/internal/expect"
	"nmn/kernels/tensor"
	"nmn/loader"
	"nmn/loader/picture"
	"nmn/model"
	"nmn/ranks"
	"nmn/ranks/local"
)

// outcome is the state of a rank after a run.
type outcome struct {
	weights  map[string][]float32
	moments  [][]float32
	losses   []float64
	position Position
	graphs   int // of recorded work
	err      error
}

// learnOn runs a rig on n ranks. change, if not nil, changes the rig of one rank.
func learnOn(t *testing.T, r rig, n int, change func(rank int, r *rig)) []outcome {
	t.Helper()
	return rankRun{rig: r, change: change}.on(t, n)
}

// momentsOf are all numbers that the optimizer holds.
func momentsOf(t *testing.T, trainer *Trainer) (all [][]float32) {
	t.Helper()
	for _, e := range trainer.optimizer.entries {
		for _, state := range []*tensor.Tensor{e.M, e.V, e.Average} {
			if state == nil {
				continue
			}
			values := make([]float32, state.Len())
			check(t, trainer.Net.Backend().Download(hostOver(values), state))
			all = append(all, values)
		}
	}
	return all
}

// farApart is how far weights may differ between two numbers of ranks, relative to their norm. Rounding gives
// 1e-6, and 3e-5 if another order of sums has moved a maximum. One rank's gradient that is wrong by a
// hundredth gives at least 7e-3.
const farApart = 1e-4

// distance is the largest distance between the values of a parameter in two nets, relative to their norms.
func distance(a, b map[string][]float32) (most float64, of string) {
	for name, values := range a {
		apart, norm := 0.0, 0.0
		for i, v := range values {
			d := float64(v - b[name][i])
			apart += d * d
			norm += float64(v) * float64(v)
		}
		if d := math.Sqrt(apart / max(norm, 1e-12)); d > most || d != d {
			most, of = d, name
		}
	}
	return most, of
}

// rankSettings are settings that each divide a step in another way.
func rankSettings() map[string]func(*rig) {
	settings := map[string]func(*rig){
		"plain sgd, last batch of one bag": func(r *rig) { r.config, r.bags = sgd(r.config), 41 },
		"adam, no clipping": func(r *rig) {
			r.config.ClipNorm, r.bags = 0, 42
		},
		"accumulation, last step of a bag": func(r *rig) { r.config.Accumulate, r.bags = 2, 33 },
		"nmn-fi, mil, ragged": func(r *rig) {
			r.source = func(s loader.Source) loader.Source { return films{s} }
			r.mil, r.noise, r.bags = true, model.FeatureIndependent, 35
		},
		"weights":              func(r *rig) { r.weigh, r.bags = thirds, 41 },
		"frozen backbone":      func(r *rig) { r.config.Freeze = []string{"backbone.*"} },
		"more ranks than bags": func(r *rig) { r.config.BatchSize, r.bags = 2, 9 },
		"bad samples": func(r *rig) {
			r.source = func(s loader.Source) loader.Source { return broken{s} }
			r.bags, r.config.BatchSize, r.badAllowed = 37, 3, 9
		},
	}
	maps.Copy(settings, resumable())
	maps.DeleteFunc(settings, func(name string, _ func(*rig)) bool { return strings.HasPrefix(name, "large losses") })
	return settings
}

// broken are scenes with unreadable bags, including a whole batch of one bag.
type broken struct{ loader.Source }

func (s broken) Read(ctx context.Context, bag, frame int, p *picture.Picture) error {
	if bag%7 == 3 {
		return fmt.Errorf("bag %d: %w", bag, loader.ErrCorrupt)
	}
	return s.Source.Read(ctx, bag, frame, p)
}

// skipRanks leaves a test of ranks out with -short, except if NMN_TEST_RANKS is set: the race detector looks at ranks.
func skipRanks(t *testing.T) {
	t.Helper()
	if testing.Short() && os.Getenv("NMN_TEST_RANKS") == "" {
		t.Skip("-short: trains on ranks")
	}
}

func TestRanks_LearnWhatOneRankLearns(t *testing.T) {
	t.Parallel()
	skipRanks(t)
	settings := rankSettings()
	if testing.Short() { // what ranks do separately, and in parts
		maps.DeleteFunc(settings, func(name string, _ func(*rig)) bool {
			return !slices.Contains([]string{"accumulation, last step of a bag", "more ranks than bags", "chunks of clips",
				"adamw, averages, layer decay"}, name)
		})
	}
	for name, change := range settings {
		t.Run(name, func(t *testing.T) {
			r := newRig()
			change(&r)
			r.config.Stage1Epochs, r.config.MaxSteps = 10, 20
			alone, worst := learnOn(t, r, 1, nil)[0], 0.0
			check(t, alone.err)
			counts := []int{2, 3, 4}
			if testing.Short() {
				counts = counts[1:2]
			}
			for _, size := range counts {
				all := learnOn(t, r, size, nil)
				for rank, got := range all {
					check(t, got.err)
					most, of := distance(alone.weights, got.weights)
					if worst = max(worst, most); !(most <= farApart) {
						t.Errorf("%d ranks, rank %d: %s is apart by %.3g of its norm", size, rank, of, most)
					}
					sameOnAll(t, all[0], got, fmt.Sprintf("rank 0 and rank %d of %d", rank, size))
					samePosition(t, alone, got)
				}
				if size == 3 {
					sameOnAll(t, all[0], learnOn(t, r, size, nil)[0], "two runs of 3 ranks")
				}
			}
			t.Logf("weights are apart by %.2g of their norm at most", worst)
		})
	}
}

func sameOnAll(t *testing.T, a, b outcome, who string) {
	t.Helper()
	sameWeights(t, a.weights, b.weights, "%s have other weights", who)
	if !slices.EqualFunc(a.moments, b.moments, slices.Equal) {
		t.Errorf("%s have other moments", who)
	}
	if !slices.Equal(a.losses, b.losses) || a.position != b.position {
		t.Errorf("%s have other losses or positions", who)
	}
}

// samePosition checks that counts are equal, and losses but for the order of sums.
func samePosition(t *testing.T, a, b outcome) {
	t.Helper()
	p, q := a.position, b.position
	near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-5*math.Max(1, math.Abs(x)) }
	if !near(p.LossSum, q.LossSum) || !near(p.Loss, q.Loss) {
		t.Errorf("losses %+v, alone %+v", q, p)
	}
	p.LossSum, p.Loss, q.LossSum, q.Loss = 0, 0, 0, 0
	if p != q || len(a.losses) != len(b.losses) {
		t.Errorf("position %+v, alone %+v", q, p)
	}
}

// Gradients that travel in bfloat16 are equal on all ranks, and near those in float32.
func TestRanks_GradientsInBFloat16(t *testing.T) {
	r := newRig()
	r.config = sgd(r.config)
	r.config.Stage1Epochs, r.config.MaxSteps = 10, 10
	exact := learnOn(t, r, 2, nil)[0]
	r.wire = ranks.BFloat16
	all := learnOn(t, r, 2, nil)
	sameOnAll(t, all[0], all[1], "the ranks")
	if most, of := distance(exact.weights, all[0].weights); most == 0 || most > 1e-2 {
		t.Errorf("%s is apart by %.3g of its norm from float32", of, most)
	}
}

// Losses that look for the largest of a batch are refused: each rank has a part of it.
func TestRanks_LargeLossesAreRefused(t *testing.T) {
	r := newRig()
	r.config.Loss = LossConfig{Kind: RejectLarge, Delta: 20}
	for _, g := range local.New(2, time.Hour) {
		r.group = g
		expect.Refusal(t, expect.ErrorOf(New(r.options(t))), "train in one process")
	}
}
