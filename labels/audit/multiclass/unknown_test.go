package multiclass

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"nmn/format/table"
	"nmn/internal/expect"
	"nmn/internal/rng"
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
	want := expect.Value(Audit(t.Context(), part, DefaultOptions()))(t)
	got := expect.Value(Audit(t.Context(), whole, DefaultOptions()))(t)
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
	expect.OK(t, got.Correct(labels.Correction{Apply: labels.ApplyForce, Precision: 1, Labels: path}))
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

// Scores that know nothing of the labels find no noise and no suspects.
func TestAudit_ScoresWithoutInformation(t *testing.T) {
	for _, rows := range []int{60, 200, 1000} {
		in := draw(5, rows, 10, transition(10, 0), false)
		source := rng.New(7, 1)
		for i := range in.Labels {
			in.Labels[i] = int32(source.Intn(10))
		}
		in.Truth = nil
		for _, plateau := range []bool{false, true} {
			o := DefaultOptions()
			o.Plateau = plateau
			got, err := Audit(t.Context(), in, o)
			expect.OK(t, err)
			if !got.Chance || got.Noise != Unknown || got.Pooled != 0 || len(got.Suspects) > 0 || got.T[0] != 1 {
				t.Errorf("%d rows: chance %v, noise %v, %.3f wrong, %d suspects", rows, got.Chance, got.Noise, got.Pooled,
					len(got.Suspects))
			}
		}
	}
	clean, err := Audit(t.Context(), draw(5, 60, 10, transition(10, 0), false), DefaultOptions())
	expect.OK(t, err)
	if clean.Chance {
		t.Error("60 rows with clean labels count as chance")
	}
}
