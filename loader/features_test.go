package loader

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/fault"
	"nmn/loader/features"
)

// featureTable opens a table of a few rows.
func featureTable(t *testing.T, csv string, o features.Options) *features.Table {
	t.Helper()
	o.Features = filepath.Join(t.TempDir(), "x.csv")
	expect.OK(t, os.WriteFile(o.Features, []byte(csv), 0o666))
	table, err := features.Open(t.Context(), o)
	expect.OK(t, err)
	t.Cleanup(func() { table.Close() })
	return table
}

// fourRowsSet is the set of the table fourRows.
func fourRowsSet(t *testing.T) *Set {
	t.Helper()
	set, err := FeatureSet("train", featureTable(t, fourRows, features.Options{LabelColumns: []string{"cat", "dog"}}), nil)
	expect.OK(t, err)
	return set
}

func vectorConfig() Config {
	c := DefaultConfig()
	c.BatchSize, c.Size, c.Shuffle, c.Flip = 2, 1, false, false
	return c
}

const fourRows = "id,u,v,cat,dog\na,1,5,1,0\nb,3,5,0,0\nc,5,5,1,1\nd,7,6,0,1\n"

func TestFeatureSet_BatchesOfVectors(t *testing.T) {
	set := fourRowsSet(t)
	if w := set.Vocabulary.Word(1); w.Text != "dog" || w.Count != 2 || set.Labels.Uint8s()[4] != 1 {
		t.Errorf("word %+v, labels %v", w, set.Labels)
	}
	part, err := Subset(set, "part", []int{0, 1, 2})
	expect.OK(t, err)
	standard, moments, err := Measure(t.Context(), part)
	if err != nil || moments.Constant != 1 || !slices.Equal(standard.Mean, []float32{3, 5}) || standard.Scale[1] != 0 {
		t.Fatalf("%+v, %+v, %v", standard, moments, err)
	}
	standard.Scale[0] = .5 // rounder than 1/1.633
	config := vectorConfig()
	config.Standard = standard
	var got, labels []float32
	expect.OK(t, mustLoader(t, set, config).Pass(t.Context(), 0, func(batch *Batch) {
		if batch.Pixels != nil || !slices.Equal(batch.Vectors.Shape(), []int{batch.T, 2}) || batch.T != batch.N {
			t.Errorf("pixels %v, vectors %v for %d frames of %d bags", batch.Pixels, batch.Vectors.Shape(), batch.T, batch.N)
		}
		got, labels = append(got, batch.Vectors.Float32s()...), append(labels, batch.Labels.Float32s()...)
	}))
	// The last row differs in a column that is constant in training: it stays 0.
	if !slices.Equal(got, []float32{-1, 0, 0, 0, 1, 0, 2, 0}) || !slices.Equal(labels, []float32{1, 0, 0, 0, 1, 1, 0, 1}) {
		t.Errorf("vectors %v, labels %v", got, labels)
	}
}

func TestFeatureSet_MissingValuesBecomeTheMean(t *testing.T) {
	table := featureTable(t, "v,cat\n1,0\n?,1\n3,0\n", features.Options{LabelColumns: []string{"cat"}, Missing: true})
	set, err := FeatureSet("train", table, nil)
	expect.OK(t, err)
	standard, _, err := Measure(t.Context(), set)
	expect.OK(t, err)
	config := vectorConfig()
	config.BatchSize, config.Standard = 3, standard
	expect.OK(t, mustLoader(t, set, config).Pass(t.Context(), 0, func(batch *Batch) {
		if !slices.Equal(batch.Vectors.Float32s(), []float32{-1, 0, 1}) || !slices.Equal(batch.IDs, []string{"1", "2", "3"}) {
			t.Errorf("%v, %v", batch.Vectors, batch.IDs)
		}
	}))
}

// Rows that turn out broken when they are read count as bad samples, as broken pictures do.
func TestFeatureSet_BrokenRowsAreBadSamples(t *testing.T) {
	set := fourRowsSet(t)
	set.Vectors = brokenAt{set.Vectors, 1}
	config := vectorConfig()
	config.BatchSize = 4
	err := mustLoader(t, set, config).Pass(t.Context(), 0, func(*Batch) { t.Error("a batch with a broken row") })
	if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "1 rows") ||
		!strings.Contains(err.Error(), "row 2 is no good") {
		t.Error(err)
	}
	config.MaxBadSamples = 1
	expect.OK(t, mustLoader(t, set, config).Pass(t.Context(), 0, func(batch *Batch) {
		if batch.N != 3 || !slices.Equal(batch.Vectors.Float32s(), []float32{1, 5, 5, 5, 7, 6}) {
			t.Errorf("%v", batch.Vectors)
		}
	}))
}

// brokenAt cannot read one row.
type brokenAt struct {
	Vectors
	row int
}

func (b brokenAt) Read(ctx context.Context, bag, frame int, dst []float32) error {
	if bag == b.row {
		return fault.As(ErrCorrupt, errors.New("row 2 is no good"))
	}
	return b.Vectors.Read(ctx, bag, frame, dst)
}

func TestFeatureSet_WithoutLabels(t *testing.T) {
	table := featureTable(t, "v\n1\n2\n", features.Options{})
	if _, err := FeatureSet("x", table, nil); !errors.Is(err, ErrAnnotations) ||
		!strings.Contains(err.Error(), "no labels") {
		t.Errorf("%v", err)
	}
	set, err := FeatureSet("x", table, vocabularyOf(t, "cat", "dog"))
	if err != nil || set.Labels.Shape()[1] != 2 {
		t.Errorf("%v, %v", set, err)
	}
}

func TestNew_RefusesAStandardThatDoesNotFit(t *testing.T) {
	set := fourRowsSet(t)
	config := vectorConfig()
	config.Standard = &Standard{Mean: make([]float32, 3), Scale: make([]float32, 3)}
	if _, err := New(set, config); err == nil || !strings.Contains(err.Error(), "2 features, the standard is for 3") {
		t.Errorf("%v", err)
	}
}

// Each batch has the weights of its bags, also in a part of the set, and the census depends on them.
func TestFeatureSet_WeightsOfBags(t *testing.T) {
	set := fourRowsSet(t)
	before, err := set.Census(t.Context())
	expect.OK(t, err)
	weighted := *set
	weighted.Weights = []float32{.5, 2, 0, 1}
	part, err := Subset(&weighted, "part", []int{3, 1, 0})
	expect.OK(t, err)
	var got []float32
	expect.OK(t, mustLoader(t, part, vectorConfig()).Pass(t.Context(), 0, func(batch *Batch) {
		got = append(got, batch.Weights.Float32s()...)
	}))
	if !slices.Equal(got, []float32{1, 2, .5}) {
		t.Errorf("weights %v", got)
	}
	if after, err := weighted.Census(t.Context()); err != nil || after.Digest == before.Digest {
		t.Errorf("the census with weights is that without: %v", err)
	}
	for _, bad := range [][]float32{{1, 1}, {1, 1, 1, -1}, {1, 1, 1, float32(math.NaN())}} {
		weighted.Weights = bad
		if _, err := New(&weighted, vectorConfig()); err == nil || !strings.Contains(err.Error(), "weight") {
			t.Errorf("weights %v: %v", bad, err)
		}
	}
	config := vectorConfig()
	config.Augment.Mixup = .2
	weighted.Weights = []float32{1, 2, 1, 2}
	if _, err := New(&weighted, config); err == nil || !strings.Contains(err.Error(), "mixup") {
		t.Errorf("mixtures of weighted rows: %v", err)
	}
}
