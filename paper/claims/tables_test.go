package claims

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/report"
)

var update = flag.Bool("update", false, "write the golden files")

// someResults confirm one claim, refute a second, and leave the others open.
func someResults() []Result {
	var results []Result
	for _, c := range all() {
		switch c.id {
		case "nmn-baseline":
			results = append(results, made(c, Scenes, 3, .8, .02)...)
		case "fd-fi":
			for _, r := range made(c, Scenes, 3, -.5, .01) {
				if r.Arm != fd {
					results = append(results, r)
				}
			}
		case "captions":
			results = append(results, made(c, MovingScenes, 3, .1, .4)...)
		case "em-function":
			results = append(results, made(c, SmallProblem, 3, .9, .02)...)
		case "witness-baseline":
			results = append(results, made(c, Scenes, 3, 3, .2)...)
		}
	}
	results = slices.DeleteFunc(results, func(r Result) bool {
		return r.Missing != .4 && (r.Data == MovingScenes || r.Arm == captionFilter)
	})
	return distinct(results)
}

// distinct keeps one result of each figure.
func distinct(results []Result) []Result {
	slices.SortFunc(results, order)
	return slices.CompactFunc(results, func(a, b Result) bool { return a.key() == b.key() })
}

func TestTables_AreTheGoldenOnes(t *testing.T) {
	var b bytes.Buffer
	expect.OK(t, report.Write(&b, report.Markdown, Tables(Check(someResults()))...))
	golden(t, "claims.md", b.Bytes())
}

// golden compares with a file of testdata, or writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		expect.OK(t, os.WriteFile(path, got, 0o666))
	}
	want, err := os.ReadFile(path)
	expect.OK(t, err)
	if !bytes.Equal(got, want) {
		t.Errorf("what there is differs from %s (-update writes it)", path)
	}
}

func TestTables_SayEveryVerdictInWordsOnAPageForNarrowScreens(t *testing.T) {
	verdicts := Check(someResults())
	var b bytes.Buffer
	expect.OK(t, (&report.Reproduction{Claims: Tables(verdicts)}).WriteHTML(&b))
	page := b.String()
	for _, part := range []string{`class="stacked"`, `data-name="verdict">confirmed<`,
		`data-name="verdict">not confirmed: `, `data-name="verdict">not tested: `, "What goes beyond the paper", "Table 1"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
	if n := strings.Count(page, `data-name="verdict"`); n != len(verdicts) {
		t.Errorf("%d verdicts on the page, want %d", n, len(verdicts))
	}
}

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

// What is asked must not change by accident: it stands in a file, which -update writes.
func TestClaims_AreTheGoldenOnes(t *testing.T) {
	var b bytes.Buffer
	for _, c := range all() {
		fmt.Fprintf(&b, "%s: on %s, every level %v\n", c.id, strings.Join(c.data, " and "), c.every)
		for _, missing := range c.levels {
			for i := range c.pairs {
				d := (&figures{}).compare(&c.pairs[i], c.data[len(c.data)-1], missing)
				fmt.Fprintf(&b, "  %s, published %s\n", d.name(), sides(d.Left.Published, d.Right.Published))
			}
		}
	}
	golden(t, "list.txt", b.Bytes())
}

func TestClaims_OfEveryLevelNeedThemAll(t *testing.T) {
	for _, c := range all() {
		if len(c.levels) < 2 {
			continue
		}
		results := slices.DeleteFunc(made(c, c.data[0], 3, .8, .02), func(r Result) bool { return r.Missing == c.levels[1] })
		decided(t, results, c.id, c.data[0], map[bool]Outcome{true: NotTested, false: Confirmed}[c.every], "")
	}
}

// The paper's own figures are a check of this list: those that it claims something of are the way it says, but for
// the ones below.
func TestClaims_PublishedFiguresAreTheWayThatThePaperSays(t *testing.T) {
	contrary := map[string]bool{}
	for _, c := range all() {
		for _, v := range Check(made(c, c.data[len(c.data)-1], 3, .8, .02)) {
			if v.ID != c.id {
				continue
			}
			for _, d := range v.Comparisons {
				switch {
				case c.beyond || strings.HasPrefix(c.id, "em-"):
					if d.Published.Defined() {
						t.Errorf("%s: %s has a published figure", c.id, d.name())
					}
				case !d.Published.Defined():
					t.Errorf("%s: %s has no published figure", c.id, d.name())
				case d.Published <= 0:
					contrary[c.id+": "+d.name()] = true
				}
			}
		}
	}
	for name := range contrary {
		t.Errorf("published figures are the other way: %s", name)
	}
}

func TestClaims_PublishedDifferencesAreThoseOfThePrint(t *testing.T) {
	for _, test := range []struct {
		id      string
		name    string
		want    float64
		onVideo bool
	}{
		{"nmn-baseline", "NMN-FD against baseline, 0 %", 30.14 - 29.13, false},
		{"nmn-baseline", "NMN-FD against baseline, 80 %", 22.41 - 20.96, false},
		{"nmn-baseline-mil", "NMN-FD + MIL against baseline + MIL, 40 %", 33.56 - 32.38, false},
		{"fi-80", "baseline + MIL against NMN-FI + MIL, 80 %", 27.1 - 26.1, false},
		{"words", "NMN-FD + MIL against baseline + MIL, 0 %, JJ", 24.71 - 24.08, false},
		{"observed", "NMN-FD, p(y=1|I) against p(z=1|I), 80 %", 22.41 - 21.98, false},
		{"observed", "NMN-FD + MIL, p(y=1|I) against p(z=1|I), 80 %", 28.5 - 28.22, false},
		{"nmn-baseline-video", "NMN-FD against baseline, 0 %", 34.49 - 34.08, true},
		{"words-video", "NMN-FD + MIL against baseline + MIL, 0 %, JJ", 24.9 - 21.9, true},
		{"captions", "NMN-FI + MIL against baseline + MIL, CIDEr, 0 %", 36.5 - 34.8, true},
		{"captions", "NMN-FD + MIL against baseline + MIL, METEOR, 0 %", 26.4 - 25.6, true},
	} {
		found := false
		for _, c := range all() {
			data := COCO
			if test.onVideo {
				data = MSRVTT
			}
			if c.id != test.id {
				continue
			}
			for _, d := range verdictOf(t, made(c, data, 3, 1, .1), c.id, data).Comparisons {
				if d.name() == test.name {
					found = true
					if got := float64(d.Published); got-test.want > 1e-9 || test.want-got > 1e-9 {
						t.Errorf("%s, %s: published %v, want %v", test.id, test.name, got, test.want)
					}
				}
			}
		}
		if !found {
			t.Errorf("%s has no comparison %q", test.id, test.name)
		}
	}
}
