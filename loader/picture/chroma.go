package picture

import (
	"image"
)

// chroma converts a YCbCr picture row by row. Chroma at half the resolution is interpolated: along each axis
// the nearest sample weighs three quarters and the next one a quarter.
type chroma struct {
	img           *image.YCbCr
	bounds        image.Rectangle
	width, height int // samples of the chroma planes
	stepX, stepY  int // luma pixels per sample
	mixed         []uint16
	cb, cr        []uint8 // one row at full resolution
}

func newChroma(img *image.YCbCr, bounds image.Rectangle) *chroma {
	c := &chroma{img: img, bounds: bounds, stepX: 1, stepY: 1}
	switch img.SubsampleRatio {
	case image.YCbCrSubsampleRatio420:
		c.stepX, c.stepY = 2, 2
	case image.YCbCrSubsampleRatio422:
		c.stepX = 2
	case image.YCbCrSubsampleRatio440:
		c.stepY = 2
	case image.YCbCrSubsampleRatio411:
		c.stepX = 4
	case image.YCbCrSubsampleRatio410:
		c.stepX, c.stepY = 4, 2
	}
	c.width = (bounds.Dx() + c.stepX - 1) / c.stepX
	c.height = (bounds.Dy() + c.stepY - 1) / c.stepY
	c.mixed = make([]uint16, c.width)
	c.cb, c.cr = make([]uint8, c.width*c.stepX), make([]uint8, c.width*c.stepX)
	return c
}

func (c *chroma) convert(pic *Picture) {
	pic.eachRow(c.bounds, func(y int, row []uint8) {
		n := len(row) / 3
		luma := c.img.Y[c.img.YOffset(c.bounds.Min.X, y):][:n]
		cb, cr := c.row(c.img.Cb, y, c.cb), c.row(c.img.Cr, y, c.cr)
		pic.Level.YCbCr(row, luma, cb[:n], cr[:n])
	})
}

// row returns row y of a plane at full horizontal resolution, in into or in the plane itself.
func (c *chroma) row(plane []uint8, y int, into []uint8) []uint8 {
	at := (y - c.bounds.Min.Y) / c.stepY
	sample := func(row int) []uint8 {
		row = min(max(row, 0), c.height-1)
		return plane[c.img.COffset(c.bounds.Min.X, c.bounds.Min.Y)+row*c.img.CStride:][:c.width]
	}
	near := sample(at)
	if c.stepX == 1 && c.stepY == 1 {
		return near
	}
	far := near
	if c.stepY == 2 {
		far = sample(at - 1 + 2*((y-c.bounds.Min.Y)&1))
	}
	for i, v := range near { // in quarters
		c.mixed[i] = 3*uint16(v) + uint16(far[i])
	}
	c.widen(into)
	return into
}

// widen interpolates the mixed row along x.
func (c *chroma) widen(into []uint8) {
	mixed := c.mixed
	if c.stepX != 2 { // full resolution, or a quarter, which is repeated
		for i, v := range mixed {
			fillRow(into[c.stepX*i:c.stepX*(i+1)], uint8((v+2)>>2))
		}
		return
	}
	// Halves are rounded up and down by turns, so that the mean does not shift.
	roundEven, roundOdd := uint16(8), uint16(7)
	if c.stepY == 1 {
		roundEven, roundOdd = 4, 8
	}
	last := len(mixed) - 1
	left := mixed[0]
	for i, v := range mixed {
		right := mixed[min(i+1, last)]
		into[2*i] = uint8((3*v + left + roundEven) >> 4)
		into[2*i+1] = uint8((3*v + right + roundOdd) >> 4)
		left = v
	}
}

func fillRow(row []uint8, value uint8) {
	for i := range row {
		row[i] = value
	}
}
