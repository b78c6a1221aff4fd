package augment

// view is a picture on a canvas: RGB rows of Width pixels that begin stride bytes apart.
type view struct {
	pix           []uint8
	stride        int
	width, height int
}

// row is row y of the picture.
func (v *view) row(y int) []uint8 { return v.pix[y*v.stride : y*v.stride+3*v.width] }

// part is a rectangle of it.
func (v *view) part(r Rect) view {
	return view{pix: v.pix[r.Y*v.stride+3*r.X:], stride: v.stride, width: r.Width, height: r.Height}
}

// copyInto packs the picture into memory without gaps, growing it where needed.
func (v *view) copyInto(buffer *[]uint8) view {
	n := 3 * v.width * v.height
	if cap(*buffer) < n {
		*buffer = make([]uint8, n)
	}
	packed := view{pix: (*buffer)[:n], stride: 3 * v.width, width: v.width, height: v.height}
	for y := range v.height {
		copy(packed.row(y), v.row(y))
	}
	return packed
}

// fill gives all pixels one colour.
func (v *view) fill(colour [3]uint8) {
	if v.height == 0 || v.width == 0 {
		return
	}
	first := v.row(0)
	for x := 0; x < len(first); x += 3 {
		first[x], first[x+1], first[x+2] = colour[0], colour[1], colour[2]
	}
	for y := 1; y < v.height; y++ {
		copy(v.row(y), first)
	}
}
