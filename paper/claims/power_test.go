package claims

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"nmn/eval"
	"nmn/internal/expect"
	"nmn/report"
)

func TestPower_TakesTwoSeeds(t *testing.T) {
	for _, results := range [][]Result{nil, made(all()[0], Scenes, 1, .8, .2)} {
		if table := Power(results); table != nil {
			t.Errorf("of %d results: %+v", len(results), table)
		}
	}
}

// powerRow returns the cells of a claim.
func powerRow(t *testing.T, results []Result, id string) (cells []string) {
	t.Helper()
	table := Power(results)
	if table == nil {
		t.Fatalf("there is no table for %s", id)
	}
	for _, row := range table.Rows {
		if row.Cells[0].Text != id {
			continue
		}
		for _, c := range row.Cells[1:] {
			cells = append(cells, c.Text)
		}
	}
	return cells
}

func claimOf(t *testing.T, id string) claim {
	t.Helper()
	claims := all()
	at := slices.IndexFunc(claims, func(c claim) bool { return c.id == id })
	if at < 0 {
		t.Fatalf("there is no claim %s", id)
	}
	return claims[at]
}

// The row of a claim has the published difference if there is one, and the comparison that needs the most seeds.
func TestPower_ShowsTheHardestComparison(t *testing.T) {
	few, many := 3, 4
	for name, test := range map[string]struct {
		id, data string
		seeds    int
		change   func(*Result)
		ahead    float64
		spread   float64
		want     []string
	}{
		"the level of the smallest difference": {"nmn-baseline", Scenes, few, nil, 9, 1,
			[]string{"NMN-FD against baseline, 0 %", "+1.01", "± 1.00", "3", "10"}},
		"the level of the widest spread": {"nmn-baseline", Scenes, few, func(r *Result) {
			if r.Arm == fd && r.Missing == .6 && r.Seed == 3 {
				r.Value += 5
			}
		}, 9, 1, []string{"NMN-FD against baseline, 60 %", "+1.49", "± 3.79", "3", "53"}},
		"a level without results": {"nmn-baseline", Scenes, few, func(r *Result) {
			if r.Missing != .8 {
				r.Arm = fi
			}
		}, 9, 1, []string{"NMN-FD against baseline, 80 %", "+1.45", "± 1.00", "3", "6"}},
		"ours, where the paper has none": {"rates-f1", Scenes, few, nil, .5, 1,
			[]string{"held rates against baseline, OF1, 20 %", "+0.50 (ours)", "± 1.00", "3", "34"}},
		"ours, the other way": {"rates-brier", Scenes, few, nil, -.5, 1,
			[]string{"held rates against NMN-FI, Brier, 20 %", "+0.50 (ours)", "± 1.00", "3", "34"}},
		"more than there can be": {"rates-f1", Scenes, few, nil, .01, 1,
			[]string{"held rates against baseline, OF1, 20 %", "+0.01 (ours)", "± 1.00", "3", "more than 1000"}},
		"without a spread": {"rates-f1", Scenes, many, func(r *Result) { r.Value = 1 }, 1, 1,
			[]string{"held rates against baseline, OF1, 20 %", "0.00 (ours)", "± 0.00", "4", dash}},
	} {
		results := made(claimOf(t, test.id), test.data, test.seeds, test.ahead, test.spread)
		for i := range results {
			if test.change != nil {
				test.change(&results[i])
			}
		}
		if got := powerRow(t, results, test.id); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// Needed seeds are those that the verdict names.
func TestPower_AgreesWithTheVerdict(t *testing.T) {
	results := made(claimOf(t, "fd-fi-video"), MovingScenes, 3, .1, .6)
	row := powerRow(t, results, "fd-fi-video")
	decided(t, results, "fd-fi-video", MovingScenes, NotTested, "about "+row[4]+" seeds would show the published difference")
}

func TestPower_IsTheGoldenTable(t *testing.T) {
	var b bytes.Buffer
	expect.OK(t, report.Write(&b, report.Markdown, Power(someResults())))
	golden(t, "power.md", b.Bytes())
}

// The expected probabilities come from SciPy 1.17: ttest_1samp, and wilcoxon with correction=True and
// method="asymptotic".
func TestStatistics_AgreeWithSciPy(t *testing.T) {
	for _, test := range []struct {
		of          func([]float64) eval.Number
		differences []float64
		want        float64
	}{
		{tTest, []float64{1.2, .7, 2.2}, .09023569097194743},
		{tTest, []float64{.8, .82, .78}, .00020826825176404064},
		{tTest, []float64{-.3, .1, .2, .4}, .5456274012746513},
		{tTest, []float64{1, -1}, 1},
		{tTest, []float64{2, 2, 2}, 0},
		{signedRank, []float64{1.5, -.5, 2, 3, -1, .5, 4, 2.5, 2, -3, 1, 6}, .05934643879191985},
		{signedRank, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, .005921537024148715},
		{signedRank, []float64{0, 0, 1, -1, 2, 3, 4, 5, -6, 7, 8, 9}, .05917104905405068},
	} {
		if got := float64(test.of(test.differences)); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%v: %v, want %v", test.differences, got, test.want)
		}
	}
	if tTest([]float64{3}).Defined() {
		t.Error("one difference has a probability")
	}
	if signedRank([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 0}).Defined() {
		t.Error("nine differences have a probability by the normal approximation")
	}
}

// SciPy 1.17 gives these numbers by the noncentral t distribution.
func TestSeedsFor_FindsADifferenceInFourOfFiveExperiments(t *testing.T) {
	for _, test := range []struct {
		difference, spread float64
		want               int
	}{
		{1, 1, 10}, {.5, 1, 34}, {.2, .2, 10}, {2, 1, 5}, {.3, 1, 90}, {.2, 1, 199}, {9, 1, FewestSeeds},
		{.01, 1, MostSeeds + 1},
		{0, 1, 0}, {1, 0, 0}, {1, math.NaN(), 0},
	} {
		if got := seedsFor(test.difference, test.spread); got != test.want {
			t.Errorf("a difference of %g ± %g takes %d seeds, want %d", test.difference, test.spread, got, test.want)
		}
	}
}
