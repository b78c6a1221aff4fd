package loader

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"nmn/internal/rng"
	"nmn/loader/augment"
)

// bagCopy is what a batch holds of one bag.
type bagCopy struct {
	Number, Bag   int
	ID            string
	Pixels, Flips []uint8
	Sizes, Keys   []int32
	Labels        []float32
	Targets       []float32
}

// bagsOf cuts batches into bags.
func bagsOf(batches []batchCopy) (all []bagCopy) {
	for _, b := range batches {
		for n, bag := range b.Index {
			from, to, k := int(b.Offsets[n]), int(b.Offsets[n+1]), len(b.Labels)/b.N
			canvas := len(b.Pixels) / b.T
			c := bagCopy{Number: b.Number, Bag: bag, ID: b.IDs[n], Pixels: b.Pixels[from*canvas : to*canvas],
				Flips: b.Flips[from:to], Sizes: b.Sizes[2*from : 2*to], Keys: b.Keys[from:to],
				Labels: b.Labels[n*k : (n+1)*k]}
			if b.Targets != nil {
				c.Targets = b.Targets[n*k : (n+1)*k]
			}
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b bagCopy) int { return (a.Number-b.Number)*1000 + a.Bag - b.Bag })
	return all
}

// sharesOf reads an epoch on all ranks.
func sharesOf(t *testing.T, set *Set, config Config, ranks int, whole bool) (all [][]batchCopy) {
	t.Helper()
	for rank := range ranks {
		config.Share = Share{Rank: rank, Ranks: ranks, Whole: whole}
		all = append(all, mustReadEpoch(t, mustLoader(t, set, config), 3, 0))
	}
	return all
}

// The parts of all ranks are the batch in every number, mixtures and a bag that cannot be used included, and about
// as heavy.
func TestShare_PartsAreTheBatch(t *testing.T) {
	for trial := range 12 {
		stream := rng.New(7, trial)
		frames := make([]int, 5+stream.Intn(24))
		for i := range frames {
			frames[i] = 1 + stream.Intn(1+5*(trial%2))
		}
		source := &clips{frames: frames, broken: map[[2]int]error{{stream.Intn(len(frames)), 0}: ErrCorrupt}}
		set, config := clipSet(t, source), clipConfig()
		config.BatchSize, config.MaxBadSamples = 1+stream.Intn(len(frames)), 1
		if trial%3 > 0 {
			config.Augment = augment.Config{Mixup: 1}
		}
		want := bagsOf(mustReadEpoch(t, mustLoader(t, set, config), 3, 0))
		for ranks := 1; ranks <= 8; ranks++ {
			t.Run(fmt.Sprintf("trial %d, %d ranks", trial, ranks), func(t *testing.T) {
				var parts []batchCopy
				for rank, batches := range sharesOf(t, set, config, ranks, false) {
					if ranks > 1 && len(batches) != (len(frames)+config.BatchSize-1)/config.BatchSize {
						t.Errorf("rank %d sees %d batches", rank, len(batches))
					}
					parts = append(parts, batches...)
				}
				if got := bagsOf(parts); !reflect.DeepEqual(got, want) {
					t.Errorf("bags of all ranks:\n%v\nwant\n%v", got, want)
				}
				checkBalance(t, parts, source, config)
			})
		}
	}
}

// checkBalance checks that no rank has more frames of a batch than another by more than two bags, a pair of mixup.
func checkBalance(t *testing.T, parts []batchCopy, source *clips, config Config) {
	t.Helper()
	heaviest := map[int]int{}
	lightest := map[int]int{}
	for _, b := range parts {
		if least, ok := lightest[b.Number]; !ok || b.T < least {
			lightest[b.Number] = b.T
		}
		heaviest[b.Number] = max(heaviest[b.Number], b.T)
	}
	allowed := 3 * slices.Max(source.frames) // two of a pair, and one that cannot be used
	if config.Augment.Mixup == 0 {
		allowed = 2 * slices.Max(source.frames)
	}
	for number, most := range heaviest {
		if len(parts) > len(heaviest) && most-lightest[number] > allowed {
			t.Errorf("batch %d: parts of %d to %d frames, bags of up to %d", number, lightest[number], most,
				slices.Max(source.frames))
		}
	}
}

