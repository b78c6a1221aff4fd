package crossfit

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestScores_PutsEveryBagInItsRow(t *testing.T) {
	p := plan(t, 11, 3, 4)
	s, err := NewScores(p, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, fold := range []int{2, 0, 1} {
		if _, err := s.Logits(); !errors.Is(err, ErrScores) {
			t.Errorf("scores before all folds: %v", err)
		}
		var logits []float32
		for _, bag := range p.HeldOut(fold) {
			logits = append(logits, float32(bag), -float32(bag))
		}
		if err := s.Put(fold, logits); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.Logits()
	if err != nil {
		t.Fatal(err)
	}
	for bag := range 11 {
		if all[2*bag] != float32(bag) || all[2*bag+1] != -float32(bag) {
			t.Errorf("bag %d has logits %v", bag, all[2*bag:2*bag+2])
		}
	}
}

func TestScores_RefuseWhatDoesNotFit(t *testing.T) {
	p := plan(t, 6, 2, 4)
	s, err := NewScores(p, 2)
	if err != nil {
		t.Fatal(err)
	}
	six := make([]float32, 6)
	spoiled := make([]float32, 6)
	spoiled[3] = float32(math.NaN())
	for name, err := range map[string]error{
		"fold": s.Put(2, six), "minus": s.Put(-1, six), "size": s.Put(0, six[1:]), "NaN": s.Put(0, spoiled),
	} {
		if !errors.Is(err, ErrScores) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.Put(0, spoiled); !strings.Contains(err.Error(), p.IDs[p.HeldOut(0)[1]]) {
		t.Errorf("NaN: the message does not name the bag: %v", err)
	}
	if err := s.Put(0, six); err != nil {
		t.Error(err)
	}
	if err := s.Put(0, six); !errors.Is(err, ErrScores) {
		t.Errorf("twice: %v", err)
	}
	if _, err := NewScores(p, 0); !errors.Is(err, ErrScores) {
		t.Errorf("no classes: %v", err)
	}
}

func TestCurve_FindsTheFirstLeastEpoch(t *testing.T) {
	p := plan(t, 5, 2, 1)
	c, err := NewCurve(p, 5)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Best(); !errors.Is(err, ErrScores) {
		t.Errorf("no losses: %v", err)
	}
	for e, losses := range [][2]float64{{9, 9}, {4, 6}, {7, 3}, {8, 8}} { // the nets stopped after epoch 4
		for fold, loss := range losses {
			if err := c.Put(e+1, fold, loss); err != nil {
				t.Fatal(err)
			}
		}
	}
	if epoch, v, err := c.Best(); epoch != 2 || v != 2 || err != nil {
		t.Errorf("best epoch %d with %g, %v", epoch, v, err)
	}
	if err := c.Put(5, 1, 1); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Best(); !errors.Is(err, ErrScores) || !strings.Contains(err.Error(), "epoch 5") {
		t.Errorf("epoch 5 has one fold of two: %v", err)
	}
	for name, err := range map[string]error{
		"epoch 0": c.Put(0, 0, 1), "epoch 6": c.Put(6, 0, 1), "fold": c.Put(1, 2, 1), "NaN": c.Put(5, 0, math.NaN()),
		"twice": c.Put(1, 0, 1),
	} {
		if !errors.Is(err, ErrScores) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
