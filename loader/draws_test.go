package loader

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	dense "gorgonia.org/tensor"

	"nmn/internal/expect"
	"nmn/loader/picture"
)

// Random choices for a bag are drawn anew in every epoch: otherwise a mirrored picture would always be
// mirrored, and dropout would repeat its masks.
func TestSampleDraws_DifferFromEpochToEpoch(t *testing.T) {
	const epochs, bags, frames = 4, 200, 3
	d := newSampleDraws(Config{Seed: 1, Flip: true})
	var flips [epochs][]uint8
	keys := map[int32][3]int{}
	for epoch := range epochs {
		for bag := range bags {
			flips[epoch] = append(flips[epoch], d.mirrored(epoch, bag))
			for frame := range frames {
				of, key := [3]int{epoch, bag, frame}, d.key(epoch, bag, frame)
				if other, ok := keys[key]; ok { // 2400 keys among 4 billion
					t.Errorf("epoch, bag and frame %v have the key of %v", of, other)
				}
				keys[key] = of
			}
		}
		if ones := count(flips[epoch], 1); ones < bags/3 || ones > 2*bags/3 {
			t.Errorf("epoch %d: %d of %d bags are mirrored", epoch, ones, bags)
		}
	}
	for a := range epochs {
		for b := range a {
			differ := 0
			for bag := range bags {
				differ += int(flips[a][bag] ^ flips[b][bag])
			}
			if differ < bags/3 || differ > 2*bags/3 {
				t.Errorf("%d of %d bags are mirrored in one of the epochs %d and %d alone", differ, bags, b, a)
			}
		}
	}
	other, same := newSampleDraws(Config{Seed: 2, Flip: true}), 0
	for bag := range bags {
		if other.mirrored(0, bag) == flips[0][bag] {
			same++
		}
		if of, ok := keys[other.key(0, bag, 0)]; ok {
			t.Errorf("another seed draws the key of %v", of)
		}
	}
	if same < bags/3 || same > 2*bags/3 {
		t.Errorf("another seed mirrors %d of %d bags alike", same, bags)
	}
}

func count(values []uint8, of uint8) (n int) {
	for _, v := range values {
		if v == of {
			n++
		}
	}
	return n
}

// shapes are clips whose pictures have a size that shows the bag.
type shapes struct{ *clips }

func (s shapes) Read(ctx context.Context, bag, frame int, pic *picture.Picture) error {
	if err := s.broken[[2]int{bag, frame}]; err != nil {
		return err
	}
	pic.Resize(1+bag%4, 1+bag/4)
	for i := range pic.Pix {
		pic.Pix[i] = level(bag, frame)
	}
	return nil
}

// vectors are clips of features that show bag and frame.
type vectors struct{ *clips }

func (vectors) Width() int { return 2 }

func (v vectors) Read(_ context.Context, bag, frame int, dst []float32) error {
	dst[0], dst[1] = float32(bag), float32(frame)
	return v.broken[[2]int{bag, frame}]
}

// frameCopy is everything that a batch holds of a frame.
type frameCopy struct {
	pixels  []uint8
	vector  []float32
	size    [2]int32
	flip    uint8
	key     int32
	labels  []float32
	targets []float32
}

// framesByBag sorts the frames of an epoch by their bag.
func framesByBag(t *testing.T, set *Set, config Config, epoch int) map[int][]frameCopy {
	t.Helper()
	all := map[int][]frameCopy{}
	expect.OK(t, mustLoader(t, set, config).Pass(t.Context(), epoch, func(b *Batch) {
		offsets := b.Offsets.Int32s()
		for n, bag := range b.Index {
			for i := int(offsets[n]); i < int(offsets[n+1]); i++ {
				f := frameCopy{size: [2]int32(b.Sizes.Int32s()[2*i:]), flip: b.Flips.Uint8s()[i], key: b.Keys.Int32s()[i],
					labels: slices.Clone(b.Labels.Float32s()[3*n : 3*n+3]), targets: slices.Clone(b.Targets.Float32s()[3*n : 3*n+3])}
				if b.Vectors != nil {
					f.vector = slices.Clone(b.Vectors.Float32s()[2*i : 2*i+2])
				} else {
					f.pixels = slices.Clone(b.Pixels.Uint8s()[4*4*3*i : 4*4*3*(i+1)])
				}
				all[bag] = append(all[bag], f)
			}
		}
	}))
	return all
}

// Bags that cannot be read leave gaps in a batch. The bags after a gap move up completely: their frames keep
// their own pixels, sizes, flips, keys, labels and targets.
func TestBatch_BrokenBagsTakeNothingFromOthers(t *testing.T) {
	for name, source := range map[string]func(*Set, *clips){
		"pictures": func(s *Set, c *clips) { s.Source = shapes{c} },
		"features": func(s *Set, c *clips) { s.Source, s.Vectors = nil, vectors{c} },
	} {
		t.Run(name, func(t *testing.T) {
			config := clipConfig()
			config.BatchSize, config.Flip, config.MaxBadSamples = 5, true, 3
			whole, damaged := raggedClips(), raggedClips()
			damaged.broken = map[[2]int]error{{0, 0}: ErrCorrupt, {4, 2}: ErrCorrupt, {7, 4}: ErrCorrupt}
			var sets [2]*Set
			for i, c := range []*clips{whole, damaged} {
				sets[i] = clipSet(t, c)
				source(sets[i], c)
				targets := make([]float32, 3*sets[i].Len())
				for j := range targets {
					targets[j] = float32(j) / 64
				}
				config.Targets = dense.New(dense.WithShape(sets[i].Len(), 3), dense.WithBacking(targets))
			}
			const epoch = 2
			want, got := framesByBag(t, sets[0], config, epoch), framesByBag(t, sets[1], config, epoch)
			for _, bag := range []int{0, 4, 7} {
				delete(want, bag)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("frames %+v\nwant   %+v", got, want)
			}
		})
	}
}

