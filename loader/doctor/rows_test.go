package doctor_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"nmn/internal/expect"
	"nmn/loader"
	"nmn/loader/doctor"
	"nmn/loader/features"
	"nmn/text"

	dense "gorgonia.org/tensor"
)

// vectors are rows in memory; one that is not finite is refused as a file's is.
type vectors [][]float32

func (v vectors) Frames(int) int { return 1 }
func (v vectors) Width() int     { return len(v[0]) }

func (v vectors) Read(ctx context.Context, bag, _ int, dst []float32) error {
	for _, x := range v[bag] {
		if math.IsInf(float64(x), 0) {
			return fmt.Errorf("row %d is infinite: %w: %w", bag+1, loader.ErrCorrupt, features.ErrValue)
		}
	}
	copy(dst, v[bag])
	return ctx.Err()
}

func rowsOf(t *testing.T, name string, rows vectors) doctor.Split {
	t.Helper()
	vocabulary, err := text.NewVocabulary([]text.Word{{Text: "cat"}, {Text: "dog"}})
	expect.OK(t, err)
	set := &loader.Set{Name: name, Vocabulary: vocabulary, Vectors: rows}
	labels := make([]uint8, 2*len(rows))
	for i := range rows {
		set.IDs = append(set.IDs, fmt.Sprint(i+1)) // by row, as if a file has no names
		labels[2*i+i%2] = 1
	}
	set.Labels = dense.New(dense.WithShape(len(rows), 2), dense.WithBacking(labels))
	return doctor.Split{Name: name, Set: set}
}

func ordinaryRows(n, from int) vectors {
	rows := make(vectors, n)
	for i := range rows {
		rows[i] = []float32{float32(from + i), float32((from+i)%7) - 3}
	}
	return rows
}

func TestExamine_SoundRows(t *testing.T) {
	r := examine(t, options(), rowsOf(t, "train", ordinaryRows(24, 0)), rowsOf(t, "test", ordinaryRows(6, 50)))
	if len(r.Findings) != 0 || r.Features.Width != 2 || r.Splits[1].Rows.Rows != 6 {
		t.Errorf("findings %+v, features %+v; identifiers by row are no shared ones", r.Findings, r.Features)
	}
}

func TestExamine_RowsThatCannotBeLearned(t *testing.T) {
	nan, infinite := float32(math.NaN()), float32(math.Inf(1))
	rows := ordinaryRows(24, 0)
	rows[3][1], rows[5][0], rows[6][1] = nan, infinite, nan
	r := examine(t, options(), rowsOf(t, "train", rows))
	wantFinding(t, r, doctor.Error, "missing-values")
	wantFinding(t, r, doctor.Error, "unusable-rows")
	if s := r.Splits[0].Rows; s.Incomplete != 2 || s.Missing != 2 || s.Unusable != 1 {
		t.Errorf("rows %+v", s)
	}
	o := options()
	o.Missing, o.Standardise, o.MaxBadSamples = true, true, 1
	r = examine(t, o, rowsOf(t, "train", rows))
	wantFinding(t, r, doctor.Note, "missing-values")
	wantFinding(t, r, doctor.Warning, "unusable-rows")
}

func TestExamine_ColumnsAndCopiesOfRows(t *testing.T) {
	train, test := ordinaryRows(24, 0), ordinaryRows(6, 50)
	for i := range train {
		train[i] = []float32{train[i][0], 5, 1e5 * train[i][1]}
	}
	for i := range test {
		test[i] = []float32{test[i][0], 5, 1e5 * test[i][1]}
	}
	test[2], train[9] = train[4], train[8]
	r := examine(t, options(), rowsOf(t, "train", train), rowsOf(t, "test", test))
	wantFinding(t, r, doctor.Warning, "scale")
	if f := wantFinding(t, r, doctor.Note, "constant-features"); !slices.Equal(f.Examples, []string{"column 2"}) {
		t.Errorf("constant features %q", f.Examples)
	}
	if f := wantFinding(t, r, doctor.Warning, "duplicates-across"); !slices.Equal(f.Examples,
		[]string{"train 5 = test 3"}) {
		t.Errorf("copies %q", f.Examples)
	}
	if n := r.Splits[0].Rows.Duplicates; n != 1 {
		t.Errorf("%d copies within train, want 1", n)
	}
	o := options()
	o.Standardise = true
	for _, f := range examine(t, o, rowsOf(t, "train", train), rowsOf(t, "test", test)).Findings {
		if f.Kind == "scale" {
			t.Errorf("finding %+v although features are standardised", f)
		}
	}
}
