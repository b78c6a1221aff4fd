package multiclass

// Thresholds of the plateau. The surest rows of a class are those for which it is the likeliest, by its score.
const (
	// Labels agree with the surest rows, up to surestRows, no more often than with the next ones, up to nextRows,
	// but for plateauSlope.
	surestRows, nextRows = .15, .5
	plateauSlope         = .06
	// leastPlateau and mostPlateau bound the agreement: below, the classifier has learned too little. Above, there is
	// hardly any noise.
	leastPlateau, mostPlateau = .45, .92
	// plateauRows of a class are counted, the share countedRows, with a prior of plateauPrior labels that are
	// spread evenly.
	plateauRows, countedRows, plateauPrior = 25, .3, 5.
)

// plateau is directed noise with T from the labels of the surest rows of each class. A classifier that has
// learned such noise explains the labels without any: its scores are p(z|x). Without noise, labels agree with
// the surest rows more often than with less sure ones. With noise that depends on the class alone, the
// agreement reaches a plateau below 1. The result is nil if there is none.
func (f *fitting) plateau(m Model, in *Input, likeliest [][]int32) *Model {
	t := plateau(in, likeliest)
	if t == nil {
		return nil
	}
	m.Noise, m.held, m.Pooled, m.given = Directed, true, meanError(t, m.Classes), transposed(t, m.Classes)
	out, _ := f.fit(m, everyRow)
	return out
}

func plateau(in *Input, likeliest [][]int32) []float64 {
	k := in.Classes
	var agree, rows [2]float64
	cells, counted, wrong, all := make([]float64, k*k), make([]float64, k), 0., 0.
	for y, found := range likeliest {
		n := float64(len(found))
		for at, i := range found {
			z := int(in.Labels[i])
			side := 0
			if at >= int(surestRows*n) {
				side = 1
			}
			if at < int(nextRows*n) {
				rows[side]++
				if z == y {
					agree[side]++
				}
			}
			if at < int(countedRows*n) {
				cells[y*k+z]++
				counted[y]++
			}
		}
		if counted[y] >= plateauRows {
			all += counted[y]
			wrong += counted[y] - cells[y*k+y]
		}
	}
	if all == 0 || rows[0] == 0 || rows[1] == 0 {
		return nil
	}
	top, next := agree[0]/rows[0], agree[1]/rows[1]
	if top < leastPlateau || top > mostPlateau || top-next > plateauSlope {
		return nil
	}
	t := even(wrong/all, k)
	for y := range k {
		row := t[y*k : (y+1)*k]
		if counted[y] >= plateauRows {
			for z := range row {
				row[z] = (cells[y*k+z] + plateauPrior*row[z]) / (counted[y] + plateauPrior)
			}
		}
		for z := range row {
			if z != y && row[y] <= row[z] { // the own label of each class is the most frequent one
				return nil
			}
		}
	}
	return t
}
