package table

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Runs on vectors of classes call these by their numbers, and write tables with identifiers.
func TestReadScores_ClassesCalledByNumbers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scores.csv")
	if err := os.WriteFile(path, []byte("id,0,1\na,0.25,0.5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := ReadScores(path, false)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(m.Words, []string{"0", "1"}) || m.Rows != 1 {
		t.Errorf("words %q of %d rows, want 0 and 1 of one", m.Words, m.Rows)
	}
}
