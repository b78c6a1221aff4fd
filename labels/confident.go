package labels

// Joint is what confident learning counts of labels (Northcutt, Jiang and Chuang, "Confident Learning: Estimating
// Uncertainty in Dataset Labels", JAIR 2021).
type Joint struct {
	// Counts is K×K: rows with label z (row) that are confidently of class y (column), at least 1 on the
	// diagonal. A row is confidently of the class whose score reaches its threshold; if several do, of the
	// one with the highest score.
	Counts []int
	// Thresholds are K: the mean score of a class on the rows with its label; 1 if there are none.
	Thresholds []float64
	Sizes      []int   // K: rows with each label
	Guess      []int32 // per row: the class that it is confidently of; -1 for none
}

// ConfidenceSlack forgives rounding in comparisons of scores.
const ConfidenceSlack = 1e-6

// CountConfident counts the joint of the rows with labels z. scores writes the scores of a row, one for each class.
func CountConfident[Z uint8 | int32](z []Z, classes int, scores func(row int, p []float64)) *Joint {
	j := &Joint{Counts: make([]int, classes*classes), Thresholds: make([]float64, classes), Sizes: make([]int, classes),
		Guess: make([]int32, len(z))}
	p := make([]float64, classes)
	for i, z := range z {
		scores(i, p)
		j.Thresholds[z] += p[z]
		j.Sizes[z]++
	}
	for z, n := range j.Sizes {
		if j.Thresholds[z] /= float64(max(n, 1)); n == 0 {
			j.Thresholds[z] = 1
		}
		j.Thresholds[z] = max(j.Thresholds[z], 2*ConfidenceSlack)
	}
	for i, z := range z {
		scores(i, p)
		guess := -1
		for y, v := range p {
			if v >= j.Thresholds[y]-ConfidenceSlack {
				if guess >= 0 {
					guess = Largest(p)
					break
				}
				guess = y
			}
		}
		if j.Guess[i] = int32(guess); guess >= 0 {
			j.Counts[int(z)*classes+guess]++
		}
	}
	for z := range classes {
		j.Counts[z*classes+z] = max(j.Counts[z*classes+z], 1)
	}
	return j
}
