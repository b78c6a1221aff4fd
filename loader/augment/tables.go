package augment

import "math"

// table maps each value of a colour.
type table [256]uint8

// apply looks all values up, a pixel at a time: where a loop over single values lies in memory may double its time.
func (t *table) apply(v *view) {
	for y := range v.height {
		row := v.row(y)
		for i := 0; i+2 < len(row); i += 3 {
			row[i], row[i+1], row[i+2] = t[row[i]], t[row[i+1]], t[row[i+2]]
		}
	}
}

// remap looks each colour up in a table that is made of its histogram.
func remap(v *view, of func(h [256]int32) table) {
	h := histograms(v)
	var t [3]table
	for c := range t {
		t[c] = of(h[c]) // by value: a pointer would cost an allocation for each picture
	}
	for y := range v.height {
		row := v.row(y)
		for i := 0; i+2 < len(row); i += 3 {
			row[i], row[i+1], row[i+2] = t[0][row[i]], t[1][row[i+1]], t[2][row[i+2]]
		}
	}
}

// clip is v between 0 and 255.
func clip(v int) uint8 { return uint8(min(max(v, 0), 255)) }

// differences holds the terms that a blend adds to the base colour: for each difference of a picture to it,
// from -255 to 255, the difference times a factor, rounded down.
type differences [511]int16

func (d *differences) plan(factor float64) {
	// Pillow adds the product to the base in float32, which rounds what lies this close below a whole number up to it.
	const rounding = 1. / (1 << 17)
	f := float32(factor)
	for i := range d {
		p := math.Floor(float64(f*float32(i-255)) + rounding)
		d[i] = int16(min(max(p, -512), 512))
	}
}

// blend is base + factor·(value - base), rounded down and clipped: Image.blend of Pillow.
func (d *differences) blend(base, value int) uint8 { return clip(base + int(d[value-base+255])) }

// blendTo makes a table of the blend of all values with one base colour.
func (d *differences) blendTo(base int) (t table) {
	for v := range t {
		t[v] = d.blend(base, v)
	}
	return t
}

// posterize keeps the first bits of each colour.
func posterize(v *view, bits int) {
	mask := ^uint8(0) << (8 - min(max(bits, 0), 8))
	var t table
	for i := range t {
		t[i] = uint8(i) & mask
	}
	t.apply(v)
}

// solarize inverts colours from a threshold on.
func solarize(v *view, threshold float64) {
	var t table
	for i := range t {
		t[i] = uint8(i)
		if float64(i) >= threshold {
			t[i] = uint8(255 - i)
		}
	}
	t.apply(v)
}

// histograms count the values of each colour.
func histograms(v *view) (h [3][256]int32) {
	for y := range v.height {
		row := v.row(y)
		for i := 0; i+2 < len(row); i += 3 {
			h[0][row[i]]++
			h[1][row[i+1]]++
			h[2][row[i+2]]++
		}
	}
	return h
}

// autoContrast stretches each colour to 0 to 255.
func autoContrast(v *view) { remap(v, stretched) }

func stretched(h [256]int32) (t table) {
	least, most := 0, 255
	for least < 255 && h[least] == 0 {
		least++
	}
	for most > 0 && h[most] == 0 {
		most--
	}
	scale := 1.
	if most > least {
		scale = 255 / float64(most-least)
	}
	for i := range t {
		t[i] = uint8(i)
		if most > least {
			t[i] = clip(int(float64(float64(i)*scale) - float64(float64(least)*scale))) // converted: not fused
		}
	}
	return t
}

// equalize makes the histogram of each colour as flat as a table can.
func equalize(v *view) { remap(v, flattened) }

func flattened(h [256]int32) (t table) {
	last, all := 0, 0
	for i, n := range h {
		if n > 0 {
			last, all = i, all+int(n)
		}
	}
	step := (all - int(h[last])) / 255
	sum := step / 2
	for i := range t {
		t[i] = uint8(i)
		if step > 0 {
			t[i] = clip(sum / step)
		}
		sum += int(h[i])
	}
	return t
}
