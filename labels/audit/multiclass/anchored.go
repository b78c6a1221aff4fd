package multiclass

import "math"

// mostAnchored is the largest number of classes for which anchors decide. With so few classes, the shifts of
// the calibration can imitate a direction of the noise, and the likelihood decides little.
const mostAnchored = 3

// The anchors of a class are its surest rows: so large a share of the rows with its label, and no fewer than
// anchorRows.
const (
	anchorShare = .1
	anchorRows  = 25
	// leastAnchors is the fewest that count as evidence.
	leastAnchors = 10
	// cleanAnchors is the most errors of a class that the classifier is sure of, and anchoredGain how much better rates of
	// errors of each class explain the labels of anchors than one rate, in the logarithm of the likelihood.
	cleanAnchors = .05
	anchoredGain = 6.
)

// anchored is directed noise with T from the labels of the anchors (Patrini et al., 2017); nil if they show none: if no
// class has clean anchors, the classifier may be unsure of all, and errors of anchors are its own.
func (f *fitting) anchored(m Model, in *Input, likeliest [][]int32) *Model {
	k := m.Classes
	if k > mostAnchored {
		return nil
	}
	sizes, cells := make([]int, k), make([]float64, k*k)
	for _, found := range likeliest {
		for _, i := range found {
			sizes[in.Labels[i]]++
		}
	}
	least, all, wrong, gain := 1., 0., 0., 0.
	for y, found := range likeliest {
		found = found[:min(len(found), max(int(anchorShare*float64(sizes[y])), anchorRows))]
		errors := 0.
		for _, i := range found {
			z := int(in.Labels[i])
			cells[z*k+y]++
			if z != y {
				errors++
			}
		}
		n := float64(len(found))
		if len(found) >= leastAnchors {
			least = min(least, (errors+.5)/(n+1))
		}
		all, wrong, gain = all+n, wrong+errors, gain+binomial(errors, n)
	}
	if least > cleanAnchors || gain-binomial(wrong, all) < anchoredGain {
		return nil
	}
	m.Noise, m.held = Directed, true
	m.given, m.Pooled = drawn(cells, k)
	out, _ := f.fit(m, everyRow)
	return out
}

// binomial is the logarithm of the largest likelihood of some of n.
func binomial(some, n float64) float64 {
	if some == 0 || some == n {
		return 0
	}
	return some*math.Log(some/n) + (n-some)*math.Log(1-some/n)
}
