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

// The tables of ycbcrGeneric have all that a chroma sample adds to the colours in one number: in bits 0 to 15 to red,
// from bit 16 on to blue, and from bit 32 on to green with 16 fractional bits, as green is rounded after the sum of
// both samples. A bias keeps each part positive. limits removes it, and limits the result to 0 to 255.
const (
	greenShift, blueShift = 48, 16
	chromaBias            = 256
	lumaParts             = 1 | 1<<blueShift | 1<<greenShift
)

var fromCb, fromCr, limits = func() (cb, cr [256]uint64, limits [1024]uint8) {
	const half = 1 << 15
	part := func(whole, green int) uint64 { return uint64(whole+chromaBias) | uint64(green+chromaBias<<15)<<32 }
	for i := range 256 {
		c := i - 128
		cr[i] = part((91881*c+half)>>16, -46802*c)
		blue := part((116130*c+half)>>16, half-22554*c)
		cb[i] = blue&(1<<32-1)<<blueShift | blue>>32<<32
	}
	for i := range limits {
		limits[i] = clamp8(int32(i) - chromaBias)
	}
	return cb, cr, limits
}()

func ycbcrGeneric(dst, luma, cb, cr []uint8) {
	cb, cr = cb[:len(luma)], cr[:len(luma)]
	dst = dst[:3*len(luma)]
	for i, y := range luma {
		sum := uint64(y)*lumaParts + fromCb[cb[i]] + fromCr[cr[i]]
		pixel := dst[3*i : 3*i+3 : 3*i+3]
		pixel[0], pixel[1], pixel[2] = limits[sum&1023], limits[sum>>greenShift&1023], limits[sum>>blueShift&1023]
	}
}

func clamp8(v int32) uint8 {
	if uint32(v) <= 255 {
		return uint8(v)
	}
	return uint8(^(v >> 31)) // 0 below, 255 above
}
