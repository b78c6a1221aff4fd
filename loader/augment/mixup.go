package augment

import "encoding/binary"

// Frame is the pixels of a canvas of Size×Size pixels, and how much of it is the picture.
type Frame struct {
	Pixels        []uint8
	Size          int
	Width, Height int
}

// Mix sets dst to a mixture: weight parts of itself and the rest, of Wholes, from from, which is mirrored
// left to right if mirrored is set. Outside its picture a canvas has the mean colour, which the network sees
// as 0. The result covers both pictures. Values are rounded to the nearest.
func Mix(dst *Frame, from *Frame, weight int, mirrored bool, mean [3]uint8, scratch *[]uint8) {
	width, height := max(dst.Width, from.Width), max(dst.Height, from.Height)
	extend(dst, width, height, mean)
	if cap(*scratch) < 3*width {
		*scratch = make([]uint8, 3*width)
	}
	other := (*scratch)[:3*width]
	for y := range height {
		row := dst.Pixels[3*dst.Size*y:][:3*width]
		line(other, from, y, mirrored, mean)
		blend(row, other, weight)
	}
	dst.Width, dst.Height = width, height
}

// extend fills the canvas around a picture up to an extent with the mean colour.
func extend(f *Frame, width, height int, mean [3]uint8) {
	right := view{pix: f.Pixels, stride: 3 * f.Size, width: width, height: f.Height}
	if width > f.Width {
		right = right.part(Rect{X: f.Width, Y: 0, Width: width - f.Width, Height: f.Height})
		right.fill(mean)
	}
	if height > f.Height {
		below := view{pix: f.Pixels, stride: 3 * f.Size, width: width, height: height}
		below = below.part(Rect{X: 0, Y: f.Height, Width: width, Height: height - f.Height})
		below.fill(mean)
	}
}

// line is row y of a frame, mirrored within the picture or not, with the mean colour beyond it.
func line(dst []uint8, f *Frame, y int, mirrored bool, mean [3]uint8) {
	kept := 0
	if y < f.Height {
		kept = min(3*f.Width, len(dst))
		from := f.Pixels[3*f.Size*y:][:3*f.Width]
		if !mirrored {
			copy(dst, from[:kept])
		} else {
			for i, j := 0, len(from)-3; i < kept; i, j = i+3, j-3 {
				dst[i], dst[i+1], dst[i+2] = from[j], from[j+1], from[j+2]
			}
		}
	}
	for i := kept; i+2 < len(dst); i += 3 {
		dst[i], dst[i+1], dst[i+2] = mean[0], mean[1], mean[2]
	}
}

// blend makes of dst weight parts of it and Wholes - weight of src, as long as it, rounded to the nearest. Eight values
// are computed at once, in lanes of 16 bits: 256·255 + 128 fits.
func blend(dst, src []uint8, weight int) {
	const even, half = 0x00ff00ff00ff00ff, 0x0080008000800080
	a, b := uint64(weight), uint64(Wholes-weight)
	n := len(dst) &^ 7
	for i := 0; i < n; i += 8 {
		x, y := binary.LittleEndian.Uint64(dst[i:]), binary.LittleEndian.Uint64(src[i:])
		low := (x&even)*a + (y&even)*b + half
		high := (x>>8&even)*a + (y>>8&even)*b + half
		binary.LittleEndian.PutUint64(dst[i:], low>>8&even|high&^uint64(even))
	}
	for i := n; i < len(dst); i++ {
		dst[i] = uint8((uint64(dst[i])*a + uint64(src[i])*b + 128) >> 8)
	}
}

// MixFloats sets dst to a mixture: weight parts of itself and the rest, of Wholes, from src, which has the
// same length. If either value is unknown, the result is unknown.
func MixFloats(dst, src []float32, weight int, unknown float32) {
	a := float32(weight) / Wholes
	for i, v := range src {
		if dst[i] == unknown || v == unknown {
			dst[i] = unknown
			continue
		}
		dst[i] = v + float32(a*(dst[i]-v))
	}
}
