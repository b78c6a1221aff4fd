package jpeg

// colour is the memory of the rows at work.
type colour struct {
	mixed  []uint16
	chroma [2][]uint8 // at full width
}

// rgb reports whether the components are the colours themselves, as other decoders do.
func (f *frame) rgb() bool {
	switch {
	case f.jfif:
		return false
	case f.adobe:
		return f.transform == 0
	}
	return f.store[0].id == 'R' && f.store[1].id == 'G' && f.store[2].id == 'B'
}

// paint writes the planes as RGB.
func (d *Decoder) paint(rgb []uint8) {
	luma := &d.store[0]
	for i := range d.comps()[1:] {
		d.colour.chroma[i] = sized(d.colour.chroma[i], d.mcus[0]*8*d.most[0])
	}
	d.colour.mixed = sized(d.colour.mixed, d.mcus[0]*8*d.most[0]+2)
	for y := range d.height {
		row, from := rgb[3*d.width*y:3*d.width*(y+1)], luma.row(y)[:d.width]
		if d.components == 1 {
			interleave(row, from, from, from)
			continue
		}
		second, third := d.widened(1, y), d.widened(2, y)
		if d.rgb() {
			interleave(row, from, second, third)
		} else {
			d.Level.YCbCr(row, from, second, third)
		}
	}
}

func interleave(row, r, g, b []uint8) {
	r, g, b = r[:len(row)/3], g[:len(row)/3], b[:len(row)/3]
	for i := range r {
		pixel := row[3*i : 3*i+3 : 3*i+3]
		pixel[0], pixel[1], pixel[2] = r[i], g[i], b[i]
	}
}

// row returns row y of the samples of a component; rows above the first and below the last repeat those rows.
func (c *component) row(y int) []uint8 {
	y = min(max(y, 0), c.size[1]-1)
	return c.plane[y*c.stride():][:c.size[0]]
}

// widened returns row y of a component at full resolution. If the component has half of it, samples are
// interpolated: along each axis the nearest weighs three quarters and the next one a quarter, and halves are
// rounded up and down alternately. At other resolutions, and for rows of at most two samples, samples are
// repeated.
func (d *Decoder) widened(index, y int) []uint8 {
	c, into := &d.store[index], d.colour.chroma[index-1]
	across, down := d.most[0]/c.sampling[0], d.most[1]/c.sampling[1]
	near := c.row(y / down)
	far := c.row(y/down - 1 + 2*(y&1)) // the next sample where down is 2
	switch {
	case across == 1 && down == 1:
		into = near
	case across == 2 && down == 1 && len(near) > 2:
		d.Level.DoubleRow(into[:2*len(near)], near, near, d.colour.mixed, 4, 8)
	case across == 2 && down == 2 && len(near) > 2:
		d.Level.DoubleRow(into[:2*len(near)], near, far, d.colour.mixed, 8, 7)
	case across == 1 && down == 2:
		for i, v := range near {
			into[i] = uint8((3*uint16(v) + uint16(far[i]) + 1 + uint16(y&1)) >> 2)
		}
	default:
		for i, v := range near {
			for j := range across {
				into[i*across+j] = v
			}
		}
	}
	return into[:d.width]
}
