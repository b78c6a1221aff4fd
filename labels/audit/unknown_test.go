package audit

import (
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"nmn/format/table"
	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/labels"
)

// withGaps returns bags with true and given labels; with gaps, each is followed by one whose labels are
// unknown.
func withGaps(t *testing.T, gaps bool) Input {
	t.Helper()
	const bags, classes = 300, 4
	s := rng.New(5, 1)
	in := Input{Classes: classes, Rates: &labels.Rates{Q01: []float64{.2, .2, .2, .2}, Q10: []float64{.02, .02, .02, .02}}}
	for i := range 2 * bags {
		if i%2 == 0 || gaps {
			in.Bags++
		}
		for range classes {
			o, y := s.Normal(0, 3), uint8(0)
			if o > 0 {
				y = 1
			}
			z := y
			if s.Float64() < .1 {
				z ^= 1
			}
			if i%2 == 1 {
				if z = table.Unknown; !gaps {
					continue
				}
			}
			in.Logits, in.Labels, in.Truth = append(in.Logits, float32(o)), append(in.Labels, z), append(in.Truth, y)
		}
	}
	return in
}

// Bags whose labels are unknown change nothing, and no unknown label is a suspect.
func TestRun_LeavesUnknownLabelsOut(t *testing.T) {
	whole, part := withGaps(t, true), withGaps(t, false)
	got := expect.Value(Run(whole, .5))(t)
	want := expect.Value(Run(part, .5))(t)
	if n := len(want.Suspects); n < 20 || len(got.Suspects) != n || !reflect.DeepEqual(got.Classes, want.Classes) {
		t.Fatalf("%d suspects, want %d; classes %+v, want %+v", len(got.Suspects), n, got.Classes, want.Classes)
	}
	for i, s := range got.Suspects {
		if s.Bag /= 2; s != want.Suspects[i] {
			t.Errorf("suspect %d is %+v, want %+v", i, s, want.Suspects[i])
		}
	}
	for i, row := range got.Rows {
		if i%2 == 1 && (row.Worst != -1 || row.Suspects != 0) || i%2 == 0 && row != want.Rows[i/2] {
			t.Errorf("row %d is %+v", i, row)
		}
	}
	judged := expect.Value(Judge(whole, []int{10, 100, 1e6}))(t)
	wanted, err := Judge(part, []int{10, 100, 1e6})
	if err != nil || judged.Wrong < 20 {
		t.Fatal(err, judged)
	}
	for k := range judged.Posterior.PrecisionAt { // undefined values equal nothing
		for _, pair := range [][2]Ranking{{judged.Posterior, wanted.Posterior}, {judged.Difference, wanted.Difference}} {
			if a, b := pair[0].PrecisionAt[k], pair[1].PrecisionAt[k]; a != b && (a == a || b == b) {
				t.Errorf("precision at %d is %v, want %v", k, a, b)
			}
		}
	}
	if judged.Wrong != wanted.Wrong || judged.Confident != wanted.Confident ||
		judged.Posterior.AP != wanted.Posterior.AP || judged.Difference.AP != wanted.Difference.AP {
		t.Errorf("judged as %+v, want %+v", judged, wanted)
	}
}

// Unknown labels of single cells stay unknown in corrected files.
func TestWriteLabels_KeepsUnknownOnes(t *testing.T) {
	in := grid()
	in.IDs, in.Words = []string{"a", "b, the \"second\""}, []string{"cat", "dog", "cow"}
	in.Labels[4] = table.Unknown
	found, err := Run(in, 0)
	if err != nil || len(found.Suspects) != 5 {
		t.Fatal(err, found)
	}
	fixed, _, err := Corrected(in, nil, found.Suspects, "all")
	expect.OK(t, err)
	path := filepath.Join(t.TempDir(), "z.csv")
	expect.OK(t, WriteLabels(path, in, fixed))
	m, err := table.ReadKnownLabels(path)
	if err != nil || !slices.Equal(m.Values, []float32{1, 0, 1, 0, table.Unknown, 0}) || !slices.Equal(m.IDs, in.IDs) ||
		!slices.Equal(m.Words, in.Words) {
		t.Errorf("%v, %v", m, err)
	}
}
