package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Captioners and classifiers of Table 4 learn on ranks what they learn in one process, and rank 0 has all files.
func TestRanks_MakeTable4(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	one := filepath.Join(t.TempDir(), "table4")
	must(t, tinyTable4(one, "-q")...)
	const n = 3
	dir := filepath.Join(t.TempDir(), "table4")
	first := mustOnRanks(t, n, tinyTable4(dir, "--format", "markdown")...)
	if !strings.Contains(first, "NMN-FD + MIL") || !strings.Contains(first, "always ") {
		t.Errorf("%d ranks print\n%s", n, first)
	}
	if got, want := filesOf(t, dir), filesOf(t, one); !slices.Equal(got, want) {
		t.Errorf("%d ranks leave %v, one process %v", n, got, want)
	}
	for _, name := range []string{"features/truth/test.npy", "features/seed-1/star/train.csv"} {
		if string(readFile(t, dir, name)) != string(readFile(t, one, name)) {
			t.Errorf("%s of %d ranks differs", name, n)
		}
	}
	if got, want := constantScore(t, dir), constantScore(t, one); math.Abs(got-want) > 1e-12 {
		t.Errorf("%d ranks: CIDEr-D of what is always said is %g, alone %g", n, got, want)
	}
	for rank, c := range callOnRanks(t, n, tinyTable4(dir, "--format", "markdown")...) {
		if c.code != exitOK || rank == 0 && (c.out != first || !strings.Contains(c.err, "is complete")) || rank > 0 && c.err != "" {
			t.Errorf("again, rank %d of %d: exit code %d, %s", rank, n, c.code, c.err)
		}
	}
	rooms, err := filepath.Glob(filepath.Join(os.TempDir(), "nmn-rank*"))
	if err != nil || len(rooms) > 0 {
		t.Errorf("folders are left: %v (%v)", rooms, err)
	}
}

// constantScore is the CIDEr-D of the captioner that learns nothing.
func constantScore(t *testing.T, dir string) float64 {
	t.Helper()
	var tables []struct{ Rows []map[string]any }
	if err := json.Unmarshal(readFile(t, dir, "table.json"), &tables); err != nil {
		t.Fatal(err)
	}
	for _, row := range tables[0].Rows {
		for _, v := range row {
			if name, ok := v.(string); ok && strings.HasPrefix(name, "always") {
				value, _ := row["CIDEr-D"].(float64)
				return value
			}
		}
	}
	t.Fatal("no such row")
	return 0
}
