package multiclass

import (
	"cmp"
	"math"
	"slices"

	"nmn/internal/parallel"
	"nmn/labels"
)

// Confident is the result of confident learning.
type Confident struct {
	Joint []int // K×K, see labels.Joint
	// Flagged are the rows whose label is wrong by the joint's off-diagonal, less the rows whose label has
	// the highest score; ascending.
	Flagged []int
	// Pruned are the rows that pruning by the rate of noise flags, ascending. For each pair of classes their
	// number comes from the joint, scaled to the numbers of labels. The rows taken are those whose other
	// score exceeds the score of the label most.
	Pruned []int
}

// SelfConfidence returns the score of the given label. The lower it is, the more likely the label is wrong.
func (in *Input) SelfConfidence(row int) float64 {
	return float64(in.Scores[row*in.Classes+int(in.Labels[row])])
}

// NormalisedMargin is (p_z - max over y≠z of p_y + 1)/2.
func (in *Input) NormalisedMargin(row int) float64 {
	own, other := in.SelfConfidence(row), 0.0
	for y, p := range in.Scores[row*in.Classes:][:in.Classes] {
		if y != int(in.Labels[row]) {
			other = max(other, float64(p))
		}
	}
	return (own - other + 1) / 2
}

// confidentOf applies confident learning to the rows whose label is known.
func confidentOf(in *Input) Confident {
	known, k := in.known(), in.Classes
	of := make([]int32, len(known))
	for n, i := range known {
		of[n] = in.Labels[i]
	}
	joint := labels.CountConfident(of, k, func(n int, p []float64) {
		for y, v := range in.Scores[int(known[n])*k:][:k] {
			p[y] = float64(v)
		}
	})
	c := Confident{Joint: joint.Counts}
	for n, i := range known {
		scores, z := in.Scores[int(i)*k:][:k], of[n]
		if guess := joint.Guess[n]; guess >= 0 && guess != z &&
			float64(scores[z])+labels.ConfidenceSlack < float64(scores[labels.Largest(scores)]) {
			c.Flagged = append(c.Flagged, int(i))
		}
	}
	c.Pruned = in.pruned(joint.Counts, known, joint.Sizes)
	return c
}

// excess is the difference between another score of a row and the score of its label.
type excess struct {
	row int32
	by  float32
}

// pruned finds the rows that pruning by the rate of noise flags.
func (in *Input) pruned(joint []int, known []int32, sizes []int) (all []int) {
	k := in.Classes
	labelled, flagged := make([][]int32, k), make([]bool, in.Rows)
	for _, i := range known {
		labelled[in.Labels[i]] = append(labelled[in.Labels[i]], i)
	}
	parallel.Blocks(k, 1, func(z, _ int) {
		sum, most, least, largest := 0, make([]int, k), make([]float32, k), make([][]excess, k)
		for _, n := range joint[z*k : (z+1)*k] {
			sum += n
		}
		for y, n := range joint[z*k : (z+1)*k] {
			most[y] = int(math.Round(float64(sizes[z]) * float64(n) / float64(sum)))
		}
		keep := func(y int) {
			slices.SortFunc(largest[y], func(a, b excess) int {
				return cmp.Or(cmp.Compare(b.by, a.by), cmp.Compare(a.row, b.row))
			})
			if n := most[y]; len(largest[y]) >= n {
				largest[y], least[y] = largest[y][:n], largest[y][n-1].by
			}
		}
		for _, i := range labelled[z] {
			scores := in.Scores[int(i)*k:][:k]
			own := scores[z]
			for y, p := range scores {
				if p-own > least[y] && most[y] > 0 { // on ties the first row stays
					if largest[y] = append(largest[y], excess{i, p - own}); len(largest[y]) >= 2*most[y] {
						keep(y)
					}
				}
			}
		}
		for y := range largest {
			if most[y] > 0 {
				keep(y)
			}
			for _, e := range largest[y] {
				flagged[e.row] = true
			}
		}
	})
	for i, is := range flagged {
		if is {
			all = append(all, i)
		}
	}
	return all
}
