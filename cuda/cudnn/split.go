package cudnn

import "slices"

// A filter gradient is a matrix product with few results and very long sums: for each place r, s of the
// filter K×C numbers, each summed over all cells. A kernel that gives each multiprocessor a tile of results
// leaves most of them idle if there are few tiles: a layer of 64 channels has 9. Such sums are cut into
// slices, which are computed in parallel and added in a fixed order at the end.

// tile is how many filters and channels of the gradient a block computes. config is the value of the setting
// KERNEL_CFG that selects the tile in cuDNN 9.13 and 9.26, or ownTile's, which no setting selects.
type tile struct{ filters, channels, config int }

// ownTile is the tile of cuDNN's compiled filter gradients without the setting.
var ownTile = tile{128, 128, -1}

// tileOf is the smallest tile that wastes nothing on a gradient: blocks of 64 for layers that have no more.
func tileOf(c Conv) tile {
	switch narrow, thin := c.K <= 64, c.C <= 64; {
	case narrow && thin:
		return tile{64, 64, 55}
	case narrow:
		return tile{64, 128, 9}
	case thin:
		return tile{128, 64, 8}
	}
	return ownTile
}

// cut is a way to compute a gradient in slices.
type cut struct {
	tile
	slices int
}

// cuts lists the cuts worth measuring, the one expected to be fastest first. most is the largest number of
// slices that the engine takes. If the best tile needs KERNEL_CFG, the engine's own tile is the second: the
// numbers of tiles are not documented and another version of cuDNN may have others.
func cuts(c Conv, multiprocessors, most int) (list []cut) {
	best := tileOf(c)
	for _, n := range best.slices(c, multiprocessors, most) {
		list = append(list, cut{best, n})
	}
	if best != ownTile {
		list = slices.Insert(list, 1, cut{ownTile, ownTile.fewest(c, multiprocessors, most)})
	}
	return list
}

// Rates for comparing slices: of one multiprocessor of a Hopper card on bfloat16, and of memory. They only
// select the plans worth building. Measurements decide.
const (
	flopPerMicrosecond  = 5e6
	bytesPerMicrosecond = 3e6
)

// slices are one or two numbers of slices worth measuring, the one expected to be fastest first. That number
// fills the multiprocessors best after the cost of writing and adding the slices. The other one is at most
// half of it and has less to add. most is the largest number that the engine takes.
func (t tile) slices(c Conv, multiprocessors, most int) []int {
	first := t.fewest(c, multiprocessors, most)
	if first < 4 {
		return []int{first}
	}
	return []int{first, t.fewest(c, multiprocessors, first/2)}
}

// fewest is the least number of slices up to most that is expected to be fastest.
func (t tile) fewest(c Conv, multiprocessors, most int) (best int) {
	tiles := c.R * c.S * ceil(c.K, t.filters) * ceil(c.C, t.channels)
	flop := 2 * float64(c.N) * float64(c.P()*c.Q()) * float64(t.filters*t.channels)
	bytes := 2 * 4 * float64(tiles*t.filters*t.channels) // written and read again
	least := 0.0
	for n := 1; n <= most; n++ {
		took := float64(ceil(tiles*n, multiprocessors)) * flop / float64(n) / flopPerMicrosecond
		if n > 1 {
			took += float64(n) * bytes / bytesPerMicrosecond
		}
		if best == 0 || took < least {
			best, least = n, took
		}
	}
	return best
}

func ceil(a, b int) int { return (a + b - 1) / b }
