package annotators

import (
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
)

// million is a million rows: three of 10,000 annotators for each bag, about four labels each, of 100 classes.
func million() Input {
	const bags, annotators, classes = 333_334, 10_000, 100
	in := Input{Bags: bags, Annotators: annotators, Classes: classes}
	s := rng.New(1)
	for i := range bags {
		truth := [4]int{s.Intn(classes), s.Intn(classes), s.Intn(classes), s.Intn(classes)}
		for v := range 3 {
			row := Row{Bag: int32(i), Annotator: int32((s.Intn(annotators/3))*3 + v)}
			gave := map[int]bool{}
			for _, k := range truth {
				if s.Float64() < .7 {
					gave[k] = true
				}
			}
			if s.Float64() < .3 {
				gave[s.Intn(classes)] = true
			}
			for k := range classes {
				if gave[k] {
					row.Given = append(row.Given, int32(k))
				}
			}
			in.Rows = append(in.Rows, row)
		}
	}
	return in
}

// It takes 6 s of processor time on an AMD EPYC (2026). Minutes would mean that the sums are no longer sparse.
func BenchmarkEstimate_MillionRows(b *testing.B) {
	in := million()
	for b.Loop() {
		r, err := Estimate(b.Context(), in, DefaultOptions())
		expect.OK(b, err)
		b.ReportMetric(float64(r.Iterations), "iterations")
	}
}
