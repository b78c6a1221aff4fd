package runpage

import (
	"fmt"
	"slices"
	"testing"

	"nmn/report"
)

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
