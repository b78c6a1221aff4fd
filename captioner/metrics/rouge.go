package metrics

// rouge is ROUGE-L (Lin, 2004): the F measure of the longest common subsequence, in which recall weighs more.
// It uses the best precision and the best recall among the references, which may belong to different ones.
func (r *Result) rouge(items []item) {
	for i, it := range items {
		s := rougeL(it)
		r.Captions[i].ROUGEL = s
		r.All.ROUGEL += s / float64(len(items))
	}
}

func rougeL(it item) float64 {
	const beta = 1.2
	precision, recall := 0., 0.
	for _, reference := range it.references {
		if common := float64(longestCommon(it.candidate, reference)); common > 0 {
			precision = max(precision, common/float64(len(it.candidate)))
			recall = max(recall, common/float64(len(reference)))
		}
	}
	if precision == 0 || recall == 0 {
		return 0
	}
	return (1 + beta*beta) * precision * recall / (recall + beta*beta*precision)
}

// longestCommon is the length of the longest common subsequence.
func longestCommon(a, b []string) int {
	row := make([]int, len(b)+1) // row[j]: of the words of a so far and the first j of b
	for _, w := range a {
		diagonal := 0
		for j, v := range b {
			above := row[j+1]
			if w == v {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return row[len(b)]
}
