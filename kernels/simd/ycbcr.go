package simd

import "fmt"

// YCbCr converts a row of pixels to RGB by the matrix of JFIF, rounded to nearest and limited to 0 to 255.
// dst has three bytes for each element of luma. cb and cr are as long as luma. Results are equal at all
// levels.
func (l Level) YCbCr(dst, luma, cb, cr []uint8) {
	pixels := len(luma)
	if len(dst) != 3*pixels || len(cb) != pixels || len(cr) != pixels {
		panic(fmt.Sprintf("simd: %d luma, %d and %d chroma to %d bytes", pixels, len(cb), len(cr), len(dst)))
	}
	done := 0
	if k := table[l].ycbcr; k != nil && pixels >= 10 {
		groups := (pixels - 2) / 8
		k(at(dst), at(luma), at(cb), at(cr), groups)
		done = 8 * groups
	}
	ycbcrGeneric(dst[3*done:], luma[done:], cb[done:], cr[done:])
}

func ycbcrGeneric(dst, luma, cb, cr []uint8) {
	const half = 1 << 15
	cb, cr = cb[:len(luma)], cr[:len(luma)]
	dst = dst[:3*len(luma)]
	for i, v := range luma {
		y, u, w := int32(v), int32(cb[i])-128, int32(cr[i])-128
		pixel := dst[3*i : 3*i+3 : 3*i+3]
		pixel[0] = clamp8(y + (91881*w+half)>>16)
		pixel[1] = clamp8(y + (half-22554*u-46802*w)>>16)
		pixel[2] = clamp8(y + (116130*u+half)>>16)
	}
}

func clamp8(v int32) uint8 {
	if uint32(v) <= 255 {
		return uint8(v)
	}
	return uint8(^(v >> 31)) // 0 below, 255 above
}
