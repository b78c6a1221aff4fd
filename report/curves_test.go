package report

import (
	"io"
	"math"
	"testing"

	"nmn/eval"
	"nmn/report/chart"
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

// drawCurves draws the charts of a curve as a file.
func drawCurves(w io.Writer, curve []Point) error {
	_, err := drawCharts(w, trainingCharts(curve))
	return err
}

// drawCharts draws the charts of a page as a file, and returns false if there are none.
func drawCharts(w io.Writer, list []numbered) (drawn bool, err error) {
	if len(list) == 0 {
		return false, nil
	}
	var charts []*chart.Chart
	for _, c := range list {
		charts = append(charts, c.Chart)
	}
	return true, chart.Write(w, 2, charts...)
}

func TestCurves_OnePanelForEachMeasure(t *testing.T) {
	both := said(t, func(w io.Writer) error { return drawCurves(w, drawnCurve()) })
	parsed(t, both)
	has(t, both, "Training loss", "Validation AP", "stage1", "nmn-fd", "step")
	curve := drawnCurve()
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
