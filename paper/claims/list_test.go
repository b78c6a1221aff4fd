package claims

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

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
