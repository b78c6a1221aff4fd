package eval

// F1 holds precision, recall and F1 of binary predictions. O figures are overall: the sums of all cells; C figures are
// class-wise: precision and recall averaged over all classes, then CF1 from those two averages. MacroF1 is the mean of
// the F1 of each class, a different number. 0/0 counts as 0; over an empty group of classes everything is undefined.
type F1 struct {
	OP      Number `json:"op"`
	OR      Number `json:"or"`
	OF1     Number `json:"of1"`
	CP      Number `json:"cp"`
	CR      Number `json:"cr"`
	CF1     Number `json:"cf1"`
	MacroF1 Number `json:"macro_f1"`
}

// confusion counts the cells of one class.
type confusion struct {
	hits, predicted, positives int
}

func (c confusion) precision() float64 { return ratio(c.hits, c.predicted) }
func (c confusion) recall() float64    { return ratio(c.hits, c.positives) }
func (c confusion) f1() float64        { return harmonic(c.precision(), c.recall()) }

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func harmonic(p, r float64) float64 {
	if p+r == 0 {
		return 0
	}
	return 2 * p * r / (p + r)
}

// newF1 summarises the given classes.
func newF1(classes []int, of func(class int) confusion) F1 {
	if len(classes) == 0 {
		u := Undefined()
		return F1{OP: u, OR: u, OF1: u, CP: u, CR: u, CF1: u, MacroF1: u}
	}
	var all confusion
	var precision, recall, f1 float64
	for _, c := range classes {
		k := of(c)
		all.hits += k.hits
		all.predicted += k.predicted
		all.positives += k.positives
		precision += k.precision()
		recall += k.recall()
		f1 += k.f1()
	}
	n := float64(len(classes))
	cp, cr := precision/n, recall/n
	return F1{
		OP: Number(all.precision()), OR: Number(all.recall()), OF1: Number(all.f1()),
		CP: Number(cp), CR: Number(cr), CF1: Number(harmonic(cp, cr)), MacroF1: Number(f1 / n),
	}
}

// topClasses writes the k classes of a row with the largest scores into best, largest first; among
// equal scores the lower class index wins. best has room for k <= len(row).
func topClasses(row []float32, best []int32) {
	held := 0
	for c, s := range row {
		if held == len(best) && s <= row[best[held-1]] {
			continue
		}
		at := held
		if held < len(best) {
			held++
		} else {
			at--
		}
		for at > 0 && s > row[best[at-1]] {
			best[at] = best[at-1]
			at--
		}
		best[at] = int32(c)
	}
}
