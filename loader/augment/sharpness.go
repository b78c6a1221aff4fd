package augment

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
