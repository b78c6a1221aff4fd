package augment

// sharpness multiplies the distance of a picture to a smoothed copy. The copy averages 3×3 pixels, the middle one five
// times; pixels at the edge stay as they are.
func (w *Worker) sharpness(v *view, factor float64) {
	if v.width < 3 || v.height < 3 {
		return
	}
	var d differences
	d.plan(factor)
	before := v.copyInto(&w.scratch)
	for y := 1; y < v.height-1; y++ {
		above, here, below := before.row(y-1), before.row(y), before.row(y+1)
		row := v.row(y)
		for i := 3; i < len(row)-3; i++ {
			const weights = 13
			sum := int(above[i-3]) + int(above[i]) + int(above[i+3]) + int(here[i-3]) + 5*int(here[i]) +
				int(here[i+3]) + int(below[i-3]) + int(below[i]) + int(below[i+3])
			row[i] = d.blend((2*sum+weights)/(2*weights), int(here[i]))
		}
	}
}
