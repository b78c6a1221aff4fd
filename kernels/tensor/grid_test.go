package tensor

import (
	"math"
	"testing"
)

func TestColumnGrid_IsWholeWaves(t *testing.T) {
	for _, test := range []struct {
		name                 string
		rows, columns, lanes int
		tiles, parts         int
	}{
		{"none", 0, 64, 8, 2, 1},
		{"one row", 1, 64, 8, 2, 1},
		{"a thread has four rows at least", 64 * 4 * 3, 32, 8, 1, 3},
		{"conv1 of 26 frames of 565 pixels", 26 * 565 * 565, 64, 8, 2, 5 * 264},
		{"conv2", 26 * 283 * 283, 128, 8, 4, 5 * 132},
		{"conv3", 26 * 142 * 142, 256, 8, 8, 5 * 66},
		{"conv4", 26 * 71 * 71, 512, 8, 16, 3 * 33},
		{"conv5", 26 * 36 * 36, 512, 8, 16, 33},
		{"windows below it", 26 * 18 * 18, 512, 8, 16, 33},
		{"float32", 26 * 36 * 36, 512, 4, 16, 66},
		{"one by one", 26 * 36 * 36, 512, 1, 16, 5 * 33},
		{"more tiles than a wave has blocks", 1 << 20, 32 * 3000, 8, 3000, 1},
	} {
		tiles, parts := columnGrid(test.rows, test.columns, test.lanes)
		if tiles != test.tiles || parts != test.parts {
			t.Errorf("%s: %d tiles, %d parts, want %d, %d", test.name, tiles, parts, test.tiles, test.parts)
		}
		// With a power of two of tiles up to 16, whole waves, unless rows are too few for one.
		if blocks := tiles * parts; blocks >= columnWave && tiles <= 16 && blocks%columnWave > columnWave/100 {
			t.Errorf("%s: %d blocks are %.2f waves", test.name, blocks, float64(blocks)/columnWave)
		}
	}
}

func TestCoverBlocks_LeavesNoGroupOut(t *testing.T) {
	for _, count := range []int{0, 1, 255, 256, 511, 512, 513, 1 << 20} {
		blocks := coverBlocks(count, 256, 2)
		if blocks*512 < count || blocks > 1 && (blocks-1)*512 >= count {
			t.Errorf("%d groups: %d blocks", count, blocks)
		}
	}
	if got := coverBlocks(math.MaxInt32, 256, 2); got != 1<<16 {
		t.Errorf("%d blocks", got)
	}
}
