package report

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/eval"
	"nmn/labels"
)

// extremes are numbers that a training may well come to.
var extremes = []float64{0, 1, -1, 25, 1e-320, 1e10, 3.2e38, 1e300, 1e308, -1e308, math.MaxFloat64, math.NaN(),
	math.Inf(1), math.Inf(-1), 1 + 1e-15}

func TestCurves_DrawWhateverTheLossIs(t *testing.T) {
	for _, a := range extremes {
		for _, b := range extremes {
			for _, curve := range [][]Point{
				{{Step: 1, Stage: "stage1", Loss: eval.Number(a), AP: eval.Number(b)}},
				{{Step: 3, Loss: eval.Number(a)}, {Step: 3, Loss: eval.Number(b)}},
				{{Step: 1, Loss: eval.Number(a)}, {Step: math.MaxInt, Loss: eval.Number(b)}},
			} {
				if err := drawCurves(io.Discard, curve); err != nil {
					t.Errorf("%g and %g: %v", a, b, err)
				}
			}
		}
	}
}

func TestWriteRun_OneHugeLossHasAPage(t *testing.T) {
	dir := t.TempDir()
	r := &Run{Name: "diverged", Arm: Stage1, Curve: []Point{{Step: 1, Stage: Stage1, Loss: 1e30, AP: eval.Undefined()}}}
	check(t, WriteRun(dir, r))
	page, err := os.ReadFile(filepath.Join(dir, HTMLFile))
	if err != nil || !strings.Contains(string(page), "Training loss") {
		t.Errorf("%v, without a curve:\n%s", err, page)
	}
}

// Figures end with a drawing or with an error, whatever they show.
func FuzzFigures(f *testing.F) {
	for i, a := range extremes {
		f.Add(a, extremes[(i+1)%len(extremes)], extremes[(i+5)%len(extremes)], i)
	}
	f.Fuzz(func(t *testing.T, a, b, c float64, step int) {
		curve := []Point{{Step: step, Stage: "s", Loss: eval.Number(a), AP: eval.Number(b)},
			{Step: step + 1, Stage: "s", Loss: eval.Number(b), AP: eval.Number(c)}}
		var out bytes.Buffer
		check(t, drawCurves(&out, curve))
		_, _ = drawCharts(&out, rateCharts(labels.Table{{Word: "w", Q01: a, T01: b, Q10: c, T10: a}}))
		points := []eval.CurvePoint{{Recall: a, Precision: b}, {Recall: c, Precision: a}}
		_, _ = drawCharts(&out, recallCharts(eval.ByGroup[[]eval.CurvePoint]{All: points}, nil))
		noise := noiseOfRates(labels.Table{{Word: "w", Q01: a, T01: b, Q10: c, T10: a}})
		_, _ = drawCharts(&out, noiseCharts(noise, chartedWords))
	})
}
