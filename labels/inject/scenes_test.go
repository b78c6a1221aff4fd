package inject_test

import (
	"math"
	"testing"

	"nmn/labels/inject"
	"nmn/loader/scenes"
)

// Measured for the data set: at 40 % noise the class means of p(z=0|y=1) and p(z=1|y=0) are .337
// and .162.
func TestReplaceCaptions_ScenesRates(t *testing.T) {
	s, err := scenes.Make(scenes.Config{Seed: 5, Split: "train", N: 6000})
	must(t, err)
	replaced, err := inject.ReplaceCaptions(s, inject.Uniform, .4, 5)
	must(t, err)
	noisy, err := replaced.Apply(s)
	must(t, err)
	stats, err := inject.Measure(t.Context(), s, noisy)
	must(t, err)
	if stats.Reference != "truth" || math.Abs(float64(stats.Mean.Q01)-.337) > .02 ||
		math.Abs(float64(stats.Mean.Q10)-.162) > .01 {
		t.Errorf("against %s: q01 %.4f and q10 %.4f, want .337 and .162 against the truth",
			stats.Reference, stats.Mean.Q01, stats.Mean.Q10)
	}
	t.Logf("class means at 40 %%: q01 %.4f, q10 %.4f, prevalence %.4f",
		stats.Mean.Q01, stats.Mean.Q10, stats.Mean.Prevalence)
}

// must ends the test at an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
