package features

import (
	"fmt"
	"testing"
)

// Labels that differ in spelling alone are one label, in columns and in lists, and in files of labels.
func TestOpen_JoinsLabels(t *testing.T) {
	x := file(t, "x.csv", []byte("a\n1\n2\n3\n"))
	for name, c := range map[string]struct {
		labels, truth string
		words         []string
		want, true    string
	}{
		"columns": {"Dog,cat,dog\n1,0,0\n,0,1\n0,1,\n", "dog,Cat,Dog\n1,0,0\n0,0,0\n0,1,1\n", nil,
			"[Dog cat] [1 0 1 0 255 1] [dog]", "[Dog cat] [1 0 0 0 1 1]"},
		"columns of words": {"Dog,cat,dog\n1,0,0\n0,0,1\n0,1,0\n", "DOG,Cat\n1,0\n0,0\n0,1\n", []string{"CAT", "dog"},
			"[CAT dog] [0 1 0 1 1 0] [Dog cat]", "[CAT dog] [0 1 0 0 1 0]"},
		"lists": {"labels\nDog;cat\nDOG\ndog;DOG\n", "labels\nDog\nCat\n\"\"\n", nil,
			"[DOG cat] [1 1 1 0 1 0] []", "[DOG cat] [1 0 0 1 0 0]"},
		"numbers": {"label\n0\n1\n2\n", "label\n0\n1\n2\n", nil, "[0 1 2] [1 0 0 0 1 0 0 0 1] []",
			"[0 1 2] [1 0 0 0 1 0 0 0 1]"},
	} {
		table, err := Open(t.Context(), Options{Features: x, Labels: file(t, "y.csv", []byte(c.labels)),
			Truth: file(t, "truth.csv", []byte(c.truth)), Words: c.words, JoinLabels: true})
		check(t, err)
		if got := fmt.Sprint(table.Labels.Words, table.Labels.Values, table.Labels.Spellings); got != c.want {
			t.Errorf("%s: labels %s, want %s", name, got, c.want)
		}
		if got := fmt.Sprint(table.Truth.Words, table.Truth.Values); got != c.true {
			t.Errorf("%s: truth %s, want %s", name, got, c.true)
		}
		check(t, table.Close())
	}
	table, err := Open(t.Context(), Options{Features: x, Labels: file(t, "y.csv", []byte("dog,cat\n1,0\n0,1\n1,1\n")),
		Counts: file(t, "counts.csv", []byte("Dog,cat,dog\n3,1,2\n200,0,100\n0,1,0\n")), JoinLabels: true})
	check(t, err)
	if got := fmt.Sprint(table.Counts.Words, table.Counts.Values); got != "[dog cat] [5 1 255 0 0 1]" {
		t.Errorf("counts %s", got)
	}
	check(t, table.Close())
}
