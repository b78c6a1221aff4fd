package main

import (
	"errors"
	"os/exec"
	"slices"
	"testing"
)

// commit records everything in a repository, which it makes where there is none.
func commit(t *testing.T, dir string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("left out: no git: ", err)
	}
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"add", "--all"},
		{"-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false", "commit", "--quiet", "-m", "a"},
	} {
		if _, err := git(t.Context(), dir, args...); err != nil {
			t.Fatal(err)
		}
	}
}

func TestChanges_SinceTheLastCommitButOne(t *testing.T) {
	dir := files(t, map[string]string{
		"go.mod":           "module shop\n",
		"till/till.go":     "package till\n\nvar a = 1\n\nvar b = 1\n",
		"shelf/shelf.go":   "package shelf\n",
		"other/go.mod":     "module other\n",
		"other/other.go":   "package other\n",
		"gone/gone.go":     "package gone\n",
		"untouched/all.go": "package untouched\n",
	})
	commit(t, dir)
	if _, err := changesSince(t.Context(), dir, automatic); !errors.Is(err, errNoGit) {
		t.Errorf("a first commit: %v, want %v", err, errNoGit)
	}
	if _, err := git(t.Context(), dir, "rm", "--quiet", "gone/gone.go"); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{
		"till/till.go":   "package till\n\nvar a = 2\n\nvar b = 1\n\nvar c = 3\n",
		"other/other.go": "package other\n\nvar o = 1\n",
	})
	commit(t, dir)
	write(t, dir, map[string]string{"shelf/board.go": "package shelf\n\nvar d = 1\n"})
	c, err := changesSince(t.Context(), dir, automatic)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.folders(dir), []string{"./shelf", "./till"}; !slices.Equal(got, want) {
		t.Errorf("folders %q, want %q", got, want)
	}
	var changed []bool
	for _, place := range []Mutant{
		{File: "till/till.go", Line: 3}, {File: "till/till.go", Line: 5}, {File: "till/till.go", Line: 7},
		{File: "shelf/board.go", Line: 3}, {File: "shelf/shelf.go", Line: 1},
	} {
		c.mark([]*Mutant{&place})
		changed = append(changed, place.Changed)
	}
	if want := []bool{true, false, true, true, false}; !slices.Equal(changed, want) {
		t.Errorf("changed lines %v, want %v", changed, want)
	}
}

func TestChanges_WithoutGit(t *testing.T) {
	if _, err := changesSince(t.Context(), t.TempDir(), automatic); !errors.Is(err, errNoGit) {
		t.Errorf("%v, want %v", err, errNoGit)
	}
}
