package picture

import (
	"image"
	"image/color"
)

// convert writes img as RGB. The buffer already has the size of the picture. If img is smaller, as the first
// frame of a GIF may be, the rest is white.
func (p *Picture) convert(img image.Image) {
	bounds := img.Bounds()
	if whole := image.Rect(0, 0, p.Width, p.Height); bounds != whole {
		for i := range p.Pix {
			p.Pix[i] = 255
		}
		bounds = bounds.Intersect(whole)
	}
	switch img := img.(type) {
	case *image.Gray:
		p.eachRow(bounds, func(y int, row []uint8) { greyRow(row, img.Pix[img.PixOffset(bounds.Min.X, y):]) })
	case *image.RGBA:
		p.eachRow(bounds, func(y int, row []uint8) { premultipliedRow(row, img.Pix[img.PixOffset(bounds.Min.X, y):]) })
	case *image.NRGBA:
		p.eachRow(bounds, func(y int, row []uint8) { alphaRow(row, img.Pix[img.PixOffset(bounds.Min.X, y):]) })
	case *image.CMYK:
		p.eachRow(bounds, func(y int, row []uint8) { cmykRow(row, img.Pix[img.PixOffset(bounds.Min.X, y):]) })
	case *image.Paletted:
		palette := flatten(img.Palette)
		p.eachRow(bounds, func(y int, row []uint8) {
			paletteRow(row, img.Pix[img.PixOffset(bounds.Min.X, y):], &palette)
		})
	default: // 16 bits, and other kinds that a decoder may return
		wide := img.(image.RGBA64Image) // as all kinds of the standard library are
		p.eachRow(bounds, func(y int, row []uint8) {
			for x := range len(row) / 3 {
				setOver(row[3*x:], wide.RGBA64At(bounds.Min.X+x, y))
			}
		})
	}
}

// eachRow calls f with the part of every row that lies within bounds.
func (p *Picture) eachRow(bounds image.Rectangle, f func(y int, row []uint8)) {
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		f(y, p.Pix[3*(y*p.Width+bounds.Min.X):3*(y*p.Width+bounds.Max.X)])
	}
}

func greyRow(row, from []uint8) {
	for i := 0; i+3 <= len(row); i += 3 {
		v := from[i/3]
		row[i], row[i+1], row[i+2] = v, v, v
	}
}

func premultipliedRow(row, from []uint8) {
	for i, j := 0, 0; i+3 <= len(row); i, j = i+3, j+4 {
		white := 255 - from[j+3]
		row[i], row[i+1], row[i+2] = from[j]+white, from[j+1]+white, from[j+2]+white
	}
}

func alphaRow(row, from []uint8) {
	for i, j := 0, 0; i+3 <= len(row); i, j = i+3, j+4 {
		alpha := uint32(from[j+3])
		for c := range 3 {
			row[i+c] = uint8((uint32(from[j+c])*alpha + 255*(255-alpha) + 127) / 255)
		}
	}
}

func cmykRow(row, from []uint8) {
	for i, j := 0, 0; i+3 <= len(row); i, j = i+3, j+4 {
		row[i], row[i+1], row[i+2] = color.CMYKToRGB(from[j], from[j+1], from[j+2], from[j+3])
	}
}

func paletteRow(row, from []uint8, palette *[256][3]uint8) {
	for i := 0; i+3 <= len(row); i += 3 {
		copy(row[i:i+3], palette[from[i/3]][:])
	}
}

// flatten puts the colours of a palette on white. Indices beyond its end are white.
func flatten(palette color.Palette) (flat [256][3]uint8) {
	for i := range flat {
		flat[i] = [3]uint8{255, 255, 255}
		if i < len(palette) {
			setOver(flat[i][:], color.RGBA64Model.Convert(palette[i]).(color.RGBA64))
		}
	}
	return flat
}

// setOver writes a colour with premultiplied alpha, put on white.
func setOver(pixel []uint8, c color.RGBA64) {
	white := 0xffff - c.A
	pixel[0], pixel[1], pixel[2] = uint8((c.R+white)>>8), uint8((c.G+white)>>8), uint8((c.B+white)>>8)
}