// Each window of a stream is mixed by draws of its own.
func TestStreamOrder_WindowsAreMixedEachInItsOwnWay(t *testing.T) {
	const n, block = 1000, 10
	o := newStreamOrder(Config{Seed: 1, Shuffle: true, Block: block, Window: 1}, 0, n)
	ways := map[[block]int]bool{}
	for from := 0; from < n; from += block {
		var way [block]int // places within the block
		for i, bag := range o.bags(nil, from, from+block) {
			way[i] = bag % block
		}
		ways[way] = true
	}
	if len(ways) < 95 { // 100 draws among 3.6 million
		t.Errorf("%d windows are mixed in %d ways", n/block, len(ways))
	}
}

// The blocks of a stream come in another order in each epoch and with each seed: else the same bags would always stand
// near each other.
func TestStreamOrder_BlocksComeInANewOrder(t *testing.T) {
	const n, block = 1000, 10
	seen := map[string]string{}
	for _, seed := range []uint64{1, 2} {
		for epoch := range 3 {
			o := newStreamOrder(Config{Seed: seed, Shuffle: true, Block: block, Window: 1}, epoch, n)
			var blocks []int
			for from := 0; from < n; from += block {
				blocks = append(blocks, o.bags(nil, from, from+1)[0]/block)
			}
			name, order := fmt.Sprintf("seed %d, epoch %d", seed, epoch), fmt.Sprint(blocks)
			if other, ok := seen[order]; ok {
				t.Errorf("the blocks of %s stand as those of %s", name, other)
			}
			seen[order] = name
		}
	}
}

// streamOrders are ways to cut n bags into blocks and windows.
func streamOrders(n int) []Config {
	var all []Config
	for _, block := range []int{0, 1, 7, 64, n, n + 5} {
		for _, window := range []int{0, 1, 3, 1000} {
			all = append(all, Config{Seed: 5, Shuffle: true, Block: block, Window: window})
		}
	}
	return all
}

func TestStreamOrder_EveryBagOnceAndAnyPartAlone(t *testing.T) {
	for _, n := range []int{1, 2, 6, 7, 64, 100, 1000} {
		for _, config := range streamOrders(n) {
			o := newStreamOrder(config, 3, n)
			whole := slices.Clone(o.bags(nil, 0, n))
			sorted := slices.Sorted(slices.Values(whole))
			for i, bag := range sorted {
				if bag != i {
					t.Fatalf("n = %d, block %d, window %d: bag %d is missing or out of range: %v",
						n, config.Block, config.Window, i, whole)
				}
			}
			for from := 0; from < n; from += 5 {
				to := min(n, from+5)
				if part := newStreamOrder(config, 3, n).bags(nil, from, to); !slices.Equal(part, whole[from:to]) {
					t.Fatalf("n = %d, block %d, window %d: positions %d to %d are %v alone and %v in the whole",
						n, config.Block, config.Window, from, to, part, whole[from:to])
				}
			}
		}
	}
}

func TestStreamOrder_WindowsOfNeighbours(t *testing.T) {
	const n, block, window = 1000, 10, 4
	o := newStreamOrder(Config{Seed: 1, Shuffle: true, Block: block, Window: window}, 0, n)
	sameOrder := 0
	for from := 0; from < n; from += block * window {
		bags := slices.Clone(o.bags(nil, from, from+block*window))
		blocks := map[int]int{}
		for _, bag := range bags {
			blocks[bag/block]++
		}
		if len(blocks) != window {
			t.Errorf("the window at %d has bags of %d blocks, want %d", from, len(blocks), window)
		}
		if slices.IsSorted(bags) || bags[0]/block == bags[1]/block && bags[1]/block == bags[2]/block {
			sameOrder++
		}
	}
	if sameOrder > 8 { // of 25; three bags of one block come first in one of 16
		t.Errorf("%d windows of 25 are not mixed", sameOrder)
	}
}

func TestStreamOrder_DependsOnSeedAndEpoch(t *testing.T) {
	seen := map[string]string{}
	for _, block := range []int{0, 50} {
		for _, seed := range []uint64{1, 2} {
			for epoch := range 2 {
				name := fmt.Sprintf("block %d, seed %d, epoch %d", block, seed, epoch)
				order := fmt.Sprint(newStreamOrder(Config{Seed: seed, Shuffle: true, Block: block}, epoch, 500).bags(nil, 0, 500))
				if other, ok := seen[order]; ok {
					t.Errorf("%s has the order of %s", name, other)
				}
				seen[order] = name
			}
		}
	}
	plain := newStreamOrder(Config{Seed: 1}, 0, 500).bags(nil, 490, 500)
	if want := []int{490, 491, 492, 493, 494, 495, 496, 497, 498, 499}; !slices.Equal(plain, want) {
		t.Errorf("without shuffling the order is %v", plain)
	}
}
