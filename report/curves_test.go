package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/eval"
	"nmn/internal/expect"
	"nmn/labels"
)

// drawnCurve is a training with two stages: the loss every 10 steps, AP every 100.
func drawnCurve() []Point {
	var curve []Point
	for step := 10; step <= 600; step += 10 {
		p := Point{Step: step, Stage: "stage1", AP: eval.Undefined(),
			Loss: eval.Number(4 + 8*math.Exp(-float64(step)/120) + .3*math.Sin(float64(step)))}
		if step > 400 {
			p.Stage, p.Loss = "nmn-fd", p.Loss-.4
		}
		if step%100 == 0 {
			p.AP = eval.Number(.6 - .4*math.Exp(-float64(step)/250))
		}
		curve = append(curve, p)
	}
	return curve
}

// drawCurves draws the charts of a curve.
func drawCurves(w io.Writer, curve []Point) error {
	_, err := drawCharts(w, trainingCharts(curve))
	return err
}

// drawCharts draws the charts of a page, and returns false if there are none.
func drawCharts(w io.Writer, list []numbered) (drawn bool, err error) {
	for i, c := range list {
		if _, err := io.WriteString(w, string(c.Chart.Inline(fmt.Sprint("c", i)))); err != nil {
			return false, err
		}
	}
	return len(list) > 0, nil
}

func TestCurves_OnePanelForEachMeasure(t *testing.T) {
	both := said(t, func(w io.Writer) error { return drawCurves(w, drawnCurve()) })
	parsed(t, both)
	has(t, both, "Training loss", "Validation AP", "stage1", "nmn-fd", "step")
	curve := drawnCurve()
	for i := range curve {
		curve[i].Accuracy = curve[i].AP.Defined()
	}
	exclusive := said(t, func(w io.Writer) error { return drawCurves(w, curve) })
	has(t, exclusive, "Validation accuracy", "accuracy (%)")
	if strings.Contains(exclusive, "AP") {
		t.Error("the chart of accuracy names AP")
	}
	for i := range curve {
		curve[i].AP = eval.Undefined()
	}
	if charts := trainingCharts(curve); len(charts) != 1 || charts[0].Title != "Training loss" {
		t.Errorf("loss alone: %d charts", len(charts))
	}
}

func TestCurves_NothingToDraw(t *testing.T) {
	nan := eval.Undefined()
	for name, curve := range map[string][]Point{"no points": nil, "undefined": {{Step: 1, Loss: nan, AP: nan}}} {
		if charts := trainingCharts(curve); len(charts) != 0 {
			t.Errorf("%s: %d charts", name, len(charts))
		}
	}
	if err := drawCurves(io.Discard, []Point{{Step: 1, Loss: 2, AP: nan}}); err != nil {
		t.Errorf("a single point: %v", err)
	}
}

// extremes are numbers that a training may well come to.
var extremes = []float64{0, 1, -1, 25, 1e-320, 1e10, 3.2e38, 1e300, 1e308, -1e308, math.MaxFloat64, math.NaN(),
	math.Inf(1), math.Inf(-1), 1 + 1e-15}

func TestWriteRun_OneHugeLossHasAPage(t *testing.T) {
	dir := t.TempDir()
	r := &Run{Name: "diverged", Arm: Stage1, Curve: []Point{{Step: 1, Stage: Stage1, Loss: 1e30, AP: eval.Undefined()}}}
	expect.OK(t, WriteRun(dir, r))
	page, err := os.ReadFile(filepath.Join(dir, HTMLFile))
	if err != nil || !strings.Contains(string(page), "Training loss") {
		t.Errorf("%v, without a curve:\n%s", err, page)
	}
}

// Figures end with a drawing or with an error, whatever they show.
func FuzzFigures(f *testing.F) {
	for i, a := range extremes {
		for j, b := range extremes {
			f.Add(a, b, extremes[(i+5)%len(extremes)], []int{i, math.MaxInt - 1}[j%2])
		}
	}
	f.Fuzz(func(t *testing.T, a, b, c float64, step int) {
		curve := []Point{{Step: step, Stage: "s", Loss: eval.Number(a), AP: eval.Number(b)},
			{Step: step, Loss: eval.Number(c)}, {Step: step + 1, Stage: "s", Loss: eval.Number(b), AP: eval.Number(c)}}
		var out bytes.Buffer
		expect.OK(t, drawCurves(&out, curve))
		expect.OK(t, drawCurves(&out, curve[:1]))
		_, _ = drawCharts(&out, rateCharts(labels.Table{{Word: "w", Q01: a, T01: b, Q10: c, T10: a}}))
		points := []eval.CurvePoint{{Recall: a, Precision: b}, {Recall: c, Precision: a}}
		_, _ = drawCharts(&out, recallCharts(eval.ByGroup[[]eval.CurvePoint]{All: points}, nil))
		noise := noiseOfRates(labels.Table{{Word: "w", Q01: a, T01: b, Q10: c, T10: a}})
		_, _ = drawCharts(&out, noiseCharts(noise, chartedWords))
	})
}

func TestLossDerivative_IsThePapersFigure3(t *testing.T) {
	folder := os.Getenv("NMN_ORACLE")
	if folder == "" {
		folder = filepath.Join("testdata", "oracle")
	}
	b := expect.Value(os.ReadFile(filepath.Join(folder, "figure3.json")))(t)
	type array struct{ Data []float64 }
	var f struct {
		Inputs struct {
			P1 array
			Q  float64
		}
		Expected struct {
			FreeZ0     array                       `json:"free_z0"`
			FreeZ1     array                       `json:"free_z1"`
			NMNZ0      array                       `json:"nmn_z0"`
			NMNZ1      array                       `json:"nmn_z1"`
			ExtremumZ1 struct{ P1, Value float64 } `json:"extremum_z1"`
		}
		Tolerance map[string]struct{ Atol float64 }
	}
	expect.OK(t, json.Unmarshal(b, &f))
	q := f.Inputs.Q
	for _, c := range []struct {
		name string
		z    int
		q    float64
		want []float64
	}{{"free_z0", 0, 0, f.Expected.FreeZ0.Data}, {"free_z1", 1, 0, f.Expected.FreeZ1.Data},
		{"nmn_z0", 0, q, f.Expected.NMNZ0.Data}, {"nmn_z1", 1, q, f.Expected.NMNZ1.Data}} {
		if len(c.want) == 0 || len(c.want) != len(f.Inputs.P1.Data) {
			t.Fatalf("%s: %d points for %d probabilities", c.name, len(c.want), len(f.Inputs.P1.Data))
		}
		for i, p1 := range f.Inputs.P1.Data {
			if got := LossDerivative(c.z, p1, c.q, c.q); !(math.Abs(got-c.want[i]) <= f.Tolerance[c.name].Atol) {
				t.Fatalf("%s at p1 = %v: %v, want %v", c.name, p1, got, c.want[i])
			}
		}
	}
	if got := LossDerivative(1, f.Expected.ExtremumZ1.P1, q, q); math.Abs(got-f.Expected.ExtremumZ1.Value) > 1e-9 {
		t.Errorf("extremum: %v, want %v", got, f.Expected.ExtremumZ1.Value)
	}
}

func TestFigure3_HasBothPanels(t *testing.T) {
	var charts []numbered
	for _, c := range figure3Charts() {
		charts = append(charts, numbered{Chart: c})
	}
	drawn := said(t, func(w io.Writer) error { _, err := drawCharts(w, charts); return err })
	parsed(t, drawn)
	has(t, drawn, "Missing label", "Incorrect label", "noise-free", "NMN, q01 = q10 = 0.05", "Prediction")
}
