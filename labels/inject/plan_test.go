package inject

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/setting"
)

// A plan draws as its numbers specify: for flips the first is for labels that hold.
func TestPlan_DrawsAsItSays(t *testing.T) {
	s := captionSet(t, 300, 5)
	rates := filepath.Join(t.TempDir(), "rates.csv")
	content := "class,q10,q01\ndog,.9,.1\ncat,.9,.1\nred,.9,.1\nrun,.9,.1\npark,.9,.1\nball,.9,.1\n"
	expect.OK(t, os.WriteFile(rates, []byte(content), 0o644))
	for name, plan := range map[string]Plan{
		"rates": {Kind: Flips, Missing: .1, Incorrect: .9, Seed: 3},
		"file":  {Kind: Flips, Missing: .9, Incorrect: .1, RatesFile: rates, Seed: 3}, // the file goes before them
	} {
		noise := expect.Value(plan.Draw(s))(t)
		stats := expect.Value(Measure(t.Context(), s, mustApply(t, noise, s)))(t)
		if math.Abs(float64(stats.All.Q01)-.1) > .05 || math.Abs(float64(stats.All.Q10)-.9) > .05 {
			t.Errorf("%s: %.3f of the labels are missing and %.3f incorrect, want .1 and .9", name, stats.All.Q01, stats.All.Q10)
		}
	}
}

// The draws for one bag are independent of the draws for another.
func TestFlipLabels_BagsHaveDrawsOfTheirOwn(t *testing.T) {
	s := captionSet(t, 60, 5)
	clear(s.Labels.Uint8s())
	drawn := map[string]bool{}
	for _, change := range mustFlip(t, s, uniformRates(0, .5), 1).Changes {
		drawn[fmt.Sprint(change.Flips)] = true
	}
	if len(drawn) < 20 { // 60 draws among the 64 subsets of six classes
		t.Errorf("60 bags have %d different flips", len(drawn))
	}
}

func TestPlan_NamesTheSettingThatCannotBe(t *testing.T) {
	s := captionSet(t, 10, 5)
	for field, plan := range map[string]Plan{
		"share":      {Kind: Uniform, Share: .33},
		"flip_rates": {Kind: Flips, Missing: 2},
	} {
		_, err := plan.Draw(s)
		var mistake *setting.Error
		if !errors.As(err, &mistake) || mistake.Key != field {
			t.Errorf("%+v: error %v, want one about %s", plan, err, field)
		}
	}
}
