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
		if err := Write(&svg, 1, c); err != nil {
			t.Fatal(err)
		}
		for ending, got := range map[string]string{".html": string(c.Inline("x")), ".svg": svg.String()} {
			path := filepath.Join("testdata", name+ending)
			if *update {
				if err := os.MkdirAll("testdata", 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s differs (go test ./report/chart -update writes it anew):\n%s", path, got)
			}
		}
	}
}
