package ref

// Normalize is (pixel - mean[c]) · scale[c] inside the valid sizes[t] = (height, width) corner of each
// picture, mirrored left to right if flips[t] is not 0, and 0 outside and in channels from 3 on. pixels is
// T×H×W×3, the result has the shape of m.
func Normalize(m Map, pixels []uint8, sizes [][2]int, flips []uint8, mean, scale [3]float64) []float64 {
	source := Map{T: m.T, H: m.H, W: m.W, C: 3}
	return all(m.T, m.H, m.W, m.C, func(t, h, w, c int) float64 {
		height, width := sizes[t][0], sizes[t][1]
		if c >= 3 || h >= height || w >= width {
			return 0
		}
		if flips[t] != 0 {
			w = width - 1 - w
		}
		return (float64(pixels[source.At(t, h, w, c)]) - mean[c]) * scale[c]
	})
}
