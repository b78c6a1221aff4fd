package captions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/group"
	"nmn/group/local/localtest"
	"nmn/internal/rng"
	"nmn/loader"
	"nmn/text"
)

// written is all that people get of a report.
func written(t *testing.T, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteCSV(&b); err != nil {
		t.Error(err)
	}
	summary, err := json.Marshal(r.Summary(50, nil))
	if err != nil {
		t.Error(err)
	}
	return fmt.Sprintf("%s\n%s\n%v %v %x", b.String(), summary, r.Dropped, r.Remarks, r.Threshold)
}

func TestAudit_IsTheSameOnAnyNumberOfRanks(t *testing.T) {
	b, foreign := generated(t)
	b.Captions[7][2].Text = "nothing of the kind"
	dir, random := t.TempDir(), rng.New(3)
	truth, scores := filepath.Join(dir, "foreign.txt"), filepath.Join(dir, "scores.csv")
	words := []string{"dog", "train", "cake", "surfer", "oven", "giraffe", "grass", "tracks", "candles"}
	var table strings.Builder
	table.WriteString("id," + strings.Join(words, ",") + "\n")
	for i := range 300 {
		if i%7 == 0 { // some have none
			continue
		}
		table.WriteString(b.IDs[299-i]) // in no order of the captions
		for range words {
			fmt.Fprintf(&table, ",%g", random.Float64())
		}
		table.WriteString("\n")
	}
	for name, content := range map[string]string{truth: strings.Join(foreign, "\n"), scores: table.String()} {
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"", scores} {
		o := DefaultOptions()
		o.Truth, o.Scores, o.Witness.Resamples = truth, name, 5
		alone, err := Audit(t.Context(), b, o)
		if err != nil {
			t.Fatal(err)
		}
		want := written(t, alone)
		for n := 2; n <= 3; n++ {
			for rank, err := range localtest.Run(n, func(g group.Group) error {
				o := o
				o.Witness.Group = g
				r, err := Audit(t.Context(), b, o)
				if err == nil && g.Rank() == 0 {
					if got := written(t, r); got != want {
						t.Errorf("%d ranks report\n%.3000s\nwant\n%.3000s", n, got, want)
					}
				}
				return err
			}) {
				if err != nil {
					t.Errorf("rank %d of %d: %v", rank, n, err)
				}
			}
		}
	}
}

func TestAudit_TellsEveryRankOfOnesBrokenFile(t *testing.T) {
	b, _ := generated(t)
	for rank, err := range localtest.Run(3, func(g group.Group) error {
		o := DefaultOptions()
		if o.Witness.Group = g; g.Rank() == 1 {
			o.Truth = filepath.Join(t.TempDir(), "missing.txt")
		}
		_, err := Audit(t.Context(), b, o)
		return err
	}) {
		if err == nil || !strings.Contains(err.Error(), "missing.txt") {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	for rank, err := range localtest.Run(3, func(g group.Group) error {
		o := DefaultOptions()
		o.Witness.Group = g
		o.Vocabulary, _ = text.NewVocabulary([]text.Word{{Text: "zebra"}})
		_, err := Audit(t.Context(), b, o)
		return err
	}) {
		if !errors.Is(err, loader.ErrAnnotations) {
			t.Errorf("another vocabulary, rank %d: %v", rank, err)
		}
	}
}

func TestAudit_FailsWhenAnyExchangeDoes(t *testing.T) {
	b := cocoBags(t) // too few captions to be judged: the exchanges are those before and after the inference
	exchanges, err := localtest.CutOff(func(g group.Group) error {
		o := DefaultOptions()
		o.Witness.Group = g
		_, err := Audit(t.Context(), b, o)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if exchanges < 3 {
		t.Errorf("%d exchanges, want those of the input, of the counts and of the report at least", exchanges)
	}
}
