package simd

import "fmt"

// Normalization turns bytes of RGB into floats, (byte - Mean[c])·Scale[c], in rows of pixels of Channels
// floats each, at least 3. Floats from the fourth on are 0. Mirrored rows begin with their last pixel.
type Normalization struct {
	Mean, Scale [3]float32
	Channels    int
	Mirrored    bool
}

// The bytes of four pixels among 16: the first twelve, or the pixels of the last twelve from the last on.
var (
	inOrder  = [16]uint8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	reversed = [16]uint8{13, 14, 15, 10, 11, 12, 7, 8, 9, 4, 5, 6, 0, 1, 2, 3}
)

// Normalize writes a row of pixels, one for each pixel of src. Results are equal in every bit at all levels.
func (l Level) Normalize(dst []float32, src []uint8, n *Normalization) {
	pixels := len(src) / 3
	if len(src) != 3*pixels || n.Channels < 3 || len(dst) != pixels*n.Channels {
		panic(fmt.Sprintf("simd: a row of %d bytes to %d values of %d channels", len(src), len(dst), n.Channels))
	}
	done := 0
	if k := table[l].normalize; k != nil && n.Channels == 3 && pixels >= 6 {
		var mean, scale [16]float32
		for i := range mean {
			mean[i], scale[i] = n.Mean[i%3], n.Scale[i%3]
		}
		order, from, step := &inOrder, 0, 12
		if n.Mirrored {
			order, from, step = &reversed, len(src)-16, -12
		}
		groups := (pixels - 2) / 4
		k(at(dst), at(src[from:]), step, &order[0], mean, scale, groups)
		done = 4 * groups
	}
	if n.Mirrored {
		src = src[:3*(pixels-done)]
	} else {
		src = src[3*done:]
	}
	normalizeGeneric(dst[done*n.Channels:], src, n)
}

func normalizeGeneric(dst []float32, src []uint8, n *Normalization) {
	mean0, mean1, mean2 := n.Mean[0], n.Mean[1], n.Mean[2]
	scale0, scale1, scale2 := n.Scale[0], n.Scale[1], n.Scale[2]
	from, step := 0, 3
	if n.Mirrored {
		from, step = len(src)-3, -3
	}
	for ; len(dst) >= n.Channels; dst = dst[n.Channels:] {
		pixel, out := src[from:][:3], dst[:n.Channels]
		out[0] = (float32(pixel[0]) - mean0) * scale0
		out[1] = (float32(pixel[1]) - mean1) * scale1
		out[2] = (float32(pixel[2]) - mean2) * scale2
		clear(out[3:])
		from += step
	}
}
