package experiment

import (
	"testing"
	"time"

	"nmn/recipe"
)

// The time to come follows what the runs so far took, by their epochs, and runs that are reused cost nothing.
func TestPace_FollowsTheRunsSoFar(t *testing.T) {
	g := tinyGrid(t)
	g.Arms = []recipe.Name{recipe.Stage1, recipe.Baseline}
	g.Config.Train.Stage1Epochs, g.Config.Train.Stage2Epochs, g.Config.Recipe.Form = 2, 6, recipe.Paper
	p := g.newPace(2)
	if p.runs != 4 || p.kinds[false].left != 2*(2+6) {
		t.Fatalf("%d runs of %v epochs", p.runs, p.kinds[false].left)
	}
	p.ran(false, 2, false, 20*time.Second)
	if left, seen := p.left(); left != 140*time.Second || !seen {
		t.Errorf("after 2 of 16 epochs in 20 s: %v, %v", left, seen)
	}
	p.ran(false, 6, false, 180*time.Second) // the machine is busy now
	if left, _ := p.left(); left != 200*time.Second {
		t.Errorf("after 8 of 16 epochs in 200 s: %v", left)
	}
	p.ran(false, 2, true, 0)
	if left, _ := p.left(); left != 150*time.Second || p.runs != 1 {
		t.Errorf("after a run that was there: %v for %d runs", left, p.runs)
	}
}

// Runs with MIL go by those without until one of them has been trained.
func TestPace_TellsMILApart(t *testing.T) {
	g := tinyGrid(t)
	g.Arms, g.MIL = []recipe.Name{recipe.Stage1}, BothMIL
	g.Config.Train.Stage1Epochs, g.Config.Recipe.Form = 1, recipe.Paper
	p := g.newPace(2)
	p.ran(false, 1, false, time.Second)
	if left, seen := p.left(); left != 3*time.Second || seen {
		t.Errorf("%v, %v", left, seen)
	}
	p.ran(true, 1, false, 9*time.Second)
	if left, seen := p.left(); left != 10*time.Second || !seen {
		t.Errorf("%v, %v", left, seen)
	}
}
