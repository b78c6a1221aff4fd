package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	dense "gorgonia.org/tensor"

	"nmn/eval"
	"nmn/loader"
	"nmn/loader/picture"
	"nmn/report"
	"nmn/text"
	"nmn/train"
)

// unreadable are pictures that cannot be read.
type unreadable struct{}

func (unreadable) Frames(int) int { return 1 }

func (unreadable) Read(context.Context, int, int, *picture.Picture) error {
	return errors.New("unreadable")
}

func TestPageScores_ShowsTheSurestAndMarksThem(t *testing.T) {
	v, err := text.NewVocabulary([]text.Word{{Text: "cat", POS: text.NN}, {Text: "dog", POS: text.NN},
		{Text: "red", POS: text.JJ}})
	must(t, err)
	matrix := func(rows int, backing any) *dense.Dense {
		return dense.New(dense.WithShape(rows, 3), dense.WithBacking(backing))
	}
	set := &loader.Set{Name: "test", Vocabulary: v, IDs: []string{"a", "unread", "b"}, Source: unreadable{},
		Labels: matrix(3, []uint8{1, 0, 1, 1, 1, 1, 0, 0, 0})}
	scores := &train.Scores{Index: []int{0, 2}, Logits: matrix(2, []float32{3, 2, -4, -1, -1, -9})}
	got, err := pageScores(t.Context(), scores, set, "test", false)
	must(t, err)
	if got.Against != "labels" || len(got.Curves.All) == 0 || len(got.Right) != 1 || len(got.Wrong) != 1 {
		t.Fatalf("%+v", got)
	}
	var marks []string
	for _, l := range got.Wrong[0].Labels {
		mark := string(l.Kind) + " " + l.Word
		if l.Surest {
			mark = "surest: " + mark
		}
		marks = append(marks, mark)
	}
	if want := []string{"surest: missing red", "hit cat", "incorrect dog"}; !reflect.DeepEqual(marks, want) {
		t.Errorf("labels %q, want %q", marks, want)
	}
	if b := got.Right[0]; b.ID != "a" || b.Labels[0].Word != "cat" || !b.Labels[0].Surest || b.JPEG != nil {
		t.Errorf("the surest hit is %+v", b)
	}
	if len(got.Drawn) != 2 || got.Drawn[0].JPEG != nil {
		t.Fatalf("drawn are %+v", got.Drawn)
	}
	for _, b := range got.Drawn { // of b nothing holds and nothing is predicted
		if want := map[string]int{"a": 3, "b": 0}[b.ID]; len(b.Labels) != want {
			t.Errorf("words of %s: %+v", b.ID, b.Labels)
		}
	}
	set.Labels = nil
	if got, err := pageScores(t.Context(), scores, set, "test", false); got != nil || err != nil {
		t.Errorf("without labels: %+v, %v", got, err)
	}
}

// Of exclusive classes the most probable one is predicted, also with p < .5, and no other with p > .5 of its own.
func TestPageScores_PredictsTheMostProbableClass(t *testing.T) {
	v, err := text.NewVocabulary([]text.Word{{Text: "cat", POS: text.NN}, {Text: "dog", POS: text.NN},
		{Text: "fox", POS: text.NN}})
	must(t, err)
	matrix := func(backing any) *dense.Dense { return dense.New(dense.WithShape(3, 3), dense.WithBacking(backing)) }
	set := &loader.Set{Name: "test", Vocabulary: v, IDs: []string{"a", "b", "c"}, Source: unreadable{},
		Labels: matrix([]uint8{1, 0, 0, 0, 1, 0, 0, 0, 1})}
	scores := &train.Scores{Index: []int{0, 1, 2}, Logits: matrix([]float32{-.3, -.9, -1.5, 2, -2.5, -3, -.5, -9, -.4})}
	got, err := pageScores(t.Context(), scores, set, "test", true)
	must(t, err)
	said := func(bags []report.ShownBag) (all []string) {
		for _, b := range bags {
			line := b.ID
			for _, l := range b.Labels {
				line += fmt.Sprintf(" %s %s %v", l.Kind, l.Word, l.Surest)
			}
			all = append(all, line)
		}
		return all
	}
	if want := []string{"a hit cat true", "c hit fox true"}; !got.Exclusive || !reflect.DeepEqual(said(got.Right), want) {
		t.Errorf("right are %q, want %q", said(got.Right), want)
	}
	if want := []string{"b incorrect cat true missing dog false"}; !reflect.DeepEqual(said(got.Wrong), want) {
		t.Errorf("wrong are %q, want %q", said(got.Wrong), want)
	}
	if p := got.Right[0].Labels[0].P; p < .42 || p > .43 {
		t.Errorf("the probability of a is %v", p)
	}
}

// What an experiment shows of a run is in its result file, and not in the outcome that is printed.
func TestReadShown_IsWhatTheResultFileHolds(t *testing.T) {
	dir := t.TempDir()
	shown := func(want *report.Scored) {
		t.Helper()
		if got, err := ReadShown(dir); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v (%v), want %+v", got, err, want)
		}
	}
	shown(nil)
	want := &report.Scored{Against: "labels", Split: "test",
		Curves: eval.ByGroup[[]eval.CurvePoint]{All: []eval.CurvePoint{{Recall: .5, Precision: 1}}},
		Drawn:  []report.ShownBag{{ID: "a", Labels: []report.ShownLabel{{Word: "cat", P: .75, Kind: report.HitLabel}}}}}
	for _, s := range []*report.Scored{want, nil} {
		o := &Outcome{Arm: "baseline", Steps: 7, shown: s}
		must(t, o.write(dir))
		shown(s)
		read, err := ReadOutcome(dir)
		must(t, err)
		told, err := json.Marshal(o)
		if again, reading := json.Marshal(read); err != nil || reading != nil || string(again) != string(told) ||
			strings.Contains(string(told), "shown") {
			t.Errorf("%s is read as %s (%v, %v)", told, again, err, reading)
		}
	}
}
