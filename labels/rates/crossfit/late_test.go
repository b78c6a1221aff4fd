package crossfit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A run that was resumed may lack the losses of its first epochs.
func TestCurve_EpochsWithoutLossesDoNotCount(t *testing.T) {
	c, err := NewCurve(plan(t, 4, 2, 1), 4)
	if err != nil {
		t.Fatal(err)
	}
	for fold := range 2 {
		for epoch, loss := range map[int]float64{3: 8, 4: 6} {
			if err := c.Put(epoch, fold, loss); err != nil {
				t.Fatal(err)
			}
		}
	}
	if epoch, v, err := c.Best(); epoch != 4 || v != 3 || err != nil {
		t.Errorf("best epoch %d with %g, %v; want 4 with 3", epoch, v, err)
	}
	for _, epoch := range []int{0, 2, 5} {
		if v, ok := c.Mean(epoch); v != 0 || ok {
			t.Errorf("epoch %d has %g, %t", epoch, v, ok)
		}
	}
}

func TestNewCurve_RefusesWhatHasNoLosses(t *testing.T) {
	p := plan(t, 4, 2, 1)
	if c, err := NewCurve(p, 0); c != nil || !errors.Is(err, ErrScores) {
		t.Errorf("no epochs: %v, %v", c, err)
	}
	p.Fold[1] = 9
	if c, err := NewCurve(p, 3); c != nil || !errors.Is(err, ErrPlan) {
		t.Errorf("a fold that is not there: %v, %v", c, err)
	}
}

// The plan is meant to be read and searched: names are not escaped.
func TestPlan_NamesAreWrittenAsTheyAre(t *testing.T) {
	p := plan(t, 4, 2, 1)
	p.IDs[2] = "cats & <dogs>.jpg"
	path := filepath.Join(t.TempDir(), "folds.json")
	if err := p.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), `"cats & <dogs>.jpg"`) {
		t.Errorf("%s, %v", text, err)
	}
}
