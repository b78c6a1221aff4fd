package cudnn

import (
	"slices"
	"testing"
)

// The layers of VGG16 at 26 frames of 565 pixels on 132 multiprocessors: the total blocks should nearly fill
// their last round.
func TestSlices_FillTheMultiprocessors(t *testing.T) {
	for _, test := range []struct {
		name              string
		size, c, k, r     int
		config, at        int // tiles without slices
		slices, blocks    int // expected least, most slices
		leastShareBusy    float64
		alternativeAtMost int
	}{
		{"conv1_2", 565, 64, 64, 3, 55, 9, 10, 128, 0.9, 64},
		{"conv2_1", 283, 64, 128, 3, 8, 9, 10, 128, 0.9, 64},
		{"conv2_2", 283, 128, 128, 3, -1, 9, 10, 128, 0.9, 64},
		{"conv3_2", 142, 256, 256, 3, -1, 36, 3, 32, 0.9, 16},
		{"conv4_2", 71, 512, 512, 3, -1, 144, 2, 32, 0.8, 16},
		{"conv5_1", 36, 512, 512, 3, -1, 144, 2, 32, 0.7, 16},
		{"fc6", 18, 512, 4096, 7, -1, 6272, 1, 1, 0.9, 0},
		{"fc7", 12, 4096, 4096, 1, -1, 1024, 1, 1, 0.9, 0},
	} {
		pad := 1
		if test.r != 3 {
			pad = 0
		}
		c := Conv{N: 26, H: test.size, W: test.size, C: test.c, K: test.k, R: test.r, S: test.r, Pad: pad,
			Precision: BFloat16}
		own := tileOf(c)
		tiles := c.R * c.S * ceil(c.K, own.filters) * ceil(c.C, own.channels)
		if own.config != test.config || tiles != test.at {
			t.Errorf("%s: configuration %d with %d tiles, want %d with %d", test.name, own.config, tiles, test.config, test.at)
		}
		list := own.slices(c, 132, 128)
		var want []cut
		for _, n := range list {
			want = append(want, cut{own, n})
		}
		if own != ownTile { // a cut without the number of a tile
			want = slices.Insert(want, 1, cut{ownTile, ownTile.slices(c, 132, 128)[0]})
		}
		if got := cuts(c, 132, 128); !slices.Equal(got, want) {
			t.Errorf("%s: cuts %v, want %v", test.name, got, want)
		}
		busy := float64(tiles*list[0]) / float64(132*ceil(tiles*list[0], 132))
		t.Logf("%s: slices %v, %.0f %% of the multiprocessors busy, %.0f %% without", test.name, list, 100*busy,
			100*float64(tiles)/float64(132*ceil(tiles, 132)))
		if list[0] < test.slices || list[0] > test.blocks || busy < test.leastShareBusy {
			t.Errorf("%s: slices %v keep %.0f %% busy", test.name, list, 100*busy)
		}
		if len(list) > 1 && (list[1] > list[0]/2 || list[1] > test.alternativeAtMost) {
			t.Errorf("%s: slices %v", test.name, list)
		}
	}
}

func TestSlices_StayWithinWhatTheEngineTakes(t *testing.T) {
	c := Conv{N: 26, H: 565, W: 565, C: 64, K: 64, R: 3, S: 3, Pad: 1, Precision: BFloat16}
	for _, most := range []int{1, 2, 5} {
		if list := tileOf(c).slices(c, 132, most); slices.Max(list) > most || slices.Min(list) < 1 {
			t.Errorf("slices %v of at most %d", list, most)
		}
	}
}