func TestShare_BagsOfOneFrameAreDealtEvenly(t *testing.T) {
	config := clipConfig()
	config.BatchSize = 5
	all := sharesOf(t, clipSet(t, &clips{frames: []int{1, 1, 1, 1, 1}}), config, 3, false)
	for rank, want := range []int{2, 2, 1} {
		if got := all[rank][0].N; got != want {
			t.Errorf("rank %d has %d bags, want %d", rank, got, want)
		}
	}
}

// With fewer bags than ranks the rest gets a batch without bags and without tensors, also where the batch before, whose
// memory it uses again, had some.
func TestShare_EmptyParts(t *testing.T) {
	config := clipConfig()
	config.BatchSize, config.Prefetch = 4, 1
	all := sharesOf(t, clipSet(t, &clips{frames: []int{1, 1, 1, 1, 1}}), config, 4, false)
	for rank, batches := range all {
		if len(batches) != 2 {
			t.Fatalf("rank %d has %d batches", rank, len(batches))
		}
		last := batches[1]
		if want := map[bool]int{true: 1}[rank == 0]; last.N != want || last.T != want || last.Number != 1 {
			t.Errorf("rank %d: batch %d of %d bags, %d frames, want %d", rank, last.Number, last.N, last.T, want)
		}
		if last.N == 0 && (last.Pixels != nil || last.Labels != nil) {
			t.Errorf("rank %d: tensors of a batch before", rank)
		}
	}
}

func TestShare_WholeBatchesThatFollowOneAnother(t *testing.T) {
	set, config := clipSet(t, raggedClips()), clipConfig()
	want := mustReadEpoch(t, mustLoader(t, set, config), 3, 0)
	for rank, batches := range sharesOf(t, set, config, 3, true) {
		own := slices.Clone(want[rank*len(want)/3 : (rank+1)*len(want)/3])
		if !reflect.DeepEqual(batches, own) {
			t.Errorf("rank %d reads %v, want %v", rank, batches, own)
		}
	}
}

// Sets in blocks are shared among ranks too, and an epoch may begin within.
func TestShare_StreamsAndStartsWithin(t *testing.T) {
	set, config := clipSet(t, raggedClips()), clipConfig()
	set.ByBlocks, config.Block, config.Window = true, 2, 2
	want := bagsOf(mustReadEpoch(t, mustLoader(t, set, config), 4, 2))
	var parts []batchCopy
	for rank := range 2 {
		config.Share = Share{Rank: rank, Ranks: 2}
		parts = append(parts, mustReadEpoch(t, mustLoader(t, set, config), 4, 2)...)
	}
	if got := bagsOf(parts); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestShare_Refused(t *testing.T) {
	for _, share := range []Share{{Rank: -1, Ranks: 2}, {Rank: 2, Ranks: 2}, {Rank: 1}, {Ranks: -1}, {Ranks: 1<<20 + 1}} {
		config := clipConfig()
		config.Share = share
		if err := config.Validate(); err == nil || !strings.Contains(err.Error(), "rank") {
			t.Errorf("%+v: %v", share, err)
		}
	}
}

// A rank counts what it cannot read, and no more.
func TestShare_BadSamplesAreOfTheRankThatReads(t *testing.T) {
	source := raggedClips()
	source.broken = map[[2]int]error{{2, 0}: ErrCorrupt, {7, 0}: ErrCorrupt}
	set, config := clipSet(t, source), clipConfig()
	config.MaxBadSamples = 2
	total := 0
	for rank := range 3 {
		config.Share = Share{Rank: rank, Ranks: 3}
		l := mustLoader(t, set, config)
		mustReadEpoch(t, l, 1, 0)
		total += l.Stats().BadSamples
		for _, b := range l.Bad(0) {
			if !errors.Is(b.Err, ErrCorrupt) {
				t.Errorf("%v", b)
			}
		}
	}
	if total != 2 {
		t.Errorf("%d bad samples on all ranks, want 2", total)
	}
}
