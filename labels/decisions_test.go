package labels

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
)

// named are decisions on anything that has a name of one letter.
var named = &Decisions[string]{Columns: []string{"id", "decision", "note"}, Needed: 2,
	Verdicts: [2]Verdict{"yes", "no"},
	Find: func(fields []string) (string, string, error) {
		if len(fields[0]) != 1 || fields[2] == "wrong" {
			return "", "", fmt.Errorf("nothing is called %q", fields[0])
		}
		return fields[0], "thing " + fields[0], nil
	}}

func TestDecisions_AnyOrderOfColumns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.csv")
	if _, err := named.ReadFile(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	for _, text := range []string{"id,decision\na,yes\nb,no\n",
		"\ufeff\"Decision\", NOTE ,more,id\n yes,,1,a\nno , x,2,b\n"} {
		expect.OK(t, os.WriteFile(path, []byte(text), 0o600))
		if d, err := named.ReadFile(path); err != nil || !maps.Equal(d, map[string]Verdict{"a": "yes", "b": "no"}) {
			t.Errorf("%q: %v, %v", text, d, err)
		}
	}
	if d, err := named.Read(strings.NewReader("id,decision\n"), "d"); err != nil || d == nil || len(d) > 0 {
		t.Errorf("no decision: %v, %v", d, err)
	}
}

func TestDecisions_AreOfBoundedSize(t *testing.T) {
	const text = "id,decision\na,yes\n"
	for room, want := range map[int64]string{int64(len(text)) + 1: "",
		int64(len(text)) - 1: "d: the file is larger than 17 bytes"} {
		_, err := named.read(&io.LimitedReader{R: strings.NewReader(text), N: room}, "d")
		if want == "" && err != nil || want != "" && (!errors.Is(err, ErrDecisions) || !strings.Contains(err.Error(), want)) {
			t.Errorf("room for %d bytes: %v, want %q", room, err, want)
		}
	}
}

// By hand: thresholds are (.7+.6)/2 = .65 for class 0, (.9+.2+.5)/3 for class 1, and 1 for class 2, which is no label.
func TestCountConfident_KnownAnswer(t *testing.T) {
	scores := [][]float64{{.7, .3, 0}, {.6, .4, 0}, {.1, .9, 0}, {.8, .2, 0}, {.5, .5, 0}, {.66, .6, 0}}
	z := []uint8{0, 0, 1, 1, 1, 1}
	j := CountConfident(z[:5], 3, func(i int, p []float64) { copy(p, scores[i]) })
	if want := []float64{.65, 1.6 / 3, 1}; !slices.EqualFunc(j.Thresholds, want, func(a, b float64) bool {
		return a-b < 1e-12 && b-a < 1e-12
	}) {
		t.Errorf("thresholds %v, want %v", j.Thresholds, want)
	}
	if !slices.Equal(j.Sizes, []int{2, 3, 0}) || !slices.Equal(j.Guess, []int32{0, -1, 1, 0, -1}) ||
		!slices.Equal(j.Counts, []int{1, 0, 0, 1, 1, 0, 0, 0, 1}) {
		t.Errorf("sizes %v, guesses %v, counts %v", j.Sizes, j.Guess, j.Counts)
	}
	// A row that reaches two thresholds belongs to the class with the highest score.
	if j := CountConfident(z, 3, func(i int, p []float64) { copy(p, scores[i]) }); j.Guess[5] != 0 {
		t.Errorf("guesses %v", j.Guess)
	}
}
