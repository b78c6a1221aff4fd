package chart

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Charts look as they looked: every place of every line and sign.
func TestCharts_AreGolden(t *testing.T) {
	bounds := sample()
	bounds.X, bounds.Y = Axis{Label: "rate", Min: -4, Max: 1, Decades: true}, Axis{Label: "loss", Min: .5,
		Max: 3.5, Step: .5}
	for name, c := range map[string]*Chart{"numbers": sample(), "bounds": bounds, "above": rowChart(true),
		"beside": rowChart(false)} {
		var svg bytes.Buffer
		check(t, Write(&svg, 1, c))
		for ending, got := range map[string]string{".html": string(c.Inline("x")), ".svg": svg.String()} {
			path := filepath.Join("testdata", name+ending)
			if *update {
				check(t, os.MkdirAll("testdata", 0o777))
				check(t, os.WriteFile(path, []byte(got), 0o666))
			}
			want, err := os.ReadFile(path)
			check(t, err)
			if got != string(want) {
				t.Errorf("%s differs (go test ./report/chart -update writes it anew):\n%s", path, got)
			}
		}
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
