package run

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/loader"
	"nmn/loader/features"
	"nmn/text"
)

func TestPredictionsWriteFile_HoldsEveryProbability(t *testing.T) {
	v := expect.Value(text.NewVocabulary([]text.Word{{Text: "dog"}, {Text: "cat"}}))(t)
	p := &Predictions{Vocabulary: v, Probabilities: []float32{.25, 1, 1e-9, .1}, Threshold: .5,
		set: &loader.Set{IDs: []string{"a", "b", "c"}}, names: []string{"a", "b", "c"}, index: []int{0, 2}}
	dir := t.TempDir()
	matrix, table := filepath.Join(dir, "p.npy"), filepath.Join(dir, "p.csv")
	for _, path := range []string{matrix, table} {
		expect.OK(t, p.WriteFile(path))
	}
	rows := expect.Value(features.Open(t.Context(), features.Options{Features: matrix}))(t)
	defer rows.Close()
	if rows.Rows.Len() != 2 || rows.Rows.Width() != 2 {
		t.Fatalf("%d×%d, want 2×2", rows.Rows.Len(), rows.Rows.Width())
	}
	row := make([]float32, 2)
	for i := range 2 {
		if err := rows.Rows.Read(i, row); err != nil || !slices.Equal(row, p.Probabilities[2*i:2*i+2]) {
			t.Errorf("row %d is %v (%v), want %v", i, row, err, p.Probabilities[2*i:2*i+2])
		}
	}
	var want bytes.Buffer
	expect.OK(t, p.WriteTable(&want))
	if got, err := os.ReadFile(table); err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("the table is %q (%v), want %q", got, err, want.Bytes())
	}
	if err := p.WriteFile(filepath.Join(dir, "p.txt")); err == nil || !strings.Contains(err.Error(), ".npy or .csv") {
		t.Errorf("a .txt: %v, want an error that says which endings there are", err)
	}
}

func TestShard_RangesFollowOneAnother(t *testing.T) {
	for _, n := range []int{5, 7, 64, 1000} {
		at := 0
		for i := range 5 {
			from, to, err := Shard{i + 1, 5}.Range(n, "pictures")
			if err != nil || from != at || to <= from {
				t.Errorf("shard %d of 5 of %d elements: %d to %d, want from %d: %v", i+1, n, from, to, at, err)
			}
			at = to
		}
		if at != n {
			t.Errorf("the shards of %d elements end at %d", n, at)
		}
	}
	if from, to, err := (Shard{}).Range(9, "pictures"); from != 0 || to != 9 || err != nil {
		t.Errorf("without shards: %d to %d, %v", from, to, err)
	}
	if _, _, err := (Shard{1, 3}).Range(2, "pictures"); err == nil {
		t.Error("an empty shard is allowed")
	}
}

func TestParseShard(t *testing.T) {
	if s, err := ParseShard("2/4"); err != nil || s != (Shard{2, 4}) || s.String() != "2/4" {
		t.Errorf("2/4 is %v, %v", s, err)
	}
	for _, text := range []string{"", "2", "0/4", "5/4", "-1/4", "1/0", "a/4", "1/b", "1/2/3"} {
		if s, err := ParseShard(text); err == nil {
			t.Errorf("%q is %v", text, s)
		}
	}
}
