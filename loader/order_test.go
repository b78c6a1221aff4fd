package loader

import (
	"fmt"
	"slices"
	"testing"
)

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
