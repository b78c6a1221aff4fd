package runpage

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	dense "gorgonia.org/tensor"

	"nmn/internal/expect"
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
	expect.OK(t, err)
	matrix := func(rows int, backing any) *dense.Dense {
		return dense.New(dense.WithShape(rows, 3), dense.WithBacking(backing))
	}
	set := &loader.Set{Name: "test", Vocabulary: v, IDs: []string{"a", "unread", "b"}, Source: unreadable{},
		Labels: matrix(3, []uint8{1, 0, 1, 1, 1, 1, 0, 0, 0})}
	scores := &train.Scores{Index: []int{0, 2}, Logits: matrix(2, []float32{3, 2, -4, -1, -1, -9})}
	got, err := Scores(t.Context(), scores, set, "test", false)
	expect.OK(t, err)
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
	if got, err := Scores(t.Context(), scores, set, "test", false); got != nil || err != nil {
		t.Errorf("without labels: %+v, %v", got, err)
	}
}

// Of exclusive classes the most probable one is predicted, also with p < .5, and no other with p > .5 of its own.
func TestPageScores_PredictsTheMostProbableClass(t *testing.T) {
	v, err := text.NewVocabulary([]text.Word{{Text: "cat", POS: text.NN}, {Text: "dog", POS: text.NN},
		{Text: "fox", POS: text.NN}})
	expect.OK(t, err)
	matrix := func(backing any) *dense.Dense { return dense.New(dense.WithShape(3, 3), dense.WithBacking(backing)) }
	set := &loader.Set{Name: "test", Vocabulary: v, IDs: []string{"a", "b", "c"}, Source: unreadable{},
		Labels: matrix([]uint8{1, 0, 0, 0, 1, 0, 0, 0, 1})}
	scores := &train.Scores{Index: []int{0, 1, 2}, Logits: matrix([]float32{-.3, -.9, -1.5, 2, -2.5, -3, -.5, -9, -.4})}
	got, err := Scores(t.Context(), scores, set, "test", true)
	expect.OK(t, err)
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

// The first bags are drawn by chance; the bags on which the arms differ most follow.
func TestComparedBags_ChanceFirstThenDifference(t *testing.T) {
	arms := []report.ComparedArm{{Name: "a"}, {Name: "b"}}
	shown := []*report.Scored{{}, {}}
	for i := range 12 {
		id := fmt.Sprint(i)
		same := report.ShownLabel{Word: "same", Kind: report.HitLabel}
		labels := [2][]report.ShownLabel{{same}, {same}}
		for j := range i % 6 { // words of one arm alone; what it misses is no prediction
			labels[0] = append(labels[0], report.ShownLabel{Word: fmt.Sprint(j), Kind: report.IncorrectLabel})
			labels[1] = append(labels[1], report.ShownLabel{Word: fmt.Sprint(j), Kind: report.MissingLabel})
		}
		for side, s := range shown {
			s.Drawn = append(s.Drawn, report.ShownBag{ID: id, Labels: labels[side]})
		}
	}
	var ids []string
	for _, b := range comparedBags(arms, shown) {
		ids = append(ids, b.ID)
		if len(b.Says) != 2 || b.Says[0].Arm != "a" || b.Says[1].Arm != "b" || len(b.Says[0].Labels) < 1 {
			t.Errorf("bag %s: %+v", b.ID, b.Says)
		}
	}
	if want := []string{"0", "1", "2", "3", "5", "11", "4", "10"}; !slices.Equal(ids, want) {
		t.Errorf("bags %q, want %q", ids, want)
	}
	if bags := comparedBags(nil, nil); bags != nil {
		t.Errorf("without arms: %v", bags)
	}
}
