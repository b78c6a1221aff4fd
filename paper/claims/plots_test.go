package claims

import (
	"math"
	"testing"
)

// A plot has a row for each comparison, named by what differs, with the interval of Student's t distribution.
func TestPlots_HaveIntervalsAndShortNames(t *testing.T) {
	c := all()[0]
	v := verdictOf(t, made(c, Scenes, 3, .8, .02), c.id, Scenes)
	p := Plots([]Verdict{v})[0]
	if p.Outcome != Confirmed || p.Figures == nil || len(p.Differences) != 5 {
		t.Fatalf("%+v", p)
	}
	const quantile = 4.302652729911275 // of 2 degrees of freedom, at .975, by SciPy
	for i, name := range []string{"0 % noise", "20 % noise", "40 % noise", "60 % noise", "80 % noise"} {
		d, of := p.Differences[i], v.Comparisons[i]
		half := quantile * float64(of.Spread) / math.Sqrt(3)
		if d.Name != name || d.Mean != of.Mean || math.Abs(float64(d.High-d.Mean)-half) > 1e-9 ||
			math.Abs(float64(d.Mean-d.Low)-half) > 1e-9 || d.Outcome != Confirmed {
			t.Errorf("difference %d is %+v, want %s with mean %v and half width %g", i, d, name, of.Mean, half)
		}
	}
	few := verdictOf(t, made(c, Scenes, 2, .8, .02), c.id, Scenes)
	if d := Plots([]Verdict{few})[0].Differences[0]; d.Low != d.Mean || d.Outcome != NotTested {
		t.Errorf("two seeds have an interval: %+v", d)
	}
}

// All comparisons have a name, and the names of a claim differ.
func TestPlots_NameEveryRow(t *testing.T) {
	for _, c := range all() {
		for _, data := range c.data {
			seen := map[string]bool{}
			for _, d := range Plots([]Verdict{verdictOf(t, made(c, data, 3, .8, .02), c.id, data)})[0].Differences {
				if d.Name == "" || seen[d.Name] {
					t.Errorf("%s on %s: row %q", c.id, data, d.Name)
				}
				seen[d.Name] = true
			}
		}
	}
}
