package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAccepted_IsNotTriedAndFoundWhereItsLineMoved(t *testing.T) {
	dir := files(t, shop)
	entry := "# a comment\n\ntill/till.go\nfunc unnoticed(a, b string) bool { return a == b }\na == b -> a != b\nfor the test\n"
	write(t, dir, map[string]string{"accepted.txt": entry})
	m, packages, err := openModule(t.Context(), dir, []string{"./..."}, false)
	if err != nil {
		t.Fatal(err)
	}
	list, err := readAccepted(filepath.Join(dir, "accepted.txt"))
	if err != nil {
		t.Fatal(err)
	}
	mutants := m.mutants(packages[0])
	if left := withoutAccepted(m.mutants(packages[0]), list); len(left) != len(mutants)-1 {
		t.Errorf("%d of %d mutants are left, want one less", len(left), len(mutants))
	}
	if err := checkAccepted(m, packages, "accepted.txt", list); err != nil {
		t.Error(err)
	}
	for _, mutant := range mutants {
		mutant.Line += 10
	}
	if left := withoutAccepted(mutants, list); len(left) != 4 {
		t.Errorf("%d mutants are left after the line has moved, want 4", len(left))
	}
}

func TestAccepted_StaleEntryIsAnError(t *testing.T) {
	list := []acceptance{{3, "till/till.go", "return a == b", "a == b -> a != b", "for the test"}}
	err := stale("accepted.txt", list, []string{"till"}, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "accepted.txt:3: till/till.go has no line") {
		t.Errorf("error %v", err)
	}
	if err := stale("accepted.txt", list, []string{"shelf"}, nil); err != nil {
		t.Errorf("the package was not looked at: %v", err)
	}
}

func TestAccepted_BlockWithoutReasonIsRefused(t *testing.T) {
	name := filepath.Join(t.TempDir(), "accepted.txt")
	if err := os.WriteFile(name, []byte("a.go\nx\ny -> z\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := readAccepted(name); err == nil || !strings.Contains(err.Error(), "3 lines; four are needed") {
		t.Errorf("error %v", err)
	}
}

// TestAccepted_OfThisModule holds the list to the code.
func TestAccepted_OfThisModule(t *testing.T) {
	list, err := readAccepted("accepted.txt")
	if err != nil || len(list) == 0 {
		return
	}
	var patterns []string
	for _, a := range list {
		patterns = append(patterns, "./"+filepath.ToSlash(filepath.Dir(a.file)))
	}
	m, packages, err := openModule(t.Context(), filepath.Join("..", ".."), patterns, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkAccepted(m, packages, "accepted.txt", list); err != nil {
		t.Error(err)
	}
}
