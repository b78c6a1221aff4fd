package augment

// grey is the luminance of a colour (ITU-R 601), in the 16 bits that Pillow rounds it with.
func grey(r, g, b uint8) int {
	return int((uint32(r)*19595 + uint32(g)*38470 + uint32(b)*7471 + 1<<15) >> 16)
}

// meanGrey is the mean luminance of a picture, rounded, halves up.
func meanGrey(v *view) int {
	sum := 0
	for y := range v.height {
		row := v.row(y)
		for i := 0; i+2 < len(row); i += 3 {
			sum += grey(row[i], row[i+1], row[i+2])
		}
	}
	return int(float64(sum)/float64(max(v.width*v.height, 1)) + .5)
}

// brightness multiplies all colours.
func brightness(v *view, factor float64) { multiply(v, factor, 0) }

// contrast multiplies the distance of all colours to the mean grey.
func contrast(v *view, factor float64) { multiply(v, factor, meanGrey(v)) }

// multiply multiplies the distance of all values to a base.
func multiply(v *view, factor float64, base int) {
	var d differences
	d.plan(factor)
	t := d.blendTo(base)
	t.apply(v)
}

// saturation multiplies the distance of all colours to their own grey.
func saturation(v *view, factor float64) {
	var d differences
	d.plan(factor)
	for y := range v.height {
		row := v.row(y)
		for i := 0; i+2 < len(row); i += 3 {
			r, g, b := row[i], row[i+1], row[i+2]
			base := grey(r, g, b)
			row[i], row[i+1], row[i+2] = d.blend(base, int(r)), d.blend(base, int(g)), d.blend(base, int(b))
		}
	}
}

// hue turns the hue by a share of the full circle, -.5 to .5. Hue, saturation and value have 8 bits each, as
// in Pillow's mode HSV.
func hue(v *view, shift float64) {
	turn := uint8(int(shift * 255)) // modulo 256, as torchvision adds it
	for y := range v.height {
		row := v.row(y)
		for i := 0; i+2 < len(row); i += 3 {
			r, g, b := row[i], row[i+1], row[i+2]
			if r == g && g == b {
				continue // grey has no hue
			}
			h, s, value := toHSV(r, g, b)
			row[i], row[i+1], row[i+2] = toRGB(h+turn, s, value)
		}
	}
}

// toHSV rounds where Pillow does; the colours are not all equal.
func toHSV(r, g, b uint8) (h, s, v uint8) {
	most, least := max(r, g, b), min(r, g, b)
	span := float32(most - least)
	var turn float32 // sixths of the circle
	switch red, green, blue := float32(most-r)/span, float32(most-g)/span, float32(most-b)/span; {
	case r == most:
		turn = blue - green
	case g == most:
		turn = float32(2 + float64(red) - float64(blue))
	default:
		turn = float32(4 + float64(green) - float64(red))
	}
	around := float64(turn)/6 + 1 // at least 5/6 and less than 2
	if around >= 1 {
		around--
	}
	return uint8(int32(float64(float32(around)) * 255)), uint8(int32(float64(span/float32(most)) * 255)), most
}

func toRGB(h, s, v uint8) (r, g, b uint8) {
	if s == 0 {
		return v, v, v
	}
	turn, share, value := float64(h)*6/255, float32(float64(s)/255), float64(v)
	sector := int32(turn)
	f := float32(turn - float64(sector))
	p, q := nearest(value*(1-float64(share))), nearest(value*(1-float64(share*f)))
	t := nearest(value * (1 - float64(share)*(1-float64(f))))
	switch sector {
	case 0, 6:
		return v, t, p
	case 1:
		return q, v, p
	case 2:
		return p, v, t
	case 3:
		return p, q, v
	case 4:
		return t, p, v
	}
	return v, p, q
}

// nearest rounds a number of 0 to 255, halves up.
func nearest(v float64) uint8 { return uint8(int32(float64(v) + .5)) } // converted: not fused with a product

// sharpness multiplies the distance of a picture to a smoothed copy. The copy averages 3×3 pixels, the middle one five
// times; pixels at the edge stay as they are.
func (w *Worker) sharpness(v *view, factor float64) {
	if v.width < 3 || v.height < 3 {
		return
	}
	var d differences
	d.plan(factor)
	const weights = 13
	before := v.copyInto(&w.scratch)
	if n := 3 * v.width; cap(w.columns) < n {
		w.columns = make([]uint16, n)
	}
	columns := w.columns[:3*v.width] // sums of three rows
	for y := 1; y < v.height-1; y++ {
		above, here, below := before.row(y-1), before.row(y), before.row(y+1)
		row := v.row(y)
		for i := range columns {
			columns[i] = uint16(above[i]) + uint16(here[i]) + uint16(below[i])
		}
		for i := 3; i < len(columns)-3; i++ {
			value := uint32(here[i])
			sum := uint32(columns[i-3]) + uint32(columns[i]) + uint32(columns[i+3]) + 4*value
			row[i] = d.blend(int((2*sum+weights)/(2*weights)), int(value))
		}
	}
}
