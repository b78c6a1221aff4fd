package multiclass

import (
	"cmp"
	"math"
	"slices"

	"nmn/internal/parallel"
)

// Confident is what confident learning says of the labels.
type Confident struct {
	// Joint is K×K: rows with label z (row) that are confidently of class y (column), at least 1 on the diagonal.
	Joint []int
	// Thresholds are K: the mean score of a class on the rows with its label, from which a row is confidently of it; 1
	// where there are none.
	Thresholds []float64
	// Flagged are the rows whose label is wrong by the joint's off-diagonal, less those where the label has the highest
	// score; ascending.
	Flagged []int
	// Pruned are the rows that pruning by the rate of noise flags, ascending: of each pair of classes as many as the
	// joint, scaled to the numbers of labels, has of them, those whose other score exceeds that of the label most.
	Pruned []int
}

// confidenceSlack forgives rounding in comparisons.
const confidenceSlack = 1e-6

// SelfConfidence is the score of the label given; of two labels of a row the less self-confident is more likely
// wrong.
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

// confidentOf counts the confident joint: a row is confidently of the class whose score reaches its threshold, of
// several of the one with the highest score, of none where there is none.
func confidentOf(in *Input) Confident {
	k := in.Classes
	c := Confident{Joint: make([]int, k*k), Thresholds: make([]float64, k)}
	sizes := make([]int, k)
	known := in.known()
	for _, i := range known {
		z := in.Labels[i]
		c.Thresholds[z] += in.SelfConfidence(int(i))
		sizes[z]++
	}
	for z, n := range sizes {
		if c.Thresholds[z] /= float64(max(n, 1)); n == 0 {
			c.Thresholds[z] = 1
		}
		c.Thresholds[z] = max(c.Thresholds[z], 2*confidenceSlack)
	}
	for _, i := range known {
		z := in.Labels[i]
		scores, found, only := in.Scores[int(i)*k:][:k], 0, -1
		for y, p := range scores {
			if float64(p) >= c.Thresholds[y]-confidenceSlack {
				if found++; only < 0 {
					only = y
				}
			}
		}
		if found > 1 {
			only = argmax(scores)
		}
		if found == 0 {
			continue
		}
		c.Joint[int(z)*k+only]++
		if only != int(z) && float64(scores[z])+confidenceSlack < float64(scores[argmax(scores)]) {
			c.Flagged = append(c.Flagged, int(i))
		}
	}
	for z := range k {
		c.Joint[z*k+z] = max(c.Joint[z*k+z], 1)
	}
	c.Pruned = in.pruned(c.Joint, known, sizes)
	return c
}

// excess is by how much another score of a row exceeds that of its label.
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
			slices.SortFunc(largest[y], func(a, b excess) int { return cmp.Or(cmp.Compare(b.by, a.by), cmp.Compare(a.row, b.row)) })
			if n := most[y]; len(largest[y]) >= n {
				largest[y], least[y] = largest[y][:n], largest[y][n-1].by
			}
		}
		for _, i := range labelled[z] {
			scores := in.Scores[int(i)*k:][:k]
			own := scores[z]
			for y, p := range scores {
				if p-own > least[y] && most[y] > 0 { // of equal ones the first row stays
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
