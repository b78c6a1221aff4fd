package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// experiment writes the files of two seeds at every level. Arms have equal figures except for ap, by the name
// of the arm and the epoch.
func experiment(t *testing.T, ap func(arm string, epoch int) float64) string {
	t.Helper()
	dir := t.TempDir()
	write := func(text string, path ...string) {
		name := filepath.Join(append([]string{dir}, path...)...)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, l := range levels {
		for seed := range 2 {
			group := filepath.Join(l.folder, fmt.Sprintf("seed-%d", seed+1))
			for _, arm := range []string{"stage1", "baseline", "nmn-fi", "held-rates", "soft-labels"} {
				of := func(epoch int) string {
					all := func(v float64) string { return fmt.Sprintf(`{"NN":null,"All":%g}`, v) }
					x := ap(arm, epoch) + .02*float64(seed)
					return fmt.Sprintf(
						`{"words":[],"truth":{"ap":%s,"at_threshold":{"All":{"of1":%g}},"brier":%s,"ece":%s},`+
							`"transition":{"q01":%s,"q10":%[5]s,"q01_error":%[5]s,"q10_error":%[5]s}}`,
						all(x), x/2, all(x/10), all(x/50), all(.02))
				}
				write(fmt.Sprintf(`{"arm":%q,"evaluation":%s}`, arm, of(0)), group, arm, "result.json")
				write(fmt.Sprintf(`[{"epoch":3,"step":1,"evaluation":%s},{"epoch":12,"step":2,"evaluation":%s}]`,
					of(early), of(late)), group, arm, "epochs.json")
			}
			if l.folder != levels[clean].folder {
				write(`{"truth":{"posterior":{"ap":0.5},"difference":{"ap":0.2}}}`, group, "audit-oof.json")
				write(fmt.Sprintf(`{"truth":{"posterior":{"ap":%g},"difference":{"ap":0.9}}}`, .6+.1*float64(seed)),
					group, "audit-noise.json")
			}
		}
	}
	return dir
}

func TestTable_HoldsMeansAgainstBands(t *testing.T) {
	dir := experiment(t, func(arm string, epoch int) float64 {
		switch {
		case arm == "soft-labels" && epoch == late:
			return .786
		case arm == "held-rates" && epoch == early:
			return .6
		case epoch == 0:
			return .771
		}
		return .7
	})
	text, err := table(dir, "scene", []string{"1", "2"})
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(text, "\n**scene, 40 %")
	for _, line := range []string{
		"**scene, 30 % missing and 10 % incorrect, 2 seeds**",
		"| mean error of q01 | 0.020 [0.020, 0.020] | **≤ 0.1** | yes |",
		"| stage 1: AP | 78.1 [77.1, 79.1] | 78.1 ± 2.5 | yes |",
		"| baseline +12: AP | 71.0 [70.0, 72.0] | 70 ± 4 | yes |",
		"| held rates +3: AP | 61.0 [60.0, 62.0] | 79.5 ± 1.5 | no |",
		"| soft labels +12: OF1 | 39.8 [39.3, 40.3] | 70.7 ± 3.5 | no |",
		"| soft labels - FI, both +12: OF1 | 4.3 [4.3, 4.3] | **≥ 5** | **no** |",
		"| held rates - FI, both +3: Brier | -1.00 [-1.00, -1.00] | **≤ -0.4** | yes |",
		"| audit AP: out-of-fold abs(z - p) | 20.0 [20.0, 20.0] |  |  |",
		"| audit AP: gain | 45.0 [40.0, 50.0] | **≥ 4** | yes |",
	} {
		if !strings.Contains(first, line+"\n") {
			t.Errorf("no line %q in\n%s", line, first)
		}
	}
	if n := strings.Count(text, "| audit AP: gain"); n != 3 {
		t.Errorf("the audit is reported at %d levels, want 3: without noise there is nothing to find", n)
	}
	if yes, no := strings.Count(text, "| yes |"), strings.Count(text, "no |\n")+
		strings.Count(text, "**no** |\n"); !strings.HasSuffix(text, fmt.Sprintf("\n%d of %d reached.\n", yes, yes+no)) {
		t.Errorf("%d yes, %d no: %s", yes, no, text[len(text)-30:])
	}
	other, err := table(dir, "Corel5k", []string{"2"})
	if err != nil || strings.Contains(other, "yes") || strings.Contains(other, "≤") ||
		!strings.Contains(other, "| stage 1: AP | 79.1 [79.1, 79.1] |  |  |") {
		t.Errorf("another data set has bands, or other figures: %v\n%.400s", err, other)
	}
}

func TestTable_RefusesWhatIsNotThere(t *testing.T) {
	good := func(string, int) float64 { return .7 }
	for says, spoil := range map[string]string{
		"no figures after epoch 12": `[{"epoch":3,"evaluation":{}}]`,
		"baseline +12: AP: the files of": `[{"epoch":3,"evaluation":{}},{"epoch":12,` +
			`"evaluation":{"truth":{"ap":{"All":null}}}}]`,
		"epochs.json: unexpected end of ": `[`,
	} {
		dir := experiment(t, good)
		if err := os.WriteFile(filepath.Join(dir, levels[0].folder, "seed-2", "baseline", "epochs.json"), []byte(spoil),
			0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := table(dir, "scene", []string{"1", "2"}); err == nil || !strings.Contains(err.Error(), says) ||
			!strings.Contains(err.Error(), "seed-2") {
			t.Errorf("%s: %v", spoil, err)
		}
	}
	if _, err := table(experiment(t, good), "scene", []string{"3"}); err == nil ||
		!strings.Contains(err.Error(), "seed-3") {
		t.Errorf("a seed that was not trained: %v", err)
	}
}
