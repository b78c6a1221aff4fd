package claims

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
	check(t, report.Write(&b, report.Markdown, Tables(Check(someResults()))...))
	golden(t, "claims.md", b.Bytes())
}

// golden compares with a file of testdata, or writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		check(t, os.WriteFile(path, got, 0o666))
	}
	want, err := os.ReadFile(path)
	check(t, err)
	if !bytes.Equal(got, want) {
		t.Errorf("what there is differs from %s (-update writes it)", path)
	}
}

func TestTables_SayEveryVerdictInWordsOnAPageForNarrowScreens(t *testing.T) {
	verdicts := Check(someResults())
	var b bytes.Buffer
	check(t, (&report.Reproduction{Claims: Tables(verdicts)}).WriteHTML(&b))
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

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
