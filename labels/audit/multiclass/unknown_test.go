package multiclass

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"nmn/format/table"
	"nmn/labels"
)

// Rows whose label is unknown change nothing, and are no suspects.
func TestAudit_LeavesUnknownLabelsOut(t *testing.T) {
	part := draw(3, 2000, 3, transition(3, .2), false)
	whole := &Input{Rows: 2 * part.Rows, Classes: 3}
	for i := range part.Rows {
		own := part.Scores[3*i : 3*i+3]
		whole.Scores = append(append(whole.Scores, own...), own[1], own[2], own[0])
		whole.Labels = append(whole.Labels, part.Labels[i], table.UnknownClass)
		whole.Truth = append(whole.Truth, part.Truth[i], part.Truth[i])
	}
	want, err := Audit(t.Context(), part, DefaultOptions())
	must(t, err)
	got, err := Audit(t.Context(), whole, DefaultOptions())
	must(t, err)
	for i := range got.Suspects {
		got.Suspects[i].Row /= 2
	}
	if len(want.Suspects) < 100 || !reflect.DeepEqual(got.Suspects, want.Suspects) {
		t.Errorf("%d suspects, want %d", len(got.Suspects), len(want.Suspects))
	}
	if !reflect.DeepEqual(got.T, want.T) || !reflect.DeepEqual(got.Classes, want.Classes) ||
		got.Agreement != want.Agreement || len(got.Confident.Flagged) != len(want.Confident.Flagged) {
		t.Errorf("%+v, want %+v", got.Classes, want.Classes)
	}
	if a, b := got.Judgement, want.Judgement; a.Posterior.AP != b.Posterior.AP || a.Wrong != b.Wrong {
		t.Errorf("%+v, want %+v", a, b)
	}
	path := filepath.Join(t.TempDir(), "z.csv")
	must(t, got.Correct(labels.Correction{Apply: labels.ApplyForce, Precision: 1, Labels: path}))
	if text, err := os.ReadFile(path); err != nil || strings.Count(string(text), "\n-1\n") != part.Rows {
		t.Errorf("%v: %d of %d labels stay unknown", err, strings.Count(string(text), "\n-1\n"), part.Rows)
	}
	for i := range whole.Labels {
		whole.Labels[i] = table.UnknownClass
	}
	if _, err := Audit(t.Context(), whole, DefaultOptions()); err == nil || !strings.Contains(err.Error(), "no label") {
		t.Errorf("no label is known: %v", err)
	}
}
