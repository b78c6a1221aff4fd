package labels

import (
	"math"
	"slices"

	"nmn/text"
)

// Row is one word's line in a table of rates. Numbers that the table does not have are NaN.
type Row struct {
	Word string
	POS  text.POS
	// Q01 and Q10 are the rates as a model or an estimate has them, T01 and T10 the true ones.
	Q01, Q10, T01, T10 float64
	// The bounds of the intervals around an estimate.
	Q01Low, Q01High, Q10Low, Q10High float64
	// A and B make a calibrated logit of p(y=1) of a score o: A o + B.
	A, B    float64
	Labels  int    // observed labels; not read back
	Remarks string // why the rates are unreliable, or another note for the reader
}

// NewRow is a row without numbers.
func NewRow(word text.Word) Row {
	r := Row{Word: word.Text, POS: word.POS}
	for _, column := range numbers {
		*r.number(column) = math.NaN()
	}
	return r
}

// The columns of numbers: rates, which lie in 0 to 1, and the calibration.
var (
	rateColumns = []string{"q01", "q10", "t01", "t10", "q01_low", "q01_high", "q10_low", "q10_high"}
	numbers     = append(slices.Clone(rateColumns), "a", "b")
)

// number is the field of a column of numbers, nil of any other.
func (r *Row) number(column string) *float64 {
	return map[string]*float64{
		"q01": &r.Q01, "q10": &r.Q10, "t01": &r.T01, "t10": &r.T10,
		"q01_low": &r.Q01Low, "q01_high": &r.Q01High, "q10_low": &r.Q10Low, "q10_high": &r.Q10High,
		"a": &r.A, "b": &r.B,
	}[column]
}

// Table is a file of noise rates: a row for each word, in class order.
type Table []Row

// Rates are the columns q01 and q10.
func (t Table) Rates() *Rates {
	return t.pairs(func(r *Row) (float64, float64) { return r.Q01, r.Q10 })
}

// TrueRates are the columns t01 and t10.
func (t Table) TrueRates() *Rates {
	return t.pairs(func(r *Row) (float64, float64) { return r.T01, r.T10 })
}

func (t Table) pairs(of func(*Row) (q01, q10 float64)) *Rates {
	rates := NewRates(len(t))
	for c := range t {
		rates.Q01[c], rates.Q10[c] = of(&t[c])
	}
	return rates
}

// Calibration returns the columns a and b, nil if the table does not have them.
func (t Table) Calibration() (a, b []float64) {
	for _, r := range t {
		if math.IsNaN(r.A) || math.IsNaN(r.B) {
			return nil, nil
		}
		a, b = append(a, r.A), append(b, r.B)
	}
	return a, b
}
