package rows

// newest is the weight of the next label in the quality of a row.
const newest = .8

// keptWrong is the number of a row's labels that count: the weight of the others is below 2^-53.
const keptWrong = 24

// Aggregate makes one score of the labels of a row. Add them one by one, and Reset it before the next row.
//
// With s_k = p(y=z|z,o) the probability that a label is right, in descending order s_(1) >= ... >= s_(K),
//
//	e_1 = s_(1),  e_k = .8 s_(k) + .2 e_(k-1),  quality = e_K
//
// an exponential moving average that the worst labels dominate (Thyagarajan, Snorrason, Northcutt and
// Mueller, "Identifying Incorrect Annotations in Multi-Label Classification Data", 2022; there, s_k is the
// classifier's probability of the given label).
type Aggregate struct {
	wrong [keptWrong]float64 // the least right labels, descending
	n     int                // number of them
}

// Reset makes it ready for another row.
func (a *Aggregate) Reset() { a.n = 0 }

// Add counts a label in, by the probability that it is wrong.
func (a *Aggregate) Add(wrong float64) {
	at := a.n
	if at == keptWrong {
		if wrong <= a.wrong[at-1] {
			return
		}
		at--
	} else {
		a.n++
	}
	for at > 0 && wrong > a.wrong[at-1] {
		a.wrong[at] = a.wrong[at-1]
		at--
	}
	a.wrong[at] = wrong
}

// Quality returns the score of the row, 0 to 1, and false if it has no label.
func (a *Aggregate) Quality() (float64, bool) {
	if a.n == 0 {
		return 0, false
	}
	average := a.wrong[a.n-1] // with s_k it would be 1 - this, because the average is linear
	for k := a.n - 2; k >= 0; k-- {
		average = newest*a.wrong[k] + (1-newest)*average
	}
	return 1 - average, true
}
